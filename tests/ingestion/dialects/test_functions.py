"""One table of functions: the parsers and the plan reader give one answer to what a function does to its argument."""

from __future__ import annotations

import re

import duckdb
import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.dialects.functions import AGGREGATES, COUNTS, HASHES, MOVING, Effect, effect_of, unit_positions
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.fallback import sqlfluff_tier
from ingestion.parsing.sqlglot import tier as sqlglot_tier
from ingestion.plans import vocabulary

SUBTYPES = {
    Effect.VALUE: ("TRANSFORMATION", False),
    Effect.AGGREGATE: ("AGGREGATION", False),
    Effect.COUNT: ("AGGREGATION", True),
    Effect.HASH: ("TRANSFORMATION", True),
}


def direct(lineage: StatementLineage) -> set[tuple[str, str, str, bool]]:
    return {
        (
            output.name.lower(),
            str(source).lower(),
            str(reference.transformation.subtype.value),
            reference.transformation.masking,
        )
        for flow in lineage.flows
        for output in flow.outputs
        for reference in output.references
        for source in reference.sources
    }


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier], ids=["sqlglot", "sqlfluff"])
@pytest.mark.parametrize(
    ("dialect", "function"),
    [
        *(("postgres", name) for name in ("md5", "bool_or", "json_agg", "sum", "count", "upper", "string_agg")),
        *(("snowflake", name) for name in ("median", "hash", "approx_count_distinct", "array_agg", "sha2")),
        *(("spark", name) for name in ("mean", "std", "some", "try_sum", "try_avg", "bool_or", "xxhash64", "some")),
        *(("spark", name) for name in ("first_value", "any_value", "collect_set", "hll_sketch_agg", "hll_union")),
        *(("bigquery", name) for name in ("countif", "farm_fingerprint", "logical_or")),
        *(("tsql", name) for name in ("stdevp", "checksum", "count_big")),
    ],
)
def test_both_parsers_know_what_a_function_does(tier: object, dialect: str, function: str) -> None:
    statement = f"INSERT INTO t (x) SELECT {function}(s.a) FROM s"
    found = direct(analyze(tier.parse(statement, dialect), lambda _name: None))  # type: ignore[attr-defined]
    assert found == {("x", "s.a", *SUBTYPES[effect_of(function.upper(), dialect)])}


def test_any_aggregates_and_compares() -> None:
    aggregated = sqlglot_tier.parse("INSERT INTO t (x) SELECT any(s.a) FROM s", "spark")
    assert direct(analyze(aggregated, lambda _name: None)) == {("x", "s.a", "AGGREGATION", False)}
    compared = sqlglot_tier.parse("INSERT INTO t (x) SELECT s.b = ANY(s.a) FROM s", "postgres")
    assert {kind for _x, _source, kind, _masked in direct(analyze(compared, lambda _name: None))} == {"TRANSFORMATION"}


