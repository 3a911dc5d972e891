with source as (
    select * from {{ source('shop', 'orders') }}
),

renamed as (
    select
        id as order_id,
        customer as customer_id,
        bean as bean_code,
        ordered_at,
        {{ in_units('price_cents') }} as price,
        {{ in_units('tax_cents') }} as tax,
        {{ dbt.date_trunc('day', 'ordered_at') }} as ordered_on
    from source
)

select * from renamed
