
select ordered_on, sum(price) as sales, 'EUR' as currency
from "roastery"."main"."stg_orders"

where ordered_on >= (select max(ordered_on) from "roastery"."main_marts"."daily_sales")

group by ordered_on