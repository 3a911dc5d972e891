{{ config(alias='dim_customers', tags=['people']) }}
{%- set measures = ['price', 'tax'] -%}
with spent as (
    select
        customer_id,
        {{ summed(measures) }},
        min(ordered_at) as first_order_at
    from {{ ref('orders') }}
    group by customer_id
)

select c.customer_id, c.customer_name, c.city, s.* exclude (customer_id),
    case when s.total_price > 20 then 'regular' else 'new' end as kind
from {{ ref('stg_customers') }} as c
left join spent as s using (customer_id)
