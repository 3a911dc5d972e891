with lines as (
    select * from {{ ref('order_lines') }}
)

select
    lines.*,
    price - cost as margin,
    row_number() over (partition by customer_id order by ordered_at) as order_number
from lines
