"""Forms that one dialect or two have: what meets by name or by position, and what is a relation or a column there."""

from __future__ import annotations

import pytest

from ingestion.dialects import DIALECTS
from ingestion.errors import Templated, Unparsable
from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser

Case = tuple[str, str, dict[str, dict[str, str]], str]
"""A dialect, a statement, the schemas that are known, and its direct edges: those in doubt with a mark behind them."""

CONFLICTS: list[Case] = [
    (
        "tsql",
        "UPDATE c SET pay = h.net FROM crew c WITH (INDEX = by_no) "
        "JOIN hired h WITH (NOLOCK, INDEX = i) ON h.no = c.no",
        {},
        "hired.net>crew.pay",
    ),
    ("postgres", "INSERT INTO crew DEFAULT VALUES; INSERT INTO crew (no) SELECT no FROM hired", {}, "hired.no>crew.no"),
    (
        "bigquery",
        "MERGE d.crew t USING d.hired h ON t.no = h.no WHEN NOT MATCHED THEN INSERT VALUES (h.no, h.label)",
        {"d.crew": {"no": "INT64", "full_name": "STRING"}},
        "d.hired.label>d.crew.full_name d.hired.no>d.crew.no",
    ),
    (
        "duckdb",
        "MERGE INTO crew t USING hired h ON t.no = h.no WHEN MATCHED THEN UPDATE BY NAME "
        "WHEN NOT MATCHED THEN INSERT BY NAME *",
        {"crew": {"no": "INT", "full_name": "TEXT"}, "hired": {"full_name": "TEXT", "no": "INT"}},
        "hired.full_name>crew.full_name hired.no>crew.no",
    ),
    (
        "duckdb",
        "MERGE INTO crew t USING hired h ON t.no = h.no WHEN MATCHED THEN UPDATE BY POSITION",
        {"crew": {"no": "INT", "full_name": "TEXT"}, "hired": {"label": "INT", "no": "INT"}},
        "hired.label>crew.no hired.no>crew.full_name",
    ),
    (
        "duckdb",
        "INSERT INTO crew BY NAME SELECT pay, no FROM hired ON CONFLICT (no) DO UPDATE SET last_pay = excluded.pay",
        {"crew": {"no": "INT", "last_pay": "INT", "pay": "INT"}},
        "hired.no>crew.no hired.pay>crew.last_pay hired.pay>crew.pay",
    ),
    (
        "duckdb",
        "INSERT INTO crew (no, pay) SELECT no, gross FROM hired ON CONFLICT (no) DO UPDATE SET last_pay = pay",
        {},
        "crew.pay>crew.last_pay hired.gross>crew.pay hired.no>crew.no",
    ),
    (
        "mysql",
        "INSERT INTO crew (no, pay) SELECT h.no, r.gross FROM hired h JOIN rates r ON r.no = h.no "
        "ON DUPLICATE KEY UPDATE pay = r.gross + h.extra, seen = h.day",
        {},
        "hired.day>crew.seen hired.extra>crew.pay hired.no>crew.no rates.gross>crew.pay",
    ),
    (
        "bigquery",
        "MERGE d.crew t USING d.hired h ON t.no = h.no WHEN NOT MATCHED THEN INSERT VALUES (no, UPPER(label), DEFAULT)",
        {"d.crew": {"no": "INT64", "full_name": "STRING", "since": "DATE"}},
        "d.hired.label>d.crew.full_name d.hired.no>d.crew.no",
    ),
    ("mysql", "INSERT INTO crew (no, pay) SELECT no, DEFAULT(pay) FROM hired", {}, "hired.no>crew.no"),
    ("mysql", "INSERT INTO crew (no, pay) SELECT h.no, DEFAULT(h.pay) FROM hired h", {}, "hired.no>crew.no"),
    ("trino", "EXPLAIN ANALYZE INSERT INTO crew (no) SELECT no FROM hired", {}, "hired.no>crew.no"),
    (
        "teradata",
        "UPDATE crew SET pay = pay + extra WHERE no = 1 ELSE INSERT INTO crew (no, pay) VALUES (1, 2)",
        {},
        "crew.extra>crew.pay crew.pay>crew.pay",
    ),
    ("postgres", "UPDATE crew SET pays[1] = h.pay FROM hired h WHERE h.no = crew.no", {}, "hired.pay>crew.pays"),
    ("postgres", "UPDATE crew SET label = gone.label FROM hired h WHERE h.no = crew.no", {}, ""),
    ("snowflake", "UPDATE crew SET label = gone.label FROM hired h WHERE h.no = crew.no", {}, ""),
    (
        "spark",
        "MERGE INTO lake.crew t USING lake.hired h ON t.no = h.no WHEN MATCHED THEN UPDATE SET *",
        {"lake.crew": {"no": "INT", "pay": "INT"}, "lake.hired": {"pay": "INT", "no": "INT", "note": "STRING"}},
        "lake.hired.no>lake.crew.no lake.hired.note>lake.crew.note? lake.hired.pay>lake.crew.pay",
    ),
    (
        "oracle",
        "UPDATE (SELECT c.pay, h.gross FROM crew c JOIN h ON h.no = c.no) SET pay = gross",
        {},
        "h.gross>crew.pay",
    ),
    (
        "oracle",
        "UPDATE (SELECT h.pay AS was, c.gross AS more FROM crew c, h WHERE h.no = c.no) x SET x.was = x.more + 1",
        {},
        "crew.gross>h.pay",
    ),
    ("tsql", "UPDATE q SET pay = q.more FROM (SELECT pay, more FROM dbo.crew) q", {}, "dbo.crew.more>dbo.crew.pay"),
    ("tsql", "UPDATE #1 SET pay = h.pay FROM dbo.h h WHERE h.no = #1.no", {}, "dbo.h.pay>#1.pay"),
    (
        "tsql",
        "MERGE ##2024Pay p USING #1 h ON h.no = p.no WHEN MATCHED THEN UPDATE SET p.pay = h.gross;",
        {},
        "#1.gross>##2024pay.pay",
    ),
    (
        "tsql",
        "UPDATE q SET pay = h.pay FROM (SELECT no, pay FROM dbo.crew WHERE no > 1) AS q JOIN dbo.h h ON h.no = q.no",
        {},
        "dbo.h.pay>dbo.crew.pay",
    ),
    (
        "tsql",
        "UPDATE q SET q.was = h.pay FROM (SELECT pay, no FROM dbo.crew) AS q (was, k) JOIN dbo.h h ON h.no = q.k",
        {},
        "dbo.h.pay>dbo.crew.pay",
    ),
    (
        "tsql",
        "UPDATE q SET was = more FROM (SELECT pay, gross FROM dbo.crew) q(was, more) WHERE more > 1",
        {},
        "dbo.crew.gross>dbo.crew.pay",
    ),
    (
        "tsql",
        "UPDATE dbo.crew SET @v = pay, last_pay = @v, @w = seen = @v + extra, twice = @w",
        {},
        "dbo.crew.extra>dbo.crew.seen dbo.crew.extra>dbo.crew.twice dbo.crew.pay>dbo.crew.last_pay "
        "dbo.crew.pay>dbo.crew.seen dbo.crew.pay>dbo.crew.twice",
    ),
    ("db2", "UPDATE (SELECT pay AS was, gross FROM crew) x SET x.was = x.gross + 1", {}, "crew.gross>crew.pay"),
    (
        "db2",
        "INSERT INTO (SELECT no, pay AS was FROM crew WHERE no > 1) SELECT k, net FROM hired",
        {},
        "hired.k>crew.no hired.net>crew.pay",
    ),
    (
        "oracle",
        "INSERT INTO (SELECT no, pay AS was FROM crew WHERE no > 1 WITH CHECK OPTION) x (was, no) "
        "WITH h AS (SELECT k, net FROM hired) SELECT net, k FROM h",
        {},
        "hired.k>crew.no hired.net>crew.pay",
    ),
    (
        "postgres",
        "MERGE INTO crew t USING hired h ON t.no = h.no WHEN MATCHED THEN UPDATE SET (no, pay) = (h.pay, h.no) "
        "WHEN NOT MATCHED THEN INSERT DEFAULT VALUES",
        {},
        "hired.no>crew.pay hired.pay>crew.no",
    ),
    (
        "bigquery",
        "MERGE d.crew t USING d.hired h ON t.no = h.no WHEN NOT MATCHED THEN INSERT (full_name, no) ROW",
        {"d.hired": {"label": "STRING", "no": "INT64"}},
        "d.hired.label>d.crew.full_name d.hired.no>d.crew.no",
    ),
]
BY_NAME: list[Case] = [
    (
        "clickhouse",
        "INSERT INTO crew (* EXCEPT (since)) SELECT k, label FROM hired",
        {"crew": {"no": "Int32", "since": "Date", "full_name": "String"}},
        "hired.k>crew.no hired.label>crew.full_name",
    ),
    (
        "postgres",
        "CREATE TABLE old_ones (pay int, no int); ALTER TABLE lib.crew ATTACH PARTITION old_ones "
        "FOR VALUES FROM (1) TO (5); ALTER TABLE lib.crew ATTACH PARTITION lib.rest DEFAULT",
        {"lib.crew": {"no": "int", "pay": "int"}},
        "lib.rest.*>lib.crew.* old_ones.no>lib.crew.no old_ones.pay>lib.crew.pay",
    ),
    ("clickhouse", "ALTER TABLE crew ATTACH PARTITION 1 FROM hired", {}, "hired.*>crew.*"),
    (
        "databricks",
        "COPY INTO lake.crew FROM (SELECT b AS label, a AS no FROM 's3://files/crew') FILEFORMAT = JSON",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew.a>lake.crew.no s3://files/crew.b>lake.crew.label",
    ),
    (
        "databricks",
        "COPY INTO lake.crew BY POSITION FROM (SELECT _c1, _c0 FROM 's3://files/crew') FILEFORMAT = CSV",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew._c0>lake.crew.label s3://files/crew._c1>lake.crew.no",
    ),
    (
        "databricks",
        "COPY INTO lake.crew (label, no) FROM (SELECT x AS no, y AS label FROM 's3://files/crew') FILEFORMAT = CSV",
        {"lake.crew": {"no": "INT", "label": "STRING"}},
        "s3://files/crew.x>lake.crew.label s3://files/crew.y>lake.crew.no",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones INNER UNION ALL BY NAME SELECT q, r FROM d.right_ones",
        {},
        "d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones LEFT UNION ALL BY NAME SELECT r, q FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones UNION ALL BY NAME ON (q) SELECT q, p FROM d.right_ones",
        {},
        "d.left_ones.q>d.o.q d.right_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones FULL UNION ALL BY NAME SELECT q, r FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q d.right_ones.q>d.o.q d.right_ones.r>d.o.r",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones EXCEPT DISTINCT BY NAME SELECT q, p FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT p, q FROM d.left_ones FULL EXCEPT DISTINCT BY NAME SELECT q, r FROM d.right_ones",
        {},
        "d.left_ones.p>d.o.p d.left_ones.q>d.o.q",
    ),
]
ROWS = {"d.s": {"pay": "INT64", "item": "ARRAY<INT64>"}, "d.u": {"pay": "INT64"}}
RELATIONS: list[Case] = [
    # BigQuery: a relation's alias and the element of an array go before columns of the name, even t's own.
    *(
        ("bigquery", f"CREATE TABLE d.o AS {query}", schema, edges)
        for query, schema, edges in (
            ("SELECT item FROM d.s, UNNEST(item) AS item", ROWS, "d.s.item>d.o.item"),
            ("SELECT Pay AS x FROM d.s, UNNEST(item) AS pay", ROWS, "d.s.item>d.o.x"),
            ("SELECT pay AS x FROM d.s, UNNEST(item) AS i WITH OFFSET pay", ROWS, ""),
            ("SELECT pay AS x FROM d.s AS pay", ROWS, "d.s.item>d.o.x d.s.pay>d.o.x"),
            ("SELECT s AS x FROM d.s", {"d.s": {"s": "INT64", "k": "INT64"}}, "d.s.k>d.o.x d.s.s>d.o.x"),
            ("SELECT (SELECT pay FROM d.u AS w LIMIT 1) AS x FROM d.s AS pay", ROWS, "d.u.pay>d.o.x"),
            ("WITH pay AS (SELECT pay FROM d.s) SELECT pay.pay AS x FROM pay", ROWS, "d.s.pay>d.o.x"),
            ("SELECT pay AS x FROM d.s JOIN d.u USING (pay)", ROWS, "d.s.pay>d.o.x"),
            ("SELECT v AS x FROM d.s AS v", {}, "d.s.*>d.o.x"),
            ("SELECT (SELECT v FROM UNNEST(s.item) AS i) AS x FROM d.s", {}, "d.s.item>d.o.x? d.s.v>d.o.x?"),
            ("SELECT (SELECT v FROM UNNEST(s.item)) AS x FROM d.s", {}, "d.s.item>d.o.x"),
        )
    ),
    ("duckdb", "CREATE TABLE o AS SELECT pay AS x FROM s AS pay", {"s": {"pay": "INT", "k": "INT"}}, "s.pay>o.x"),
    # DuckDB: what a recursive item had in all turns, the columns of a table, a parameter of a function.
    (
        "duckdb",
        "CREATE TABLE o AS WITH RECURSIVE c(k, v) USING KEY (k) AS (SELECT k, v FROM s UNION ALL "
        "SELECT n.k, r.v + 1 FROM c n JOIN recurring.c r USING (k) WHERE n.v < 3) SELECT k, v FROM c",
        {},
        "s.k>o.k s.v>o.v",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT k FROM recurring.c", {}, "recurring.c.k>o.k"),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT q.n FROM s, (SELECT MAX(t.a) AS n FROM t WHERE t.k = s.k) q",
        {"s": {"k": "int"}, "t": {"a": "int", "k": "int"}},
        "t.a>o.n",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT min FROM (SUMMARIZE TABLE s)", {"s": {"a": "int"}}, "s.a>o.min"),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT s.a, g.v FROM s, f(s.b, n = 1, m = s.c) g",
        {"s": {"a": "int", "b": "int", "c": "int"}},
        "s.a>o.a s.b>o.v s.c>o.v",
    ),
    (
        "trino",
        "CREATE TABLE o AS SELECT * FROM TABLE(system.builtin.exclude_columns("
        "input => TABLE(s), columns => DESCRIPTOR(a, c)))",
        {"s": {"a": "int", "b": "int", "c": "int"}},
        "s.b>o.b",
    ),
    (
        "trino",
        "CREATE TABLE o AS SELECT * FROM TABLE(exclude_columns(input => TABLE(s), columns => DESCRIPTOR(a, c)))",
        {"s": {"a": "int", "b": "int", "c": "int"}},
        "s.b>o.b",
    ),
    (
        "athena",
        "CREATE TABLE o AS SELECT x.* FROM TABLE(exclude_columns(TABLE(SELECT a, b FROM s), DESCRIPTOR(a))) x",
        {},
        "s.b>o.b",
    ),
    (
        "trino",
        "CREATE TABLE o AS SELECT p FROM TABLE(f(input => TABLE(s) PARTITION BY a, by => DESCRIPTOR(b)))",
        {},
        "s.*>o.p",
    ),
    (
        "clickhouse",
        "CREATE TABLE lib.every_s ON CLUSTER c (a Int32, INDEX i a TYPE minmax, `b c` String) "
        "ENGINE = Distributed('c', 'lib', 's', rand()); INSERT INTO o (a) SELECT a FROM lib.every_s",
        {},
        "lib.every_s.a>o.a lib.s.a>lib.every_s.a lib.s.b c>lib.every_s.b c",
    ),
    (
        "clickhouse",
        "CREATE MATERIALIZED VIEW v ON CLUSTER c TO lib.o (a Array(String)) AS SELECT approx_top_k(5)(a) AS a FROM s",
        {},
        "s.a>lib.o.a s.a>v.a",
    ),
    (
        "clickhouse",
        "CREATE TABLE IF NOT EXISTS held AS lib.s ENGINE = Buffer(currentDatabase(), s, 16, 10)",
        {"s": {"a": "Int32"}},
        "s.a>held.a",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, (SELECT MAX(w.pages) FROM b.works w) AS longest FROM d.books b",
        {},
        "d.books.no>d.o.no d.books.works>d.o.longest",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, w.pages FROM d.books b JOIN b.works w ON w.pages > 9",
        {},
        "d.books.no>d.o.no d.books.works>d.o.pages",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT b.no, w.pages FROM d.b b JOIN b.works w ON w.no = b.no",
        {"d.b": {"no": "INT64"}},
        "b.works.pages>d.o.pages d.b.no>d.o.no",
    ),
    (
        "impala",
        "INSERT INTO o (no, page) SELECT b.no, w.item FROM lib.books b, b.works w",
        {},
        "lib.books.no>o.no lib.books.works>o.page",
    ),
    (
        "impala",
        "INSERT INTO o (no, longest) SELECT b.no, v.m FROM lib.books b, (SELECT MAX(pages) AS m FROM b.works) v",
        {},
        "lib.books.no>o.no lib.books.works>o.longest",
    ),
    (
        "bigquery",
        "INSERT INTO d.o (no, label) SELECT g.no, b.label FROM GRAPH_TABLE(d.g MATCH (a:Author)-[w:Wrote]->(b:Book) "
        "WHERE a.no > 3 RETURN a.no, COUNT(*) AS n) AS g JOIN d.books b ON b.no = g.no",
        {},
        "d.books.label>d.o.label",
    ),
    (
        "oracle",
        "INSERT INTO o (no) SELECT no FROM compared(books, lib.loans, COLUMNS(no, label))",
        {},
        "books.*>o.no lib.loans.*>o.no",
    ),
    (
        "oracle",
        "INSERT INTO o (no) SELECT no FROM GRAPH_TABLE (library MATCH (a IS author) -[w]->{1,3} (b) COLUMNS (b.no))",
        {},
        "",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS FROM d.books |> SELECT no, label |> CALL d.ranked(3) AS r |> SELECT r.place",
        {},
        "d.books.label>d.o.place d.books.no>d.o.place",
    ),
    (
        "postgres",
        "INSERT INTO o (a, b, c) SELECT j.*, b.label FROM books b JOIN loans l USING (no) AS j, shops WHERE j.no > 1",
        {"books": {"no": "INT", "label": "TEXT"}, "loans": {"no": "INT"}, "shops": {"k": "INT"}},
        "books.label>o.b books.no>o.a",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT no FROM query_table('lib.books')", {}, "lib.books.no>o.no"),
    ("duckdb", "CREATE MACRO o(t) AS TABLE SELECT no FROM query_table(t)", {}, ""),
    (
        "postgres",
        "CREATE TABLE o AS WITH RECURSIVE a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "books.no>o.no",
    ),
    (
        "sqlite",
        "CREATE TABLE o AS WITH a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "books.no>o.no",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS WITH RECURSIVE a AS (SELECT no FROM b), b AS (SELECT no FROM books) SELECT no FROM a",
        {},
        "b.no>o.no",
    ),
    ("saphana", "CREATE COLUMN TABLE o AS (SELECT no FROM books) WITH DATA", {}, "books.no>o.no"),
    (
        "postgres",
        "CREATE MATERIALIZED VIEW o TABLESPACE fast AS SELECT b.no, l.n FROM books b LEFT JOIN LATERAL "
        "(SELECT MAX(l.no) AS n FROM loans l WHERE l.k = b.k) l ON true WITH NO DATA",
        {},
        "books.no>o.no loans.no>o.n",
    ),
    (
        "teradata",
        "LOCKING lib.books FOR ACCESS LOCKING lib.loans FOR ACCESS CREATE VOLATILE TABLE o AS "
        "(SELECT no FROM lib.books) WITH DATA PRIMARY INDEX (no) PARTITION BY RANGE_N(no BETWEEN 1 AND 9 EACH 1) "
        "ON COMMIT PRESERVE ROWS",
        {},
        "lib.books.no>o.no",
    ),
    (
        "tsql",
        "INSERT INTO o (no, far) SELECT TOP (3) WITH APPROXIMATE b.no, f.distance FROM VECTOR_SEARCH(TABLE = lib.books "
        "AS b, COLUMN = gist, SIMILAR_TO = @wanted, METRIC = 'cosine', TOP_N = 3) AS f WITH (FORCE_ANN_ONLY) "
        "WHERE b.pages > 9",
        {},
        "lib.books.gist>o.far lib.books.no>o.no",
    ),
    (
        "flink",
        "INSERT INTO o (no, begun) SELECT no, begun FROM loans MATCH_RECOGNIZE (PARTITION BY no ORDER BY seen MEASURES "
        "FIRST(a.day) AS begun ONE ROW PER MATCH AFTER MATCH SKIP TO LAST b PATTERN (a b*) DEFINE b AS b.day > a.day)",
        {},
        "loans.day>o.begun loans.no>o.no",
    ),
]

FUNCTION_ROWS: list[Case] = [
    ("duckdb", "CREATE TABLE o AS SELECT a, b AS A, c AS a FROM s", {}, "s.a>o.a s.b>o.a_1 s.c>o.a_2"),
    ("duckdb", "CREATE TABLE o AS SELECT a, b AS a_1, c AS a FROM s", {}, "s.a>o.a s.b>o.a_1 s.c>o.a_2"),
    ("duckdb", "CREATE VIEW o (x, y) AS SELECT a, b AS a FROM s", {}, "s.a>o.x s.b>o.y"),
    ("duckdb", "INSERT INTO o (x, y) SELECT a, b AS a FROM s", {}, "s.a>o.x s.b>o.y"),
    (
        "snowflake",
        "INSERT INTO o (x, y) SELECT q.a, q.b FROM (SELECT * RENAME (a AS b, b AS a) FROM s) q",
        {},
        "s.a>o.y s.b>o.x",
    ),
    (
        "postgres",
        "INSERT INTO o (a, b, c) SELECT x.m, x.n, x.p FROM s, "
        "ROWS FROM (generate_series(1, s.a), unnest(s.b)) WITH ORDINALITY AS x(m, n, p)",
        {},
        "s.a>o.a s.b>o.b",
    ),
    # DuckDB's UNPIVOT and PIVOT without INTO, IN or ON.
    *(
        ("duckdb", f"CREATE TABLE o AS {query}", {"s": {"a": "int", "b": "int", "k": "int"}}, expected)
        for query, expected in (
            ("UNPIVOT s ON a, b", "s.a>o.value s.b>o.value s.k>o.k"),
            ("UNPIVOT s ON a::TEXT, b::TEXT ORDER BY k LIMIT 1;", "s.a>o.value s.b>o.value s.k>o.k"),
            ("UNPIVOT s ON *", "s.a>o.value s.b>o.value s.k>o.value"),
            ("UNPIVOT s ON COLUMNS(* EXCLUDE k)::TEXT", "s.a>o.value s.b>o.value s.k>o.k"),
            ("SELECT * FROM s UNPIVOT (v FOR n IN (*))", "s.a>o.v s.b>o.v s.k>o.v"),
            ("UNPIVOT s ON (a, b), (b, k) INTO NAME n VALUE v, w", "s.a>o.v s.b>o.v s.b>o.w s.k>o.w"),
            ("PIVOT s USING SUM(a)", "s.a>o.sum(a)"),
            ("SELECT COALESCE(*COLUMNS(* EXCLUDE k)) AS x FROM s", "s.a>o.x s.b>o.x"),
            ("PIVOT s USING SUM(a) AS x, MAX(b) GROUP BY k ORDER BY k", "s.a>o.x s.b>o.max(b) s.k>o.k"),
        )
    ),
    # BigQuery's PIVOT: the names that ZetaSQL gives the columns of values without an alias.
    *(
        ("bigquery", f"CREATE TABLE d.o AS SELECT * FROM d.s PIVOT ({pivot})", {"d.s": {"a": "INT64", "k": ""}}, edges)
        for pivot, edges in (
            ("SUM(a) FOR k IN (1, 007, 3 AS three)", "d.s.a>d.o._1 d.s.a>d.o._7 d.s.a>d.o.three"),
            ("SUM(a) FOR k IN (2, -2)", "d.s.a>d.o._2 d.s.a>d.o.minus_2"),
            ("SUM(a) AS n FOR k IN (2, -2)", "d.s.a>d.o.n_2 d.s.a>d.o.n_minus_2"),
            ("SUM(a) FOR k IN (NUMERIC '2.50', NUMERIC '-.5')", "d.s.a>d.o._2_point_5 d.s.a>d.o.minus_0_point_5"),
            ("SUM(a) FOR k IN (TRUE, NULL)", "d.s.a>d.o.null d.s.a>d.o.true"),
            ("SUM(a) AS n FOR k IN (FALSE)", "d.s.a>d.o.n_false"),
            ("SUM(a) FOR k IN (DATE '2024-5-01')", "d.s.a>d.o._2024_05_01"),
            ("SUM(a) AS n FOR k IN (DATE '2024-05-01')", "d.s.a>d.o.n_2024_05_01"),
            ("SUM(a) FOR k IN ('', '1', 'x y')", "d.s.a>d.o.1 d.s.a>d.o.empty_string_value d.s.a>d.o.x y"),
        )
    ),
    (
        "tsql",
        "INSERT INTO o (a, b) SELECT no, value FROM s CROSS APPLY STRING_SPLIT(s.words, ',')",
        {},
        "s.no>o.a s.words>o.b",
    ),
    (
        "tsql",
        "INSERT INTO o (a, b) SELECT w.* FROM s CROSS APPLY STRING_SPLIT(s.words, ',', 1) w",
        {},
        "s.words>o.a",
    ),
    ("tsql", "INSERT INTO o (a) SELECT [key] FROM s CROSS APPLY OPENJSON(s.doc)", {}, "s.doc>o.a"),
    ("postgres", "INSERT INTO o (a, b) SELECT key, value FROM s, json_each(s.doc)", {}, "s.doc>o.a s.doc>o.b"),
    ("postgres", "INSERT INTO o (a) SELECT value FROM s, jsonb_array_elements(s.doc)", {}, "s.doc>o.a"),
    (
        "postgres",
        "INSERT INTO o (a, b) SELECT e.v, ordinality FROM s, jsonb_array_elements(s.doc) WITH ORDINALITY AS e(v)",
        {},
        "s.doc>o.a",
    ),
    ("sqlite", "INSERT INTO o (a) SELECT atom FROM s, json_tree(s.doc) WHERE type = 'text'", {}, "s.doc>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT value FROM s, json_each(s.doc)", {}, "s.doc>o.a"),
    ("snowflake", "INSERT INTO o (a) SELECT value FROM s, TABLE(SPLIT_TO_TABLE(s.words, ','))", {}, "s.words>o.a"),
    # Which element it is, nothing in it says: a number of one is chosen by what is taken apart, and not made of it.
    ("snowflake", "INSERT INTO o (a) SELECT index FROM s, TABLE(SPLIT_TO_TABLE(s.words, ','))", {}, ""),
    (
        "snowflake",
        "INSERT INTO o (a, b, c) SELECT f.seq, f.index, f.key FROM s, TABLE(FLATTEN(s.doc)) f",
        {},
        "s.doc>o.c",
    ),
    (
        "oracle",
        "INSERT INTO o (a, b, c, d) SELECT j.i, j.x, j.k, j.y FROM s, JSON_TABLE(s.doc, '$[*]' COLUMNS "
        "(i FOR ORDINALITY, x INT PATH '$.x', NESTED PATH '$.y[*]' COLUMNS (k FOR ORDINALITY, y INT PATH '$'))) j",
        {},
        "s.doc>o.b s.doc>o.d",
    ),
    ("snowflake", "INSERT INTO o (a) SELECT key FROM s, TABLE(FLATTEN(s.doc)) f", {}, "s.doc>o.a"),
    ("databricks", "INSERT INTO o (a) SELECT value FROM s, LATERAL variant_explode(s.doc)", {}, "s.doc>o.a"),
    ("oracle", "INSERT INTO o (a) SELECT column_value FROM s, TABLE(s.words)", {}, "s.words>o.a"),
    (
        "oracle",
        "INSERT INTO o (a, b) SELECT j.x, j.y FROM s, JSON_TABLE(s.doc FORMAT JSON, '$' COLUMNS (x NUMBER PATH '$.x', "
        "NESTED '$.ys[*]' COLUMNS (y VARCHAR2(9) FORMAT JSON WITH WRAPPER PATH '$'))) j",
        {},
        "s.doc>o.a s.doc>o.b",
    ),
    (
        "teradata",
        "INSERT INTO o (a) SELECT token FROM s, TABLE (STRTOK_SPLIT_TO_TABLE(s.no, s.words, ',') "
        "RETURNS (outkey INTEGER, tokennum INTEGER, token VARCHAR(9))) AS d",
        {},
        "s.no>o.a s.words>o.a",
    ),
    ("postgres", "INSERT INTO o (a) SELECT x FROM s, lib.rows_of(s.no)", {}, "s.no>o.a? s.x>o.a?"),
    ("postgres", "INSERT INTO o (a) SELECT s.x FROM s, lib.rows_of(s.no)", {}, "s.x>o.a"),
]


# Relations that are none, and columns that are none.

SHELVES = {"shelves": {"no": "INT", "box": "STRUCT(w INT, d STRUCT(h INT, k INT))", "boxes": "STRUCT(w INT)[]"}}
_BOTH_SIDES = {"s": {"k": "Int8", "v": "Int8"}, "u": {"k": "Int8", "v": "Int8", "w": "Int8"}}
_BESIDE = "s.k>o.k s.v>o.v u.k>o.u.k u.v>o.u.v u.w>o.w"
_NESTED = {"s": {"x": "Int8", "n.x": "Array(Int8)", "n.y": "Array(String)"}}
COLUMNS: list[Case] = [
    # What has the name of a list's or of a type is a column all the same where an element of it is taken.
    *(
        (dialect, f"INSERT INTO o (a) SELECT {name}[1] FROM s WHERE k::INT[] = CAST(k AS INT[])", {}, f"s.{name}>o.a")
        for dialect, names in (
            ("duckdb", ("date", "interval", "json", "list", "text")),
            ("postgres", ("interval", "list")),
        )
        for name in names
    ),
    *(("spark", f"INSERT INTO o (a) SELECT {n}[1] FROM s", {}, f"s.{n}>o.a") for n in ("array", "interval", "list")),
    ("duckdb", "INSERT INTO o (a) SELECT f(k, date[n]) FROM s", {}, "s.date>o.a s.k>o.a s.n>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT k::MAP(INTEGER[3], TEXT[2]) FROM s", {}, "s.k>o.a"),
    ("materialize", "INSERT INTO o (a) SELECT LIST[k] FROM s", {}, "s.k>o.a"),
    ("trino", "INSERT INTO o (a) SELECT ARRAY[k] FROM s", {}, "s.k>o.a"),
    ("databricks", "INSERT INTO o (a) SELECT ARRAY[k, l] FROM s", {}, "s.k>o.a s.l>o.a"),
    # The place of a row, where a table is known to have no column of that name.
    ("duckdb", "INSERT INTO o (a) SELECT s.rowid FROM s", {"s": {"a": "int"}}, ""),
    ("duckdb", "INSERT INTO o (a) SELECT s.rowid FROM s", {"s": {"rowid": "int"}}, "s.rowid>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT rowid FROM (SELECT a AS rowid FROM s) q", {}, "s.a>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT rowid FROM 'd/f.parquet'", {}, "d/f.parquet.rowid>o.a"),
    ("sqlite", "INSERT INTO o (a) SELECT rowid FROM s", {}, "s.rowid>o.a"),  # s may call it so, or by its primary key
    ("postgres", "INSERT INTO o (a) SELECT k FROM s WHERE k = ANY (ARRAY[:n])", {}, "s.k>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT [list[1], k] FROM s WHERE b IN list[1:3]", {}, "s.k>o.a s.list>o.a"),
    ("duckdb", "INSERT INTO o (a, b) SELECT s.a AS x, alias.x + 1 FROM s WHERE alias.x > 1", {}, "s.a>o.a s.a>o.b"),
    ("duckdb", "INSERT INTO o (a) SELECT alias.x FROM s AS alias", {}, "s.x>o.a"),
    (
        "duckdb",
        "INSERT INTO o (a, b) SELECT s.a AS x, (SELECT MAX(u.d + alias.x) FROM u) FROM s",
        {"s": {"a": "int"}, "u": {"d": "int"}},
        "s.a>o.a s.a>o.b u.d>o.b",
    ),
    ("duckdb", "INSERT INTO o (a) SELECT a[/* to */ :b] FROM s", {}, "s.a>o.a s.b>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT timestamptz[1] FROM s", {}, "s.timestamptz>o.a"),
    *(
        (dialect, "INSERT INTO o (a) SELECT array[k] FROM s", {}, "s.array>o.a s.k>o.a")
        for dialect in ("hive", "spark")
    ),
    ("duckdb", "INSERT INTO o (a) SELECT xs.apply(lambda x: x.trim().nullif(b)) FROM s", {}, "s.b>o.a s.xs>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT a COLLATE nocase.noaccent FROM s", {}, "s.a>o.a"),
    ("postgres", 'INSERT INTO o (a) SELECT a COLLATE pg_catalog."C" FROM s', {}, "s.a>o.a"),
    *(
        (dialect, f"INSERT INTO o (a) SELECT xs[{bounds}] FROM s", {}, f"{of_bound}s.xs>o.a")
        for dialect in ("duckdb", "greenplum", "postgres")
        for bounds, of_bound in ((":n", "s.n>o.a "), (": length(n) - 1", "s.n>o.a "), (":2", ""), (":", ""))
    ),
    ("teradata", "INSERT INTO o (a) SELECT s.day (DATE, FORMAT 'YYYY-MM-DD') (CHAR(10)) FROM s", {}, "s.day>o.a"),
    ("teradata", "INSERT INTO o (a) SELECT MAX(s.amt) (DECIMAL(18, 2)) FROM s", {}, "s.amt>o.a"),
    ("teradata", "INSERT INTO o (a) SELECT amt (INTEGER, NAMED whole) FROM s", {}, "s.amt>o.a"),
    (
        "teradata",
        "INSERT INTO o (a, b) SELECT NORMALIZE ON MEETS OR OVERLAPS no, span FROM s",
        {},
        "s.no>o.a s.span>o.b",
    ),
    ("teradata", "INSERT INTO o (a, b) SELECT NORMALIZE no, span FROM s", {}, "s.no>o.a s.span>o.b"),
    ("teradata", "INSERT INTO o (a) SELECT x.no FROM (CURRENT VALIDTIME SELECT no FROM s) x", {}, "s.no>o.a"),
    ("oracle", "CREATE TABLE o AS SELECT no, -\n label FROM s", {}, "s.label>o.label s.no>o.no"),
    ("oracle", "INSERT INTO o (a) SELECT no -\n less FROM s", {}, "s.less>o.a s.no>o.a"),
    (
        "doris",
        "INSERT INTO o (a) SELECT w FROM s LATERAL VIEW explode_split(words, ',') x AS w",
        {},
        "s.words>o.a",
    ),
    (
        "risingwave",
        "CREATE MATERIALIZED VIEW o AS SELECT h.no, window_start FROM TUMBLE(s, at, INTERVAL '1 min') h",
        {},
        "s.at>o.window_start s.no>o.no",
    ),
    ("spark", "INSERT INTO o (a) SELECT v FROM s UNPIVOT (v FOR n IN (s.jan AS j, s.feb))", {}, "s.feb>o.a s.jan>o.a"),
    ("databricks", "INSERT INTO o (a) SELECT col.w FROM s, LATERAL explode(s.boxes)", {}, "s.boxes>o.a"),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT x, n FROM s ARRAY JOIN xs AS x, arrayEnumerate(ys) AS n",
        {},
        "s.xs>o.a s.ys>o.b",
    ),
    # ClickHouse: an element goes before columns of its name, and is none of a star
    ("clickhouse", "INSERT INTO o (a) SELECT xs FROM s ARRAY JOIN xs", {"s": {"xs": "Array(Int8)"}}, "s.xs>o.a"),
    (
        "clickhouse",
        "INSERT INTO o (a) SELECT id FROM s ARRAY JOIN s.xs AS id JOIN u ON u.k = s.k",
        {"s": {"xs": "Array(Int8)", "id": "Int8", "k": "Int8"}, "u": {"k": "Int8", "id": "Int8"}},
        "s.xs>o.a",
    ),
    (
        "clickhouse",
        "INSERT INTO o (a) SELECT s.id FROM s ARRAY JOIN s.xs AS id",
        {"s": {"xs": "Array(Int8)", "id": "Int8"}},
        "s.id>o.a",
    ),
    ("clickhouse", "INSERT INTO o (a) SELECT x.1 FROM s ARRAY JOIN xs AS x", {"s": {"xs": "Array(Int8)"}}, "s.xs>o.a"),
    (
        "clickhouse",
        "INSERT INTO o (a, b, c) SELECT * FROM s ARRAY JOIN xs AS x JOIN u ON u.k = s.k",
        {"s": {"xs": "Array(Int8)", "k": "Int8"}, "u": {"v": "Int8"}},
        "s.k>o.b s.xs>o.a u.v>o.c",
    ),
    # ClickHouse: what both sides of a join have is the left one's
    ("clickhouse", "INSERT INTO o (a) SELECT v FROM s JOIN u ON s.k = u.k", _BOTH_SIDES, "s.v>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT v FROM s RIGHT JOIN u ON s.k = u.k", _BOTH_SIDES, "s.v>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT v FROM u, s WHERE s.k = u.k", _BOTH_SIDES, "u.v>o.a"),
    ("clickhouse", "INSERT INTO o (a, b) SELECT u.v, v FROM s JOIN u ON s.k = u.k", _BOTH_SIDES, "s.v>o.b u.v>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT u.v AS v FROM s JOIN u ON s.k = u.k", _BOTH_SIDES, "u.v>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT w FROM s RIGHT SEMI JOIN u USING (k)", _BOTH_SIDES, "u.w>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT k FROM s RIGHT ANTI JOIN u USING (k)", _BOTH_SIDES, "u.k>o.a"),
    (
        "clickhouse",
        "INSERT INTO o (a, b, c, d) SELECT * FROM s SEMI JOIN u USING (k)",
        _BOTH_SIDES,
        "s.k>o.a s.v>o.b u.v>o.c u.w>o.d",
    ),
    # ClickHouse: columns of Nested are called n.x, and those that both sides have by their table
    ("clickhouse", "INSERT INTO o (a) SELECT n.x FROM s", _NESTED, "s.n.x>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT s.n.x FROM s", _NESTED, "s.n.x>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT z.x FROM s ARRAY JOIN n AS z", _NESTED, "s.n.x>o.a"),
    ("clickhouse", "INSERT INTO o (a, b) SELECT n.y, x FROM s ARRAY JOIN n.x", _NESTED, "s.n.y>o.a s.x>o.b"),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT v, u.v FROM s JOIN u ON s.k = u.k ARRAY JOIN u.v",
        _BOTH_SIDES,
        "u.v>o.a u.v>o.b",
    ),
    ("clickhouse", "INSERT INTO o (a) SELECT arraySum(n.x) FROM s ARRAY JOIN n", _NESTED, "s.n.x>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT length(n) FROM s", _NESTED, "s.n.x>o.a s.n.y>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT n.x FROM n, s", {**_NESTED, "n": {"x": "Int8"}}, "n.x>o.a"),
    ("clickhouse", "INSERT INTO o SELECT u.k, s.v FROM s JOIN u ON s.k = u.k", {}, "s.v>o.v? u.k>o.k?"),
    ("clickhouse", "INSERT INTO o SELECT u.k, s.k FROM s JOIN u ON s.k = u.k", {}, "s.k>o.k? u.k>o.u.k?"),
    ("clickhouse", "INSERT INTO o (k, n.x) SELECT a, b FROM s", {}, "s.a>o.k s.b>o.n.x"),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT n.x, n.y AS y, count(), length(x), [x] FROM s GROUP BY x",
        _NESTED,
        "s.n.x>o.n.x s.n.y>o.y s.x>o.[x] s.x>o.length(x)",
    ),
    ("clickhouse", "CREATE TABLE o ENGINE = Memory AS SELECT * FROM s JOIN u ON s.k = u.k", _BOTH_SIDES, _BESIDE),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT s.*, u.* FROM s JOIN u ON s.k = u.k",
        _BOTH_SIDES,
        _BESIDE,
    ),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT u.v, s.v, u.w, u.k AS k FROM s JOIN u ON s.k = u.k",
        _BOTH_SIDES,
        "s.v>o.v u.k>o.k u.v>o.u.v u.w>o.w",
    ),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT * FROM s JOIN u USING (k)",
        _BOTH_SIDES,
        "s.k>o.k s.v>o.v u.v>o.u.v u.w>o.w",
    ),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT x.v, y.v FROM s AS x JOIN s AS y ON x.k = y.k JOIN u ON u.k = x.k",
        _BOTH_SIDES,
        "s.v>o.x.v s.v>o.y.v",
    ),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT q.v, q.u.v FROM (SELECT s.v, u.v FROM s JOIN u ON s.k = u.k) AS q",
        {},
        "s.v>o.a u.v>o.b",
    ),
    ("clickhouse", "INSERT INTO o (a, b, c) SELECT if(v > 1, nan, v), -Inf, `nan` FROM s", {}, "s.nan>o.c s.v>o.a"),
    ("clickhouse", "INSERT INTO o (a, b) SELECT _part, v FROM s", {}, "s.v>o.b"),
    ("clickhouse", "INSERT INTO o (a) SELECT _part FROM s", {"s": {"_part": "Int8"}}, "s._part>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT u.COLUMNS('v') FROM s JOIN u ON s.k = u.k", _BOTH_SIDES, "u.v>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT COLUMNS(w) FROM s", {"s": {"v": "Int8", "w": "Int8"}}, "s.w>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT if((length(w) AS n) > 3, n, 0) FROM s", {}, "s.w>o.a"),
    ("clickhouse", "INSERT INTO o (a, b) SELECT concat(lower(w) AS l, l), l FROM s", {}, "s.w>o.a s.w>o.b"),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT y AS x, x + 1 FROM s",
        {"s": {"x": "Int8", "y": "Int8"}},
        "s.y>o.a s.y>o.b",
    ),
    ("clickhouse", "CREATE TABLE o ENGINE = Memory AS SELECT x AS a FROM (SELECT a AS x FROM s)", {}, "s.a>o.a"),
    ("clickhouse", "CREATE VIEW o (a Int8, b Int8) AS SELECT y AS b, x AS a FROM s", {}, "s.x>o.a s.y>o.b"),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT argMin(v, at), sum(v) FROM s",
        {},
        "s.v>o.argmin(v, at) s.v>o.sum(v)",
    ),
    (
        "clickhouse",
        "CREATE TABLE o ENGINE = Memory AS SELECT * APPLY(max), COLUMNS(x) APPLY min FROM s",
        {"s": {"x": "Int8"}},
        "s.x>o.max(x) s.x>o.min(x)",
    ),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT * APPLY (c -> toString(c)) FROM s",
        {"s": {"x": "Int8", "y": "Int8"}},
        "s.x>o.a s.y>o.b",
    ),
    (
        "duckdb",
        "INSERT INTO o (a, b, c) SELECT no, unnest(box) FROM shelves",
        SHELVES,
        "shelves.box>o.b shelves.box>o.c shelves.no>o.a",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT unnest(box, recursive := true) FROM shelves",
        SHELVES,
        "shelves.box>o.h shelves.box>o.k shelves.box>o.w",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT unnest(boxes) FROM shelves", SHELVES, "shelves.boxes>o.unnest(boxes)"),
    ("duckdb", "CREATE TABLE o AS SELECT unnest(boxes, max_depth := 2) FROM shelves", SHELVES, "shelves.boxes>o.w"),
    ("duckdb", "CREATE TABLE o AS SELECT unnest({'p': no}) FROM shelves", SHELVES, "shelves.no>o.p"),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT COLUMNS(['box', 'no']) FROM shelves",
        SHELVES,
        "shelves.box>o.box shelves.no>o.no",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT COLUMNS(lambda c: c LIKE 'n%' OR c = 'boxes') FROM shelves",
        SHELVES,
        "shelves.boxes>o.boxes shelves.no>o.no",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT COLUMNS(c -> NOT starts_with(c, 'b')) FROM shelves",
        SHELVES,
        "shelves.no>o.no",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT [x, y][2] AS z FROM s", {}, "s.y>o.z"),
    ("bigquery", "INSERT INTO o (a) SELECT [y, x][ORDINAL(2)] FROM s", {}, "s.x>o.a"),
    ("bigquery", "INSERT INTO o (a) SELECT [x, y][SAFE_ORDINAL(1)] FROM s", {}, "s.x>o.a"),
    ("clickhouse", "INSERT INTO o (a) SELECT arrayElement([y, x], 2) FROM s", {}, "s.x>o.a"),
    ("databricks", "INSERT INTO o (a) SELECT try_element_at(array(x, y), 1) FROM s", {}, "s.x>o.a"),
    ("doris", "INSERT INTO o (a) SELECT [x, y][1] FROM s", {}, "s.x>o.a"),
    ("duckdb", "INSERT INTO o (a) SELECT list_extract([y, x], -1) FROM s", {}, "s.x>o.a"),
    ("flink", "INSERT INTO o (a) SELECT ARRAY[x, y][1] FROM s", {}, "s.x>o.a"),
    ("flink", "INSERT INTO o (a) SELECT MAP['k', x, 'l', MAP[y, z]] FROM s", {}, "s.x>o.a s.y>o.a s.z>o.a"),
    ("flink", "INSERT INTO o (a) SELECT MULTISET[s.x] FROM s", {}, "s.x>o.a"),
    ("flink", "INSERT INTO o (a) SELECT EXPR$1 FROM (SELECT s.x, s.y + 1 FROM s) q", {}, "s.y>o.a"),
    (
        "flink",
        "CREATE VIEW o AS SELECT s.x, s.y + 1, COUNT(s.z) OVER () FROM s",
        {},
        "s.x>o.x s.y>o.expr$1 s.z>o.expr$2",
    ),
    ("flink", "INSERT INTO o (a) SELECT s.`map`[1] FROM s", {}, "s.map>o.a"),
    ("flink", "INSERT INTO o (a) SELECT CAST(ROW(x, y) AS ROW(f INT, g ROW<h STRING>)).g FROM s", {}, "s.y>o.a"),
    ("flink", "INSERT INTO o (a, b) SELECT x, y + 1 AS z FROM s ORDER BY z + 1 LIMIT 9", {}, "s.x>o.a s.y>o.b"),
    ("snowflake", "INSERT INTO o (a) SELECT GET(ARRAY_CONSTRUCT(x, y), 0) FROM s", {}, "s.x>o.a"),
    ("spark", "INSERT INTO o (a) SELECT element_at(array(x, y), 1) FROM s", {}, "s.x>o.a"),
    ("spark", "INSERT INTO o (a) SELECT get(array(y, x), 1) FROM s", {}, "s.x>o.a"),
    ("trino", "INSERT INTO o (a) SELECT element_at(ARRAY[y, x], -1) FROM s", {}, "s.x>o.a"),
    ("vertica", "INSERT INTO o (a) SELECT (ARRAY[x, y])[0] FROM s", {}, "s.x>o.a"),
    ("duckdb", "CREATE TABLE o AS SELECT [x, y, z][-2] AS w FROM s", {}, "s.y>o.w"),
    ("duckdb", "CREATE TABLE o AS SELECT {'p': x, 'q': y}['q'] AS w FROM s", {}, "s.y>o.w"),
    ("duckdb", "CREATE TABLE o AS SELECT struct_extract({'p': x, 'q': y}, 'p') AS w FROM s", {}, "s.x>o.w"),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT q.r.k, q.r.l FROM (SELECT struct_insert({'k': x}, l := y) AS r FROM s) q",
        {},
        "s.x>o.k s.y>o.l",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT q.r.k FROM (SELECT struct_update({'k': x, 'l': y}, k := z) AS r FROM s) q",
        {},
        "s.z>o.k",
    ),
    (
        "snowflake",
        "CREATE TABLE o AS SELECT r:l AS w FROM (SELECT OBJECT_INSERT(OBJECT_CONSTRUCT('k', x), 'l', y) AS r FROM s)",
        {},
        "s.y>o.w",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT COLUMNS(c -> c <> 'box') FROM (SELECT no, box FROM s)", {}, "s.no>o.no"),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT * EXCEPT (z) APPLY(quantile(0.5)) FROM s",
        {"s": {"x": "Int8", "y": "Int8", "z": "Int8"}},
        "s.x>o.a s.y>o.b",
    ),
    ("teradata", "INSERT INTO o (a) SELECT CSUM(amt, day) FROM s", {}, "s.amt>o.a"),
    ("teradata", "INSERT INTO o (a) SELECT no WHERE no > 1 GROUP BY no FROM s", {}, "s.no>o.a"),
    ("tsql", "INSERT INTO o (doc) SELECT x FROM (SELECT a, b FROM s FOR XML PATH) q (x)", {}, "s.a>o.doc s.b>o.doc"),
    (
        "tsql",
        "SELECT k = 1, most = (SELECT MAX(x) FROM s), [at all] = ((SELECT MIN(t.y) FROM t WHERE t.k = s.k)) "
        "INTO o FROM s",
        {},
        "s.x>o.most t.y>o.at all",
    ),
    ("tsql", "INSERT INTO o (doc) SELECT a, b FROM s FOR JSON AUTO", {}, "s.a>o.doc s.b>o.doc"),
    (
        "bigquery",
        "UPDATE d.o t SET t.addr.city = s.town, b = s.b FROM d.s s WHERE s.no = t.no",
        {},
        "d.s.b>d.o.b d.s.town>d.o.addr",
    ),
    ("bigquery", "UPDATE d.o SET addr.city = s.town FROM d.s s WHERE s.no = o.no", {}, "d.s.town>d.o.addr"),
    ("postgres", "SELECT (addr).city AS c INTO o FROM s", {}, "s.addr>o.c"),
    ("bigquery", "CREATE TABLE d.o AS SELECT ARRAY_AGG(lib.fn(c) IGNORE NULLS) AS x FROM d.s", {}, "d.s.c>d.o.x"),
    ("bigquery", "CREATE TABLE d.o AS SELECT x FROM d.s, UNNEST(lines) AS l", {}, "d.s.lines>d.o.x? d.s.x>d.o.x?"),
    ("bigquery", "CREATE TABLE d.o AS SELECT x FROM d.s, UNNEST(GENERATE_ARRAY(1, 3)) AS n", {}, "d.s.x>d.o.x"),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT l.x, y FROM d.s, UNNEST(lines) AS l",
        {"d.s": {"lines": "ARRAY<STRUCT<x INT64>>", "y": "INT64"}},
        "d.s.lines>d.o.x d.s.y>d.o.y",
    ),
    (
        "oracle",
        "INSERT INTO o (a, b) SELECT y, z FROM s WHERE no > 1 MODEL DIMENSION BY (year AS y) "
        "MEASURES (amt z, net + tax AS w) RULES (z[ANY] = w[CV()] * 2) ORDER BY y",
        {},
        "s.amt>o.b s.net>o.b s.tax>o.b s.year>o.a",
    ),
    (
        "oracle",
        "CREATE VIEW o AS SELECT p, z FROM s MODEL REFERENCE r ON (SELECT cur, rate FROM fx) DIMENSION BY (cur) "
        "MEASURES (rate) MAIN m PARTITION BY (shop p) DIMENSION BY (year y) MEASURES (amt z, 0 v) "
        "IGNORE NAV RULES UPSERT ALL (z[ANY] = z[CV()] * rate['EUR'], v[1] = 2)",
        {},
        "fx.rate>o.z s.amt>o.z s.shop>o.p",
    ),
    (
        "snowflake",
        "CREATE DYNAMIC TABLE o (a INT, b STRING) TARGET_LAG = '1 hour' WAREHOUSE = w REFRESH USING "
        "(INSERT INTO SELF SELECT s.no, s.label FROM s)",
        {},
        "s.label>o.b s.no>o.a",
    ),
    (
        "snowflake",
        "CREATE TABLE o AS SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY at MEASURES "
        "FIRST(a.v) - FINAL LAST(b.v) AS diff PATTERN (a b+) SUBSET u = (a, b) DEFINE b AS b.v < a.v)",
        {},
        "s.k>o.k s.v>o.diff",
    ),
    ("teradata", "INSERT INTO o (a) SELECT s.name (NOT CASESPECIFIC) (UPPERCASE) FROM s", {}, "s.name>o.a"),
    ("teradata", "INSERT INTO o (a) SELECT (s.ended - s.begun) DAY(4) TO SECOND FROM s", {}, "s.begun>o.a s.ended>o.a"),
    ("teradata", "INSERT INTO o (a) SELECT s.span (PERIOD(DATE)) FROM s", {}, "s.span>o.a"),
    ("db2", "UPDATE o SET ends = begins + length MONTHS", {}, "o.begins>o.ends o.length>o.ends"),
    ("tsql", "INSERT INTO o (no, a) SELECT NEXT VALUE FOR dbo.numbers, NEXT VALUE FOR n - s.a FROM s", {}, "s.a>o.a"),
    ("fabric", "INSERT INTO o (a) SELECT NEXT VALUE FOR n OVER (ORDER BY s.b) + s.a FROM s", {}, "s.a>o.a"),
    ("ansi", "INSERT INTO o (a) SELECT NEXT VALUE FOR n-s.a FROM s", {}, "s.a>o.a"),
    (
        "teradata",
        "INSERT INTO o (a, b) SELECT CASE WHEN s.k = 1 THEN END(s.span) END (NAMED a), BEGIN(s.days) FROM s",
        {},
        "s.days>o.b s.span>o.a",
    ),
    ("db2", "INSERT INTO o (no, a) VALUES (NEXT VALUE FOR numbers, (SELECT MAX(no) FROM s))", {}, "s.no>o.a"),
    (
        "db2",
        "CREATE TABLE o (x, y) AS (SELECT a, b FROM s) DATA INITIALLY DEFERRED REFRESH DEFERRED",
        {},
        "s.a>o.x s.b>o.y",
    ),
    ("vertica", "INSERT INTO o (a) SELECT LISTAGG(no USING PARAMETERS separator = '|') FROM s", {}, "s.no>o.a"),
    (
        "oracle",
        "CREATE TABLE o AS SELECT * FROM s PIVOT XML (SUM(pay) AS p, MAX(no) AS n FOR k IN (SELECT k FROM keys))",
        {"s": {"shop": "NUMBER", "k": "NUMBER", "pay": "NUMBER", "no": "NUMBER"}},
        "s.no>o.k_xml s.pay>o.k_xml s.shop>o.shop",
    ),
    ("duckdb", "CREATE TABLE o (x INT, y AS (x * 2), z INT AS (y + 1))", {}, "o.x>o.y o.y>o.z"),
    ("snowflake", "CREATE TABLE o (x INT, y INT AS (x * 2), z INT AS (y + 1))", {}, "o.x>o.y o.y>o.z"),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT COLUMNS('b(.)') AS 'c_\\1', COLUMNS(c -> c = 'no') AS 'q_\\0' FROM shelves",
        {"shelves": {"no": "INT", "b1": "INT", "b2": "INT"}},
        "shelves.b1>o.c_1 shelves.b2>o.c_2 shelves.no>o.q_no",
    ),
    (
        "duckdb",
        "CREATE TABLE o AS SELECT s.* SIMILAR TO 'b.' FROM shelves s",
        {"shelves": {"no": "INT", "b1": "INT", "b2": "INT"}},
        "shelves.b1>o.b1 shelves.b2>o.b2",
    ),
    ("duckdb", "CREATE TABLE o AS SELECT * NOT SIMILAR TO 'b.*' FROM shelves", SHELVES, "shelves.no>o.no"),
    ("duckdb", "CREATE TABLE o AS SELECT no, x FROM s, (SELECT UNNEST(s.xs) AS x)", {}, "s.no>o.no s.xs>o.x"),
    ("duckdb", "CREATE TABLE o AS SELECT q.x FROM s, (SELECT MAX(x) AS x FROM t) q", {}, "t.x>o.x"),
    ("bigquery", "CREATE TABLE d.o AS SELECT a FROM d.s |> EXTEND a * 2 AS b", {}, "d.s.a>d.o.a d.s.a>d.o.b"),
    ("databricks", "CREATE VIEW o AS TABLE s |> SELECT a |> EXTEND a AS b", {}, "s.a>o.a s.a>o.b"),
    ("databricks", "INSERT INTO o (a) SELECT b.no FROM lake.s@v12 b JOIN t ON t.no = b.no", {}, "lake.s.no>o.a"),
    (
        "databricks",
        "CREATE TABLE o AS SELECT no, key, value FROM s, LATERAL explode(s.m)",
        {"s": {"no": "INT", "m": "MAP<STRING, INT>"}},
        "s.m>o.key s.m>o.value s.no>o.no",
    ),
    ("databricks", "INSERT INTO o (a) SELECT key FROM s, LATERAL explode(s.m)", {}, "s.key>o.a? s.m>o.a?"),
    ("spark", "INSERT INTO o (a) SELECT e.value FROM s LATERAL VIEW explode(m) e", {}, "s.m>o.a"),
    (
        "spark",
        "CREATE TABLE o AS SELECT no, posexplode(m) FROM s",
        {"s": {"no": "INT", "m": "MAP<STRING, INT>"}},
        "s.m>o.key s.m>o.value s.no>o.no",
    ),
    (
        "bigquery",
        "CREATE TABLE d.o AS SELECT sku FROM d.s CROSS JOIN UNNEST(lines) LEFT JOIN d.prices USING (sku)",
        {},
        "d.s.lines>d.o.sku? d.s.sku>d.o.sku?",
    ),
    (
        "oracle",
        "CREATE TABLE o AS SELECT CAST(x AS VECTOR(3, FLOAT32)) AS v, TO_VECTOR(y, 3, INT8) AS w, "
        "VECTOR_DISTANCE(x, z, COSINE) AS far FROM s",
        {},
        "s.x>o.far s.x>o.v s.y>o.w s.z>o.far",
    ),
    (
        "bigquery",
        "INSERT INTO o (a, b, e, f, g) SELECT NORMALIZE_AND_CASEFOLD(s.no, NFKC), "
        "ARRAY_ZIP(s.p, s.q, transformation => (no, x) -> no + x), WITH(x AS [s.p, s.q], y AS x, ARRAY_LENGTH(y)), "
        "CAST(s.d AS STRING FORMAT s.w AT TIME ZONE s.z), rb'no' FROM s TABLESAMPLE SYSTEM (2 * 5 PERCENT)",
        {},
        "s.d>o.f s.no>o.a s.p>o.b s.p>o.e s.q>o.b s.q>o.e s.w>o.f s.z>o.f",
    ),
]
ASSIGNMENTS: list[Case] = [
    *(
        (dialect, "UPDATE t SET a = b, c = a WHERE a = 1", {}, "t.a>t.c t.b>t.a")
        for dialect in ("bigquery", "clickhouse", "databricks", "postgres", "snowflake", "spark", "teradata")
    ),
    ("starrocks", "UPDATE t SET a = b, c = a WHERE a = 1", {}, "t.a>t.c t.b>t.a"),
    # MySQL and MariaDB assign from left to right: c has what a has by then. Of several tables they promise no order.
    *(
        case
        for dialect in ("mariadb", "mysql")
        for case in (
            (dialect, "UPDATE t SET a = b, c = a WHERE a = 1", {}, "t.b>t.a t.b>t.c"),
            (dialect, "UPDATE t AS x SET x.A = x.b, c = x.a + d, e = C", {}, "t.b>t.a t.b>t.c t.b>t.e t.d>t.c t.d>t.e"),
            (dialect, "UPDATE t SET a = DEFAULT, c = a", {}, ""),
            (dialect, "UPDATE t SET a = b, c = (SELECT MAX(u.a) FROM u)", {}, "t.b>t.a u.a>t.c"),
            (dialect, "INSERT INTO t (k) VALUES (1) ON DUPLICATE KEY UPDATE a = b, c = a", {}, "t.b>t.a t.b>t.c"),
            (
                dialect,
                "INSERT INTO t (k, a) SELECT s.k, s.a FROM s ON DUPLICATE KEY UPDATE t.a = t.b, c = t.a, d = s.a",
                {},
                "s.a>t.a s.a>t.d s.k>t.k t.b>t.a t.b>t.c",
            ),
            (dialect, "UPDATE t SET a = b, a = c", {}, "t.c>t.a"),
            (dialect, "UPDATE t SET a = b, c = (SELECT MAX(u.d + t.a) FROM u)", {}, "t.b>t.a t.b>t.c u.d>t.c"),
            (dialect, "UPDATE t JOIN u ON t.k = u.k SET t.a = u.b, t.c = t.a", {}, "t.a>t.c u.b>t.a"),
        )
    ),
    *(
        (
            dialect,
            "MERGE INTO t USING (SELECT k, b FROM s) AS n ON t.k = n.k "
            "WHEN MATCHED AND a = 1 THEN UPDATE SET a = n.b, c = a",
            {},
            "s.b>t.a t.a>t.c",
        )
        for dialect in ("databricks", "redshift", "snowflake", "teradata")
    ),
    ("clickhouse", "ALTER TABLE t UPDATE a = b + 1, c = a WHERE a = 1 SETTINGS mutations_sync = 1", {},
     "t.a>t.c t.b>t.a"),
    ("clickhouse", "ALTER TABLE t UPDATE settings = b WHERE settings = 1 SETTINGS x = 'a', y = 2", {},
     "t.b>t.settings"),
    ("duckdb", "INSERT INTO t (k, a) SELECT k, b FROM s ON CONFLICT (k) DO UPDATE SET a = excluded.a, c = a", {},
     "s.b>t.a s.k>t.k t.a>t.c"),
]  # fmt: skip
_ALIASED = "INSERT INTO o (a, b) SELECT k.no, k.w FROM s k, t AS m WHERE k.no = 3 AND m.v = 1"
ROUTINES: list[Case] = [
    *(
        (dialect, text, {}, "s.no>o.a s.w>o.b")
        for dialect, text in (
            ("bigquery", f"CREATE PROCEDURE p(k INT64, m STRING) BEGIN {_ALIASED}; END"),
            ("mysql", f"CREATE PROCEDURE p(IN k INT, m INT) BEGIN {_ALIASED}; END"),
            ("oracle", f"CREATE PROCEDURE p(k IN NUMBER) IS m NUMBER; BEGIN {_ALIASED.replace(' AS m', ' m')}; END;"),
            ("postgres", f"CREATE FUNCTION p(k int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN {_ALIASED}; END $$"),
            ("snowflake", f"CREATE PROCEDURE p(k INT, m INT) RETURNS INT LANGUAGE SQL AS $$ BEGIN {_ALIASED}; END $$"),
        )
    ),
    (
        "oracle",
        "CREATE PROCEDURE p(k NUMBER, m NUMBER) IS BEGIN MERGE INTO o k USING s m ON (k.no = m.no) "
        "WHEN MATCHED THEN UPDATE SET k.a = m.w WHERE m.v = p.k; END;",
        {},
        "s.w>o.a",
    ),
    (
        "mysql",
        "CREATE PROCEDURE p(IN k INT) BEGIN UPDATE o k JOIN s ON s.no = k.no SET k.a = s.w, k.b = k.c; END",
        {},
        "o.c>o.b s.w>o.a",
    ),
    (
        "bigquery",
        "CREATE PROCEDURE d.p(k STRUCT<no INT64, w ARRAY<STRUCT<m INT64, v INT64>>>, n INT64) BEGIN "
        "INSERT INTO d.o (a, b, c) SELECT k.no, w, s.v FROM d.s WHERE no = k.no AND m = n; END",
        {},
        "d.s.v>d.o.c d.s.w>d.o.b",
    ),
    (
        "bigquery",
        "CREATE PROCEDURE d.p(s STRUCT<no INT64>, t STRUCT<no INT64>) BEGIN "
        "INSERT INTO d.o (a, b) SELECT s.no, t.w FROM d.s JOIN d.t ON s.no = t.no; END",
        {},
        "d.s.no>d.o.a d.t.w>d.o.b",
    ),
    (
        "bigquery",
        "DECLARE k STRUCT<no INT64>; INSERT INTO d.o (a, b) SELECT k.no, w FROM d.s WHERE v = k.no;",
        {},
        "d.s.w>d.o.b",
    ),
    (
        "databricks",
        "CREATE FUNCTION f(k STRUCT<no: INT, w: STRING>) RETURNS TABLE (a STRING) RETURN SELECT w FROM s "
        "WHERE no = k.no; CREATE TABLE o AS SELECT a FROM f(struct(1, 'x'))",
        {},
        "f.a>o.a s.w>f.a",
    ),
    (
        "snowflake",
        "CREATE DATA METRIC FUNCTION f(r TABLE(w VARCHAR, v INT)) RETURNS NUMBER "
        "AS 'SELECT COUNT(*) FROM r WHERE w IS NULL'; CREATE TABLE o AS SELECT f(SELECT no, k FROM s) AS a",
        {},
        "f.result>o.a s.k>o.a s.no>o.a",
    ),
    (
        "bigquery",
        "CREATE TABLE FUNCTION d.f(r TABLE<no INT64, w STRING>, n INT64) AS SELECT r.w, no, m.v FROM r "
        "JOIN d.s AS m USING (no) WHERE w IS NULL AND m.k = n",
        {},
        "d.s.v>d.f.v",
    ),
    (
        "bigquery",
        "CREATE TABLE FUNCTION d.f(r ANY TABLE) AS SELECT w, m.v FROM r CROSS JOIN d.s AS m",
        {},
        "d.s.v>d.f.v d.s.w>d.f.w?",
    ),
    *(
        (dialect, text, {}, "s.no>o.a s.no>u.found")
        for dialect in ("greenplum", "postgres")
        for text in (
            "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM q; "
            "INSERT INTO o (a, b) SELECT no, FOUND FROM s; INSERT INTO u (found) SELECT no FROM s; RETURN 1; "
            "EXCEPTION WHEN OTHERS THEN INSERT INTO o (c) SELECT SQLERRM FROM s; END $$",
            "DO $$ BEGIN INSERT INTO o (a, b) SELECT no, found FROM s; INSERT INTO u (found) SELECT no FROM s; END $$",
        )
    ),
    (
        "postgres",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO o (a, b, c) SELECT s.no, TG_OP, TG_ARGV[0] FROM s WHERE s.k = NEW.k; RETURN NEW; END $$; "
        "CREATE TRIGGER g AFTER INSERT ON q FOR EACH ROW EXECUTE FUNCTION f()",
        {},
        "s.no>o.a",
    ),
    (
        "postgres",
        "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ INSERT INTO o (a, b) SELECT no, found FROM s $$",
        {},
        "s.found>o.b s.no>o.a",
    ),
    (
        "oracle",
        "CREATE PROCEDURE p IS v date; BEGIN SELECT MAX(seen) INTO v FROM u; "
        "INSERT INTO o (SELECT no AS a, v FROM s JOIN t ON t.k = s.k); INSERT INTO q ((SELECT v AS v FROM s)); END;",
        {"s": {"no": "int", "k": "int"}, "t": {"k": "int"}, "o": {"a": "int", "b": "date"}, "q": {"v": "date"}},
        "s.no>o.a u.seen>o.b u.seen>q.v",
    ),
    (
        "tsql",
        "DECLARE @n date, @m date\n  SELECT @n = MAX(seen) FROM s (NOLOCK)\n"
        "  SELECT @m = MIN(seen) FROM s WHERE k IN (1, 2)\n"
        "  SELECT @m = MAX(at) FROM u WHERE k IN (3)\n  INSERT INTO o (a, b) VALUES (@n, 1)\n"
        "  IF EXISTS (SELECT 1 FROM u)\n    UPDATE o SET b = c WHERE a = @n",
        {},
        "o.c>o.b s.seen>o.a",
    ),
    (
        "oracle",
        "INSERT INTO o (a) WITH FUNCTION twice (x NUMBER) RETURN NUMBER IS BEGIN RETURN x * 2; END; "
        "SELECT twice(s.no) FROM s",
        {},
        "s.no>o.a",
    ),
    (
        "oracle",
        "CREATE TABLE o AS WITH FUNCTION rate (k NUMBER) RETURN NUMBER IS r NUMBER; BEGIN IF k > 1 THEN "
        "SELECT MAX(pct) INTO r FROM rates WHERE no = k; END IF; RETURN r; END rate; PROCEDURE p IS BEGIN NULL; END; "
        "q AS (SELECT no FROM s) SELECT rate(no) AS a FROM q",
        {},
        "rates.pct>o.a s.no>o.a",
    ),
    (
        "oracle",
        "<< outer >>\nDECLARE n NUMBER;\nBEGIN\n  <<inner>>\n  DECLARE m NUMBER;\n  BEGIN\n    SELECT no INTO inner.m "
        "FROM s;\n    INSERT INTO o (a) VALUES (inner.m);\n  END inner;\nEND outer;",
        {},
        "s.no>o.a",
    ),
    (
        "oracle",
        "INSERT INTO o (a, b) SELECT s.no, j.y FROM s NESTED doc.lines[*] COLUMNS (x, NESTED ys[*] COLUMNS (y)) j",
        {},
        "s.doc>o.b s.no>o.a",
    ),
    (
        "oracle",
        "INSERT INTO o (a) SELECT EXTRACTVALUE(VALUE(x), '/i') FROM s, TABLE(XMLSEQUENCE(EXTRACT(s.doc, '/r/i'))) x",
        {},
        "s.doc>o.a",
    ),
    (
        "oracle",
        "INSERT INTO o (a) SELECT x.v FROM s, XMLTABLE(XMLNAMESPACES(DEFAULT 'u'), '/r' PASSING s.doc "
        "RETURNING SEQUENCE BY REF COLUMNS v VARCHAR2(9) PATH 'v') x",
        {},
        "s.doc>o.a",
    ),
    ("oracle", "INSERT INTO o (a, b) SELECT s.no, ORA_ROWSCN FROM s", {}, "s.no>o.a"),
    ("oracle", "INSERT INTO o (a, b) SELECT s.no, REF(s) FROM s", {}, "s.no>o.a"),
    *(
        (dialect, f"INSERT INTO o (a, b) SELECT s.no, GROUPING__ID FROM s GROUP BY {sets}", {}, "s.no>o.a")
        for dialect in ("databricks", "hive", "spark")
        for sets in ("s.no, s.at WITH CUBE", "s.no, s.at GROUPING SETS ((s.no), (s.no, s.at))", "ROLLUP (s.no, s.at)")
    ),
    ("hive", "INSERT INTO o (a, b) SELECT no, grouping__id FROM s", {}, "s.grouping__id>o.b s.no>o.a"),
    *(
        ("spark", f"INSERT INTO o (a, b, c) SELECT no, at, MAX(no + at) FROM s GROUP BY {keys}", {}, edges)
        for keys, edges in (
            ("no, at GROUPING SETS (no)", "s.at>o.c s.no>o.a s.no>o.c"),
            ("1, 2 GROUPING SETS ((), (2))", "s.at>o.b s.at>o.c s.no>o.c"),
            ("no, at GROUPING SETS (no, at)", "s.at>o.b s.at>o.c s.no>o.a s.no>o.c"),
        )
    ),
    (
        "spark",
        "INSERT INTO o (a, b) SELECT no + 1 + at, no AS n FROM s GROUP BY no + 1, at, n GROUPING SETS (at)",
        {},
        "s.at>o.a",
    ),
    (
        "clickhouse",
        "INSERT INTO o (a, b) SELECT argMaxIf(v, at, ok), argMinState(w, at) FROM s",
        {},
        "s.v>o.a s.w>o.b",
    ),
    ("db2", "INSERT INTO o (a) SELECT LISTAGG(s.no, ',') WITHIN GROUP (ORDER BY s.at) FROM s", {}, "s.no>o.a"),
    (
        "mariadb",
        "INSERT INTO o (no, pay) SELECT no, pay FROM s ON DUPLICATE KEY UPDATE pay = VALUE(pay) + o.extra",
        {},
        "o.extra>o.pay s.no>o.no s.pay>o.pay",
    ),
    (
        "oracle",
        "DECLARE TYPE row_of IS RECORD (k NUMBER, v NUMBER); r row_of; CURSOR c IS SELECT no, pay FROM s; BEGIN "
        "OPEN c; FETCH c INTO r; INSERT INTO o (a, b) VALUES (r.k, r.v); END;",
        {},
        "s.no>o.a s.pay>o.b",
    ),
    (
        "postgres",
        "DO $$ DECLARE x int; BEGIN FOREACH x IN ARRAY (SELECT array_agg(no) FROM s) LOOP "
        "INSERT INTO o (a) VALUES (x); END LOOP; END $$",
        {},
        "s.no>o.a",
    ),
    (
        "mysql",
        "CREATE PROCEDURE p() BEGIN DECLARE x INT; SET @x = (SELECT SUM(pay) FROM s); UPDATE o SET a = @x, b = x; END",
        {},
        "s.pay>o.a",
    ),
    (
        "bigquery",
        "DECLARE x, y INT64; SET (x, y) = (SELECT AS STRUCT no, pay FROM d.s); INSERT INTO d.o (a, b) VALUES (y, x)",
        {},
        "d.s.no>d.o.b d.s.pay>d.o.a",
    ),
    (
        "databricks",
        "BEGIN FOR SELECT no, pay AS p FROM s DO INSERT INTO o (a) VALUES (p); END FOR; END",
        {},
        "s.pay>o.a",
    ),
    (
        "db2",
        "CREATE PROCEDURE p () BEGIN FOR r AS c CURSOR WITH HOLD FOR SELECT no, pay FROM s DO UPDATE o SET a = r.pay "
        "WHERE no = r.no; END FOR; END",
        {},
        "s.pay>o.a",
    ),
]


