select bean_code, max(price) as price from {{ ref('stg_orders') }} group by bean_code
