"""Units to an OpenMetadata that offers no bulk call: edge by edge, and none counts before it has settled."""

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
    settle_edge,
)
from connectors.openmetadata.transport.http import Http
from connectors.openmetadata.transport.responses import ServerFailed
from connectors.openmetadata.units import Unit, WriteOutcome
from connectors.sink import Outcome, WriteCounts, WriteResult
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
    """One request, and what was done to its edge; `reason` where nothing could be."""

    unit: Unit
    request: AddLineageRequest
    write: EdgeWrite | None
    reason: str = ""

    @property
    def unsettled(self) -> bool:
        return self.write is not None and self.write.written is not None


class PlainWriter:
    """Writes the units of different targets side by side, on so many threads."""

    def __init__(self, http: Http, threads: int) -> None:
        self._http = http
        self._threads = threads

    def write(self, units: Sequence[Unit]) -> WriteOutcome:
        """The requests of all units, then what they replace.

        A request counts when its edge was read again, after a while in which other writers that had read it before
        must have written, and had all of it. Raises TargetDown and ConfigError.
        """
        written = WriteOutcome()
        if not units:
            return written
        pool = ThreadPoolExecutor(self._threads, "rest-sink")
        try:
            done = [one for group in pool.map(self._write_unit, units) for one in group]
            by_unit: dict[str, list[_Done]] = {unit.target.id: [] for unit in units}
            for one in self._settled(done, pool):
                by_unit[one.unit.target.id].append(one)
            for part in pool.map(self._finished, units, by_unit.values()):
                written += part
        finally:
            # when one finds the target down or the token refused, the others are not to ask again
            pool.shutdown(wait=True, cancel_futures=True)
        return written

    def _write_unit(self, unit: Unit) -> list[_Done]:
        """The requests into one target, one after the other."""
        return [self._attempted(unit, request, partial(self._write_one, unit, request)) for request in unit.requests]

    def _write_one(self, unit: Unit, request: AddLineageRequest) -> EdgeWrite:
        if unit.redefines(request):
            return redefine_edge(self._http, request.edge, unit.owned)
        return merge_edge(self._http, request.edge)

    def _attempted(self, unit: Unit, request: AddLineageRequest, action: Callable[[], EdgeWrite]) -> _Done:
        try:
            return _Done(unit, request, action())
        except (Rejected, ServerFailed) as error:
            return _Done(unit, request, None, str(error))

    def _settled(self, done: list[_Done], pool: ThreadPoolExecutor) -> list[_Done]:
        """The same, each read again until it stands as it was written, or given up on."""
        for _ in range(_ROUNDS):
            fresh = [place for place, one in enumerate(done) if one.unsettled]
            if not fresh:
                return done
            self._wait([one.write for one in done if one.write is not None])
            for place, one in zip(fresh, pool.map(self._checked, [done[place] for place in fresh]), strict=True):
                done[place] = one
        return [replace(one, write=None, reason=_CONTESTED) if one.unsettled else one for one in done]

    def _checked(self, one: _Done) -> _Done:
        assert one.write is not None
        settle = partial(settle_edge, self._http, one.request.edge, one.write, one.unit.owned)
        return self._attempted(one.unit, one.request, settle)

    def _wait(self, writes: Sequence[EdgeWrite]) -> None:
        timing = self._http.timing
        span = max(SETTLING_SECONDS, _SLOWER * max(write.gap for write in writes))
        latest = max(write.written for write in writes if write.written is not None)
        left = latest + span - timing.monotonic()
        if left > 0:
            timing.sleep(left)

    def _finished(self, unit: Unit, done: Sequence[_Done]) -> WriteOutcome:
        """What the unit's requests came to, after what they replace is gone."""
        written = WriteOutcome()
        for one in done:
            written += _result(one)
        if not (unit.views or unit.routines):
            return written
        if written.counts.rejected:
            logger.warning("%s: its earlier lineage stays: an edge of the new one was rejected", unit.name)
            return written
        try:
            kept = frozenset(request.edge.from_entity.id for request in unit.requests)
            deleted = delete_stale_edges(self._http, unit.target, kept, unit.owned)
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: its earlier lineage stays: %s", unit.name, error)
            return written
        finish_view(self._http, unit)
        return written + WriteOutcome(counts=WriteCounts(replaced=deleted))


def finish_view(http: Http, unit: Unit) -> None:
    """Tells the platform that a view's lineage is done, where the unit is a view and all of it is known."""
    if not unit.views or not unit.whole:
        return
    try:
        mark_view_processed(http, unit.target)
    except (Rejected, ServerFailed) as error:
        logger.warning("%s: not marked as processed: %s", unit.name, error)


def _result(one: _Done) -> WriteOutcome:
    if one.write is None:
        return WriteOutcome((WriteResult(one.request, Outcome.REJECTED, one.reason),), WriteCounts(rejected=1))
    outcome, refused = one.write.outcome, len(one.write.refused)
    counts = WriteCounts(
        new=outcome is Outcome.NEW,
        merged=outcome is Outcome.MERGED,
        unchanged=outcome is Outcome.UNCHANGED,
        replaced=outcome is Outcome.REPLACED,
        column_edges=len(one.request.edge.lineage_details.columns_lineage) - refused,
    )
    return WriteOutcome((WriteResult(one.request, outcome, refused_columns=refused),), counts)