DEFINITIONS: list[Case] = [
    (
        "db2",
        "DECLARE GLOBAL TEMPORARY TABLE session.w (no INT NOT NULL WITH DEFAULT, code CHAR(3) FOR BIT DATA) "
        "ON COMMIT PRESERVE ROWS NOT LOGGED WITH REPLACE IN space1; INSERT INTO session.w SELECT no, label FROM hired; "
        "INSERT INTO crew (label) SELECT code FROM session.w",
        {},
        "hired.label>session.w.code hired.no>session.w.no session.w.code>crew.label",
    ),
    (
        "db2",
        "DECLARE GLOBAL TEMPORARY TABLE session.w AS (SELECT no FROM hired) WITH DATA WITH REPLACE NOT LOGGED; "
        "INSERT INTO crew (no) SELECT no FROM session.w",
        {},
        "hired.no>session.w.no session.w.no>crew.no",
    ),
    (
        "db2",
        "DECLARE GLOBAL TEMPORARY TABLE session.w LIKE hired INCLUDING IDENTITY ON COMMIT DELETE ROWS; "
        "INSERT INTO crew (no) SELECT no FROM hired",
        {},
        "hired.no>crew.no",
    ),
    (
        "db2",
        "CREATE SUMMARY TABLE o AS (SELECT no, SUM(pay) AS net FROM s GROUP BY no) "
        "DATA INITIALLY DEFERRED REFRESH DEFERRED; CREATE TABLE p LIKE o IN space_1",
        {},
        "s.no>o.no s.pay>o.net",
    ),
    (
        "db2",
        "INSERT INTO o@\nSELECT a FROM s@\nWHERE a > 1@\nINSERT INTO p (b) SELECT a FROM q@\n",
        {},
        "q.a>p.b s@.a>o@.a?",
    ),
    ("db2", "INSERT INTO lib@a.o@ (a) SELECT b@1 FROM s@x", {}, "s@x.b@1>lib@a.o@.a"),
    ("oracle", "CREATE MATERIALIZED VIEW log ON PREBUILT TABLE AS SELECT a FROM s", {}, "s.a>log.a"),
    (
        "clickhouse",
        "CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY a TTL d TO DISK 'cold' POPULATE AS SELECT a FROM s",
        {},
        "s.a>v.a",
    ),
    ("clickhouse", "CREATE MATERIALIZED VIEW log ON CLUSTER c TO o AS SELECT a FROM s", {}, "s.a>log.a s.a>o.a"),
    (
        "oracle",
        "CREATE MATERIALIZED VIEW LOG ON s WITH ROWID, SEQUENCE (a) INCLUDING NEW VALUES; "
        "INSERT INTO o (a) SELECT a FROM s",
        {},
        "s.a>o.a",
    ),
    (
        "tsql",
        "DECLARE @n INT = 3; DECLARE @kept AS TABLE (no INT PRIMARY KEY, net INT, INDEX ix (net)); "
        "INSERT @kept SELECT id, pay FROM s WHERE pay > @n; INSERT INTO o (a) SELECT net FROM @kept",
        {},
        "#@kept.net>o.a s.id>#@kept.no s.pay>#@kept.net",
    ),
    (
        "tsql",
        "DECLARE @gone TABLE (no INT, twice AS no * 2) DELETE FROM s OUTPUT deleted.id INTO @gone (no) WHERE pay > 3 "
        "INSERT INTO o (a) SELECT g.twice FROM @gone g",
        {},
        "#@gone.no>#@gone.twice #@gone.twice>o.a s.id>#@gone.no",
    ),
    (
        "tsql",
        "DECLARE @t TABLE (a INT); INSERT INTO @t SELECT x FROM s\nGO\nDECLARE @t TABLE (b INT); "
        "INSERT INTO @t SELECT y FROM u; INSERT INTO o (a) SELECT b FROM @t",
        {},
        "#@t (2).b>o.a s.x>#@t.a u.y>#@t (2).b",
    ),
    ("tsql", "CREATE TABLE s (no INT, INDEX ix NONCLUSTERED (no)); SELECT * INTO o FROM s", {}, "s.no>o.no"),
    ("cockroach", "CREATE TABLE s (no INT, FAMILY f (no)); CREATE TABLE o AS SELECT * FROM s", {}, "s.no>o.no"),
    ("cockroach", "CREATE TABLE s (no INT, INDEX ix (no)); CREATE TABLE o AS SELECT * FROM s", {}, "s.no>o.no"),
    (
        "cockroach",
        "CREATE TABLE s (family f, index numeric(9)); CREATE TABLE o AS SELECT * FROM s",
        {},
        "s.family>o.family s.index>o.index",
    ),
    ("tsql", "CREATE TABLE s (no INT, v VECTOR(3, FLOAT16)); SELECT * INTO o FROM s", {}, "s.no>o.no s.v>o.v"),
    ("oracle", "CREATE TABLE s (no INT, v VECTOR(*, *)); CREATE TABLE o AS SELECT * FROM s", {}, "s.no>o.no s.v>o.v"),
    ("mariadb", "CREATE TABLE s (v INT, VECTOR INDEX (v)); CREATE TABLE o AS SELECT * FROM s", {}, "s.v>o.v"),
    ("singlestore", "CREATE TABLE s (no INT, SHARD KEY (no)); CREATE TABLE o AS SELECT * FROM s", {}, "s.no>o.no"),
    (
        "exasol",
        "CREATE TABLE s (a INT, b INT, DISTRIBUTE BY a, b); CREATE TABLE o AS SELECT * FROM s",
        {},
        "s.a>o.a s.b>o.b",
    ),
    (
        "risingwave",
        "CREATE SINK k AS SELECT no, MAX(pay) AS top FROM s GROUP BY no WITH (connector = 'kafka') FORMAT PLAIN",
        {},
        "s.no>k.no s.pay>k.top",
    ),
    (
        "risingwave",
        "CREATE SINK IF NOT EXISTS k INTO o (a, b) AS WITH q AS (SELECT no, pay FROM s) SELECT * FROM q "
        "WITH (type = 'append-only')",
        {},
        "s.no>o.a s.pay>o.b",
    ),
    ("risingwave", "CREATE SINK k FROM s WITH (connector = 'iceberg')", {"s": {"no": "INT"}}, "s.no>k.no"),
    (
        "materialize",
        "CREATE SINK k IN CLUSTER c FROM s INTO KAFKA CONNECTION b (TOPIC 't') FORMAT JSON ENVELOPE UPSERT",
        {"s": {"no": "INT"}},
        "s.no>k.no",
    ),
    (
        "db2",
        "EXPORT TO /data/o.del OF DEL MODIFIED BY NOCHARDEL MESSAGES m.txt "
        "WITH q AS (SELECT no FROM s) SELECT no FROM q",
        {},
        "s.no>/data/o.del.no?",
    ),
    (
        "db2",
        "DECLARE c CURSOR WITH HOLD FOR SELECT no, pay FROM s WHERE pay > 3; LOAD CLIENT FROM c OF CURSOR "
        "MESSAGES m.txt INSERT INTO o (a, b) NONRECOVERABLE; INSERT INTO p (k) SELECT a FROM o",
        {},
        "o.a>p.k s.no>o.a s.pay>o.b",
    ),
    (
        "db2",
        "CALL SYSPROC.ADMIN_CMD('LOAD FROM (SELECT no, pay FROM s) OF CURSOR METHOD N (pay) REPLACE INTO o (b)')",
        {},
        "s.pay>o.b",
    ),
    ("db2", "CALL ADMIN_CMD('IMPORT FROM \"/in/o.del\" OF DEL REPLACE INTO lib.o')", {}, "/in/o.del.*>lib.o.*"),
    ("db2", "LOAD FROM /in/a.del, /in/b.del OF DEL INSERT INTO o", {}, "/in/a.del.*>o.* /in/b.del.*>o.*"),
    ("db2", "LOAD FROM c OF CURSOR INSERT INTO o (a)", {}, ""),
    ("db2", "LOAD FROM (DATABASE far SELECT no FROM s) OF CURSOR TERMINATE INTO o", {}, ""),
    ("db2", "CALL ADMIN_CMD('RUNSTATS ON TABLE lib.o')", {}, ""),
    (
        "tsql",
        "CREATE TYPE lib.pairs AS TABLE (no INT PRIMARY KEY, net INT)\nGO\n"
        "CREATE PROCEDURE p @given lib.pairs READONLY AS DECLARE @n INT, @kept AS pairs; "
        "INSERT @kept SELECT id, pay FROM s; INSERT INTO o (a, b) SELECT k.net, g.net "
        "FROM @kept k JOIN @given g ON g.no = k.no",
        {},
        "#@given.net>o.b #@kept.net>o.a s.id>#@kept.no s.pay>#@kept.net",
    ),
    ("oracle", "SELECT no INTO held FROM s", {}, "s.no>no"),
    ("db2", "SELECT no INTO held FROM OLD TABLE (UPDATE s SET a = b WHERE no = 1)", {}, "s.b>s.a s.no>no"),
    ("exasol", "SELECT no INTO held FROM s", {}, "s.no>held.no"),
    ("duckdb", "CREATE VIEW o AS (DESCRIBE s) UNION ALL (DESCRIBE t)", {}, ""),
]


