"""Our lineage of random queries against DuckDB: its own plan says of what each column is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.analysis.analyzer import analyze
from ingestion.model.lineage import LineageType, Reference, TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.choices import Choices
from tests.differential.duckdb_plan import MARK, PlanLineage, UnreadPlan, lineage_of_plan
from tests.differential.grammar import Grammar
from tests.differential.grammar_scope import DUCKDB, Names, Scope
from tests.differential.schemas import Schema, random_schema
from tests.support.examples import random_settings

SCHEMAS = tuple(
    random_schema(Choices(bytes((47 * number + 89 * step) % 256 for step in range(60))), DUCKDB.kinds, f"_{number}")
    for number in range(8)
)
_LONGEST = 3500
_UNNAMED = """
    a ; t.a ; (a) ; a + b ; a - b * a ; (A + b) * a ; a / b ; a // b ; a % b ; s || s ; a = b ; a <> b ; a >= b
    a = b AND b < a ; a = b OR b = a ; SUM(a) ; sum(t.a) ; COUNT(*) ; count() ; count(a) ; COUNT(DISTINCT a)
    max(a) - min(t.b) ; max(a) * count(*) / sum(b) ; round(avg(a)) ; upper(s) ; list(a) ; array_agg(a) ; now()
    abs(a + b) ; len(s) ; length(s) ; count_if(a > b) ; ceil(a) ; md5(s) ; a + b + a ; stddev(a) ; mean(a)
"""


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the tables of every schema."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for schema in SCHEMAS:
            for table in schema.tables:
                connection.execute(f"CREATE TABLE {table} ({schema.postgres_columns(table)})")
        yield connection


def _query(data: bytes, schema: Schema) -> str:
    return Grammar(Choices(data), schema, DUCKDB, Names(colliding=False)).query(Scope({}), None)[0]


def _engine_says(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[list[str], PlanLineage] | None:
    """The names of the columns and the plan's lineage; None where the engine refuses the query."""
    try:
        plan = lineage_of_plan(connection, query)
        return [name for name, *_ in connection.execute(f"DESCRIBE {query}").fetchall()], plan
    except (UnreadPlan, duckdb.Error):
        return None


def _references(found: tuple[Reference, ...], *, direct: bool) -> set[tuple[str, str]]:
    chosen = [one for one in found if not direct or one.transformation.type is LineageType.DIRECT]
    assert all(one.certain for one in chosen)
    return {(source.table.table, source.column) for one in chosen for source in one.sources}


def test_random_queries_are_made_of_what_the_plan_says(connection: duckdb.DuckDBPyConnection) -> None:
    seen: Counter[str] = Counter()

    @random_settings(250)
    @given(schema=st.sampled_from(SCHEMAS), data=st.binary(min_size=50, max_size=350))
    def compare(schema: Schema, data: bytes) -> None:
        query = _query(data, schema)
        theirs = _engine_says(connection, query) if len(query) <= _LONGEST else None
        if theirs is None:
            seen["too long or refused"] += 1
            return
        seen["compared"] += 1
        names, plan = theirs
        lineage = analyze(parse(query, "duckdb"), schema.lookup)
        (flow,) = lineage.flows
        assert not lineage.problems, (query, lineage.problems)
        assert len(flow.outputs) == len(names), query
        assert {name.table for name in flow.sources} == plan.tables, query
        for output, made_of in zip(flow.outputs, plan.columns, strict=False):
            if MARK not in made_of:
                direct = _references(output.references, direct=True)
                assert direct <= made_of <= _references(output.references, direct=False), (query, output.name)
        read = _references(flow.indirect, direct=False).union(
            *(_references(output.references, direct=False) for output in flow.outputs)
        )
        unused = {(one.table.table, one.column) for one in lineage.unused}
        assert read <= plan.references | unused, (query, read - plan.references)
        assert plan.references - {MARK} <= read | unused, (query, plan.references - read)

    compare()
    print(dict(seen))
    assert seen["compared"] > 0.7 * seen.total(), dict(seen)


def test_outputs_without_a_name_have_the_one_that_the_engine_gives_them() -> None:
    outputs = [each.strip() for each in _UNNAMED.strip().replace("\n", ";").split(";")]
    known = Schema({"t": (("a", "int"), ("b", "int"), ("s", "varchar"))})
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE t (a INT, b INT, s VARCHAR)")
        for output in outputs:
            query = f"SELECT {output} FROM t"
            theirs = [name for name, *_ in connection.execute(f"DESCRIBE {query}").fetchall()]
            (flow,) = analyze(parse(query, "duckdb"), known.lookup).flows
            assert [one.name.lower() for one in flow.outputs] == [name.lower() for name in theirs], output


def _unknown(_name: TableName) -> None:
    return None


def test_a_name_of_many_operators_is_cut_and_one_of_literals_masked() -> None:
    (flow,) = analyze(parse(f"SELECT a + 'secret', {' + '.join(['a'] * 9000)} FROM t", "duckdb"), _unknown).flows
    assert [one.name for one in flow.outputs] == ["a + ?", " + ".join(["a"] * 60)[:200]]
