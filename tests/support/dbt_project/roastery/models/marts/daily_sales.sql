{{ config(materialized='incremental', unique_key='ordered_on') }}
select ordered_on, sum(price) as sales, '{{ var("currency") }}' as currency
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where ordered_on >= (select max(ordered_on) from {{ this }})
{% endif %}
group by ordered_on
