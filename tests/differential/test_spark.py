"""Our lineage of a SELECT against that of Spark's own analyzer, column by column, direct and indirect.

HEADWATER_EXAMPLES=5000 compares that many random statements, others in every run.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from ingestion.analysis._columns import SchemaLookup
from ingestion.analysis.analyzer import analyze
from ingestion.dialects.functions import Effect, effect_of
from ingestion.parsing.sqlglot.tier import parse
from tests.differential import shop
from tests.differential.choices import Choices
from tests.differential.grammar import statement
from tests.differential.grammar_scope import SPARK
from tests.differential.lineage_facts import differences, facts_of
from tests.differential.schemas import Schema, random_schema
from tests.support.examples import random_settings

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

pytestmark = pytest.mark.spark

SCHEMAS = tuple(
    random_schema(Choices(bytes((71 * number + 37 * step) % 256 for step in range(60))), SPARK.kinds, f"_{number}")
    for number in range(12)
)
_NAMED = re.compile(r"[a-z_]\w*").fullmatch


@pytest.fixture(scope="module")
def analyser(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with every table as an empty view; statements that Spark refuses are not logged."""
    logs = [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    tables = {**shop.TABLES, **{table: schema.spark_type(table) for schema in SCHEMAS for table in schema.tables}}
    for table, columns in tables.items():
        spark.createDataFrame([], columns).createOrReplaceTempView(table)
    yield spark
    for table in tables:
        spark.catalog.dropTempView(table)
    for log, level in zip(logs, levels, strict=True):
        log.setLevel(level)


def _disagreements(spark: SparkSession, query: str, schema_of: SchemaLookup, named: Callable[[str], bool]) -> list[str]:
    from tests.differential.spark_lineage import spark_facts
    from tests.differential.spark_plan import analysed

    theirs = spark_facts(analysed(spark, query))
    ours = analyze(parse(query, "spark"), schema_of)
    problems = [f"{problem.kind.value}: {problem.subject}" for problem in ours.problems]
    return differences(facts_of(ours), theirs, named=named) + problems


def _cases() -> Iterator[ParameterSet]:
    for place, query in shop.statements():
        known = [pytest.mark.xfail(strict=True)] if place.startswith("not_yet") else []
        yield pytest.param(place, query, id=place, marks=known)


@pytest.mark.parametrize(("place", "query"), list(_cases()))
def test_a_fixed_statement_has_the_lineage_that_spark_gives_it(analyser: SparkSession, place: str, query: str) -> None:
    found = _disagreements(analyser, query, shop.lookup, lambda name: _NAMED(name) is not None)
    assert not found, "\n".join([query, *found])


def test_random_statements_have_the_lineage_that_spark_gives_them(analyser: SparkSession) -> None:
    from pyspark.errors import PySparkException

    seen: Counter[str] = Counter()

    @random_settings(120)
    @given(schema=st.sampled_from(SCHEMAS), data=st.binary(min_size=50, max_size=350))
    def compare(schema: Schema, data: bytes) -> None:
        query = statement(data, schema, SPARK)
        if query is None:
            seen["too long"] += 1
            return
        try:
            found = _disagreements(analyser, query, schema.lookup, lambda _name: True)
        except PySparkException:
            seen["refused by Spark"] += 1
            return
        seen["compared"] += 1
        assert not found, "\n".join([query, *found])

    compare()
    print(dict(seen))
    assert seen["compared"] > 0.7 * seen.total(), dict(seen)


def test_what_its_registry_calls_an_aggregate_or_a_hash_is_one_in_the_table(spark: SparkSession) -> None:
    """By the class behind each name, beside the group that its documentation is in."""
    java = spark._jvm
    registry = spark._jsparkSession.sessionState().functionRegistry()
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()
    expressions = "org.apache.spark.sql.catalyst.expressions"
    above = ("aggregate.AggregateFunction", "RuntimeReplaceableAggregate")
    aggregates = [loader.loadClass(f"{expressions}.{name}") for name in above]
    theirs, ours = {}, {}
    listed = registry.listFunction().iterator()
    while listed.hasNext():
        identifier = listed.next()
        about = registry.lookupFunction(identifier).get()
        name = identifier.funcName().upper()
        made = loader.loadClass(about.getClassName())
        effect = effect_of(name, "spark")
        if about.getGroup() == "window_funcs" or effect is Effect.GROUPING:
            continue
        ours[name] = (effect in (Effect.AGGREGATE, Effect.COUNT), effect is Effect.HASH)
        aggregates_rows = about.getGroup() == "agg_funcs" or any(kind.isAssignableFrom(made) for kind in aggregates)
        theirs[name] = (aggregates_rows, about.getGroup() == "hash_funcs")
    assert len(theirs) > 400
    assert {name: said for name, said in theirs.items() if said[0] != ours[name][0]} == {}
    assert {name for name, said in theirs.items() if said[1] and not ours[name][1]} == set()
