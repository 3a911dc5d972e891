"""Clauses that sqlglot does not know, or takes for something else, in the lineage of statements as they stand."""

from __future__ import annotations

import pytest

from ingestion.parser import LineageParser
from ingestion.statements import split
from tests.support.lineage_lines import column_lines, lines_of_flows, value_lines


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("trim(from x, y)", {"a f s.x", "a f s.y"}),
        ("trim(both from x, 'y')", {"a f s.x"}),
        ("trim(leading from x)", {"a f s.x"}),
    ],
)
def test_what_is_trimmed_may_stand_behind_from(value: str, expected: set[str]) -> None:
    assert column_lines(f"insert into t (a) select {value} from s", "postgres") == expected


@pytest.mark.parametrize("words", ["sql_no_cache", "straight_join sql_calc_found_rows", "high_priority"])
@pytest.mark.parametrize("kept", ["all", "distinct", "distinctrow"])
def test_how_mysql_finds_rows_may_stand_before_which_it_gives(words: str, kept: str) -> None:
    for text in (
        "insert into t (a) select {} {} x from s",
        "insert into t (a) select x from (select {} {} x from s) d",
    ):
        lines = column_lines(text.format(words, kept), "mysql")
        assert lines == column_lines(text.format("", kept), "mysql")
        assert "a = s.x" in lines


@pytest.mark.parametrize("dialect", ["mariadb", "mysql", "tsql"])
def test_what_odbc_writes_in_braces_is_read(dialect: str) -> None:
    text = (
        "insert into t (a, b) select {fn concat(s.x, {fn concat(u.y, 'z')})}, u.w from s,"
        " {oj u left outer join v on u.k = v.k} where u.d > {d '2024-01-01'} and v.e < {ts '2024-01-01 10:00:00'}"
    )
    plain = (
        "insert into t (a, b) select concat(s.x, concat(u.y, 'z')), u.w from s,"
        " (u left outer join v on u.k = v.k) where u.d > '2024-01-01' and v.e < '2024-01-01'"
    )
    assert column_lines(text, dialect) == column_lines(plain, dialect)


def test_the_columns_that_mysql_matches_need_no_parentheses() -> None:
    text = "insert into t (a) select x from s where match {} against ('w' in boolean mode)"
    assert column_lines(text.format("s.y, z"), "mysql") == column_lines(text.format("(s.y, z)"), "mysql")


@pytest.mark.parametrize("behind", ["", " with rollup", " having max(z) > 1 order by x desc limit 3"])
def test_groups_of_mysql_have_an_order(behind: str) -> None:
    text = "insert into t (a) select x from s group by {}" + behind
    assert column_lines(text.format("x desc, f(y) asc"), "mysql") == column_lines(text.format("x, f(y)"), "mysql")


@pytest.mark.parametrize("value", ["cast(x as signed int)", "cast(x as unsigned integer)", "convert(x, signed int)"])
def test_mysql_says_integer_behind_its_sign(value: str) -> None:
    assert column_lines(f"insert into t (a) select {value} from s", "mysql") == {"a f s.x"}


@pytest.mark.parametrize(
    "query",
    [
        "with c (x) as (values (1), (2)) select s.x from s join c on c.x = s.k",
        "with c (x) as (values (1)) select s.x from s join c on c.x = s.k",
        "with c (x) as (values (1) union all (values (2), (3)) limit 2) select s.x from s join c on c.x = s.k",
        "select s.x from s join (values (1), (2) order by 1 limit 1) c on s.k = 1",
    ],
)
def test_mariadb_has_rows_wherever_it_has_queries(query: str) -> None:
    assert column_lines(f"insert into t (a) {query}", "mariadb") == {"a = s.x", "* join s.k"}


def test_what_a_values_query_of_mariadb_reads_is_told() -> None:
    text = "insert into t (a) with c (x) as (values ((select max(y) from u)), (2)) select x from c"
    assert column_lines(text, "mariadb") == {"a agg u.y"}


def test_where_a_recursion_of_mariadb_ends_is_no_column() -> None:
    text = (
        "insert into t (a) with recursive c (p, q) as (select x, y from s union select s.x, c.q from s, c)"
        "{} select p from c"
    )
    assert column_lines(text.format(" cycle p, q restrict"), "mariadb") == column_lines(text.format(""), "mariadb")


def test_a_default_in_the_query_of_a_view_is_no_column() -> None:
    assert column_lines("create view t as select x, default(y) as b from s", "mysql") == {"x = s.x", "b is constant"}


@pytest.mark.parametrize(
    "relation",
    [
        "pivot s on q in ('a') using sum(v) group by k order by k limit 3",
        "from (pivot s on q in ('a') using sum(v) group by k order by k)",
    ],
)
def test_a_pivot_may_be_ordered(relation: str) -> None:
    text = f"create table t as {relation}"
    assert {line for line in column_lines(text, "duckdb") if line.startswith(("k =", "a "))} >= {"k = s.k", "a agg s.v"}


