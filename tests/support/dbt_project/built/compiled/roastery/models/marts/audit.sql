-- A name that is written out is no edge of dbt's own graph.
select count(*) as orders, max(p.price) as dearest
from main_raw.raw_orders as r
join "roastery"."main_marts"."prices_v2" as p on p.bean_code = r.bean