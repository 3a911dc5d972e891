"""SELECT and what it is made of: each construct read once, whatever surrounds it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ingestion.analysis._queries import QueryAnalysis
from ingestion.analysis.analyzer import analyze
from ingestion.dialects import DIALECTS, dialect_of
from ingestion.model.lineage import LineageType, Output
from ingestion.parsing.sqlglot.tier import parse
from tests.support.lineage_lines import analysed, column_lines, lines_of_flows

CASES = [
    # WITH
    ("with c as (select a, b as x from t) select x, a from c", {"x = t.b", "a = t.a"}),
    ("with c as (select a from t where z > 1) select a from c", {"a = t.a", "* filter t.z"}),
    ("with c(p, q) as (select a, b from t) select q, p from c", {"q = t.b", "p = t.a"}),
    ("with c as (select a from t), d as (select a from c) select a from d", {"a = t.a"}),
    ("with t as (select a as b from t) select b from t", {"b = t.a"}),
    ("with c as (with d as (select a from t) select a from d) select a from c", {"a = t.a"}),
    ("with unread as (select z from u) select a from t", {"a = t.a"}),
    (
        "with recursive r(n) as (select id from t union all select u.up from u join r on u.id = r.n) select n from r",
        {"n = t.id", "n = u.up", "* join u.id", "* join t.id", "* join u.up"},
    ),
    # derived tables
    ("select s.x from (select a as x from t where b = 1) s", {"x = t.a", "* filter t.b"}),
    ("select x from (select a as x from (select a from t) i) s", {"x = t.a"}),
    ("select s.q from (select a, b from t) s(p, q)", {"q = t.b"}),
    ("select a from ((select a from t)) s", {"a = t.a"}),
    # subqueries in expressions
    ("select (select max(b) from u) as m from t", {"m agg u.b"}),
    (
        "select (select max(u.b) from u where u.k = t.k) as m from t",
        {"m agg u.b", "m filter u.k", "m filter t.k"},
    ),
    (
        "select a from t where b in (select c from u where d = 1)",
        {"a = t.a", "* filter t.b", "* filter u.c", "* filter u.d"},
    ),
    ("select a from t where exists (select 1 from u where u.k = t.k)", {"a = t.a", "* filter u.k", "* filter t.k"}),
    ("select a from t where exists (select u.never from u)", {"a = t.a"}),
    ("select a from t where b > all (select c from u)", {"a = t.a", "* filter t.b", "* filter u.c"}),
    ("select (select a + b as r) as s from t", {"s f t.a", "s f t.b"}),
    # set operations
    ("select a from t union all select b from u", {"a = t.a", "a = u.b"}),
    ("select a from t union select b from u", {"a = t.a", "a = u.b", "* group t.a", "* group u.b"}),
    ("select a from t intersect select b from u", {"a = t.a", "a = u.b", "* join t.a", "* join u.b"}),
    ("select a from t except select b from u", {"a = t.a", "* join t.a", "* join u.b"}),
    ("select a from t union all select b from u order by a", {"a = t.a", "a = u.b", "* sort t.a", "* sort u.b"}),
    (
        "select x.a from (select a from t union all select b from u) x where x.a > 1",
        {"a = t.a", "a = u.b", "* filter t.a", "* filter u.b"},
    ),
    # joins
    ("select t.a, u.b from t join u on t.k = u.k", {"a = t.a", "b = u.b", "* join t.k", "* join u.k"}),
    ("select t.a from t, u where t.k = u.k", {"a = t.a", "* filter t.k", "* filter u.k"}),
    ("select k from t join u using (k)", {"k = t.k", "* join t.k", "* join u.k"}),
    ("select k from t right join u using (k)", {"k = u.k", "* join t.k", "* join u.k"}),
    (
        "select k from t full join u using (k)",
        {"k f t.k", "k f u.k", "k if t.k", "k if u.k", "* join t.k", "* join u.k"},
    ),
    ("select t2.a from ((t as t2 join u on t2.k = u.k))", {"a = t.a", "* join t.k", "* join u.k"}),
    (
        "select x.a from (t join u on t.k = u.k) as x join w on x.j = w.j where w.z = 1",
        {"a = t.a|u.a", "* join t.k", "* join u.k", "* join t.j|u.j", "* join w.j", "* filter w.z"},
    ),
    # grouping and ordering
    ("select a, count(*) as n from t group by a order by 2", {"a = t.a", "n is constant", "* group t.a"}),
    (
        "select a as b, sum(c) as s from t group by 1 having sum(c) > 1 order by s desc",
        {"b = t.a", "s agg t.c", "* group t.a", "* filter t.c", "* sort t.c"},
    ),
    (
        "select a from t group by grouping sets ((a), (b)), rollup (c)",
        {"a = t.a", "* group t.a", "* group t.b", "* group t.c"},
    ),
    ("select distinct a, b from t", {"a = t.a", "b = t.b", "* group t.a", "* group t.b"}),
    ("select distinct on (a) b from t", {"b = t.b", "* group t.a"}),
    ("select a as b from t order by b", {"b = t.a", "* sort t.a"}),
    # laterals and table functions
    ("select l.y from t cross join lateral (select t.x as y) l", {"y = t.x"}),
    ("select u from t, unnest(t.arr) as u", {"u f t.arr", "* filter t.arr"}),
    ("select g.n from t, generate_series(1, t.top) as g(n)", {"n f t.top", "* filter t.top"}),
    ("select a from (values (1, 2)) as v(a, b)", {"a is constant"}),
    ("values (1, (select max(x) from t))", {"column1 is constant", "column2 agg t.x"}),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_query_says_what_its_outputs_are_made_of(text: str, expected: set[str]) -> None:
    assert column_lines(text) == expected


DIALECT_CASES = [
    ("spark", "select q.x from t lateral view outer explode(t.m) q as x", {"x f t.m", "* filter t.m"}),
    ("hive", "select q.a0 from t lateral view json_tuple(t.j, 'k') q as a0", {"a0 f t.j"}),
    ("spark", "select explode(t.m) as (k, v) from t", {"k f t.m", "v f t.m", "* filter t.m"}),
    ("spark", "select stack(2, a, b) as (x) from t", {"x f t.a", "x f t.b"}),
    ("spark", "select l.a from l left semi join r on l.k = r.k", {"a = l.a", "* join l.k", "* join r.k"}),
    ("spark", "select * from l left anti join r using (k)", {"k = l.k", "* = l -k", "* join l.k", "* join r.k"}),
    ("spark", "select transform(a, b) using 'cat' as (c) from t", {"c f t.a", "c f t.b"}),
    (
        "bigquery",
        "select u.x, o from t, unnest(t.arr) as u with offset as o",
        {"x f t.arr", "o if t.arr", "* filter t.arr"},
    ),
    (
        "bigquery",
        "select array(select c from d where d.k = t.k) as r from t",
        {"r f d.c", "r filter d.k", "r filter t.k"},
    ),
    (
        "bigquery",
        "from t |> where a > 1 |> aggregate sum(b) as s group by c",
        {"c = t.c", "s agg t.b", "* filter t.a", "* group t.c"},
    ),
    (
        "snowflake",
        "select f.value:x::int as x from t, lateral flatten(input => t.arr) f",
        {"X f T.ARR", "* filter T.ARR"},
    ),
    ("spark", "select t.*, count(*) as n from t group by all", {"* = t", "n is constant", "* group t.*"}),
    (
        "spark",
        "select *, sum(b) as s, upper(c) as u from t group by all",
        {"* = t", "s agg t.b", "u f t.c", "* group t.*", "* group t.c"},
    ),
    (
        "spark",
        "select b, struct(t.*) as s, count(*) as n from t group by all",
        {"b = t.b", "s f t.*", "n is constant", "* group t.b", "* group t.*"},
    ),
    (
        "duckdb",
        "select exists (select * from u) as e, b, exists (select * from w) as f, count(*) as n from t group by all",
        {"e is constant", "f is constant", "b = t.b", "n is constant", "* group t.b"},
    ),
    (
        "duckdb",
        "select b, x in (select * from u) as e, count(*) as n from t group by all",
        {"b = t.b", "e f t.x", "e f u.*", "n is constant", "* group t.b", "* group t.x", "* group u.*"},
    ),
    (
        "spark",
        "select * from t left semi join (u join v on u.b = v.c) on t.a = u.b and t.d = v.e",
        {"* = t", "* join t.a", "* join t.d", "* join u.b", "* join v.c", "* join v.e"},
    ),
    (
        "spark",
        "select * from t left anti join (u left semi join v on u.b = v.c) on t.a = u.b join w on w.k = t.k",
        {"* = t", "* = w", "* join t.a", "* join u.b", "* join v.c", "* join w.k", "* join t.k"},
    ),
    ("duckdb", "select * from t order by all", {"* = t", "* sort t.*"}),
    ("snowflake", "select a, sum(b) as s from t group by all", {"A = T.A", "S agg T.B", "* group T.A"}),
    ("snowflake", "select $2 as x from (values (1, 2))", {"X is constant"}),
    ("snowflake", "select $1 as x from @stage/a.csv", {"X = @stage/a.csv.$1"}),
    (
        "snowflake",
        "select a from t qualify row_number() over (partition by b order by c) = 1",
        {"A = T.A", "* filter T.B", "* filter T.C"},
    ),
    (
        "tsql",
        "select z.x from t cross apply (select u.x from u where u.k = t.k) z",
        {"x = u.x", "* filter u.k", "* filter t.k"},
    ),
    ("tsql", "select top 5 a = b + 1 from #t with (nolock)", {"a f #t.b"}),
    (
        "tsql",
        "with r as (select a, up from t union all select t.a, r.a from t join r on t.up = r.a) select up from r",
        {"up = t.up", "up = t.a", "* join t.up", "* join t.a"},
    ),
    (
        "oracle",
        "select a from t start with b is null connect by prior c = d",
        {"A = T.A", "* filter T.B", "* join T.C", "* join T.D"},
    ),
    ("clickhouse", "select x from t array join arr as x", {"x f t.arr", "* filter t.arr"}),
    ("clickhouse", "with (select max(z) from u) as m select m from t", {"m agg u.z"}),
    (
        "clickhouse",
        "select a from t final prewhere b = 1 where c = 2 limit 1 by d",
        {"a = t.a", "* filter t.b", "* filter t.c", "* group t.d"},
    ),
    ("clickhouse", "with a + b as s select s, k from t", {"s f t.a", "s f t.b", "k = t.k"}),
    ("clickhouse", "with a + 1 as a select a from t", {"a f t.a"}),
    ("clickhouse", "select a from t where a not in w.u", {"a = t.a", "* filter t.a", "* filter w.u.*"}),
    ("clickhouse", "select a from t where a in t.xs", {"a = t.a", "* filter t.a", "* filter t.xs"}),
    ("clickhouse", "with [1] as u select a from t where a in u", {"a = t.a", "* filter t.a"}),
    (
        "clickhouse",
        "with u as (select c from v) select a from t where a in u",
        {"a = t.a", "* filter t.a", "* filter v.c"},
    ),
    ("clickhouse", "select json.^a.b as x from t", {"x f t.json"}),
    ("duckdb", "from t select a", {"a = t.a"}),
    ("bigquery", "select count(* having max a) as n from t", {"n sort# t.a"}),
    (
        "duckdb",
        "select a from t1 union by name select b, a from t2",
        {"a = t1.a", "a = t2.a", "b = t2.b", "* group t1.a", "* group t2.a", "* group t2.b"},
    ),
    ("teradata", "sel a from t qualify rank() over (order by b) = 1", {"a = t.a", "* filter t.b"}),
    ("trino", "select n from t cross join unnest(t.arr) with ordinality as u(n, i)", {"n f t.arr", "* filter t.arr"}),
    (
        "trino",
        "select x, y, n from t cross join unnest(t.a, t.b) with ordinality as u(x, y, n)",
        {"x f t.a", "y f t.b", "n if t.a", "n if t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "trino",
        "select k, v, e, n from t cross join unnest(t.m, t.a, t.b) with ordinality as u(k, v, w, e, n)",
        {
            "k f t.m",
            "v f t.m|t.a|t.b",
            "e f t.b",
            "n if t.m",
            "n if t.a",
            "n if t.b",
            "* filter t.b",
            "* filter t.m",
            "* filter t.a",
        },
    ),
    (
        "postgres",
        "select e, i from t, lateral unnest(t.a) with ordinality as u(e, i)",
        {"e f t.a", "i if t.a", "* filter t.a"},
    ),
    (
        "mysql",
        "select j.a, j.b from t, json_table(t.d, '$[*]' columns (a int path '$.a',"
        " nested path '$.b[*]' columns (b int path '$'))) as j",
        {"a f t.d", "b f t.d", "* filter t.d"},
    ),
    (
        "duckdb",
        "pivot t on y in (2000, 2010) using sum(p) as total group by c",
        {
            "c = t.c",
            "2000_total agg t.p",
            "2010_total agg t.p",
            "2000_total if t.y",
            "2010_total if t.y",
            "* group t.c",
        },
    ),
    ("tsql", "select 'Total' = a, [b] = c from t", {"total = t.a", "b = t.c"}),
    (
        "trino",
        "select k, v, x from t cross join unnest(t.m) as u(k, v)",
        {"k f t.m", "v f t.m", "x = t.x", "* filter t.m"},
    ),
    (
        "postgres",
        "select x, y from t, unnest(t.a, t.b) as u(x, y)",
        {"x f t.a", "y f t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "postgres",
        "select x, y from t, rows from (f(t.a), g(t.b)) as u(x, y)",
        {"x f t.a", "y f t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "bigquery",
        "select e, o from d.t s, s.arr as e with offset as o",
        {"e f d.t.arr", "o if d.t.arr", "* filter d.t.arr"},
    ),
    ("databricks", "select s.a from stream(t) s", {"a = t.a"}),
    ("databricks", "select a from identifier('d.t')", {"a = d.t.a"}),
    ("snowflake", "select x.a from table('d.t') x", {"A = D.T.A"}),
    ("spark", "select posexplode(a), b from t", {"pos if t.a", "col f t.a", "b = t.b", "* filter t.a"}),
    ("tsql", "select @x = a from t", set()),
    ("mysql", "select straight_join t.a from t join u on t.k = u.k", {"a = t.a", "* join t.k", "* join u.k"}),
    (
        "oracle",
        """select * from t match_recognize (partition by a order by b measures last(c.x) as d one row per match
           pattern (c+) define c as c.y > 1) m""",
        {"A = T.A", "D agg T.X", "* window T.A", "* window T.B", "* filter T.Y"},
    ),
    ("trino", "select a as b, b as c from t order by b + 1", {"b = t.a", "c = t.b", "* sort t.a"}),
    (
        "trino",
        "select a, b + 1 as c, sum(d) from t group by auto",
        {"a = t.a", "c f t.b", "_col2 agg t.d", "* group t.a", "* group t.b"},
    ),
    ("trino", "select auto from t group by auto", {"auto = t.auto", "* group t.auto"}),
    ("trino", "select current_schema, current_path from t", {"current_schema is constant", "current_path is constant"}),
    ("trino", "select y from t cross join lateral (values row(t.a, t.b)) v (x, y)", {"y = t.b"}),
    ("trino", "select a + 1 from s union all select * from t", {"_col0 f s.a", "_col0 = t.*"}),
    ("mysql", "select column_1 from (values row(1, 2) union all select a, b from t) v", {"column_1 = t.b"}),
    (
        "trino",
        "select y from t cross join lateral (values cast(row(t.a, t.b) as row(p int, q int))) v (x, y)",
        {"y f t.b"},
    ),
    ("redshift", "select a as x, x + 1 as y from t", {"x = t.a", "y f t.x|t.a"}),
    (
        "redshift",
        "select c.id, k, v from t as c, unpivot c.o as v at k",
        {"id = t.id", "k f t.o", "v f t.o", "* filter t.o"},
    ),
    ("redshift", "select v from t, unpivot t.o as v", {"v f t.o", "* filter t.o"}),
    ("redshift", "select l.x, i from t, t.a as l at i", {"x f t.a", "i if t.a", "* filter t.a"}),
    ("redshift", "select l.x, k from t, t.a l, unpivot l.o as v at k", {"x f t.a", "k f t.a", "* filter t.a"}),
    ("bigquery", "select a, b from ml.predict(model d.m, (select a, f(b) as b from d.t))", {"a = d.t.a", "b f d.t.b"}),
    ("bigquery", "select p.a from ml.predict(model d.m, (select a, b from d.t)) p", {"a = d.t.a"}),
    ("bigquery", "select p.a from ml.generate_text(model d.m, table d.t, struct(1 as k)) as p", {"a = d.t.a"}),
]


DECIDING_ROWS = [
    ("postgres", "select a from t limit (select n from c where k = 1)", {"* filter c.n", "* filter c.k", "from c"}),
    ("postgres", "select a from t offset (select n from c)", {"* filter c.n", "from c"}),
    ("postgres", "select a from t fetch first (select n from c) rows only", {"* filter c.n", "from c"}),
    ("db2", "select a from t fetch first (select n from c) rows only", {"* filter C.N", "from C"}),
    ("sqlite", "select a from t limit (select n from c), (select m from d)", {"* filter c.n", "* filter d.m"}),
    ("tsql", "select top (select n from c) percent a from t", {"* filter c.n", "from c"}),
    (
        "tsql",
        "select a from t order by b offset (select n from c) rows fetch next (select m from d) rows only",
        {"* sort t.b", "* filter c.n", "* filter d.m"},
    ),
    ("tsql", "select u.a from t cross apply (select top (t.n) a from u) u", {"* filter t.n"}),
    ("duckdb", "select a from t limit (select n from c) percent", {"* filter c.n"}),
    ("clickhouse", "select a from t limit (select n from c) by k", {"* filter c.n", "* group t.k"}),
    ("duckdb", "(select a from t) limit (select n from c)", {"* filter c.n", "from c"}),
    ("duckdb", "select a from t union all select a from u limit (select n from c)", {"* filter c.n", "from c"}),
    ("duckdb", "(select a from t limit (select n from c)) union all select a from u", {"* filter c.n", "from c"}),
    ("postgres", "table t limit (select n from c)", {"* filter c.n", "from c"}),
    ("postgres", "select a from t tablesample bernoulli ((select n from c))", {"* filter c.n", "from c"}),
    ("postgres", "select x.a from u join t as x tablesample system ((select n from c)) on true", {"* filter c.n"}),
    ("postgres", "select a, (select x from u limit (select n from c)) as y from t", {"y filter c.n"}),
    ("postgres", "select a from t where exists (select 1 from u limit (select n from c))", {"* filter c.n"}),
    (
        "postgres",
        "select sum(a) over (order by b rows between (select n from c) preceding and current row) as s from t",
        {"s window c.n", "s window t.b"},
    ),
    ("duckdb", "select sum(a) over (order by b range between k preceding and n following) s from t", {"s window t.k"}),
    ("postgres", "select a from t, generate_series(1, t.n)", {"* filter t.n"}),
    ("postgres", "select a from t, rows from (generate_series(1, t.n), unnest(t.l)) as s(x)", {"* filter t.l"}),
    ("postgres", "select a from t left join lateral jsonb_array_elements(t.d -> 'k') as x on true", {"* filter t.d"}),
    ("postgres", "select a, unnest(l) as x from t", {"* filter t.l", "x f t.l"}),
    ("postgres", "select a, jsonb_array_elements(d -> 'k') ->> 'v' as x from t", {"* filter t.d"}),
    ("duckdb", "select a, unnest(l) as x from t", {"* filter t.l"}),
    ("spark", "select a, explode(l) as x from t", {"* filter t.l"}),
    ("clickhouse", "select a, arrayJoin(l) as x from t", {"* filter t.l"}),
    ("bigquery", "select a from t left join unnest(t.l)", {"* filter t.l"}),
    ("snowflake", "select t.a from t, table(split_to_table(t.l, ','))", {"* filter T.L"}),
    ("tsql", "select t.a from t cross apply openjson(t.d)", {"* filter t.d"}),
    ("oracle", "select t.a from t, xmltable('/x' passing t.d columns k int path 'k')", {"* filter T.D"}),
    ("spark", "select t.a from t lateral view outer explode(l) v as x", {"* filter t.l"}),
    ("oracle", "select id from t unpivot (v for k in (p, q))", {"* filter T.P", "* filter T.Q"}),
    ("snowflake", "select id from t unpivot (v for k in (p, q))", {"* filter T.P", "* filter T.Q"}),
    ("duckdb", "select k from (unpivot t on p, q into name k value v)", {"* filter t.p", "* filter t.q"}),
]


@pytest.mark.parametrize(("dialect", "text", "expected"), DECIDING_ROWS)
def test_what_decides_how_many_rows_there_are_acts_on_the_outputs(dialect: str, text: str, expected: set[str]) -> None:
    (lines,) = lines_of_flows(text, dialect)
    assert expected <= lines


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "select a from t, unnest(array[t.b, t.c]) as x"),
        ("postgres", "select a, unnest(array[b, c]) as x from t"),
        ("postgres", "select a from t, jsonb_to_record(t.d) as x (b int)"),
        ("postgres", "select a from t limit size"),
        ("spark", "select a, x from t lateral view stack(2, b, c) v as x"),
        ("spark", "select a, x from t lateral view json_tuple(d, 'k') v as x"),
        ("spark", "select a, explode(map('k', b)) as (x, y) from t"),
        ("bigquery", "select a from t, unnest([struct(b as x), struct(c as x)])"),
        ("bigquery", "select x.b from (select array_agg(struct(b)) as l from t), unnest(l) as x"),
        ("oracle", "select id from t unpivot include nulls (v for k in (p, q))"),
        ("bigquery", "select id from t unpivot include nulls (v for k in (p, q))"),
    ],
)
def test_what_decides_only_values_does_not_decide_rows(dialect: str, text: str) -> None:
    assert not {line for line in column_lines(text, dialect) if line.startswith("* ")}


@pytest.mark.parametrize(("dialect", "text", "expected"), DIALECT_CASES)
def test_a_dialects_own_constructs_are_followed(dialect: str, text: str, expected: set[str]) -> None:
    assert column_lines(text, dialect) == expected


@pytest.mark.parametrize(
    ("query", "of_the_picked_row"),
    [
        ("select max(a) as m, b from t", {"b"}),
        ("select k, upper(b) as x, min(a) as m, count(*) as n from t group by k", {"x"}),
        ("select k as x, b, max(a) as m from t group by x having m > 1", {"b"}),
        ("select k, b, max(a) as m from t group by 1", {"b"}),
        ("select k, b from t group by k order by max(a)", {"b"}),
        ("select b, max(a) as m, min(a) as l from t", set()),
        ("select b, max(a, k) as m from t", set()),
        ("select b, max(a) over () as m from t", set()),
        ("select b, (select max(a) from t) as m from t", set()),
    ],
)
def test_one_extreme_picks_the_row_of_columns_beside_it_in_sqlite(query: str, of_the_picked_row: set[str]) -> None:
    lines = column_lines(query, "sqlite", {"t": "k a b"})
    assert {line.partition(" ")[0] for line in lines if " sort t.a" in line and line[0] != "*"} == of_the_picked_row
    assert not any(" sort t.a" in line and line[0] != "*" for line in column_lines(query, "mysql", {"t": "k a b"}))


PIVOTS = [
    (
        "oracle",
        "select * from t pivot (sum(a) as s, max(b) for k in (1 as x, 2 as y))",
        {"T": "A B K"},
        {"X_S agg T.A", "X_S if T.K", "X agg T.B", "X if T.K", "Y_S agg T.A", "Y_S if T.K", "Y agg T.B", "Y if T.K"},
    ),
    (
        "snowflake",
        "select * from t pivot (sum(amount) for month in ('JAN', 'FEB')) as p (region, jan, feb)",
        {"T": "REGION MONTH AMOUNT"},
        {
            "REGION = T.REGION",
            "JAN agg T.AMOUNT",
            "FEB agg T.AMOUNT",
            "JAN if T.MONTH",
            "FEB if T.MONTH",
            "* group T.REGION",
        },
    ),
    (
        "bigquery",
        "select * from t pivot (sum(a) as s for m in ('j' as jj))",
        {"t": "k m a"},
        {"k = t.k", "s_jj agg t.a", "s_jj if t.m", "* group t.k"},
    ),
    (
        "spark",
        "select * from t unpivot (v for n in (a, b))",
        {"t": "k a b"},
        {"k = t.k", "n is constant", "v = t.a", "v = t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "duckdb",
        "unpivot t on columns(* exclude (k)) into name n value v",
        {"t": "k a b"},
        {"k = t.k", "n is constant", "v = t.a", "v = t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "duckdb",
        "from t unpivot (v for n in (columns('a|b')))",
        {"t": "k a b"},
        {"k = t.k", "n is constant", "v = t.a", "v = t.b", "* filter t.b", "* filter t.a"},
    ),
    (
        "duckdb",
        "unpivot t on columns(* exclude (k)) into name n value v",
        {},
        {"n is constant", "v = t.*", "* filter t.*"},
    ),
    (
        "duckdb",
        "unpivot t on a, b into name n value v",
        {"t": "k a b"},
        {"k = t.k", "n is constant", "v = t.a", "v = t.b", "* filter t.b", "* filter t.a"},
    ),
]


@pytest.mark.parametrize(("dialect", "text", "schemas", "expected"), PIVOTS)
def test_pivots_take_columns_away_and_bring_others(
    dialect: str, text: str, schemas: dict[str, str], expected: set[str]
) -> None:
    assert column_lines(text, dialect, schemas) == expected


def test_sources_are_the_tables_that_are_read_even_without_a_column_of_theirs() -> None:
    (lines,) = lines_of_flows("select 1 as one from t cross join u where exists (select 1 from w)")
    assert {line for line in lines if line.startswith("from")} == {"from t", "from u", "from w"}


def test_a_file_and_a_stage_are_paths() -> None:
    (lines,) = lines_of_flows("select a from 'data/x.parquet'", "duckdb")
    assert lines == {"from data/x.parquet", "a = data/x.parquet.a"}


def test_an_analysis_is_gone_with_its_result() -> None:
    """Nothing of it waits for the garbage collector, which would look through all that a run holds."""
    statement = parse("with c as (select a from t) insert into w select (select max(b) from u) as b, a from c", "ansi")
    with no_collection():
        analyze(statement, lambda _name: None)
        assert not any(type(value) is QueryAnalysis for value in gc.get_objects(generation=0))


@contextmanager
def no_collection() -> Iterator[None]:
    gc.collect(0)  # what is older is not looked at: thousands of tests before this one may have left a lot
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


ONE_ROW = [(dialect, table) for dialect in DIALECTS for table, _ in dialect_of(dialect).one_row_tables]


@pytest.mark.parametrize(("dialect", "table"), ONE_ROW)
def test_the_one_row_of_a_system_is_no_source(dialect: str, table: str) -> None:
    text = "insert into n (a, b) select 1, (select s.x from {0}) from {0} join s on s.k = 2"
    with_row = lines_of_flows(text.format(table), dialect)
    assert with_row == lines_of_flows(text.format(table.upper() if dialect != "clickhouse" else table), dialect)
    assert {line.lower() for line in with_row[0]} == {"into n", "from s", "a is constant", "b = s.x", "* join s.k"}


@pytest.mark.parametrize("table", ["t", "hr.dual", "dual@far"])
def test_a_table_of_another_schema_or_server_than_the_systems_is_a_source(table: str) -> None:
    assert "from " in " ".join(lines_of_flows(f"insert into n (a) select a from {table}", "oracle")[0])


@pytest.mark.parametrize(
    ("dialect", "table", "source"),
    [
        ("mysql", "`dual`", "dual"),
        ("mysql", "`DUAL`", "DUAL"),
        ("mariadb", "`dual`", "dual"),
        ("oracle", '"dual"', "dual"),
        ("oracle", '"sys".dual', "sys.DUAL"),
        ("snowflake", '"dual"', "dual"),
        ("saphana", '"dummy"', "dummy"),
        ("clickhouse", "SYSTEM.ONE", "SYSTEM.ONE"),
    ],
)
def test_a_name_in_quotes_that_is_not_the_systems_is_a_table(dialect: str, table: str, source: str) -> None:
    assert f"from {source}" in lines_of_flows(f"insert into n (a) select x.a from {table} x", dialect)[0]


@pytest.mark.parametrize(
    ("dialect", "table"), [("oracle", '"DUAL"'), ("vertica", '"dual"'), ("clickhouse", "`system`.`one`")]
)
def test_the_systems_own_name_in_quotes_is_its_one_row(dialect: str, table: str) -> None:
    (lines,) = lines_of_flows(f"insert into n (a) select 1 from {table}", dialect)
    assert {line.lower() for line in lines} == {"into n", "a is constant"}


@pytest.mark.parametrize("dialect", ["postgres", "tsql", "hive", "sqlite", "bigquery"])
def test_where_no_system_has_a_dual_it_is_a_table(dialect: str) -> None:
    assert column_lines("select a from dual", dialect) == {"a = dual.a"}


def test_an_item_of_with_goes_before_the_one_row_of_its_name() -> None:
    assert column_lines("with dual as (select a from t) select a from dual", "mysql") == {"a = t.a"}


def test_the_column_of_the_one_row_is_a_constant() -> None:
    assert column_lines("select d.*, t.a from dual d cross join t", "oracle") == {"DUMMY is constant", "A = T.A"}
    assert column_lines("select ibmreqd as x from sysibm.sysdummy1", "db2") == {"X is constant"}


def test_a_recursive_item_has_items_of_its_own_in_all_of_its_branches() -> None:
    own = "with s as (select a from t) select a from s union all select a + 1 from q where a < 5"
    assert lines_of_flows(f"with recursive q as ({own}) select a from q") == [
        {"from t", "a = t.a", "a f t.a", "* filter t.a"}
    ]


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("select v.* from t cross join unnest(xs) v", "p xs, q xs"),
        ("select v.* from t cross join unnest(m, xs) with ordinality v", "_col0 m, _col1 m, p xs, q xs, _col4"),
        ("select v.* from t cross join unnest(m, xs) with ordinality v (a, b, c, d, n)", "a m, b m, c xs, d xs, n"),
        ("select v.* from t cross join unnest(ns, ms) v", "_col0 ns, _col1 ms"),
        ("select v.* from u cross join unnest(ns, ms) with ordinality v", "_col0 ns, _col1 ms, _col2"),
        ("select v.* from t cross join unnest(ns, f(m)) v (a, k, b)", "a ns, k m, b m"),
        ("select v.* from u cross join unnest(a, map(b, c)) v (x, k, y)", "x a, k b c, y b c"),
        ("select v.* from u cross join unnest(ns, ms) with ordinality v (a, b, n)", "a ns, b ms, n"),
    ],
)
def test_trinos_unnest_gives_so_many_columns_as_types_tell(text: str, outputs: str) -> None:
    types = {"t": "xs:ARRAY<STRUCT<p:INT,q:INT>> m:MAP<STRING,INT> ns:ARRAY<INT> ms:ARRAY<MAP<STRING,INT>>"}
    (flow,) = analysed(text, "trino", types).flows
    found = (" ".join([output.name, *_direct_columns(output)]) for output in flow.outputs)
    assert ", ".join(found) == outputs


@pytest.mark.parametrize("text", ["select * from unnest(a, b) with ordinality", "select * from unnest(a, b)"])
def test_arrays_side_by_side_give_a_column_each_where_no_names_are_listed(text: str) -> None:
    (flow,) = analysed(text.replace("from", "from t, "), "postgres", {"t": "a b"}).flows
    direct = [_direct_columns(output) for output in flow.outputs]
    assert direct[2:4] == [["a"], ["b"]]
    assert direct[4:] in ([], [[]])


def _direct_columns(output: Output) -> list[str]:
    return [one.sources[0].column for one in output.references if one.transformation.type is LineageType.DIRECT]
