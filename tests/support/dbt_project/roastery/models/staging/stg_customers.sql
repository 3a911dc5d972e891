{# What the till knows of people. #}
select id as customer_id, full_name as customer_name, upper(city) as city, changed_at
from {{ source("shop", "customers") }}
