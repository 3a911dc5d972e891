select bean_code, origin, max(price) as price from {{ ref('order_lines') }} group by bean_code, origin
