"""What a sink writes in order: all requests into one target, and what they replace there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from connectors.openmetadata.edge_writer import QUERIES, of_routines, of_view
from connectors.sink import WriteCounts, WriteResult
from ingestion.contribution import ProducerKind
from ingestion.entities import EntityReference
from ingestion.lineage_request import AddLineageRequest, EdgeSource, LineageDetails, Replacement


@dataclass(slots=True)
class Unit:
    """All requests into one target, and what they replace there."""

    target: EntityReference
    requests: list[AddLineageRequest] = field(default_factory=list)
    replacements: list[Replacement] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.target.fully_qualified_name or self.target.id

    @property
    def size(self) -> int:
        return sum(len(request.contributions) for request in self.requests)

    @property
    def views(self) -> bool:
        """Whether the target is a view whose definition is known as a whole."""
        return any(replacement.source == EdgeSource.VIEW for replacement in self.replacements)

    @property
    def whole(self) -> bool:
        """Whether every name is known that the view reads."""
        return all(replacement.whole for replacement in self.replacements if replacement.source == EdgeSource.VIEW)

    @property
    def routines(self) -> frozenset[str]:
        """The routines (by key) that say something else of the target than before, where nobody else's word may stand
        on the same edges: a plain platform keeps no contributions apart."""
        return frozenset(
            replacement.producer.key
            for replacement in self.replacements
            if replacement.producer is not None
            and replacement.producer.kind is ProducerKind.PROCEDURE
            and not replacement.shared
        )

    def owned(self, details: LineageDetails) -> bool:
        """Whether an edge is the word of what was defined anew."""
        return (self.views and of_view(details)) or of_routines(self.routines)(details)

    def redefines(self, request: AddLineageRequest) -> bool:
        """Whether the edge of a request is of what was defined anew."""
        if self.views and request.edge.lineage_details.source == EdgeSource.VIEW:
            return True
        return bool(self.routines) and request.edge.lineage_details.source in QUERIES


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of requests so far."""

    results: tuple[WriteResult, ...] = ()
    counts: WriteCounts = field(default_factory=WriteCounts)

    def __add__(self, other: WriteOutcome) -> WriteOutcome:
        return WriteOutcome(self.results + other.results, self.counts + other.counts)


def units_of(requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement]) -> list[Unit]:
    """Requests and replacements by their target."""
    units: dict[str, Unit] = {}
    for request in requests:
        target = request.edge.to_entity
        units.setdefault(target.id, Unit(target)).requests.append(request)
    for replacement in replacements:
        target = replacement.to_entity
        units.setdefault(target.id, Unit(target)).replacements.append(replacement)
    return list(units.values())


def batches_of(units: Sequence[Unit], size: int) -> Iterator[list[Unit]]:
    """Units in batches of about so many contributions."""
    batch: list[Unit] = []
    held = 0
    for unit in units:
        if batch and held + unit.size > size:
            yield batch
            batch, held = [], 0
        batch.append(unit)
        held += unit.size
    if batch:
        yield batch