FILES: list[Case] = [
    ("starrocks", "INSERT INTO FILES('path' = 's3://b/d', 'format' = 'orc') SELECT a FROM s", {}, "s.a>s3://b/d.a?"),
    (
        "druid",
        "INSERT INTO EXTERN(google(bucket => 'b', prefix => 'p')) AS CSV SELECT a FROM s",
        {},
        "s.a>gs://b/p.a?",
    ),
    ("druid", "INSERT INTO EXTERN(local(exportPath => '/d')) AS CSV SELECT a FROM s", {}, "s.a>/d.a?"),
    ("starrocks", "INSERT INTO FILES(path = 'd/o.csv', 'format' = 'csv') SELECT a FROM s", {}, "s.a>d/o.csv.a?"),
    ("starrocks", "INSERT INTO files (a) SELECT b FROM s", {}, "s.b>files.a"),
    ("starrocks", "INSERT INTO BLACKHOLE() SELECT a FROM s", {}, "s.a>a"),
    ("druid", "INSERT INTO extern (a) SELECT b FROM s", {}, "s.b>extern.a"),
    ("informix", "SELECT a FROM s INTO EXTERNAL o USING (DATAFILES ('DISK:/d/o.unl'))", {}, "s.a>o.a"),
    ("informix", "SELECT a FROM s INTO STANDARD own.o", {}, "s.a>own.o.a"),
    ("informix", "SELECT a FROM s INTO RAW o LOCK MODE ROW", {}, "s.a>o.a"),
    ("informix", "SELECT a FROM s INTO SCRATCH z; INSERT INTO o SELECT a FROM z", {}, "s.a>z.a z.a>o.a?"),
    ("informix", 'SELECT a FROM s INTO TEMP "T" WITH NO LOG', {}, "s.a>t.a"),
    ("informix", "SELECT a FROM s INTO EXTERNAL \"o\" USING (DATAFILES ('DISK:/d/o.unl'))", {}, "s.a>o.a"),
    ("informix", "INSERT INTO d:own.o (a) SELECT b FROM e:own.s", {}, "e.own.s.b>d.own.o.a"),
    ("informix", "INSERT INTO d@srv:own.o (a) SELECT b FROM e@srv:s", {}, "e@srv..s.b>d@srv.own.o.a"),
    ("informix", "UPDATE d:own.o SET a = b WHERE c = :x", {}, "d.own.o.b>d.own.o.a"),
    ("informix", "INSERT INTO o (a, b) SELECT c, :x:y FROM s", {}, "s.c>o.a"),
    ("materialize", "CREATE TABLE o (a, b) FROM SOURCE s (REFERENCE d.r) WITH (TEXT COLUMNS (a))", {}, ""),
    ("materialize", "CREATE TABLE IF NOT EXISTS d.o FROM SOURCE d.s (REFERENCE r)", {}, ""),
    ("materialize", "CREATE TABLE o AS SELECT x.a FROM source x WHERE a > 1", {}, "source.a>o.a"),
    ("materialize", "CREATE TABLE o AS SELECT t.a FROM source JOIN t ON source.k = t.k", {}, "t.a>o.a"),
    (
        "materialize",
        "CREATE TABLE o (b) AS WITH source AS (SELECT a FROM s) SELECT a FROM source GROUP BY a",
        {},
        "s.a>o.b",
    ),
    ("tsql", "INSERT INTO o (a) SELECT x.b FROM OPENDATASOURCE('p', 'c').d.s.t AS x, u", {}, "opendatasource.b>o.a"),
    ("tsql", "INSERT INTO OPENDATASOURCE('p', 'c').d.s.t (a) SELECT b FROM s", {}, "s.b>function opendatasource.b?"),
    ("tsql", "UPDATE OPENDATASOURCE('p', 'c')...[t$] SET a = s.b FROM s", {}, "s.b>opendatasource.a"),
    (
        "tsql",
        "MERGE OPENQUERY(far, 'SELECT k, a FROM t') AS x USING s ON x.k = s.k WHEN MATCHED THEN UPDATE SET a = s.b",
        {},
        "s.b>far...t.a",
    ),
    ("db2", "INSERT INTO t (a, b) INCLUDE (x DECIMAL(5, 2)) SELECT c, d, e FROM s", {}, "s.c>t.a s.d>t.b"),
    ("db2", "INSERT INTO t (x, a) INCLUDE (x INT) WITH q AS (SELECT e, c FROM s) SELECT * FROM q", {}, "s.c>t.a"),
    ("db2", "INSERT INTO t INCLUDE (x INT) (a, x) SELECT b, c FROM s", {}, "s.b>t.a"),
    ("db2", "INSERT INTO t INCLUDE (x INT) SELECT b, c FROM s", {"t": {"a": "INT"}}, "s.b>t.a"),
    (
        "db2",
        "INSERT INTO u (p, q) SELECT a, x FROM FINAL TABLE (INSERT INTO t (a) INCLUDE (x INT) SELECT b, c FROM s)",
        {},
        "s.b>t.a t.a>u.p",
    ),
    ("db2", "INSERT INTO t INCLUDE (x INT) SELECT b, c FROM s UNION ALL SELECT b, e FROM u", {}, "s.b>t.b? u.b>t.b?"),
    ("db2", "INSERT INTO t INCLUDE (x INT) (SELECT b, c FROM s)", {}, "s.b>t.b?"),
    (
        "db2",
        "INSERT INTO t INCLUDE (x INT) WITH q AS (SELECT b, c FROM s) (SELECT b, c FROM q) UNION ALL "
        "(SELECT b, e FROM u WHERE b > ALL (SELECT f FROM v))",
        {},
        "s.b>t.b? u.b>t.b?",
    ),
    ("db2", "INSERT INTO t INCLUDE (x INT) OVERRIDING USER VALUE SELECT b, c FROM s", {}, "s.b>t.b?"),
    ("db2", "INSERT INTO t (a) INCLUDE (x INT) OVERRIDING USER VALUE SELECT b, c FROM s", {}, "s.b>t.a"),
    ("db2", "UPDATE t INCLUDE (x INT) SET x = a, a = b", {}, "t.b>t.a"),
    ("db2", "UPDATE t INCLUDE (x INT) SET (x, a) = (a, b), c = d", {}, "t.b>t.a t.d>t.c"),
    ("db2", "UPDATE t INCLUDE (x INT) SET (a, x, b) = (SELECT p, q, r FROM s WHERE s.i = t.i)", {}, "s.p>t.a s.r>t.b"),
    ("db2", "UPDATE t INCLUDE (x INT, y INT) SET (x, y) = (a, b), a = c", {}, "t.c>t.a"),
    (
        "clickhouse",
        "INSERT INTO o (a) FROM INFILE 'in/a.csv' COMPRESSION 'gzip' SETTINGS x = 1 FORMAT CSV",
        {},
        "in/a.csv.*>o.*",
    ),
    (
        "questdb",
        "CREATE TABLE o AS (SELECT ts, a FROM s), INDEX (a) TIMESTAMP(ts) PARTITION BY DAY",
        {},
        "s.a>o.a s.ts>o.ts",
    ),
    (
        "questdb",
        "INSERT INTO o SELECT ts, avg(p) AS p FROM s SAMPLE BY 1h FILL(PREV) ALIGN TO CALENDAR",
        {},
        "s.p>o.p? s.ts>o.ts?",
    ),
    (
        "questdb",
        "INSERT INTO o SELECT a FROM (SELECT * FROM s LATEST ON ts PARTITION BY k, j) WHERE a > 1",
        {},
        "s.a>o.a?",
    ),
    ("questdb", "INSERT INTO o SELECT s.a, u.b FROM s LT JOIN u ON (k)", {}, "s.a>o.a? u.b>o.b?"),
    ("db2", "INSERT INTO o (a) SELECT x.b FROM ONLY (lib.s) AS x", {}, "lib.s.b>o.a"),
    ("informix", "INSERT INTO o (a) SELECT b FROM ONLY (s)", {}, "s.b>o.a"),
    ("oracle", "INSERT INTO o (a) SELECT x.b FROM CONTAINERS(lib.s) x, u", {}, "lib.s.b>o.a"),
    ("postgres", "INSERT INTO o (a) SELECT x.b FROM ONLY (lib.s) AS x JOIN ONLY (u) ON u.i = x.i", {}, "lib.s.b>o.a"),
    ("postgres", "UPDATE ONLY (o) SET a = s.b FROM s", {}, "s.b>o.a"),
    ("questdb", "INSERT ATOMIC INTO o SELECT a FROM s; INSERT BATCH 9 INTO p SELECT a FROM s", {}, "s.a>o.a? s.a>p.a?"),
    ("oracle", "INSERT INTO o (a) SELECT b FROM INMEMORY EXTERNAL s", {}, "s.b>o.a"),
    ("informix", "LOAD FROM 'a.unl' DELIMITER '|' INSERT INTO o (a)", {}, "a.unl.*>o.*"),
    ("saphana", "IMPORT FROM CSV FILE '/a.csv' INTO lib.o WITH THREADS 4", {}, "/a.csv.*>lib.o.*"),
    ("saphana", "EXPORT INTO CSV FILE '/a.csv' FROM lib.s WITH REPLACE", {}, "lib.s.*>/a.csv.*"),
    ("teradata", "INSERT INTO o SELECT * FROM (LOCATION = '/s3/b/p/') AS d", {}, "/s3/b/p/.*>o.*"),
    *(
        ("hive", f"INSERT INTO TABLE o (a) SELECT x.no FROM {rows} x", {}, "lib.s.at>o.a lib.s.no>o.a")
        for rows in (
            "path(ON (SELECT at, no FROM lib.s) q DISTRIBUTE BY at SORT BY no steps('A.B+'), results('no'))",
            "f(ON g(ON (SELECT at, no FROM lib.s) PARTITION BY at) PARTITION BY at ORDER BY no)",
        )
    ),
    ("hive", "FROM f(ON lib.s) INSERT OVERWRITE TABLE o SELECT no", {"o": {"a": "int"}}, "lib.s.*>o.a"),
    (
        "hive",
        "CREATE TRANSACTIONAL TABLE o STORED AS ORC AS ((SELECT a FROM s) UNION (SELECT b FROM u))",
        {},
        "s.a>o.a u.b>o.a",
    ),
    ("hive", "CREATE MANAGED TABLE IF NOT EXISTS o PARTITIONED BY (b) AS SELECT a, b FROM s", {}, "s.a>o.a s.b>o.b"),
    ("hive", "INSERT INTO TABLE o PARTITION (p = 1, d, h) SELECT a, b, c FROM s", {}, "s.a>o.a? s.b>o.d s.c>o.h"),
    ("spark", "INSERT OVERWRITE o PARTITION (d) SELECT s.a, u.* FROM s, u", {}, "s.a>o.a? u.*>o.*"),
    ("hive", "INSERT INTO o (a) SELECT CAST(b AS TIMESTAMPLOCALTZ) FROM s", {}, "s.b>o.a"),
    (
        "hive",
        "FROM UNIQUEJOIN PRESERVE s a (a.no, a.d), PRESERVE (SELECT no, d FROM u) b (b.no, b.d), lib.w c (c.no, c.d) "
        "INSERT OVERWRITE TABLE o SELECT a.no, b.no, c.x",
        {"o": {"p": "int", "q": "int", "r": "int"}},
        "lib.w.x>o.r s.no>o.p u.no>o.q",
    ),
    *(
        (dialect, "INSERT INTO o (a) WITH p AS (SELECT no FROM q), q AS (SELECT no FROM q) SELECT no FROM p", {}, edge)
        for dialect, edge in (("hive", "q.no>o.a"), ("sqlite", "q.no>o.a"))
    ),
    (
        "hive",
        "WITH p AS (SELECT no FROM q), q AS (SELECT no FROM s) INSERT INTO o (a) SELECT no FROM p",
        {},
        "s.no>o.a",
    ),
]


