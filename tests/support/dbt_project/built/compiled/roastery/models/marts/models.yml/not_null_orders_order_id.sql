
    
    



select order_id
from "roastery"."main_marts"."orders"
where order_id is null


