"""An arrow among the arguments of a function: an access to JSON, or a lambda, as the dialect has it."""

from __future__ import annotations

import duckdb
import pytest

from ingestion.dialects.functions import LAMBDA_FUNCTIONS
from ingestion.parsing.fallback import sqlfluff_tier
from tests.support.lineage_lines import column_lines

ACCESSING = "cockroach doris duckdb greenplum mariadb materialize mysql postgres redshift risingwave sqlite starrocks"
TAKING_LAMBDAS = "ansi databricks doris duckdb snowflake spark starrocks trino"


@pytest.mark.parametrize("dialect", sorted(ACCESSING.split()))
def test_an_access_to_a_column_reads_the_column(dialect: str) -> None:
    text = "select f(d -> '$.a') as x, coalesce(e -> '$.a' ->> '$.b', g) as y from t where f(h -> '$.a') > 0"
    lines = column_lines(text, dialect)
    assert {"x f t.d", "y f t.e", "y if t.e", "y f t.g", "y if t.g", "* filter t.h"} == lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select jsonb_agg(d -> 'a' order by k) as x from t", {"x agg t.d", "x sort t.k"}),
        ("select jsonb_agg(distinct d -> 'a') as x from t", {"x agg t.d"}),
        ("select f((d) -> i, 'a', e -> 0 || e) as x from t", {"x f t.d", "x f t.i", "x f t.e"}),
        (
            "select f(d -> 'a' in ('b'), e -> 'a' is null, g -> 'c'::text) as x from t",
            {"x f t.d", "x f t.e", "x f t.g"},
        ),
        ("select f(d -> (select k from u)) as x from t", {"x f t.d", "x f u.k"}),
        ("select e.v as x from t, jsonb_array_elements(d -> 'a') as e (v)", {"x f t.d"}),
        ("select f(a => d -> 'a') as x from t", {"x f t.d"}),
    ],
)
def test_what_stands_around_an_access_is_read_as_well(text: str, expected: set[str]) -> None:
    lines = column_lines(text)
    assert expected <= lines
    assert {line.rpartition(" ")[2] for line in lines} == {line.rpartition(" ")[2] for line in expected}


@pytest.mark.parametrize("dialect", sorted(TAKING_LAMBDAS.split()))
def test_a_function_of_lambdas_has_parameters(dialect: str) -> None:
    function = "array_map" if dialect in ("doris", "starrocks") else "transform"
    function = "list_transform" if dialect == "duckdb" else function
    lines = column_lines(f"select {function}(l, x -> x + a) as z from t", dialect)
    assert {line.lower() for line in lines} == {"z f t.l", "z f t.a"}


def test_duckdb_has_both_and_the_function_decides() -> None:
    connection = duckdb.connect()
    connection.execute(
        "create table t as select '{\"k\": [7], \"a\": 5}'::json as d, 'a' as i, ['{\"k\": 1}'::json] as l"
    )
    takers = "select distinct function_name from duckdb_functions() where list_contains(parameter_types, 'LAMBDA')"
    assert {str(name).upper() for (name,) in connection.sql(takers).fetchall()} <= LAMBDA_FUNCTIONS
    for text, value, expected in (
        ("select coalesce(d -> i, 'none') as x from t", "5", {"x f t.d", "x f t.i", "x if t.d", "x if t.i"}),
        ("select list_transform(l, d -> (d -> 'k')) as x from t", ["1"], {"x f t.l"}),
        ("select list_transform(l, y -> coalesce(y -> 'k', d)) as x from t", ["1"], {"x f t.l", "x f t.d", "x if t.d"}),
    ):
        assert connection.sql(text).fetchall() == [(value,)]
        assert column_lines(text, "duckdb") == expected


def test_a_dialect_with_both_takes_a_constant_for_a_path() -> None:
    text = "select my(d -> 'a') as x, my(l, y -> y + b) as z from t"
    assert column_lines(text, "ansi") == {"x f t.d", "z f t.l", "z f t.b"}


def test_the_second_tier_follows_an_access_as_well() -> None:
    (write,) = sqlfluff_tier.parse("insert into n (x) select f(d -> i) from t", "postgres").writes
    assert write.query is not None
    assert "'d'" in repr(write.query)
    assert "'i'" in repr(write.query)