def _edges(case: Case) -> str:
    dialect, statement, schema, _ = case
    found = LineageParser(statement, dialect=dialect, schema=schema).edges
    direct = {
        f"{edge.source}>{edge.target}".lower() + "?" * (not edge.certain)
        for edge in found
        if edge.type is LineageType.DIRECT
    }
    return " ".join(sorted(direct))


@pytest.mark.parametrize("case", CONFLICTS)
def test_rows_that_are_there_meet_those_that_come(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        ("oracle", "INSERT INTO (SELECT p FROM (SELECT a AS p FROM t) z) SELECT c FROM s", "s.c>t.a"),
        ("oracle", "INSERT INTO (SELECT * FROM (SELECT a AS p FROM t)) SELECT c FROM s", "s.c>t.a"),
        ("oracle", "INSERT INTO (WITH q AS (SELECT a AS p FROM t) SELECT p AS r FROM q) SELECT c FROM s", "s.c>t.a"),
        ("oracle", "UPDATE (SELECT a, b FROM (SELECT p AS a, q AS b FROM t)) x SET a = b", "t.q>t.p"),
        ("oracle", "UPDATE (SELECT a, b FROM (SELECT k, MAX(p) AS b FROM u GROUP BY k) z, t) SET a = b", "u.p>t.a"),
        ("tsql", "UPDATE x SET x.p = s.k FROM s JOIN (SELECT a, b FROM t) AS x (p, q) ON s.i = x.q", "s.k>t.a"),
        ("tsql", "UPDATE x SET x.p = s.k FROM s, (SELECT a, b FROM t) AS x (p, q)", "s.k>t.a"),
        ("tsql", "UPDATE x SET x.p = s.k FROM s CROSS APPLY (SELECT a FROM t WHERE t.c = s.c) x (p)", "s.k>t.a"),
        ("tsql", "WITH c AS (SELECT t.a, s.v FROM t JOIN s ON t.i = s.i) UPDATE d SET a = v FROM c AS d", "s.v>t.a"),
        ("db2", "UPDATE (SELECT a, b FROM t) AS x (p, q) SET p = (SELECT MAX(v) FROM s WHERE s.k = x.q)", "s.v>t.a"),
        ("oracle", "UPDATE (SELECT a AS p FROM t) x SET p = (SELECT x.v FROM x)", "x.v>t.a"),
        (
            "oracle",
            "MERGE INTO (SELECT a AS p, k FROM t) x USING s ON (x.k = s.k) WHEN MATCHED THEN UPDATE SET x.p = s.v",
            "s.v>t.a",
        ),
        (
            "db2",
            "MERGE INTO (SELECT a, k FROM t) AS x (p, q) USING s ON x.q = s.k "
            "WHEN NOT MATCHED THEN INSERT (p, q) VALUES (s.v, s.k)",
            "s.k>t.k s.v>t.a",
        ),
        ("mysql", "UPDATE (SELECT k, n FROM s) AS x JOIN t ON t.k = x.k SET a = x.n", "s.n>t.a"),
        ("mysql", "WITH t AS (SELECT 1 AS i) UPDATE u JOIN s ON u.i = s.i SET s.a = u.b", "u.b>s.a"),
        ("postgres", "WITH t AS (SELECT a FROM s) UPDATE t SET a = t.b", "t.b>t.a"),
        ("tsql", "UPDATE v SET a = x.b FROM v JOIN u PIVOT (SUM(q) FOR k IN ([a], [b])) AS x ON v.i = x.i", "u.q>v.a"),
        ("oracle", "INSERT INTO t v (v.a, v.b) SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("oracle", "INSERT INTO t PARTITION FOR (1) v (v.a, v.b) SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("oracle", "INSERT INTO t PARTITION (n) (a, b) SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("oracle", "INSERT INTO t@far v (v.a, v.b) SELECT p, q FROM s", "s.p>t@far.a s.q>t@far.b"),
        ("oracle", "INSERT INTO (SELECT a, b FROM t) v (v.b) SELECT q FROM s", "s.q>t.b"),
        (
            "oracle",
            "INSERT ALL INTO t v (v.a) VALUES (p) INTO u w (x) VALUES (q) SELECT p, q FROM s",
            "s.p>t.a s.q>u.x",
        ),
    ],
)
def test_a_table_is_changed_through_the_queries_that_read_it_as_it_is(
    dialect: str, statement: str, expected: str
) -> None:
    assert _edges((dialect, statement, {}, expected)) == expected


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("oracle", "INSERT INTO (SELECT a FROM t UNION ALL SELECT b FROM u) SELECT c FROM s"),
        ("db2", "INSERT INTO (SELECT a FROM t UNION ALL SELECT b FROM u) SELECT c FROM s"),
        ("db2", "UPDATE (SELECT a, b FROM t UNION ALL SELECT a, b FROM u) x SET a = b"),
        ("db2", "DELETE FROM (SELECT a FROM t UNION ALL SELECT a FROM u)"),
        ("oracle", "INSERT INTO (SELECT a + 1 AS a FROM t) SELECT c FROM s"),
        ("tsql", "WITH c AS (SELECT a, b FROM t UNION ALL SELECT a, b FROM u) UPDATE c SET a = b"),
        ("tsql", "WITH c AS (SELECT a, b FROM t UNION ALL SELECT a, b FROM u) INSERT INTO c SELECT a, b FROM s"),
        (
            "tsql",
            "WITH c AS (SELECT a, b FROM t UNION ALL SELECT a, b FROM u) "
            "MERGE c USING s ON s.b = c.a WHEN MATCHED THEN UPDATE SET a = s.x;",
        ),
        ("tsql", "WITH c AS (SELECT a, MAX(b) AS b FROM t GROUP BY a) UPDATE c SET a = b"),
        ("tsql", "UPDATE x SET x.a = s.k FROM s JOIN (SELECT a, MAX(b) AS b FROM t GROUP BY a) x ON s.i = x.b"),
        ("tsql", "UPDATE x SET x.a = s.k FROM s CROSS APPLY dbo.f(s.i) AS x"),
        ("tsql", "UPDATE x SET a = s.b FROM v PIVOT (SUM(q) FOR k IN ([a], [b])) AS x JOIN s ON s.i = x.i"),
        ("tsql", "UPDATE x SET x.q = s.b FROM s JOIN (v UNPIVOT (q FOR k IN ([a], [b])) AS x) ON s.i = x.i"),
        ("tsql", "DELETE x FROM v PIVOT (SUM(q) FOR k IN ([a], [b])) AS x JOIN s ON s.i = x.i"),
        ("tsql", "UPDATE x SET a = s.b FROM OPENJSON(@j) WITH (a INT, i INT) AS x JOIN s ON s.i = x.i"),
        ("tsql", "UPDATE x SET a = s.b FROM OPENROWSET(BULK 'f.csv', FORMAT = 'CSV') AS x JOIN s ON s.i = x.i"),
        ("tsql", "DELETE x FROM OPENROWSET(BULK 'f.csv', FORMAT = 'CSV') AS x JOIN s ON s.i = x.i"),
        ("mysql", "UPDATE t x JOIN (SELECT i, a FROM s) y ON x.i = y.i SET y.a = x.b"),
        ("mysql", "UPDATE t JOIN JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) j ON t.i = j.a SET j.a = t.b"),
        ("mysql", "WITH c AS (SELECT i, a FROM s) UPDATE t JOIN c ON t.i = c.i SET c.a = t.b"),
        ("mysql", "WITH c AS (SELECT i FROM s) DELETE c FROM t JOIN c ON t.i = c.i"),
        ("mysql", "DELETE y FROM t x JOIN (SELECT i FROM s) y ON x.i = y.i"),
        ("tsql", "MERGE dbo.f(1) AS x USING s ON x.k = s.k WHEN MATCHED THEN UPDATE SET a = s.b;"),
        ("druid", "INSERT INTO EXTERN(azure(container => 'c', prefix => 'd/p')) AS CSV SELECT a FROM s"),
        ("starrocks", "INSERT INTO FILES('format' = 'parquet') SELECT a FROM s"),
        ("doris", "INSERT INTO f(k => 'v') SELECT a FROM s"),
        ("trino", "INSERT INTO f(g(x)) SELECT a FROM s"),
        ("duckdb", "INSERT INTO f(1) SELECT a FROM s"),
        ("db2", "MERGE INTO t INCLUDE (x INT) USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET x = 1, a = s.b"),
        ("db2", "INSERT INTO t INCLUDE (x INT) SELECT b, s.* FROM s"),
        ("db2", "UPDATE t INCLUDE (x INT) SET (a, x) = (SELECT p, q FROM s UNION SELECT v, w FROM u)"),
        ("tsql", "WITH c AS (SELECT a, s.b FROM t JOIN s ON t.i = s.i) UPDATE c SET a = b"),
        ("oracle", "UPDATE (SELECT t.*, u.* FROM t JOIN u ON t.k = u.k) SET a = b"),
        ("oracle", "DELETE FROM (SELECT t.a FROM t JOIN u ON t.k = u.k)"),
        ("oracle", "INSERT ALL INTO (SELECT a FROM t) VALUES (p) INTO u VALUES (q) SELECT p, q FROM s"),
        ("oracle", "UPDATE THE (SELECT a FROM t WHERE k = 1) x SET x.b = (SELECT p FROM s)"),
        ("oracle", "INSERT INTO (SELECT a FROM t) x SELECT c FROM x"),
        ("mysql", "UPDATE (SELECT k, n FROM s) AS x JOIN t ON t.k = x.k JOIN u ON u.k = t.k SET a = x.n"),
    ],
)
def test_a_query_through_which_no_table_is_seen_to_change_is_not_taken_for_one(dialect: str, statement: str) -> None:
    with pytest.raises(Unparsable):
        LineageParser(statement, dialect=dialect)


