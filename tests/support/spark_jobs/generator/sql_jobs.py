"""Statements that a real application runs through spark.sql(); each writes a target of its own."""

from __future__ import annotations

# name of the job (also its target in mart, unless given), statements before it, the statement, its target
SETUP = [
    "CREATE DATABASE IF NOT EXISTS sales",
    "CREATE DATABASE IF NOT EXISTS mart",
    "CREATE TABLE sales.orders (order_id BIGINT, customer_id INT, status STRING, amount DECIMAL(10,2),"
    " ordered_at TIMESTAMP, note STRING) USING parquet",
    "CREATE TABLE sales.items (order_id BIGINT, sku STRING, qty INT, price DOUBLE) USING parquet",
    "CREATE TABLE sales.customers (customer_id INT, name STRING, country STRING, email STRING,"
    " address STRUCT<city: STRING, zip: STRING>, tags ARRAY<STRING>, scores MAP<STRING, INT>) USING parquet",
    "CREATE TABLE sales.returns (order_id BIGINT, reason STRING, refunded DOUBLE, day DATE) USING parquet"
    " PARTITIONED BY (day)",
    "CREATE TABLE sales.odd_names (`order id` BIGINT, `a,b` STRING, `st#12` STRING, `c]d` BIGINT,"
    " `x) AS y` INT, `ünï` STRING) USING json",
    "INSERT INTO sales.orders VALUES (1, 1, 'open', 10.5, TIMESTAMP'2026-01-01 10:00:00', 'a'),"
    " (2, 1, 'done', 20, TIMESTAMP'2026-01-02 10:00:00', 'b'), (3, 2, 'done', 5, TIMESTAMP'2026-02-01 10:00:00', NULL)",
    "INSERT INTO sales.items VALUES (1, 'x', 2, 1.5), (2, 'y', 1, 20), (3, 'x', 1, 5)",
    "INSERT INTO sales.customers SELECT 1, 'Ann', 'PL', 'a@x.org', named_struct('city', 'C', 'zip', '1'),"
    " array('a', 'b'), map('s', 1)",
    "INSERT INTO sales.returns VALUES (2, 'late', 3.0, DATE'2026-03-01')",
    "INSERT INTO sales.odd_names VALUES (1, 'p', 'q', 2, 3, 'u')",
    "CREATE VIEW sales.done_orders AS SELECT order_id AS id, customer_id, amount FROM sales.orders"
    " WHERE status = 'done'",
]


def table(name: str, columns: str) -> str:
    return f"CREATE TABLE mart.{name} ({columns}) USING parquet"


