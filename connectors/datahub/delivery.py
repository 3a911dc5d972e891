"""Batches to proposals, and these to wherever DataHub takes them; what is refused costs itself and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from connectors.datahub.names import DatahubNames
from connectors.datahub.settings import DatahubSettings
from connectors.sink import EdgeCounts, SinkRun, TargetBatch, WriteReport, WriteResult
from ingestion.errors import ConfigError, Rejected
from ingestion.model.contributions import Contribution
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest

if TYPE_CHECKING:
    from connectors.datahub.changes import Changes, Proposal

logger = logging.getLogger(__name__)


def changes_of(settings: DatahubSettings, run: SinkRun[object]) -> Changes:
    """What makes proposals of batches. Raises ConfigError where DataHub's library is not there."""
    try:
        made: type[Changes] = import_module("connectors.datahub.changes").Changes
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "datahub":
            raise
        raise ConfigError("this sink needs DataHub's library: pip install 'headwater[datahub]'") from None
    return made(DatahubNames(run.service, run.service_type, settings.env, settings.services))


@dataclass
class DatahubSink:
    """Writes what `changes` makes of batches by `send`, which raises Rejected, TargetDown and ConfigError."""

    changes: Changes
    send: Callable[[Sequence[Proposal]], None]
    is_empty: bool = False

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        return self.changes.keys(request, contribution)

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """All batches in one call; when it is refused, its halves, until only what is refused is left."""
        try:
            self.send([proposal for batch in batches for proposal in self.changes.proposals(batch)])
        except Rejected as error:
            if len(batches) > 1:
                middle = len(batches) // 2
                return self.write(batches[:middle]) + self.write(batches[middle:])
            return self._write_parts(batches[0], str(error))
        return sum((self._report_of(batch) for batch in batches), WriteReport())

    def _report_of(self, batch: TargetBatch) -> WriteReport:
        """What was written of a batch: not all that is said of columns has a place in DataHub."""
        results = tuple(WriteResult(request, WriteOutcome.STORED) for request in batch.requests)
        columns = sum(self.changes.column_edges(request, batch.superseded) for request in batch.requests)
        return WriteReport(results, EdgeCounts(new=len(results), replaced=len(batch.ended), column_edges=columns))

    def _write_parts(self, batch: TargetBatch, reason: str) -> WriteReport:
        """What can be written of one that was refused. What it was to end stays: the new truth is not whole."""
        if len(batch.requests) > 1:
            written = sum((self.write([_part(batch, request)]) for request in batch.requests), WriteReport())
            if batch.ended and not written.counts.rejected:
                return written + self.write([replace(batch, requests=())])
        else:
            rejected = tuple(WriteResult(request, WriteOutcome.REJECTED, reason) for request in batch.requests)
            written = WriteReport(rejected, EdgeCounts(rejected=len(rejected)))
        if batch.ended:
            logger.warning("%s: its earlier lineage stays: %s", batch.name, reason)
        return written


def _part(batch: TargetBatch, request: AddLineageRequest) -> TargetBatch:
    return replace(batch, requests=(request,), replacements=(), ended=frozenset())