def test_a_variable_that_each_assignment_doubles_is_not_followed_for_ever() -> None:
    doubled = ", ".join(f"@v{number} = @v{number - 1} + @v{number - 1}" for number in range(1, 40))
    found = LineageParser(f"UPDATE t SET @v0 = x, {doubled}, z = @v39, y = @v2", dialect="tsql")
    direct = {f"{edge.source}>{edge.target}" for edge in found.edges if edge.type is LineageType.DIRECT}
    assert direct == {"t.x>t.y"}
    assert [problem.subject for problem in found.problems] == ["variables"]


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        ("sqlite", "INSERT INTO t ('a', 'b') SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("mysql", 'INSERT INTO t (a, "b") SELECT p, q FROM s', "s.p>t.a s.q>t.b"),
        ("spark", 'INSERT OVERWRITE TABLE t (a, "b") SELECT p, q FROM s', "s.p>t.a s.q>t.b"),
        ("databricks", "INSERT INTO t (a, IDENTIFIER('b')) SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("snowflake", "INSERT INTO t (a, IDENTIFIER('b')) SELECT p, q FROM s", "s.p>t.a s.q>t.b"),
        ("teradata", "INSERT INTO t (1, 'x')", ""),
        ("teradata", "INSERT t ('x', 'y')", ""),
        ("teradata", "INS t (CURRENT_DATE, f(2), DATE '2020-01-01', -3, NULL)", ""),
        ("teradata", "INSERT INTO t (:x, 2)", ""),
    ],
)
def test_what_stands_in_brackets_behind_a_table_is_its_columns_or_a_row(
    dialect: str, statement: str, expected: str
) -> None:
    assert _edges((dialect, statement, {}, expected)) == expected
    assert [str(table) for table in LineageParser(statement, dialect=dialect).target_tables] == ["t"]


