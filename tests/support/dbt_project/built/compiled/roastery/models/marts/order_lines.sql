
with __dbt__cte__stg_beans as (

select code as bean_code, origin, round(supplier_price / 100.0, 0) as cost
from "roastery"."main_raw"."raw_beans"
) select o.*, b.origin, b.cost
from "roastery"."main"."stg_orders" as o
left join __dbt__cte__stg_beans as b on o.bean_code = b.bean_code