# (name, [statements before], statement)
JOBS: list[tuple[str, list[str], str]] = [
    ("s01", [table("s01", "id BIGINT, s STRING")], "INSERT INTO mart.s01 SELECT order_id, status FROM sales.orders"),
    (
        "s02",
        [table("s02", "id BIGINT, sku STRING, total DOUBLE, country STRING")],
        "INSERT INTO mart.s02 SELECT o.order_id, i.sku, i.qty * i.price, upper(c.country) FROM sales.orders o"
        " JOIN sales.items i ON o.order_id = i.order_id LEFT JOIN sales.customers c ON c.customer_id = o.customer_id",
    ),
    (
        "s03",
        [],
        "CREATE TABLE mart.s03 USING parquet AS SELECT country, count(*) AS n, count(DISTINCT name) AS names,"
        " max(email) AS e FROM sales.customers GROUP BY country HAVING count(*) > 0",
    ),
    (
        "s04",
        [table("s04", "id BIGINT, rnk INT, total DECIMAL(20,2), prev STRING")],
        "INSERT OVERWRITE mart.s04 SELECT order_id, rank() OVER (PARTITION BY customer_id ORDER BY amount DESC),"
        " sum(amount) OVER (PARTITION BY status), lag(note) OVER (PARTITION BY customer_id ORDER BY ordered_at)"
        " FROM sales.orders",
    ),
    (
        "s05",
        [table("s05", "id BIGINT, label STRING, v INT")],
        "INSERT INTO mart.s05 SELECT order_id, CASE WHEN amount > 15 THEN status WHEN note = 'b' THEN 'low'"
        " ELSE note END, if(status = 'open', customer_id, 0) FROM sales.orders",
    ),
    (
        "s06",
        [table("s06", "v STRING")],
        "INSERT INTO mart.s06 SELECT status FROM sales.orders UNION ALL SELECT country FROM sales.customers",
    ),
    (
        "s07",
        [table("s07", "v STRING")],
        "INSERT INTO mart.s07 SELECT status FROM sales.orders UNION SELECT sku FROM sales.items",
    ),
    (
        "s08",
        [table("s08", "v BIGINT")],
        "INSERT INTO mart.s08 SELECT order_id FROM sales.orders INTERSECT SELECT order_id FROM sales.items",
    ),
    (
        "s09",
        [table("s09", "v BIGINT")],
        "INSERT INTO mart.s09 SELECT order_id FROM sales.orders EXCEPT SELECT order_id FROM sales.returns",
    ),
    (
        "s10",
        [],
        "CREATE TABLE mart.s10 AS WITH big AS (SELECT * FROM sales.orders WHERE amount > 5),"
        " per AS (SELECT customer_id, sum(amount) AS total FROM big GROUP BY customer_id)"
        " SELECT b.order_id, p.total, b.amount / p.total AS share FROM big b JOIN per p USING (customer_id)",
    ),
    (
        "s11",
        [table("s11", "id BIGINT, top DECIMAL(10,2), low DECIMAL(10,2)")],
        "INSERT INTO mart.s11 SELECT order_id, (SELECT max(amount) FROM sales.orders),"
        " (SELECT min(amount) FROM sales.orders) FROM sales.orders",
    ),
    (
        "s12",
        [table("s12", "id BIGINT")],
        "INSERT INTO mart.s12 SELECT order_id FROM sales.orders o WHERE EXISTS"
        " (SELECT 1 FROM sales.items i WHERE i.order_id = o.order_id AND i.qty > 0)",
    ),
    (
        "s13",
        [table("s13", "id BIGINT, s STRING")],
        "INSERT INTO mart.s13 SELECT order_id, status FROM sales.orders WHERE order_id IN"
        " (SELECT order_id FROM sales.items WHERE sku = 'x') OR status NOT IN ('gone')",
    ),
    (
        "s14",
        [table("s14", "id BIGINT, spent DECIMAL(20,2)")],
        "INSERT INTO mart.s14 SELECT customer_id, (SELECT sum(amount) FROM sales.orders o"
        " WHERE o.customer_id = c.customer_id) FROM sales.customers c",
    ),
    (
        "s15",
        [table("s15", "id INT, tag STRING, pos INT")],
        "INSERT INTO mart.s15 SELECT customer_id, t.tag, t.pos FROM sales.customers"
        " LATERAL VIEW OUTER posexplode(tags) t AS pos, tag",
    ),
    (
        "s16",
        [],
        "CREATE TABLE mart.s16 AS SELECT * FROM (SELECT customer_id, status, amount FROM sales.orders)"
        " PIVOT (sum(amount) FOR status IN ('open', 'done'))",
    ),
    (
        "s17",
        [],
        "CREATE TABLE mart.s17 AS SELECT status, customer_id, sum(amount) AS total, grouping_id() AS g"
        " FROM sales.orders GROUP BY ROLLUP (status, customer_id)",
    ),
    (
        "s18",
        [],
        "CREATE TABLE mart.s18 AS SELECT status, customer_id, count(note) AS n FROM sales.orders"
        " GROUP BY status, customer_id GROUPING SETS ((status), (customer_id))",
    ),
    (
        "s19",
        [table("s19", "id BIGINT, day DATE, reason STRING") + " PARTITIONED BY (day)"],
        "INSERT OVERWRITE mart.s19 PARTITION (day = DATE'2026-05-05')"
        " SELECT order_id, reason FROM sales.returns WHERE day > DATE'2026-01-01'",
    ),
    (
        "s20",
        [table("s20", "id BIGINT, reason STRING, day DATE") + " PARTITIONED BY (day)"],
        "INSERT INTO mart.s20 SELECT order_id, reason, day FROM sales.returns",
    ),
    (
        "s21",
        [table("s21", "a STRING, b STRING, c BIGINT")],
        "INSERT INTO mart.s21 (c, a) SELECT order_id, status FROM sales.orders",
    ),
    (
        "s22",
        [table("s22", "a STRING, b BIGINT")],
        "INSERT INTO mart.s22 BY NAME SELECT order_id AS b, status AS a FROM sales.orders",
    ),
    (
        "s23",
        [],
        "CREATE TABLE mart.s23 AS SELECT id, amount FROM sales.done_orders WHERE customer_id = 1",
    ),
    (
        "s24",
        ["CREATE OR REPLACE TEMPORARY VIEW recent AS SELECT order_id, note FROM sales.orders WHERE status <> 'x'"],
        "CREATE TABLE mart.s24 AS SELECT order_id, concat(note, '-') AS n FROM recent",
    ),
    (
        "s25",
        [],
        "CREATE VIEW mart.s25 (customer, n) AS SELECT customer_id, count(*) AS c FROM sales.orders"
        " GROUP BY customer_id",
    ),
    (
        "s26",
        [table("s26a", "id BIGINT"), table("s26b", "s STRING")],
        "FROM sales.orders INSERT INTO mart.s26a SELECT order_id WHERE amount > 1"
        " INSERT INTO mart.s26b SELECT status WHERE note IS NULL",
    ),
    (
        "s27",
        [table("s27", "city STRING, zip STRING, first STRING, score INT")],
        "INSERT INTO mart.s27 SELECT address.city, concat_ws('/', address.zip, country), tags[0], scores['s']"
        " FROM sales.customers",
    ),
    (
        "s28",
        [table("s28", "tags ARRAY<STRING>, total INT")],
        "INSERT INTO mart.s28 SELECT transform(tags, t -> concat(t, name)),"
        " aggregate(transform(tags, x -> length(x)), 0, (acc, x) -> acc + x) FROM sales.customers",
    ),
    (
        "s29",
        [],
        "CREATE TABLE mart.s29 AS SELECT a.order_id AS one, b.order_id AS two, a.amount - b.amount AS diff"
        " FROM sales.orders a JOIN sales.orders b ON a.customer_id = b.customer_id AND a.order_id < b.order_id",
    ),
    (
        "s30",
        [],
        "CREATE TABLE mart.s30 AS SELECT coalesce(o.order_id, r.order_id) AS id, r.reason FROM sales.orders o"
        " FULL OUTER JOIN sales.returns r ON o.order_id = r.order_id ORDER BY o.amount LIMIT 10",
    ),
    (
        "s31",
        [],
        "CREATE TABLE mart.s31 USING json AS SELECT `order id` AS `new id`, `a,b` AS `p,q`, `st#12` AS `h#7`,"
        " `c]d` + 1 AS `e[f`, `x) AS y` AS `z`, `ünï` FROM sales.odd_names",
    ),
    (
        "s32",
        [],
        "CREATE TABLE mart.s32 USING json AS SELECT 'x AS y#99, z#5] AS lit' AS lit, concat(status, ', (a#1) [') AS s,"
        " concat('line\nbreak AS ', note) AS n, concat(', order_id#1L', sku) AS k"
        " FROM sales.orders JOIN sales.items USING (order_id)",
    ),
    (
        "s33",
        [],
        "CREATE TABLE mart.s33 AS SELECT customer_id, sum(amount) FILTER (WHERE status = 'done') AS done,"
        " collect_list(named_struct('o', order_id, 's', note)) AS all_of_it, avg(amount) AS mean"
        " FROM sales.orders GROUP BY customer_id",
    ),
    (
        "s34",
        [],
        "CREATE TABLE mart.s34 AS SELECT order_id, status FROM (SELECT *, row_number() OVER"
        " (PARTITION BY customer_id ORDER BY ordered_at DESC) AS rn FROM sales.orders) WHERE rn = 1",
    ),
    (
        "s35",
        [],
        "CREATE TABLE mart.s35 AS SELECT DISTINCT status, sha2(note, 256) AS h FROM sales.orders",
    ),
    (
        "s36",
        [],
        "CREATE TABLE mart.s36 AS SELECT o.order_id, l.top FROM sales.orders o,"
        " LATERAL (SELECT max(price) AS top FROM sales.items i WHERE i.order_id = o.order_id) l",
    ),
    (
        "s37",
        [],
        "CREATE TABLE mart.s37 AS SELECT order_id, k, v FROM sales.orders LATERAL VIEW"
        " stack(2, 'a', status, 'b', note) s AS k, v",
    ),
    (
        "s38",
        [],
        "CREATE TABLE mart.s38 AS SELECT * FROM (SELECT order_id, status, note FROM sales.orders)"
        " UNPIVOT (val FOR name IN (status, note))",
    ),
    (
        "s39",
        [],
        "CREATE TABLE mart.s39 AS SELECT c.name, o.amount, i.sku, r.reason FROM sales.customers c"
        " JOIN sales.orders o ON o.customer_id = c.customer_id JOIN sales.items i ON i.order_id = o.order_id"
        " LEFT ANTI JOIN sales.returns x ON x.order_id = o.order_id"
        " LEFT JOIN sales.returns r ON r.order_id = o.order_id AND r.refunded > 1"
        " WHERE c.country IN ('PL', 'DE') AND o.status LIKE 'd%'",
    ),
    (
        "s40",
        [],
        "CREATE TABLE mart.s40 AS SELECT date_trunc('month', ordered_at) AS month, count(*) AS n,"
        " min_by(status, amount) AS cheapest, percentile_approx(amount, 0.5) AS median FROM sales.orders"
        " GROUP BY date_trunc('month', ordered_at)",
    ),
    (
        "s41",
        [table("s41", "id BIGINT, n INT")],
        "INSERT INTO mart.s41 VALUES (1, 2), (3, 4)",
    ),
    (
        "s42",
        [],
        "CREATE TABLE mart.s42 AS SELECT country, name FROM sales.customers CLUSTER BY country",
    ),
    (
        "s43",
        [table("s43", "v BIGINT")],
        "INSERT INTO mart.s43 SELECT order_id FROM sales.orders EXCEPT ALL SELECT order_id FROM sales.returns",
    ),
    (
        "s44",
        [table("s44", "v BIGINT, s STRING")],
        "INSERT INTO mart.s44 SELECT order_id, status FROM sales.orders INTERSECT ALL"
        " SELECT order_id, reason FROM sales.returns",
    ),
    (
        "s45",
        [table("s45", "id INT, pairs ARRAY<STRUCT<o: BIGINT, s: STRING>>, cheapest STRING, done DECIMAL(20,2)")],
        "INSERT INTO mart.s45 SELECT customer_id, collect_list(named_struct('o', order_id, 's', note)),"
        " min_by(status, amount), sum(amount) FILTER (WHERE status = 'done') FROM sales.orders GROUP BY customer_id",
    ),
    (
        "s46",
        [table("s46", "id BIGINT, k STRING, v STRING")],
        "INSERT INTO mart.s46 SELECT order_id, k, v FROM sales.orders LATERAL VIEW"
        " stack(2, 'a', status, 'b', note) s AS k, v",
    ),
    (
        "s47",
        [table("s47", "k BIGINT, v STRING")],
        "INSERT INTO mart.s47 SELECT stack(2, order_id, status, CAST(customer_id AS BIGINT), note) AS (k, v)"
        " FROM sales.orders",
    ),
    (
        "s48",
        [table("s48", "f STRING, k STRING, v STRING")],
        "INSERT INTO mart.s48 SELECT named_struct('f', status, 'g', note).f, explode(map('a', status, 'b', note))"
        " FROM sales.orders",
    ),
]

LOOKED_AT = "INSERT INTO mart.s01 SELECT order_id, status FROM sales.orders"
"""A statement whose result is looked at: Spark plans that anew."""
