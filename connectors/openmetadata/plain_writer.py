"""Batches to an OpenMetadata that offers no bulk call: edge by edge; none counts before it reads as it was written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from connectors.openmetadata.edge_writer import (
    EdgeWrite,
    delete_stale_edges,
    mark_view_processed,
    merge_edge,
    redefine_edge,
    restore_edge,
)
from connectors.openmetadata.redefinition import Redefinition, redefinition_of
from connectors.openmetadata.transport.http import Http
from connectors.openmetadata.transport.responses import ServerFailed
from connectors.sink import EdgeCounts, Outcome, TargetBatch, WriteReport, WriteResult
from ingestion.errors import Rejected
from ingestion.lineage_request import AddLineageRequest

logger = logging.getLogger(__name__)

SETTLING_SECONDS = 1.0
"""How long after a write it is read again, at least: another writer's write follows its reading by less."""

_SLOWER = 3.0
"""How much slower another writer's calls may be than the slowest of ours."""

_ROUNDS = 5
_CONTESTED = "other writers change this edge as fast as it is written; run again when they are done"


@dataclass(frozen=True, slots=True)
class _Done:
    """One request, and what was done to its edge; `reason` where nothing could be.

    `redefinition` is what its batch defines again.
    """

    request: AddLineageRequest
    redefinition: Redefinition
    write: EdgeWrite | None
    reason: str = ""

    @property
    def is_unconfirmed(self) -> bool:
        return self.write is not None and self.write.written is not None


class PlainWriter:
    """Writes the batches of different targets side by side, on so many threads."""

    def __init__(self, http: Http, threads: int) -> None:
        self._http = http
        self._threads = threads

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """The requests of all batches, then what they replace.

        A request counts when its edge was read again, after a while in which other writers that had read it before
        must have written, and had all of it. Raises TargetDown and ConfigError.
        """
        written = WriteReport()
        if not batches:
            return written
        pool = ThreadPoolExecutor(self._threads, "rest-sink")
        try:
            done = [one for group in pool.map(self._write_batch, batches) for one in group]
            by_target: dict[str, list[_Done]] = {batch.target.id: [] for batch in batches}
            for one in self._confirm(done, pool):
                by_target[one.request.edge.to_entity.id].append(one)
            for part in pool.map(self._finish, batches, by_target.values()):
                written += part
        finally:
            # when one finds the target down or the token refused, the others are not to ask again
            pool.shutdown(wait=True, cancel_futures=True)
        return written

    def _write_batch(self, batch: TargetBatch) -> list[_Done]:
        """The requests into one target, one after the other."""
        redefinition = redefinition_of(batch)
        return [
            _attempt(request, redefinition, partial(self._write_one, request, redefinition))
            for request in batch.requests
        ]

    def _write_one(self, request: AddLineageRequest, redefinition: Redefinition) -> EdgeWrite:
        if redefinition.covers(request):
            return redefine_edge(self._http, request.edge, redefinition.owns)
        return merge_edge(self._http, request.edge)

    def _confirm(self, done: list[_Done], pool: ThreadPoolExecutor) -> list[_Done]:
        """The same, each read again until it stands as it was written, or given up on."""
        for _ in range(_ROUNDS):
            fresh = [place for place, one in enumerate(done) if one.is_unconfirmed]
            if not fresh:
                return done
            self._wait([one.write for one in done if one.write is not None])
            for place, one in zip(fresh, pool.map(self._check, [done[place] for place in fresh]), strict=True):
                done[place] = one
        return [replace(one, write=None, reason=_CONTESTED) if one.is_unconfirmed else one for one in done]

    def _check(self, one: _Done) -> _Done:
        assert one.write is not None
        restore = partial(restore_edge, self._http, one.request.edge, one.write, one.redefinition.owns)
        return _attempt(one.request, one.redefinition, restore)

    def _wait(self, writes: Sequence[EdgeWrite]) -> None:
        timing = self._http.timing
        span = max(SETTLING_SECONDS, _SLOWER * max(write.gap for write in writes))
        latest = max(write.written for write in writes if write.written is not None)
        left = latest + span - timing.monotonic()
        if left > 0:
            timing.sleep(left)

    def _finish(self, batch: TargetBatch, done: Sequence[_Done]) -> WriteReport:
        """What the batch's requests came to, after what they replace is gone."""
        written = WriteReport()
        for one in done:
            written += _result(one)
        redefinition = redefinition_of(batch)
        if not redefinition:
            return written
        if written.counts.rejected:
            logger.warning("%s: its earlier lineage stays: an edge of the new one was rejected", batch.name)
            return written
        try:
            kept = frozenset(request.edge.from_entity.id for request in batch.requests)
            deleted = delete_stale_edges(self._http, batch.target, kept, redefinition.owns)
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: its earlier lineage stays: %s", batch.name, error)
            return written
        if redefinition.finishes_view:
            _finish_view(self._http, batch)
        return written + WriteReport(counts=EdgeCounts(replaced=deleted))


def _finish_view(http: Http, batch: TargetBatch) -> None:
    """Tells the platform that a view's lineage is done."""
    try:
        mark_view_processed(http, batch.target)
    except (Rejected, ServerFailed) as error:
        logger.warning("%s: not marked as processed: %s", batch.name, error)


def _attempt(request: AddLineageRequest, redefinition: Redefinition, action: Callable[[], EdgeWrite]) -> _Done:
    try:
        return _Done(request, redefinition, action())
    except (Rejected, ServerFailed) as error:
        return _Done(request, redefinition, None, str(error))


def _result(one: _Done) -> WriteReport:
    if one.write is None:
        return WriteReport((WriteResult(one.request, Outcome.REJECTED, one.reason),), EdgeCounts(rejected=1))
    outcome, refused = one.write.outcome, len(one.write.refused)
    counts = EdgeCounts(
        new=outcome is Outcome.NEW,
        merged=outcome is Outcome.MERGED,
        unchanged=outcome is Outcome.UNCHANGED,
        replaced=outcome is Outcome.REPLACED,
        column_edges=len(one.request.edge.lineage_details.columns_lineage) - refused,
    )
    return WriteReport((WriteResult(one.request, outcome, refused_columns=refused),), counts)
