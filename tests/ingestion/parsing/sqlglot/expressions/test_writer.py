"""What an edge says: the subtype, whether the value is hidden, and the canonical masked expression."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed, column_lines, expression_of


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", {"x = t.a"}),
        ("(((a)))", {"x = t.a"}),
        ("a + 1", {"x f t.a"}),
        ("a || b", {"x f t.a", "x f t.b"}),
        ("cast(a as int)", {"x f t.a"}),
        ("-a", {"x f t.a"}),
        ("not a", {"x f t.a"}),
        ("a between b and c", {"x f t.a", "x f t.b", "x f t.c"}),
        ("a in (b, 2)", {"x f t.a", "x f t.b"}),
        ("a is null", {"x f t.a"}),
        ("upper(trim(a))", {"x f t.a"}),
        ("sum(a)", {"x agg t.a"}),
        ("sum(a) + max(b)", {"x agg t.a", "x agg t.b"}),
        ("round(avg(a), 2)", {"x agg t.a"}),
        ("count(a)", {"x agg# t.a"}),
        ("count(distinct a)", {"x agg# t.a"}),
        ("count(*)", {"x is constant"}),
        ("md5(a)", {"x f# t.a"}),
        ("md5(a || b)", {"x f# t.a", "x f# t.b"}),
        ("sum(a) filter (where b > 1)", {"x agg t.a", "x filter t.b"}),
        ("string_agg(a, ',' order by b)", {"x agg t.a", "x sort t.b"}),
        ("percentile_cont(0.5) within group (order by a)", {"x agg t.a"}),
        ("case when a > 1 then b else c end", {"x if t.a", "x f t.b", "x f t.c"}),
        ("case a when b then c end", {"x if t.a", "x if t.b", "x f t.c"}),
        ("sum(case when a > 1 then b end)", {"x if t.a", "x agg t.b"}),
        ("count(case when a > 1 then b end)", {"x if# t.a", "x agg# t.b"}),
        ("coalesce(a, b)", {"x f t.a", "x f t.b", "x if t.a", "x if t.b"}),
        ("nullif(a, b)", {"x f t.a", "x if t.a", "x if t.b"}),
        ("row_number() over (partition by a order by b)", {"x window t.a", "x window t.b"}),
        ("sum(a) over (partition by b order by c)", {"x agg t.a", "x window t.b", "x window t.c"}),
        ("lag(a) over (order by b)", {"x f t.a", "x window t.b"}),
        ("case when row_number() over (order by a) = 1 then b end", {"x if t.a", "x f t.b"}),
        ("case when (select max(z) from u) > 0 then a end", {"x if u.z", "x f t.a"}),
        ("greatest(a, b)", {"x f t.a", "x f t.b"}),
        ("extract(year from a)", {"x f t.a"}),
        ("a at time zone 'utc'", {"x f t.a"}),
        ("array[a, b]", {"x f t.a", "x f t.b"}),
        ("my_function(a, 'secret')", {"x f t.a"}),
    ],
)
def test_each_use_of_a_column_has_its_subtype(expression: str, expected: set[str]) -> None:
    assert column_lines(f"select {expression} as x from t") == expected


@pytest.mark.parametrize(
    ("dialect", "expression", "expected"),
    [
        ("snowflake", "iff(a, b, c)", {"X if T.A", "X f T.B", "X f T.C"}),
        ("snowflake", "decode(a, 1, b, 2, c, d)", {"X if T.A", "X f T.B", "X f T.C", "X f T.D"}),
        ("snowflake", "nvl2(a, b, c)", {"X if T.A", "X f T.B", "X f T.C"}),
        ("snowflake", "sha2(a, 256)", {"X f# T.A"}),
        ("snowflake", "hash(a)", {"X f# T.A"}),
        ("snowflake", "max_by(a, b)", {"X agg T.A", "X sort T.B"}),
        ("snowflake", "listagg(a, ',') within group (order by b)", {"X agg T.A", "X sort T.B"}),
        ("snowflake", "approx_count_distinct(a)", {"X agg# T.A"}),
        ("bigquery", "countif(a > 1)", {"x agg# t.a"}),
        ("bigquery", "farm_fingerprint(a)", {"x f# t.a"}),
        ("bigquery", "safe_cast(a as int64)", {"x f t.a"}),
        ("bigquery", "any_value(a having max b)", {"x agg t.a", "x sort t.b"}),
        ("spark", "xxhash64(a)", {"x f# t.a"}),
        ("spark", "collect_list(a)", {"x agg t.a"}),
        ("clickhouse", "sumIf(a, b)", {"x agg t.a", "x filter t.b"}),
        ("clickhouse", "multiIf(a, b, c, d, e)", {"x if t.a", "x f t.b", "x if t.c", "x f t.d", "x f t.e"}),
        ("clickhouse", "uniqExact(a)", {"x agg# t.a"}),
        ("tsql", "isnull(a, b)", {"x f t.a", "x f t.b", "x if t.a", "x if t.b"}),
        ("tsql", "hashbytes('SHA2_256', a)", {"x f# t.a"}),
        ("oracle", "nvl(a, b)", {"X f T.A", "X f T.B", "X if T.A", "X if T.B"}),
        ("mysql", "group_concat(a order by b)", {"x agg t.a", "x sort t.b"}),
        ("duckdb", "[v + 1 for v in a if v > b]", {"x f t.a", "x filter t.b"}),
    ],
)
def test_functions_of_a_dialect_have_their_subtypes(dialect: str, expression: str, expected: set[str]) -> None:
    assert column_lines(f"select {expression} as x from t", dialect) == expected


def test_a_chain_composes_to_the_strongest_step() -> None:
    text = "with c as (select sum(a) as s, b + 1 as f, k from t group by b, k), d as (select s * 2 as s, f, k from c)"
    assert column_lines(f"{text} select s, f, k from d") == {
        "s agg t.a",
        "f f t.b",
        "k = t.k",
        "* group t.b",
        "* group t.k",
    }


def test_an_indirect_use_of_a_value_is_an_indirect_use_of_all_that_made_it() -> None:
    text = "select k from (select k, case when a > 1 then b end as c from t) d where c = 1"
    assert column_lines(text) == {"k = t.k", "* filter t.a", "* filter t.b"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a + 1 as x from t", {"t.a + ?"}),
        ("select a as x from t", {""}),
        ("select (a + b) * 2 as x from t", {"(t.a + t.b) * ?"}),
        ("select s * 2 as x from (select a + b as s from t) d", {"(t.a + t.b) * ?"}),
        ("select s + 2 as x from (select a * b as s from t) d", {"t.a * t.b + ?"}),
        ("select a - (b - c) as x from t", {"t.a - (t.b - t.c)"}),
        ("select (a - b) - c as x from t", {"t.a - t.b - t.c"}),
        ("with c as (select upper(a) as u from s.t) select u || 'secret' as x from c", {"UPPER(s.t.a) || ?"}),
        ("select case when a = 'x' then 1 else 2 end as x from t", {"CASE WHEN t.a = ? THEN ? ELSE ? END"}),
        ("select sum(a) over (partition by b) as x from t", {"SUM(t.a) OVER (PARTITION BY t.b)"}),
        ("select a in (1, 2, 3) as x from t", {"t.a IN (?)"}),
        ("select cast(a as numeric(10, 2)) as x from t", {"CAST(t.a AS DECIMAL(10, 2))"}),
        ("select a as x from t union all select b + 1 from u", {"", "u.b + ?"}),
    ],
)
def test_the_expression_is_canonical_and_masked(text: str, expected: set[str]) -> None:
    assert expression_of(text, "x") == expected


def test_an_expression_never_grows_without_bound() -> None:
    steps = ", ".join(
        f"c{n} as (select x.a + y.a as a from c{n - 1} x join c{n - 1} y on x.a = y.a)" for n in range(1, 30)
    )
    (expression,) = expression_of(f"with c0 as (select a + 1 as a from t), {steps} select a as x from c29", "x")
    assert len(expression) <= 2000


def test_output_types_follow_from_casts_functions_and_source_columns() -> None:
    text = """select a, a + 1 as b, sum(d) as c, cast(e as date) as f, upper(e) as g, count(*) as h,
              coalesce(d, 0) as i, case when a > 1 then e end as j, a > 1 as k, array_agg(a) as l, max(f) as m,
              avg(a) as n from t group by a"""
    (flow,) = analysed(text, schemas={"t": "a:integer d:numeric(10,2) e:text f:timestamptz"}).flows
    assert {output.name: output.type for output in flow.outputs} == {
        "a": "INT",
        "b": "INT",
        "c": "DECIMAL(38, 2)",
        "f": "DATE",
        "g": "STRING",
        "h": "BIGINT",
        "i": "DECIMAL(10, 2)",
        "j": "STRING",
        "k": "BOOLEAN",
        "l": "ARRAY<INT>",
        "m": "TIMESTAMPTZ",
        "n": "DOUBLE",
    }


@pytest.mark.parametrize(
    ("dialect", "value"),
    [
        ("snowflake", "object_construct('Ann Doe', a)"),
        ("spark", "named_struct('Ann Doe', a)"),
        ("duckdb", "{'Ann Doe': a}"),
    ],
)
def test_a_field_that_a_string_names_is_masked_in_the_expression(dialect: str, value: str) -> None:
    (output,) = analysed(f"select {value} as o from t", dialect).flows[0].outputs
    assert [reference.expression for reference in output.references] in (["STRUCT(? => t.a)"], ["STRUCT(? => T.A)"])
