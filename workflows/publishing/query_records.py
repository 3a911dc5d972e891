"""The queries behind published edges, as the catalog files them: masked, one for each text, with what they touch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.openmetadata.entities.crud import QueryRecord
from connectors.openmetadata.entities.queries import file_queries
from ingestion.entities import EntityReference
from ingestion.isolation import FailureStage, in_parts
from workflows.lineage.outcomes import EdgeOutcomes, published_flows
from workflows.lineage.source_lineage import SourceLineage
from workflows.lineage.table_entities import RelationEntities
from workflows.report.losses import loss_warnings
from workflows.target import RunTarget
from workflows.templates.grouping import OccurrenceGroup


@dataclass(slots=True)
class _Query:
    used_in: dict[str, EntityReference] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    runs: int = 0
    seconds: float = 0.0
    last: float = 0.0


def file_log_queries(
    target: RunTarget,
    lineage: SourceLineage,
    entities: RelationEntities,
    edges: EdgeOutcomes,
    service: str,
) -> tuple[str, ...]:
    """Files the queries behind the edges that stand; what to warn of where some could not be."""

    def work(queries: Sequence[QueryRecord]) -> None:
        file_queries(target.platform, service, queries)

    records = query_records(lineage, entities, edges, service)
    failed = in_parts(records, work, FailureStage.QUERIES, lineage.source.probe)
    return loss_warnings("queries of published edges could not be filed", (failure for _query, failure in failed))


def query_records(
    lineage: SourceLineage, entities: RelationEntities, edges: EdgeOutcomes, service: str
) -> tuple[QueryRecord, ...]:
    """One record for each masked text whose edges stand. `duration` is the mean of its runs, in seconds."""
    queries: dict[str, _Query] = {}
    for masked, group, relations in _published_flows(lineage, edges):
        query = queries.setdefault(masked, _Query())
        for relation in relations:
            entity = entities.resolved.get(relation)
            if entity is not None:
                query.used_in[entity.id] = entity.reference
        query.users.update(group.users)
        query.runs += group.count
        query.seconds += group.duration
        query.last = max(query.last, group.last_seen)
    return tuple(
        QueryRecord(
            query=masked,
            service=service,
            used_in=tuple(query.used_in[key] for key in sorted(query.used_in)),
            duration=query.seconds / query.runs if query.seconds else None,
            date=query.last or None,
            users=tuple(sorted(user for user in query.users if user)),
        )
        for masked, query in sorted(queries.items())
    )


def _published_flows(
    lineage: SourceLineage, edges: EdgeOutcomes
) -> Iterator[tuple[str, OccurrenceGroup, tuple[int, ...]]]:
    """The masked text, the runs and the relations of each flow whose edges stand; definitions are no queries."""
    for flow in published_flows(lineage, edges):
        group = lineage.source.group_of(flow)
        masked = lineage.source.masked_text(group)
        if masked and group.digests:
            yield masked, group, (flow.target, *sorted(flow.content.sources))
