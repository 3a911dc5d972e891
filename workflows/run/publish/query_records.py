"""The queries behind published edges, as the catalog files them: masked, one for each text, with what they touch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.openmetadata.attachments import file_queries
from connectors.openmetadata.entities import QueryRecord
from ingestion.model.entities import EntityReference
from ingestion.model.isolation import FailureStage, Probe, in_parts
from workflows.counts import loss_warnings
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import EdgeOutcomes, SourceLineage, published_flows
from workflows.runtime.spill import SpillList
from workflows.target import RunTarget

_PARTS = 64
"""Of the texts of a log, one of which is held at a time."""


@dataclass(slots=True)
class RepeatedQuery:
    """The runs of one text: what they touch, by the id of the entity, and who ran them, in how many seconds in all."""

    used_in: dict[str, EntityReference] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    runs: int = 0
    seconds: float = 0.0
    last: float = 0.0

    def add(self, other: RepeatedQuery) -> None:
        """Takes in other runs of the same text."""
        self.used_in |= other.used_in
        self.users |= other.users
        self.runs += other.runs
        self.seconds += other.seconds
        self.last = max(self.last, other.last)


class LogQueries:
    """The queries behind the edges that stand, of all shards of a log."""

    def __init__(self, shards: int) -> None:
        held = 1 if shards == 1 else 0
        self._parts: list[SpillList[dict[str, RepeatedQuery]]] = [SpillList(held) for _ in range(min(shards, _PARTS))]

    def add(self, found: Mapping[str, RepeatedQuery]) -> None:
        """Takes in those of a shard, by their masked text."""
        parts: list[dict[str, RepeatedQuery]] = [{} for _ in self._parts]
        for masked, query in found.items():
            parts[_checksum(masked)[0] * len(parts) >> 8][masked] = query
        for spilled, part in zip(self._parts, parts, strict=True):
            spilled.append(part)

    def records(self, service: str) -> Iterator[tuple[QueryRecord, ...]]:
        """One record for each masked text, some at a time, in order of their checksums.

        A catalog names queries by these: what is filed together is together in its indexes too.
        """
        for spilled in self._parts:
            queries: dict[str, RepeatedQuery] = {}
            for part in spilled:
                for masked, query in part.items():
                    queries.setdefault(masked, RepeatedQuery()).add(query)
            yield tuple(_record(masked, queries[masked], service) for masked in sorted(queries, key=_checksum))

    def file(self, target: RunTarget, service: str, probe: Probe) -> tuple[str, ...]:
        """Files them below the `service`; what to warn of where some could not be."""

        def work(queries: Sequence[QueryRecord]) -> None:
            file_queries(target.platform, service, queries)

        failed = [one for some in self.records(service) for one in in_parts(some, work, FailureStage.QUERIES, probe)]
        return loss_warnings("queries of published edges could not be filed", (failure for _query, failure in failed))


def queries_behind(lineage: SourceLineage, entities: RelationEntities, edges: EdgeOutcomes) -> dict[str, RepeatedQuery]:
    """The queries behind the `edges` of a shard that stand, by their masked text."""
    found: dict[str, RepeatedQuery] = {}
    for masked, group, relations in _published_flows(lineage, edges):
        used = [entity.reference for n in relations if (entity := entities.resolved.get(n)) is not None]
        used_in = {one.id: one for one in used}
        one = RepeatedQuery(used_in, {*group.users}, group.count, group.duration, group.last_seen)
        found.setdefault(masked, RepeatedQuery()).add(one)
    return found


def _checksum(masked: str) -> bytes:
    """The MD5 of a text, of one too that cannot be filed."""
    return hashlib.md5(masked.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def _record(masked: str, query: RepeatedQuery, service: str) -> QueryRecord:
    """One masked text, with the mean duration of its runs in seconds."""
    return QueryRecord(
        query=masked,
        service=service,
        used_in=tuple(query.used_in[key] for key in sorted(query.used_in)),
        duration=query.seconds / query.runs if query.seconds else None,
        date=query.last or None,
        users=tuple(sorted(user for user in query.users if user)),
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
