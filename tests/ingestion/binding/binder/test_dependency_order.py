"""Bound level by level, statements find what they find one after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.altered_columns import changes_after, under_last_names
from ingestion.binding.binder import BoundLog, RelationSchemas, Schema, bind, bound_lineage, levels, shown_columns
from ingestion.binding.timeline import Occurrence, SchemaProvider, read_timeline
from ingestion.model.isolation import Isolation
from ingestion.model.lineage import (
    Column,
    ColumnRef,
    Flow,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.namespaces import Namespace
from ingestion.parsing.sqlglot.tier import parse
from tests.support.batched_runs import built_log

BEFORE = SchemaProvider(lambda key: (Column("a"), Column("b")) if key.table in {"base", "t0"} else None)


def occurrences_of(statements: Sequence[str | tuple[str, str] | Symbolic]) -> list[Occurrence]:
    """Statements as they ran, in one session or in the one that is given."""
    found = []
    for number, given in enumerate(statements):
        session, said = given if isinstance(given, tuple) else ("s", given)
        symbolic = parse(said, "postgres") if isinstance(said, str) else said
        place = (Namespace("db", ("public",)), (float(number), number), session)
        found.append(Occurrence(str(number), symbolic, *place))
    return found


def by_levels(
    occurrences: Sequence[Occurrence], *, backwards: bool
) -> tuple[list[list[int]], Mapping[int, StatementLineage], Mapping[int, Schema]]:
    """The levels, and what the statements and the relations come to, each level worked on in either direction."""
    isolation = Isolation[tuple[float, int]]()
    timeline = read_timeline(occurrences, BEFORE, isolation)
    assert timeline is not None

    def widened(number: int) -> Collection[int]:
        symbolic = occurrences[number].symbolic
        flows = symbolic.flows if isinstance(symbolic, StatementLineage) else ()
        return [timeline.meanings[number][flow.target.name] for flow in flows if flow.target is not None]

    schemas = RelationSchemas(timeline, BEFORE)
    lineages: dict[int, StatementLineage] = {}
    found = levels(timeline, widened)
    for level in found:
        for number in reversed(level) if backwards else level:
            one = occurrences[number]
            lineage = bound_lineage(one.symbolic, schemas.read_by(number, one.order), {})
            schemas.note(number, one.order, shown_columns(lineage, one.symbolic))
            later = changes_after(timeline.relations, timeline.meanings[number], one.order, timeline.altered[number])
            lineages[number] = under_last_names(lineage, one.symbolic, later).lineage
    return found, lineages, schemas.latest(isolation)


def same(log: BoundLog, found: tuple[object, Mapping[int, StatementLineage], Mapping[int, Schema]]) -> bool:
    _levels, lineages, schemas = found
    whole = {number: statement.lineage for number, statement in enumerate(log.statements)}
    return (whole, log.schemas) == (lineages, schemas)


@pytest.mark.parametrize("backwards", [False, True])
def test_random_logs_come_to_the_same_in_levels(backwards: bool) -> None:
    for seed in range(12):
        occurrences = occurrences_of([(record.session, record.text) for record in built_log(seed, 60)])
        found = by_levels(occurrences, backwards=backwards)
        assert same(bind(occurrences, BEFORE), found), seed
        assert sorted(number for level in found[0] for number in level) == list(range(len(occurrences)))


CHAIN = ["CREATE TABLE c1 AS SELECT a FROM base", "CREATE TABLE c2 AS SELECT a FROM c1"]


@pytest.mark.parametrize(
    "ring",
    [
        [
            "CREATE VIEW x AS SELECT y.*, c2.a AS more FROM y, c2",
            "CREATE VIEW y AS SELECT z.b FROM z",
            "CREATE VIEW z AS SELECT x.* FROM x",
        ],
        [
            "CREATE VIEW x AS SELECT r.*, c2.a AS more FROM r, c2",
            "CREATE VIEW y AS SELECT z.b FROM z",
            "CREATE VIEW z AS SELECT x.* FROM x",
            "CREATE TABLE r (LIKE y)",
        ],
    ],
)
def test_of_a_ring_no_definition_sees_one_that_is_bound_after_it(ring: list[str]) -> None:
    """However early that could be bound by what it reads."""
    occurrences = occurrences_of([*CHAIN, *ring])
    found = by_levels(occurrences, backwards=False)
    assert same(bind(occurrences, BEFORE), found)
    assert found[0][:4] == [[0], [1], [2], [3]]


def test_what_reads_a_table_that_is_like_another_waits_for_what_makes_that() -> None:
    occurrences = occurrences_of(
        [
            *CHAIN,
            "CREATE TABLE r (LIKE c2)",
            "CREATE TABLE q (LIKE r)",
            "INSERT INTO w SELECT * FROM q",
        ]
    )
    found = by_levels(occurrences, backwards=False)
    assert same(bind(occurrences, BEFORE), found)
    (flow,) = found[1][4].flows
    assert [output.name for output in flow.outputs] == ["a"]


def test_columns_that_a_plan_added_are_seen_by_those_that_ran_after_it_alone() -> None:
    table, source = TableName(("t0",)), TableName(("base",))
    brought = tuple(
        Output(name, (Reference((ColumnRef(source, "a"),), Transformation(Subtype.IDENTITY)),)) for name in "abn"
    )
    plan = StatementLineage(StatementKind.INSERT, (Flow(Target(table, WriteMode.APPEND), brought, (), (source,)),))
    reading = "INSERT INTO w SELECT * FROM t0"
    occurrences = occurrences_of([reading, plan, reading])
    found = by_levels(occurrences, backwards=True)
    assert same(bind(occurrences, BEFORE), found)
    assert [len(found[1][number].flows[0].outputs) for number in (0, 2)] == [2, 3]
    assert found[0] == [[0], [1], [2]]
