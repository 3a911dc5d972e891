with spent as (
    select
        customer_id,
        
    sum(price) as total_price,
    sum(tax) as total_tax,
        min(ordered_at) as first_order_at
    from "roastery"."main_marts"."orders"
    group by customer_id
)

select c.customer_id, c.customer_name, c.city, s.* exclude (customer_id),
    case when s.total_price > 20 then 'regular' else 'new' end as kind
from "roastery"."main"."stg_customers" as c
left join spent as s using (customer_id)