"""What a batch defines anew, on a platform that keeps no contributions apart: a view, or what routines write."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.openmetadata.edge_writer import QUERIES, of_routines, of_view
from connectors.sink import TargetBatch
from ingestion.contribution import ProducerKind
from ingestion.lineage_request import AddLineageRequest, EdgeSource, LineageDetails


@dataclass(frozen=True, slots=True)
class Redefinition:
    """Of one target. `view`: it is a view whose definition is known; `whole`: as is every name that the view reads.

    `routines` (by key) say something else of the target than before, where nobody else's word may stand on the same
    edges.
    """

    view: bool = False
    whole: bool = True
    routines: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.view or bool(self.routines)

    @property
    def finishes_view(self) -> bool:
        """Whether with it the lineage of a view is done."""
        return self.view and self.whole

    def owns(self, details: LineageDetails) -> bool:
        """Whether a stored edge is the word of what was defined anew."""
        return (self.view and of_view(details)) or of_routines(self.routines)(details)

    def covers(self, request: AddLineageRequest) -> bool:
        """Whether the edge of a request is of what was defined anew."""
        source = request.edge.lineage_details.source
        return (self.view and source == EdgeSource.VIEW) or (bool(self.routines) and source in QUERIES)


def redefinition_of(batch: TargetBatch) -> Redefinition:
    """What the replacements of a batch say."""
    views = [replacement for replacement in batch.replacements if replacement.source == EdgeSource.VIEW]
    routines = frozenset(
        replacement.producer.key
        for replacement in batch.replacements
        if replacement.producer is not None
        and replacement.producer.kind is ProducerKind.PROCEDURE
        and not replacement.shared
    )
    return Redefinition(bool(views), all(replacement.whole for replacement in views), routines)
