
select code as bean_code, origin, round(supplier_price / 100.0, 0) as cost
from "roastery"."main_raw"."raw_beans"