def test_a_pivot_to_xml_gives_one_column() -> None:
    text = "create table t as select * from (select k, q, v from s) pivot xml (sum(v) as n for q in (any))"
    lines = value_lines(text, "oracle")
    assert {line for line in lines if " = " in line or " agg " in line} == {"K = S.K", "Q_XML agg S.V"}


@pytest.mark.parametrize("dialect", ["fabric", "tsql"])
@pytest.mark.parametrize(
    "rows", ["s e cross apply changetable(version s, (k), (e.k)) c", "changetable(changes s, 3) as c"]
)
def test_tracked_changes_are_those_of_a_table(dialect: str, rows: str) -> None:
    text = f"insert into t (k, o) select c.k, c.sys_change_version from {rows}"
    assert value_lines(text, dialect) == {"k = s.k", "o is constant"}


@pytest.mark.parametrize("dialect", ["fabric", "tsql"])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("containstable(d.s, text, 'w') f", {"k is constant", "n f d.s.text", "* filter d.s.text"}),
        ("freetexttable(d.s, (text, [more text]), 'w', language 1033, 5) as f", {"n f d.s.text", "n f d.s.more text"}),
        ("containstable(s, *, 'w') f", {"k is constant", "n is constant"}),
    ],
)
def test_a_search_of_texts_gives_rows_of_the_table_that_it_searches(
    dialect: str, rows: str, expected: set[str]
) -> None:
    text = f"insert into t (k, n) select f.[key], f.rank from {rows}"
    assert expected <= set(column_lines(text, dialect))
    assert [str(table) for table in LineageParser(text, dialect=dialect).source_tables] == [
        "d.s" if "d.s" in rows else "s"
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("semantickeyphrasetable(d.s, text, @no)", {"n f d.s.text"}),
        ("semanticsimilaritydetailstable(d.s, text, @no, title, @other)", {"n f d.s.text", "n f d.s.title"}),
    ],
)
def test_a_search_of_meanings_gives_what_the_texts_say(rows: str, expected: set[str]) -> None:
    text = f"insert into t (n) select f.keyphrase from d.own o cross apply {rows} f"
    assert {line for line in value_lines(text, "tsql") if line.startswith("n ")} == expected


@pytest.mark.parametrize("dialect", ["databricks", "hive", "spark"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "from (from s map s.a, s.b using 'f.py' as k, v cluster by k) m insert overwrite table t select m.v",
            {"v f s.a", "v f s.b"},
        ),
        (
            "from s insert overwrite table t reduce a, map(b, c) row format delimited fields terminated by ',' "
            "using 'f.py' as k int, v array<int>",
            {f"{made} f s.{source}" for made in "kv" for source in "abc"},
        ),
        ("insert into t map (a, b) using 'f.py' as (k string) from s where c > 1", {"k f s.a", "k f s.b"}),
        ("insert into t select transform(a) using 'f.py' as k, v from s", {"k f s.a", "v f s.a"}),
        ("insert into t select transform(a) using 'f.py' from s", {"key f s.a", "value f s.a"}),
    ],
)
def test_a_script_makes_columns_of_the_rows_that_it_is_given(dialect: str, text: str, expected: set[str]) -> None:
    assert value_lines(text, dialect) == expected
    assert [str(table) for table in LineageParser(text, dialect=dialect).source_tables] == ["s"]


@pytest.mark.parametrize("dialect", ["databricks", "spark"])
def test_a_version_behind_a_name_is_no_part_of_it(dialect: str) -> None:
    text = "insert into t (a) select n.a from d.s@v5 n join d.s@20240101000000000 o on n.k = o.k"
    assert value_lines(text, dialect) == {"a = d.s.a"}


@pytest.mark.parametrize(
    "load", ["BULK INSERT s\nFROM 'C:\\in.csv'\nWITH (FIRSTROW = 2)", "BULK\nINSERT s FROM 'C:\\in.csv'"]
)
def test_a_load_over_several_lines_is_one_statement(load: str) -> None:
    rest = "INSERT INTO t (a) SELECT a FROM s"
    assert [one.text for one in split(f"{load}\n{rest}", "tsql")] == [load, rest]
    for separator in ("\n", ";\n"):
        body = f"CREATE PROCEDURE p AS\nBEGIN\n{load}{separator}{rest}\nEND"
        read = LineageParser(body, dialect="tsql")
        assert not read.failures
        assert ("C:\\in.csv", "s") in {(str(a), str(b)) for a, b in read.table_lineage}


@pytest.mark.parametrize(
    "text",
    [
        "create aggregate f (integer) (sfunc = int4pl, stype = integer)",
        "create or replace aggregate s.f(*) (sfunc = g, stype = int)",
    ],
)
def test_an_aggregate_of_functions_that_are_there_has_no_lineage(text: str) -> None:
    read = LineageParser(text, dialect="postgres")
    assert not read.failures
    assert not read.edges


