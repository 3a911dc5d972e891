"""Batches for a target that takes several in one call: what it refuses costs itself and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from connectors.sink import EdgeCounts, TargetBatch, WriteReport, WriteResult
from ingestion.model.outcomes import WriteOutcome

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BatchWriter:
    """Writes batches in one call; when it is refused, its halves, until only what is refused is left.

    `send` makes a call, and raises one of the `refusals` where the target refuses it. `ends`: whether a batch takes
    anything away.
    """

    send: Callable[[Sequence[TargetBatch]], WriteReport]
    refusals: tuple[type[Exception], ...]
    ends: Callable[[TargetBatch], bool]

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """What became of the batches. Raises what `send` raises beside the refusals."""
        if not batches:
            return WriteReport()
        try:
            return self.send(batches)
        except self.refusals as error:
            if len(batches) > 1:
                middle = len(batches) // 2
                return self.write(batches[:middle]) + self.write(batches[middle:])
            return self._write_parts(batches[0], str(error))

    def _write_parts(self, batch: TargetBatch, reason: str) -> WriteReport:
        """What can be written of one that was refused. What it was to end stays: the new truth is not whole."""
        if len(batch.requests) > 1:
            part = replace(batch, replacements=(), ended=frozenset())
            written = self.write([replace(part, requests=(request,)) for request in batch.requests])
            if self.ends(batch) and not written.counts.rejected:
                return written + self.write([replace(batch, requests=())])
        else:
            rejected = tuple(WriteResult(request, WriteOutcome.REJECTED, reason) for request in batch.requests)
            written = WriteReport(rejected, EdgeCounts(rejected=len(rejected)))
        if self.ends(batch):
            logger.warning("%s: its earlier lineage stays: %s", batch.name, reason)
        return written
