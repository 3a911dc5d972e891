"""Names of output columns without an alias."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import analysed, column_lines


@pytest.mark.parametrize(
    ("dialect", "output", "line"),
    [
        ("snowflake", "a:[0]", "JSON_EXTRACT(A, ?) f S.A"),
        ("databricks", "a:[0]", "json_extract(a, ?) f s.a"),
        ("databricks", "a:b[0]", "b f s.a"),
        ("redshift", "listagg(a, ',')", "listagg agg s.a"),
        ("postgres", "string_agg(a, ',')", "string_agg agg s.a"),
        ("trino", "a + 1", "_col0 f s.a"),
        ("spark", "cast(a as string)", "a f s.a"),
        ("databricks", "(try_cast((s.a) as int))", "a f s.a"),
        ("spark", "bigint(s.a)", "a f s.a"),
        ("spark", "s.a::date", "a f s.a"),
        ("spark", "cast(a.b as string)", "cast(a.b as string) f s.a"),
        ("spark", "cast(cast(a as int) as string)", "cast(cast(a as int) as string) f s.a"),
        ("spark", "(s.a+1)*2", "((a + ?) * ?) f s.a"),
        ("databricks", "s.a % 2 = 1 and not a < 2", "(((a % ?) = ?) and (not (a < ?))) f s.a"),
        ("spark", "a<>'x'", "(not (a = ?)) f s.a"),
        ("spark", "a is not null", "(a is not null) f s.a"),
        ("spark", "a between 1 and 2", "between(a, ?, ?) f s.a"),
        ("spark", "a not in (1, 2)", "(not (a in (?, ?))) f s.a"),
        ("spark", "a||'x'", "concat(a, ?) f s.a"),
        ("spark", "-a", "(- a) f s.a"),
        ("spark", "a::decimal + 1", "(cast(a as decimal(10,0)) + ?) f s.a"),
        ("spark", "case a when 1 then 'x' end", "case when (a = ?) then ? end if s.a"),
        ("spark", "if(a, 1, null)", "(if(a, ?, null)) if s.a"),
        ("spark", "SubStr(upper(a), 2)", "substring(upper(a), ?) f s.a"),
        ("spark", "struct(a, a+1 as n)", "struct(a, (a + ?) as n) f s.a"),
        ("spark", "named_struct('n', a)", "named_struct(?, a) f s.a"),
        ("spark", "trim(leading 'x' from a)", "trim(leading ? from a) f s.a"),
        ("spark", "date_add(a, 1)", "date_add(a, ?) f s.a"),
        ("spark", "s.x.a + 1", "(x.a + ?) f s.x"),
        ("spark", "count(distinct s.a)", "count(distinct a) agg# s.a"),
        ("spark", "count(*) filter (where a > 1)", "count(1) filter (where (a > ?)) filter s.a"),
        ("spark", "to_timestamp(a)", "to_timestamp(a) f s.a"),
        ("spark", "s.v:b.c", "c f s.v"),
        ("spark", "a in (select 1)", "(a in (listquery())) f s.a"),
        ("spark", "1 + (select 2 where s.a > 1)", "(? + scalarsubquery(a)) filter s.a"),
        ("spark", "exists (select 1 where s.a > 1)", "exists(a) filter s.a"),
        ("spark", "current_date", "current_date() is constant"),
        ("spark", "'secret'", "? is constant"),
        ("clickhouse", "toDate(Max(a))", "toDate(Max(a)) agg s.a"),
        ("clickhouse", "s.a * a + a", "plus(multiply(a, a), a) f s.a"),
        ("clickhouse", "a and s.a and not a = a", "and(a, a, not(equals(a, a))) f s.a"),
        ("clickhouse", "toString([a, a || a])", "toString([a, concat(a, a)]) f s.a"),
        ("clickhouse", "toDate(now())", "toDate(now()) is constant"),
        ("duckdb", "greatest(s.a, a)", "greatest(s.a, a) f s.a"),
        ("duckdb", "a+1", "a + ? f s.a"),
        ("hive", "cast(a as string)", "_c0 f s.a"),
    ],
)
def test_an_output_without_an_alias_has_the_name_that_its_system_gives_it(dialect: str, output: str, line: str) -> None:
    assert column_lines(f"create table t as select {output} from s", dialect) == {line}


@pytest.mark.parametrize(
    ("window", "name"),
    [
        (
            "sum(a) over (partition by b order by c desc)",
            "sum(a) over (partition by b order by c desc nulls last range between unbounded preceding and current row)",
        ),
        (
            "sum(a) over (rows between 2 preceding and current row)",
            "sum(a) over (rows between (- ?) following and current row)",
        ),
        ("max(a) over ()", "max(a) over (rows between unbounded preceding and unbounded following)"),
        (
            "row_number() over (order by c)",
            "row_number() over (order by c asc nulls first rows between unbounded preceding and current row)",
        ),
    ],
)
def test_spark_names_a_window_with_all_that_was_not_written(window: str, name: str) -> None:
    (flow,) = analysed(f"select {window} from s", "spark").flows
    assert [output.name for output in flow.outputs] == [name]
