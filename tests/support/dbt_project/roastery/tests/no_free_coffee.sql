select order_id from {{ ref('orders') }} where price <= 0
