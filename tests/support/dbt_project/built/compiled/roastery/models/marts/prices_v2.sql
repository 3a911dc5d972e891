with __dbt__cte__stg_beans as (

select code as bean_code, origin, round(supplier_price / 100.0, 0) as cost
from "roastery"."main_raw"."raw_beans"
),  __dbt__cte__order_lines as (

select o.*, b.origin, b.cost
from "roastery"."main"."stg_orders" as o
left join __dbt__cte__stg_beans as b on o.bean_code = b.bean_code
) select bean_code, origin, max(price) as price from __dbt__cte__order_lines group by bean_code, origin