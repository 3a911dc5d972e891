"""Pipe syntax of BigQuery and Spark: what each pipe does to the rows, and what they are called behind it."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.parsing.sqlglot.repairs.by_dialect import repair_text
from tests.support.lineage_lines import column_lines, problems, value_lines


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "spark"])
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("|> set a = a + b", {"a f s.a", "a f s.b", "b = s.b"}),
        ("|> rename a as c", {"c = s.a", "b = s.b"}),
        ("|> drop a", {"b = s.b"}),
        ("|> set a = b, b = 1 |> where a > 3", {"a = s.b", "b is constant"}),
        ("|> drop b |> rename a as c |> extend c * 2 as d", {"c = s.a", "d f s.a"}),
    ],
)
def test_pipes_change_columns_one_behind_the_other(dialect: str, steps: str, expected: set[str]) -> None:
    assert value_lines(f"create table t as from s |> select a, b {steps}", dialect) == expected


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "spark"])
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("|> extend n.a + 1 as x |> select n.b, x", {"b = d.s.b", "x f d.s.a"}),
        ("|> extend a + 1 as x |> where n.c > 1 |> select n.*, x", {"x f d.s.a"}),
        ("|> join d.r as m on n.k = m.k |> extend n.a * m.a as x |> select n.b, m.c, x",
         {"b = d.s.b", "c = d.r.c", "x f d.s.a", "x f d.r.a"}),
        ("|> extend a + 1 as x |> extend x + n.b as y |> as q |> select q.y", {"y f d.s.a", "y f d.s.b"}),
        ("|> set a = n.a + c |> select a, n.b", {"a f d.s.a", "a f d.s.c", "b = d.s.b"}),
        ("|> set a = c |> set b = n.d |> select n.a as x, b, n.e.f as y",
         {"x is constant", "b = d.s.d", "y f d.s.e"}),
        ("|> rename a as c |> set c = d |> select n.a as x, c", {"x is constant", "c = d.s.d"}),
        ("|> rename a as c |> select n.a as x, c", {"x = d.s.a", "c = d.s.a"}),
        ("|> drop a |> select n.a as x, n.b", {"x is constant", "b = d.s.b"}),
        ("|> join d.r as m on n.k = m.k |> drop z |> select m.b", {"b = d.s.b|d.r.b"}),
    ],
)  # fmt: skip
def test_the_rows_of_a_pipe_keep_the_names_of_their_tables(dialect: str, steps: str, expected: set[str]) -> None:
    assert value_lines(f"create table t as from d.s as n {steps}", dialect) == expected


def test_a_window_of_a_pipe_adds_a_column() -> None:
    text = "create table t as from s |> select a, b |> window sum(a) over (partition by b) as w"
    assert {line.split()[0] for line in value_lines(text, "bigquery")} == {"a", "b", "w"}


@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ("rename a as z |> select b, (select max(x.a) from u as x) as m", {"b = s.b", "m agg u.a"}),
        ("set a = 1 |> extend (select max(x.a) from u as x) as m |> select b, m", {"b = s.b", "m agg u.a"}),
        ("drop a |> join (select x.a from u as x) as q on true |> select q.a", {"a = u.a"}),
        ("rename a as z |> select x.b, x.a as y", {"b = s.b", "y = s.a"}),
    ],
)
def test_an_inner_query_has_its_own_names_behind_pipes(pipes: str, expected: set[str]) -> None:
    assert value_lines(f"from s as x |> {pipes}", "bigquery") == expected


def test_an_inner_query_reads_renamed_rows_by_their_new_names() -> None:
    text = "from s as x |> rename a as z |> select b, (select max(x.a) from u) as m"
    assert value_lines(text, "bigquery") == {"b = s.b", "m agg s.a"}
    assert not problems(text, "bigquery")


@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ("drop a |> join u as y on x.b = y.b |> select x.b, y.a", {"b = s.b", "a = u.a", "* join s.b", "* join u.b"}),
        ("set a = 1 |> join u as y on x.k = y.k |> select x.b",
         {"b = s.b", "* join s.k", "* join u.k"}),
        ("rename a as z |> join u as y on x.k = y.k |> select x.a as q, z",
         {"q = s.a", "z = s.a", "* join s.k", "* join u.k"}),
        ("drop a |> join x as y on x.k = y.k |> select y.b, x.c", {"b = x.b", "c = s.c", "* join s.k", "* join x.k"}),
        ("drop a |> extend x.b + 1 as n |> join u as y on x.k = y.k |> select x.c, n",
         {"c = s.c", "n f s.b", "* join s.k", "* join u.k"}),
        ("set a = b |> extend d as c |> drop d |> select x.c, x.b", {"c is constant", "b = s.b"}),
        ("join u as y on x.k = y.k |> drop z |> join v as w on x.l = w.l |> select x.b",
         {"b = s.b|u.b", "* join s.k", "* join u.k", "* join s.l|u.l", "* join v.l"}),
        ("as u |> join u as y on u.k = y.k |> select y.b, u.c", {"b = u.b", "c = s.c", "* join s.k", "* join u.k"}),
        ("drop a |> where exists (select 1 from u as x where x.b = 1) |> select x.c", {"c = s.c", "* filter u.b"}),
        ("select (from u as v |> set p = v.q |> select max(v.r)) as m, x.a", {"m agg u.r", "a = s.a"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["bigquery", "spark"])
def test_changed_rows_are_told_from_those_that_are_joined(dialect: str, pipes: str, expected: set[str]) -> None:
    assert column_lines(f"create table t as from s as x |> {pipes}", dialect) == expected


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "spark"])
@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ("union all table u", {"a = s.a", "b = s.b", "a = u.a|u.*", "b = u.b|u.*"}),
        ("union all select p, q from u |> select a", {"a = s.a", "a = u.p"}),
        ("except all from u |> select a", {"a = s.a", "* join s.a", "* join s.b", "* join u.*"}),
        ("union all (select p, q from u)", {"a = s.a", "b = s.b", "a = u.p", "b = u.q"}),
        ("limit 2 + 3 |> offset 4 |> limit all |> limit 3 offset 2", {"a = s.a", "b = s.b"}),
        ("distribute by a |> select b", {"b = s.b"}),
        ("cluster by a |> select b", {"b = s.b", "* sort s.a"}),
        ("select sum(a) over w as q window w as (partition by b)", {"q agg s.a", "q window s.b"}),
        ("extend sum(a) over (w order by a) as q window v as (order by a), w as (partition by b) |> select q",
         {"q agg s.a", "q window s.b", "q window s.a"}),
    ],
)  # fmt: skip
def test_each_pipe_does_to_the_rows_what_it_says(dialect: str, pipes: str, expected: set[str]) -> None:
    assert column_lines(f"create table t as from s |> select a, b |> {pipes}", dialect) == expected


@pytest.mark.parametrize(("dialect", "b"), [("bigquery", "s.a"), ("databricks", "s.b"), ("spark", "s.b")])
def test_spark_sets_one_column_behind_the_other(dialect: str, b: str) -> None:
    text = "create table t as from s |> select a, b |> set a = b, b = a"
    assert column_lines(text, dialect) == {"a = s.b", f"b = {b}"}


@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ("select x.a, b |> join u as y on x.a = y.a |> select x.b", {"b = s.b", "* join s.a", "* join u.a"}),
        ("aggregate sum(a) as n group by b |> select x.b, n", {"b = s.b", "n agg s.a", "* group s.b"}),
        ("union all table u |> select x.a", {"a = s.a", "a = u.a|u.*"}),
        ("join u as y on x.k = y.k |> select x.a, y.a |> where x.a > 1 |> select 1 as n",
         {"n is constant", "* join s.k", "* join u.k"}),
    ],
)  # fmt: skip
def test_spark_keeps_the_names_of_tables_behind_a_select(pipes: str, expected: set[str]) -> None:
    assert column_lines(f"create table t as from s as x |> {pipes}", "spark") == expected


@pytest.mark.parametrize(
    "text",
    ["insert into t select a, b from s |> extend a as c", "insert into table t select a, b from s |> extend a as c"],
)
def test_the_list_of_a_query_before_a_pipe_is_not_lost(text: str) -> None:
    assert column_lines(text, "spark") == {"a = s.a", "b = s.b", "c = s.a"}


def test_thousands_of_pipes_are_each_written_once() -> None:
    text = "from s as x" + " |> set a = x.b |> extend a as c" * 2_000
    repaired = repair_text(text, dialect_of("bigquery"))
    assert repaired is not None
    assert repaired.count("REPLACE (") == 2_000


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "spark"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from s |> rename a as z |> select s.a", {"a = s.a"}),
        ("from s |> rename a as z |> select s.a as y", {"y = s.a"}),
        ("from s |> rename a as z |> rename z as q |> extend s.a |> select a, b", {"a = s.a", "b = s.b"}),
        ("from s as X |> rename a as z |> select x.a as y, X.b", {"y = s.a", "b = s.b"}),
        ("from s as X |> set `A` = X.c |> select x.a as y, x.c", {"y is constant", "c = s.c"}),
        ("from s as x |> set a = 1 |> extend (select max(x.a) from u as X) as m |> select m", {"m agg u.a"}),
        (
            "from s as x |> rename a as z |> extend (select max(y.a) from u as y where y.k = (select x.a)) as m"
            " |> select m",
            {"m agg u.a", "m filter u.k", "m filter s.a"},
        ),
    ],
)
def test_a_name_of_rows_is_that_of_the_nearest_query_in_any_case(dialect: str, text: str, expected: set[str]) -> None:
    assert expected <= value_lines(text, dialect) | {line.replace("*", "m") for line in column_lines(text, dialect)}


@pytest.mark.parametrize("dialect", ["bigquery", "databricks", "spark"])
@pytest.mark.parametrize("star", ["s.*", "s.* except (a)", "count(s.*) as n", "s.*, u.b"])
def test_which_columns_a_relation_had_is_not_told_behind_a_changed_one(dialect: str, star: str) -> None:
    text = f"create table t as from s join u using (k) |> drop c |> select {star}"
    assert not [line for line in value_lines(text, dialect) if line.endswith(".s")]
    assert problems(text, dialect)


def test_a_former_state_of_a_table_has_a_name() -> None:
    for moment in ("version as of 3", "timestamp as of '2024-01-01'"):
        text = f"from s {moment} as x |> set a = b |> select x.a as y, x.b"
        assert value_lines(text, "spark") == {"y is constant", "b = s.b"}


@pytest.mark.parametrize(
    ("pipes", "expected"),
    [
        ("aggregate sum(b) as n group by rollup(a, c) |> select a, c, n", {"a = s.a", "c = s.c", "n agg s.b"}),
        ("aggregate max(b) as n group by grouping sets ((x.a, c), cube(a), ())", {"a = s.a", "c = s.c", "n agg s.b"}),
        ("rename a as z |> aggregate max(b) as n group by x.a", {"a = s.a", "n agg s.b"}),
        ("rename a as z |> aggregate max(x.b) as n group by rollup(x.a, c)", {"a = s.a", "c = s.c", "n agg s.b"}),
        ("aggregate max(b) as n group by upper(a) as x", {"x f s.a", "n agg s.b"}),
        ("set a = [b, c], b = 1 |> select a", {"a f s.b", "a f s.c"}),
        ("with k as (select d from u) |> cross join k |> select a, d", {"a = s.a", "d = u.d"}),
        ("with k as (from u |> set d = e) |> with j as (select d from k) |> cross join j |> select a, j.d",
         {"a = s.a", "d = u.e"}),
    ],
)  # fmt: skip
def test_pipes_group_and_name_queries(pipes: str, expected: set[str]) -> None:
    assert value_lines(f"from s as x |> {pipes}", "bigquery") == expected


def test_what_a_pipe_groups_by_groups_its_other_columns_whatever_it_is_called() -> None:
    lines = column_lines("from s |> aggregate max(b) as n group by a as b", "bigquery")
    assert set(lines) == {"b = s.a", "n agg s.b", "* group s.a"}


def test_a_name_that_a_relation_before_it_has_is_given_to_no_query() -> None:
    assert repair_text("from t |> with t as (select 1 as z) |> select a", dialect_of("bigquery")) is None
