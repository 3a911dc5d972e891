with  __dbt__cte__stg_beans as (

select code as bean_code, origin, round(supplier_price / 100.0, 0) as cost
from "roastery"."main_raw"."raw_beans"
),  __dbt__cte__order_lines as (

select o.*, b.origin, b.cost
from "roastery"."main"."stg_orders" as o
left join __dbt__cte__stg_beans as b on o.bean_code = b.bean_code
), lines as (
    select * from __dbt__cte__order_lines
)

select
    lines.*,
    price - cost as margin,
    row_number() over (partition by customer_id order by ordered_at) as order_number
from lines