@pytest.mark.parametrize(
    ("statement", "dialect", "columns"),
    [
        ("INSERT INTO rep (y, n) SELECT MAX(year), SUM(day) FROM sales", "postgres", {"sales.year", "sales.day"}),
        ("INSERT INTO t (x) SELECT upper(month) FROM s", "snowflake", {"s.month"}),
        ("INSERT INTO t (x) SELECT datediff(day, month) FROM s", "mysql", {"s.day", "s.month"}),
        ("INSERT INTO t (x) SELECT datediff(day, a, month) FROM s", "snowflake", {"s.a", "s.month"}),
        ("INSERT INTO t (x) SELECT dateadd(month, 1, day) FROM s", "tsql", {"s.day"}),
        ("INSERT INTO t (x) SELECT date_trunc(day, MONTH) FROM s", "bigquery", {"s.day"}),
        ("INSERT INTO t (x) SELECT date_trunc(day, month) FROM s", "snowflake", {"s.month"}),
    ],
)
def test_a_column_named_like_a_date_part_is_a_column(statement: str, dialect: str, columns: set[str]) -> None:
    for tier in (sqlglot_tier, sqlfluff_tier):
        try:
            lineage = analyze(tier.parse(statement, dialect), lambda _name: None)
        except Unparsable:
            assert tier is sqlfluff_tier
            continue
        assert {source for _x, source, _kind, _masked in direct(lineage)} == columns, tier.__name__


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier], ids=["sqlglot", "sqlfluff"])
@pytest.mark.parametrize(
    ("dialect", "call", "kind", "masked"),
    [
        ("bigquery", "HLL_COUNT.INIT(s.a)", "AGGREGATION", True),
        ("bigquery", "HLL_COUNT.EXTRACT(s.a)", "TRANSFORMATION", False),
        ("bigquery", "KLL_QUANTILES.MERGE_INT64(s.a, 2)", "AGGREGATION", False),
        ("bigquery", "mine.INIT(s.a)", "TRANSFORMATION", False),
        ("bigquery", "mine.MD5(s.a)", "TRANSFORMATION", True),
        ("clickhouse", "uniqExactMerge(s.a)", "AGGREGATION", True),
        ("clickhouse", "quantileTDigestStateArray(s.a)", "AGGREGATION", False),
        ("clickhouse", "arrayDistinct(s.a)", "TRANSFORMATION", False),
        ("doris", "sum_union(s.a)", "AGGREGATION", False),
        ("doris", "sum_state(s.a)", "TRANSFORMATION", False),
        ("oracle", "DBMS_CRYPTO.MAC(s.a, 1, s.a)", "TRANSFORMATION", True),
        ("postgres", "st_union(s.a)", "AGGREGATION", False),
        ("postgres", "st_union(s.a, s.a)", "TRANSFORMATION", False),
        ("sqlite", "MAX(s.a)", "AGGREGATION", False),
        ("sqlite", "MAX(s.a, 1)", "TRANSFORMATION", False),
        ("sqlite", "MIN(1, s.a, 2)", "TRANSFORMATION", False),
    ],
)
def test_a_function_is_known_by_its_space_of_names_its_ending_and_its_arguments(
    tier: object, dialect: str, call: str, kind: str, masked: bool
) -> None:
    parsed = tier.parse(f"INSERT INTO t (x) SELECT {call} FROM s", dialect)  # type: ignore[attr-defined]
    found = {(kind, masked) for _x, _source, kind, masked in direct(analyze(parsed, lambda _name: None))}
    assert found == {(kind, masked)}


@pytest.mark.parametrize("tier", [sqlglot_tier, sqlfluff_tier], ids=["sqlglot", "sqlfluff"])
@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("clickhouse", "anyHeavyIf(s.a, s.b)"),
        ("clickhouse", "groupArraySortedIf(5)(s.a, s.b)"),
        ("clickhouse", "sumIf(s.a, s.b)"),
        ("starrocks", "sum_if(s.a, s.b)"),
    ],
)
def test_an_aggregate_with_a_condition_takes_only_values_of_its_rows(tier: object, dialect: str, call: str) -> None:
    parsed = tier.parse(f"INSERT INTO t (x) SELECT {call} FROM s", dialect)  # type: ignore[attr-defined]
    found = {source: kind for _x, source, kind, _masked in direct(analyze(parsed, lambda _name: None))}
    assert found == {"s.a": "AGGREGATION", "s.b": "FILTER"}


@pytest.mark.parametrize("function", ["approx_top_sum(3)", "quantileDD(0.01, 0.5)", "sparkbar(4)", "windowFunnel(9)"])
def test_an_aggregate_with_parameters_of_its_own_reads_its_arguments(function: str) -> None:
    parsed = sqlglot_tier.parse(f"INSERT INTO t (x) SELECT {function}(s.a, s.b) FROM s", "clickhouse")
    found = {(source, kind) for _x, source, kind, _masked in direct(analyze(parsed, lambda _name: None))}
    assert found == {("s.a", "AGGREGATION"), ("s.b", "AGGREGATION")}


def test_a_static_method_of_a_type_aggregates() -> None:
    parsed = sqlglot_tier.parse("INSERT INTO t (x) SELECT geography::EnvelopeAggregate(s.a) FROM s", "tsql")
    assert direct(analyze(parsed, lambda _name: None)) == {("x", "s.a", "AGGREGATION", False)}


