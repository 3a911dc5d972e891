{% snapshot customer_history %}
{{ config(target_schema='snapshots', unique_key='customer_id', strategy='timestamp', updated_at='changed_at') }}
select * from {{ ref('stg_customers') }}
{% endsnapshot %}
