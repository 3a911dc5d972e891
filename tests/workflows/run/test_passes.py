"""A packed batch: what was bound and resolved already is left out of it, and nothing that a later pass asks for."""

from __future__ import annotations

from typing import cast

from ingestion.binding.timeline import SchemaProvider
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from tests.behaviour.harness import Record, Warehouse, statement_rows, templates_of
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource, bind_occurrences
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.passes import BoundShard, NamesMet, ResolvedShard, publishable
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import (
    EdgeOutcome,
    SourceLineage,
    lineage_of,
    processed_routines,
    published_flows,
    statement_outcomes,
)
from workflows.run.resolve.resolution import NamesBefore, Registrar, ResolvedNames
from workflows.run.resolve.routines import RoutineEntities
from workflows.runtime.spill import Packed, pack, unpack

LOG = (
    "CREATE TABLE made AS SELECT a, b FROM s",
    "INSERT INTO t (a) SELECT upper(b) FROM made WHERE a > 1",
    "CREATE TABLE made AS SELECT a FROM s",
    "CREATE TEMP TABLE held AS SELECT a, count(*) AS n FROM s GROUP BY a",
    "CREATE VIEW v AS SELECT a, n, a || n AS both FROM held",
    "ALTER TABLE t ADD COLUMN c int",
    "INSERT INTO t VALUES (1)",
    "INSERT INTO t SELECT CAST(a AS)",
)


def bound_log() -> LineageSource:
    """The statements of a log, a second apart."""
    records = [Record(text, "s", 1000.0 + number) for number, text in enumerate(LOG)]
    rows = [row for row in statement_rows(records, Warehouse(database="db")) if row.get("fingerprint")]
    groups = [
        OccurrenceGroup(
            str(row["fingerprint"]),
            "db",
            ("public",),
            "s",
            (float(at), at),
            at,
            at,
            1,
            ("ann",),
            (at,),
            0.5,
            read_in_this_run=1,
        )
        for at, row in enumerate(rows, 1)
    ]
    before = SchemaProvider(lambda key: (Column("a"), Column("b")) if key.table in "st" else None)
    return bind_occurrences(templates_of(rows), groups, SourceSettings("db", "public"), before)


def entities_of(source: LineageSource) -> RelationEntities:
    columns = tuple(map(Column, ("a", "b", "n", "both")))
    resolved = {
        one.number: TableEntity(
            one.key.table, f"w.db.public.{one.key.table}", "w", "db", "public", one.key.table, columns
        )
        for one in source.log.relations
    }
    return RelationEntities(resolved, dict.fromkeys(resolved, Outcome.RESOLVED))


def size_of(value: object) -> int:
    packed = pack(value)
    assert isinstance(packed, Packed)
    return len(packed.content)


def packed_and_read(batch: BoundShard | ResolvedShard) -> object:
    packed = pack(batch)
    assert isinstance(packed, Packed)
    return unpack(packed)


def test_a_packed_bound_batch_resolves_to_the_same() -> None:
    source = bound_log()
    entities = entities_of(source)
    left = cast(BoundShard, packed_and_read(BoundShard(source, NamesBefore(entities))))
    whole, found = lineage_of(source, entities), lineage_of(left.source, left.names.entities)
    assert len(whole.requests) == 3
    for name in ("requests", "replacements", "flows", "complete", "failures", "given_up"):
        assert getattr(found, name) == getattr(whole, name), name
    assert left.source.view_definitions() == source.view_definitions()
    assert left.source.problems() == source.problems()
    assert all(template.symbolic is None for template in left.source.templates.values())


def test_a_packed_resolved_batch_is_told_of_as_the_whole_one() -> None:
    source = bound_log()
    entities = entities_of(source)
    whole = lineage_of(source, entities)
    left = cast(ResolvedShard, packed_and_read(ResolvedShard(whole, ResolvedNames(entities, RoutineEntities()))))
    assert told(left.lineage) == told(whole)
    assert (left.lineage.requests, left.lineage.replacements) == (whole.requests, whole.replacements)
    assert left.lineage.source.log.ddl_events == whole.source.log.ddl_events
    assert left.names.entities == entities
    assert size_of(publishable(whole)) < size_of(whole)


def told(lineage: SourceLineage) -> tuple[object, ...]:
    """What became of the statements, the queries behind the edges, and the routines."""
    edges = {request.key: EdgeOutcome() for request in lineage.requests}
    outcomes = statement_outcomes(lineage, edges)
    assert {str(one.status) for one in outcomes} == {"published", "skipped", "dead"}
    behind = [
        (lineage.source.masked_text(lineage.source.group_of(flow)), flow.target, flow.content.sources)
        for flow in published_flows(lineage, edges)
    ]
    return outcomes, behind, processed_routines(lineage, outcomes, edges)


def test_what_a_packed_batch_tells_of_names_stays_bytes_and_is_what_it_was() -> None:
    source = bound_log()
    lacking = RelationEntities({}, {one.number: Outcome.UNRESOLVED for one in source.log.relations})
    facts = tuple(Registrar("w", "Postgres", "db", "public").facts(source, lacking))
    met = NamesMet(1, facts, frozenset(one.location for one in facts), {"r": ("SELECT ?",)})
    read = cast(NamesMet, unpack(pack(met)))
    again = cast(NamesMet, unpack(pack(read)))
    assert isinstance(read.facts, Packed)
    assert len(facts) > 1
    assert unpack(again.facts) == facts
    assert (again.flows, again.locations, again.routines) == (met.flows, met.locations, met.routines)
