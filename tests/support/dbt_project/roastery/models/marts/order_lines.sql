{{ config(materialized='ephemeral') }}
select o.*, b.origin, b.cost
from {{ ref('stg_orders') }} as o
left join {{ ref('stg_beans') }} as b on o.bean_code = b.bean_code
