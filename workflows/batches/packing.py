"""What a batch takes along from one pass to the next, where it waits outside of memory or crosses to another process.

Of a bound statement that is a small part: once it is bound, its form and its columns are in the flows that it makes;
once these are resolved, their columns are in the requests.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.binding.composition import FlowSources
from ingestion.binding.relation_schemas import Schema
from ingestion.model import Flow, StatementKind, StatementLineage
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.source_lineage import SourceLineage


def resolvable(source: LineageSource) -> LineageSource:
    """What resolving needs of a bound batch, and what comes after it: no statement's form, none of its columns."""
    if source.outlined:  # it was packed before
        return source
    log = source.log
    return replace(
        source,
        definitions=None,
        templates={key: replace(template, symbolic=None) for key, template in source.templates.items()},
        log=replace(log, statements=tuple(map(_outline, log.statements)), schemas=_schemas_in_force(log)),
        outlined=True,
    )


def publishable(lineage: SourceLineage) -> SourceLineage:
    """What publishing needs of a resolved batch: its columns are those of the requests."""
    source = resolvable(lineage.source)
    flows = tuple(replace(flow, content=_ends(flow.content)) for flow in source.flows)
    return replace(lineage, source=replace(source, flows=flows, log=replace(source.log, schemas={})))


def _outline(statement: BoundStatement) -> BoundStatement:
    """What a statement is, what it writes and changes, and what was wrong with it."""
    lineage = statement.lineage
    outline = StatementLineage(
        lineage.kind,
        tuple(Flow(flow.target, ()) for flow in lineage.flows),
        lineage.changes,
        problems=lineage.problems,
    )
    occurrence = replace(statement.occurrence, symbolic=_nothing_of(lineage.kind), names=None)
    return BoundStatement(occurrence, outline, statement.meaning)


@lru_cache
def _nothing_of(kind: StatementKind) -> StatementLineage:
    return StatementLineage(kind)


def _schemas_in_force(log: BoundLog) -> dict[int, Schema]:
    """The schemas of what took the place of another."""
    names = {relation.key for relation in log.relations if relation.superseded}
    return {n: schema for n, schema in log.schemas.items() if log.relations[n].key in names} if names else {}


def _ends(content: FlowSources) -> FlowSources:
    return FlowSources({}, frozenset(), content.sources, frozenset(), content.via, content.depth)
