"""Where what the engine recorded itself and what was read off the log say the same, and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ingestion.contribution import Contribution, ProducerKind
from ingestion.lineage_request import AddLineageRequest
from workflows.report.counts import AGREE, ONLY_ENGINE, ONLY_LOG

Edge = tuple[str, ...]
"""What is compared: the ends of an edge, its target last."""


def compared_edges(requests: Iterable[AddLineageRequest]) -> Counter[str]:
    """Edges between tables by who says so: into those tables alone of which the engine says anything."""
    return _compare(requests, lambda request, _contribution: {request.edge.key})


def compared_columns(requests: Iterable[AddLineageRequest]) -> Counter[str]:
    """Likewise of columns that others are certainly made of, into those tables of whose columns the engine speaks."""
    return _compare(
        requests, lambda request, contribution: {(*pair, request.edge.to_entity.id) for pair in _pairs(contribution)}
    )


def _compare(
    requests: Iterable[AddLineageRequest], edges_of: Callable[[AddLineageRequest, Contribution], set[Edge]]
) -> Counter[str]:
    engine: set[Edge] = set()
    others: list[tuple[AddLineageRequest, Contribution]] = []
    for request in requests:
        for contribution in request.contributions:
            if contribution.producer.kind is ProducerKind.ENGINE:
                engine.update(edges_of(request, contribution))
            elif contribution.producer.kind is not ProducerKind.MANUAL:
                others.append((request, contribution))
    known = {edge[-1] for edge in engine}
    log = {edge for request, one in others if request.edge.to_entity.id in known for edge in edges_of(request, one)}
    return +Counter({AGREE: len(engine & log), ONLY_ENGINE: len(engine - log), ONLY_LOG: len(log - engine)})


def _pairs(contribution: Contribution) -> Iterable[tuple[str, str]]:
    return ((source, one.to_column) for one in contribution.columns if one.publishable for source in one.from_columns)
