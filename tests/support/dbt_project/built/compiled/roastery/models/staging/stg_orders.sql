with source as (
    select * from "roastery"."main_raw"."raw_orders"
),

renamed as (
    select
        id as order_id,
        customer as customer_id,
        bean as bean_code,
        ordered_at,
        round(price_cents / 100.0, 0) as price,
        round(tax_cents / 100.0, 0) as tax,
        date_trunc('day', ordered_at) as ordered_on
    from source
)

select * from renamed