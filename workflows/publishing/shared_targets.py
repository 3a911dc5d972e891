"""Targets of which several batches of a log say something: a target takes all that is said of it at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from connectors.sink import EdgeCounts, TargetBatch, target_batches
from ingestion.entities import EntityReference
from ingestion.isolation import Failure
from ingestion.lineage_request import AddLineageRequest, Replacement, request_of
from workflows.lineage.contributions import EdgeKey
from workflows.lineage.outcomes import EdgeOutcomes
from workflows.lineage.source_lineage import SourceLineage


@dataclass(frozen=True, slots=True)
class SharedLineage:
    """What became of the edges into such targets, by the id of each, and the `requests` that were made for them."""

    edges: Mapping[str, EdgeOutcomes] = field(default_factory=dict)
    counts: EdgeCounts = field(default_factory=EdgeCounts)
    requests: tuple[AddLineageRequest, ...] = ()

    def within(self, targets: Collection[str]) -> SharedLineage:
        """What became of the edges into those of these targets (by id) that are shared, and no more than that."""
        return SharedLineage({target: self.edges[target] for target in targets if target in self.edges})


def merged_batches(
    lineages: Iterable[SourceLineage], shared: frozenset[str]
) -> tuple[list[TargetBatch], Mapping[EdgeKey, Failure]]:
    """What all these say of the `shared` targets, as one log would; and the edges that some could not speak of."""
    edges: dict[EdgeKey, list[AddLineageRequest]] = {}
    views: dict[EntityReference, Replacement] = {}
    given_up: dict[EdgeKey, Failure] = {}
    for lineage in lineages:
        given_up.update({key: failure for key, failure in lineage.given_up.items() if key[1] in shared})
        for request in lineage.requests:
            if request.edge.to_entity.id in shared:
                edges.setdefault(request.edge.key, []).append(request)
        for one in lineage.replacements:
            if one.to_entity.id in shared:
                known = views.get(one.to_entity, one)
                views[one.to_entity] = replace(one, whole=one.whole and known.whole)
    requests = [_merge(found) for key, found in sorted(edges.items()) if key not in given_up]
    replacements = sorted(views.values(), key=lambda one: one.to_entity.id)
    return target_batches(requests, replacements), given_up


def _merge(found: list[AddLineageRequest]) -> AddLineageRequest:
    first = found[0].edge
    contributions = [contribution for request in found for contribution in request.contributions]
    return request_of(first.from_entity, first.to_entity, contributions)