@pytest.mark.parametrize(
    ("member", "sources"),
    [
        ("lib.Span::Parse(s.a)", {"s.a"}),
        ("[lib].[Span]::Parse(s.a).Length", {"s.a"}),
        ("d.lib.Span::Make(a, s.b)", {"s.a", "s.b"}),
        ("sys.hierarchyid::GetRoot()", set()),
        ("Span::Shortest", set()),
        ("Span::[Null]", set()),
        ("lib.Span::Null", set()),
        ("d.[lib].Span::[Date].ToString()", set()),
        ("IIF(s.a = lib.Span::[Null], s.b, lib.Span::[Half])", {"s.a", "s.b"}),
    ],
)
def test_a_type_of_a_schema_is_no_column(member: str, sources: set[str]) -> None:
    parsed = sqlglot_tier.parse(f"INSERT INTO t (x) SELECT {member} FROM s", "tsql")
    assert {source for _x, source, _kind, _masked in direct(analyze(parsed, lambda _name: None))} == sources


@pytest.mark.parametrize(
    ("dialect", "call", "shown"),
    [
        ("bigquery", "SHA256(s.a)", "SHA256(s.a)"),
        ("bigquery", "SAFE.SHA512(s.a)", "(SAFE.SHA512(s.a))"),
        ("clickhouse", "SHA224(s.a)", "SHA224(s.a)"),
        ("postgres", "sha384(s.a)", "SHA384(s.a)"),
        ("spark", "sha2(s.a, 256)", "SHA2(s.a, ?)"),
        ("trino", "sha512(s.a)", "SHA512(s.a)"),
        ("tsql", "HASHBYTES('SHA2_256', s.a)", "HASHBYTES(?, s.a)"),
    ],
)
def test_a_digest_keeps_the_size_in_its_name_and_no_literal(dialect: str, call: str, shown: str) -> None:
    lineage = analyze(sqlglot_tier.parse(f"INSERT INTO t (x) SELECT {call} FROM s", dialect), lambda _name: None)
    outputs = [output for flow in lineage.flows for output in flow.outputs]
    assert [reference.expression for output in outputs for reference in output.references] == [shown]


def test_what_duckdb_calls_an_aggregate_or_a_hash_is_one_in_the_table() -> None:
    """Its list has window functions among the aggregates, of which fill and those of MOVING give a row's own value."""
    with duckdb.connect() as session:
        rows = session.execute("SELECT DISTINCT upper(function_name), function_type FROM duckdb_functions()").fetchall()
    aggregates = {name for name, kind in rows if kind == "aggregate"} - MOVING - {"FILL"}
    hashes = {name for name, _kind in rows if re.fullmatch(r"HASH|MD5\w*|SHA\d+\w*|CRC\w*", name)}
    assert len(aggregates) > 60
    assert len(hashes) > 4
    many = (Effect.AGGREGATE, Effect.COUNT, Effect.ORDER)
    assert {name for name in aggregates if effect_of(name, "duckdb") not in many} == set()
    assert {name for name in hashes if effect_of(name, "duckdb") is not Effect.HASH} == set()


def test_plans_take_their_words_from_the_table() -> None:
    aggregated = {name.lower() for name in AGGREGATES | COUNTS}
    assert (aggregated & vocabulary.FUNCTIONS) - {"hll_union"} <= vocabulary.AGGREGATES
    assert {"first_value", "some", "mean"} <= vocabulary.AGGREGATES
    assert {name.lower() for name in COUNTS | HASHES} & vocabulary.FUNCTIONS == vocabulary.MASKING
    assert "row_number" in vocabulary.ORDER_ONLY


def test_no_function_stands_in_two_rows_of_the_table() -> None:
    assert not (AGGREGATES & COUNTS or AGGREGATES & HASHES or COUNTS & HASHES)


def test_a_unit_needs_room_for_what_it_measures() -> None:
    assert unit_positions("DATEDIFF", 2, "mysql") == ()
    assert unit_positions("DATEDIFF", 3, "tsql") == (0,)
    assert unit_positions("DATE_TRUNC", 2, "bigquery") == (1,)
    assert unit_positions("DATE_TRUNC", 2, "postgres") == ()
    assert unit_positions("MAX", 1, "postgres") == ()