@pytest.mark.parametrize(
    ("source", "assigned", "expected"),
    [
        ("values (1, 2) as new (m, n)", "n + new.m", {"v is constant"}),
        ("values (1, 2) as new", "new.v + v", {"v f t.v"}),
        ("select k, w from s", "v + s.w", {"v f t.v", "v f s.w"}),
        ("select k, w from s", "w", {"v = s.w"}),
        ("select * from (select k, w from s) as d", "d.w", {"v = s.w"}),
    ],
)
def test_what_updates_a_duplicate_is_of_the_row_that_it_names(source: str, assigned: str, expected: set[str]) -> None:
    text = f"insert into t (k, v) {source} on duplicate key update v = {assigned}"
    update = lines_of_flows(text, "mysql")[-1]
    assert {line for line in update if line.startswith("v ")} == expected


@pytest.mark.parametrize(
    ("dialect", "place"),
    [
        ("greenplum", "xmin"),
        ("hive", "BLOCK__OFFSET__INSIDE__FILE"),
        ("hive", "input__file__name"),
        ("oracle", "ROWID"),
        ("postgres", "ctid"),
        ("postgres", "tableoid"),
    ],
)
def test_where_a_row_stands_is_no_column_of_it(dialect: str, place: str) -> None:
    text = f"insert into t (a, b) select s.{place}, k from s where {place} > 3"
    schema = {"s": {"k": "int"}, "t": {"a": "int", "b": "int"}}
    read = LineageParser(text, dialect=dialect, schema=schema)
    assert not read.problems
    assert {(str(edge.source).lower(), str(edge.target).lower()) for edge in read.edges} == {("s.k", "t.b")}


@pytest.mark.parametrize("dialect", ["greenplum", "postgres"])
@pytest.mark.parametrize(
    "operator", ["<%", "%>", "<<%", "%>>", "<->>", "<<<->", "&&&", "<<|", "|>>", "&<|", "|&>", "~=", "@", "|=|"]
)
def test_an_operator_of_an_extension_makes_a_value_of_both_sides(dialect: str, operator: str) -> None:
    chosen = f"s.d {operator} 'x' and s.e=-1 and s.f>=-2 and s.g {operator} s.h"
    text = f"select s.a, s.b {operator} s.c as v from s where {chosen}"
    assert value_lines(text, dialect) == {"a = s.a", "v f s.b", "v f s.c"}
    inserted = LineageParser(f"insert into t (v) select b {operator} c from s", dialect=dialect)
    assert {str(edge.source) for edge in inserted.edges} == {"s.b", "s.c"}


@pytest.mark.parametrize("dialect", ["db2", "oracle", "postgres"])
@pytest.mark.parametrize(
    "clauses",
    [
        "search depth first by k, v set n",
        "cycle k, v set c to 'y' default 'n' using p",
        "search breadth first by k set n cycle k set c using p",
    ],
)
def test_the_order_and_the_end_of_a_recursion_change_no_value(dialect: str, clauses: str) -> None:
    item = "with recursive r (k, v) as (select a, b from s union all select s.a, s.b from s join r on s.c = r.k)"
    rest = "q as (select k from r) select k from q"
    assert column_lines(f"{item} {clauses}, {rest}", dialect) == column_lines(f"{item}, {rest}", dialect)


@pytest.mark.parametrize("dialect", ["greenplum", "postgres"])
def test_a_text_of_any_type_is_constant(dialect: str) -> None:
    chosen = "b && geometry 'POINT(1 2)' and c like 'x' and d between pg_lsn '0' and pg_lsn '1' and e > date '2020-1-1'"
    text = f"select a, box '(0,0)' as x from s where {chosen}"
    assert column_lines(text, dialect) == {"a = s.a", "x is constant", *(f"* filter s.{name}" for name in "bcde")}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake", "trino"])
@pytest.mark.parametrize("behind", ["union all select s.x from s", "union (select s.x from s) order by 1 limit 3"])
def test_rows_that_are_listed_may_begin_a_union(dialect: str, behind: str) -> None:
    lines = value_lines(f"insert into t (a) select v.k from (values (1), (2) {behind}) as v (k)", dialect)
    assert {line.lower() for line in lines} == {"a = s.x"}


@pytest.mark.parametrize("dialect", ["athena", "presto", "trino"])
@pytest.mark.parametrize(
    "text",
    [
        "with session q = 1, c.p = cast('2' as varchar) select x as a from s",
        "with session q = 1 with d as (select x as a from s) select a from d",
        "with session as (select x as a from s) select a from session",
    ],
)
def test_trino_sets_properties_for_a_query(dialect: str, text: str) -> None:
    assert column_lines(text, dialect) == {"a = s.x"}


@pytest.mark.parametrize("others", ["", ", function g(y double) returns double language python as $$ select $$"])
def test_a_function_in_another_language_is_made_of_its_arguments(others: str) -> None:
    function = "function f(y bigint) returns bigint language python with (handler = 'h') as $$ def h(y): return y $$"
    assert column_lines(f"with {function}{others} select f(x) as a from s", "trino") == {"a f s.x"}


@pytest.mark.parametrize("type_", ["qdigest(double)", "p4hyperloglog", "setdigest"])
def test_trinos_sketches_are_made_of_what_is_cast(type_: str) -> None:
    text = f"select cast(x as {type_}) as a, cast(row(y, z) as row(p int, q ipaddress)).q as b from s"
    assert column_lines(text, "trino") == {"a f s.x", "b f s.z"}
