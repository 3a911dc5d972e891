{{ config(materialized='ephemeral') }}
select code as bean_code, origin, {{ in_units('supplier_price') }} as cost
from {{ source('shop', 'beans') }}
