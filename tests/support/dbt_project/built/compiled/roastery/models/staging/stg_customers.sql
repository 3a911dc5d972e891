
select id as customer_id, full_name as customer_name, upper(city) as city, changed_at
from "roastery"."main_raw"."raw_customers"