def test_a_column_that_is_bound_when_the_statement_runs_is_no_name() -> None:
    with pytest.raises(Templated):
        LineageParser("INSERT INTO t (a, IDENTIFIER(:b)) SELECT p, q FROM s", dialect="databricks")


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        ("bigquery", "UPDATE d.t SET s.b = s.c FROM (SELECT c, i FROM d.u) s WHERE t.i = s.i", "d.u.c>d.t.s"),
        ("postgres", "UPDATE d.t SET s.b = s.c FROM d.u s WHERE t.i = s.i", "d.u.c>d.t.s"),
        ("bigquery", "UPDATE d.t x SET x.b = s.c FROM d.u s WHERE x.i = s.i", "d.u.c>d.t.b"),
        ("mysql", "UPDATE t JOIN u s ON t.i = s.i SET s.b = t.c", "t.c>u.b"),
    ],
)
def test_set_names_columns_of_the_target_or_where_several_are_updated_of_any(
    dialect: str, statement: str, expected: str
) -> None:
    assert _edges((dialect, statement, {}, expected)) == expected


@pytest.mark.parametrize("case", BY_NAME)
def test_columns_meet_by_name_or_by_position_as_the_statement_says(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", RELATIONS)
def test_a_name_under_from_means_what_the_dialect_takes_it_for(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", COLUMNS)
def test_words_and_names_that_are_no_columns_are_none(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", FUNCTION_ROWS)
def test_columns_of_a_function_are_those_that_its_manual_names(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize(
    ("dialect", "statement", "known", "expected"),
    [
        ("clickhouse", "INSERT INTO o (a) SELECT * APPLY(sum) FROM s", {"AGGREGATION"}, False),
        ("clickhouse", "INSERT INTO o (a) SELECT * APPLY(sipHash64) FROM s", {"TRANSFORMATION"}, True),
        ("duckdb", "INSERT INTO o (a) SELECT MAX(COLUMNS(*)) FROM s", {"AGGREGATION"}, False),
        ("duckdb", "INSERT INTO o (a) SELECT md5(COLUMNS('x')) FROM s", {"TRANSFORMATION"}, True),
    ],
)
def test_a_function_does_to_each_column_of_a_star_what_it_does_to_one(
    dialect: str, statement: str, known: set[str], expected: bool
) -> None:
    direct = [
        edge
        for edge in LineageParser(statement, dialect=dialect, schema={"s": {"x": "INT"}}).edges
        if edge.type is LineageType.DIRECT
    ]
    assert {edge.subtype.value for edge in direct} == known
    assert {edge.masking for edge in direct} == {expected}


@pytest.mark.parametrize("case", DEFINITIONS)
def test_what_is_defined_has_its_columns_and_its_rows(case: Case) -> None:
    assert _edges(case) == case[3]


@pytest.mark.parametrize("case", ASSIGNMENTS)
def test_what_is_assigned_is_no_name_for_its_value(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("dialect", ["clickhouse", "snowflake", "spark"])
def test_rows_are_chosen_by_what_their_columns_were(dialect: str) -> None:
    edges = LineageParser("UPDATE t SET a = b WHERE a = 1", dialect=dialect).edges
    chosen = {str(edge.source).lower() for edge in edges if edge.type is LineageType.INDIRECT}
    assert chosen == {"t.a"}


@pytest.mark.parametrize("case", ROUTINES)
def test_what_a_query_calls_and_a_block_names_is_followed(case: Case) -> None:
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("case", FILES)
def test_the_words_of_a_load_and_an_export_are_no_tables_and_no_files(case: Case) -> None:
    assert _edges(case) == case[-1]


def test_a_whole_database_that_is_copied_names_no_table() -> None:
    with pytest.raises(Unparsable):
        LineageParser("COPY FROM DATABASE lib TO shop", dialect="duckdb")


@pytest.mark.parametrize(
    "dialect",
    [name for name, rules in DIALECTS.items() if rules.declare_opens_block] + ["ansi", "informix", "teradata"],
)
def test_a_declared_temporary_table_begins_no_block(dialect: str) -> None:
    script = "DECLARE GLOBAL TEMPORARY TABLE w (no INT) ON COMMIT PRESERVE ROWS; INSERT INTO crew (no) SELECT no FROM "
    assert _edges((dialect, f"{script}hired; UPDATE crew SET pay = 1", {}, "")) == "hired.no>crew.no"


@pytest.mark.parametrize("mark", [":1", "?1", ":name", "?"])
@pytest.mark.parametrize("dialect", ["oracle", "db2", "exasol", "saphana", "sqlite", "postgres", "mysql", "snowflake"])
def test_a_value_given_by_its_number_is_one_like_any_other(dialect: str, mark: str) -> None:
    def edges(statement: str) -> set[str]:
        found = LineageParser(statement.replace("@", mark), dialect=dialect)
        assert not (found.failures or found.problems)
        return {f"{edge.source}>{edge.target}".lower() for edge in found.edges}

    assert edges("INSERT INTO crew (no, pay) VALUES (@, @)") == set()
    assert edges("UPDATE crew SET pay = @, label = note || @ WHERE no IN (@, @)") == {
        *("crew.note>crew.label", "crew.no>crew.pay", "crew.no>crew.label"),
    }
    assert edges("DELETE FROM crew WHERE no = @ AND pay BETWEEN @ AND @") == {"crew.no>crew.*", "crew.pay>crew.*"}
    merge = "MERGE INTO crew t USING (SELECT no, pay FROM hired WHERE day > @) s ON (t.no = s.no) "
    assert edges(f"{merge}WHEN MATCHED THEN UPDATE SET pay = s.pay") == {
        *("hired.pay>crew.pay", "hired.day>crew.pay", "hired.no>crew.pay", "crew.no>crew.pay"),
    }


def test_the_numbers_of_a_slice_are_not_given_later() -> None:
    case = ("postgres", "INSERT INTO crew (pays) SELECT pays[1:2] FROM hired", {}, "hired.pays>crew.pays")
    assert _edges(case) == case[-1]


@pytest.mark.parametrize("before", ["", "SELECT 1\nGO\n", "DECLARE @n INT = 1;\n"])
def test_the_semicolon_before_else_does_not_end_an_if_of_t_sql(before: str) -> None:
    script = (
        f"{before}IF EXISTS (SELECT 1 FROM hired)\nINSERT INTO crew (no) SELECT no FROM hired; -- first\n"
        "ELSE IF 1 = 2 BEGIN INSERT INTO crew (no) SELECT pay FROM hired END; ELSE PRINT 'none';\n"
        "INSERT INTO crew (pay) SELECT pay FROM hired"
    )
    found = LineageParser(script, dialect="tsql")
    assert not found.failures
    direct = {str(edge.source) + ">" + str(edge.target) for edge in found.edges if edge.type is LineageType.DIRECT}
    assert direct == {"hired.no>crew.no", "hired.pay>crew.no", "hired.pay>crew.pay"}
