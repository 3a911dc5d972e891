"""The REST sink: each request is merged with what the platform has, in bulk where it can, else edge by edge."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from connectors.openmetadata import extension
from connectors.openmetadata.answers import ServerFailed
from connectors.openmetadata.client import Platform
from connectors.openmetadata.edge_writer import (
    QUERIES,
    EdgeWrite,
    delete_stale_edges,
    mark_view_processed,
    merge_edge,
    of_routines,
    of_view,
    redefine_edge,
)
from connectors.openmetadata.extension import BatchCounts
from connectors.openmetadata.http import Http
from connectors.sink import Outcome, WriteCounts, WriteReport, WriteResult
from ingestion.contribution import ProducerKind
from ingestion.entities import EntityReference
from ingestion.errors import Rejected
from ingestion.lineage_request import AddLineageRequest, EntitiesEdge, LineageDetails, LineageSource, Replacement

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """`batch_size` contributions in one bulk call, `threads` targets at a time where there is no bulk call.

    `run` is the id of the run: a repeated bulk call of one run is applied once.
    """

    run: str
    batch_size: int = 500
    threads: int = 4


@dataclass(slots=True)
class _Unit:
    """What must be written in order: all requests into one target, and what they replace there."""

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
        return any(replacement.source == LineageSource.VIEW for replacement in self.replacements)

    @property
    def whole(self) -> bool:
        """Whether every name is known that the view reads."""
        return all(replacement.whole for replacement in self.replacements if replacement.source == LineageSource.VIEW)

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
        if self.views and request.edge.lineage_details.source == LineageSource.VIEW:
            return True
        return bool(self.routines) and request.edge.lineage_details.source in QUERIES


@dataclass(frozen=True, slots=True)
class _Written:
    results: tuple[WriteResult, ...] = ()
    counts: WriteCounts = field(default_factory=WriteCounts)

    def __add__(self, other: _Written) -> _Written:
        return _Written(self.results + other.results, self.counts + other.counts)


class RestSink:
    """Writes to one platform. Requests are expected aggregated: one for each edge."""

    def __init__(self, platform: Platform, options: SinkOptions) -> None:
        self._platform = platform
        self._options = options
        self._bulk = extension.LINEAGE in platform.capabilities
        self._batches = 0

    def write(self, requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement] = ()) -> WriteReport:
        """Merges all requests and carries out the replacements, each after the edges it makes room for.

        Raises TargetDown and ConfigError; what was written until then stays, and may be written again.
        """
        bulk: list[_Unit] = []
        plain: list[_Unit] = []
        for unit in _units(requests, replacements):
            # without contributions a request is what any client of the contract would say: it goes the contract's way
            whole = all(request.contributions for request in unit.requests)
            (bulk if self._bulk and whole else plain).append(unit)
        written = _Written()
        for batch in _batches(bulk, self._options.batch_size):
            written += self._write_batch(batch)
        for done in self._side_by_side(plain):
            written += done
        by_edge = {result.request.edge.key: result for result in written.results}
        return WriteReport(tuple(by_edge[request.edge.key] for request in requests), written.counts)

    def _write_batch(self, units: Sequence[_Unit]) -> _Written:
        """One bulk call; when it is refused, its halves, until only what is refused is left."""
        try:
            counts = self._send(units)
        except (Rejected, ServerFailed) as error:
            if len(units) > 1:
                middle = len(units) // 2
                return self._write_batch(units[:middle]) + self._write_batch(units[middle:])
            return self._write_parts(units[0], str(error))
        for unit in units:
            self._finish_views(unit)
        results = tuple(WriteResult(request, Outcome.STORED) for unit in units for request in unit.requests)
        return _Written(results, _sum_of(counts))

    def _write_parts(self, unit: _Unit, reason: str) -> _Written:
        """What can be written of a unit that was refused. What it was to replace stays: the new truth is not whole."""
        if len(unit.requests) > 1:
            written = self._write_batch([_Unit(unit.target, [request]) for request in unit.requests])
            if unit.replacements and not written.counts.rejected:
                return written + _Written(counts=self._write_batch([_Unit(unit.target, [], unit.replacements)]).counts)
        else:
            rejected = tuple(WriteResult(request, Outcome.REJECTED, reason) for request in unit.requests)
            written = _Written(rejected, WriteCounts(rejected=len(rejected)))
        if unit.replacements:
            logger.warning("%s: its earlier lineage stays: %s", unit.name, reason)
        return written

    def _send(self, units: Sequence[_Unit]) -> BatchCounts:
        edges = [edge for unit in units for request in unit.requests for edge in _bulk_edges(request)]
        replace = [replacement.to_json() for unit in units for replacement in unit.replacements]
        # the position keeps a batch apart from an equal one before it, when something else was said in between
        self._batches += 1
        content = json.dumps([self._options.run, self._batches, edges, replace], sort_keys=True)
        batch_id = hashlib.sha256(content.encode()).hexdigest()
        return extension.add_lineage(self._platform.http, batch_id, edges, replace)

    def _side_by_side(self, units: Sequence[_Unit]) -> list[_Written]:
        if not units:
            return []
        pool = ThreadPoolExecutor(self._options.threads, "rest-sink")
        try:
            return list(pool.map(self._write_unit, units))
        finally:
            # when one finds the target down or the token refused, the others are not to ask again
            pool.shutdown(wait=True, cancel_futures=True)

    def _write_unit(self, unit: _Unit) -> _Written:
        """The requests into one target, one after the other, then what they replace."""
        written = _Written()
        for request in unit.requests:
            write = partial(redefine_edge, owned=unit.owned) if unit.redefines(request) else merge_edge
            written += self._write_one(request, write)
        if not (unit.views or unit.routines):
            return written
        if written.counts.rejected:
            logger.warning("%s: its earlier lineage stays: an edge of the new one was rejected", unit.name)
            return written
        try:
            kept = frozenset(request.edge.from_entity.id for request in unit.requests)
            deleted = delete_stale_edges(self._platform.http, unit.target, kept, unit.owned)
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: its earlier lineage stays: %s", unit.name, error)
            return written
        self._finish_views(unit)
        return written + _Written(counts=WriteCounts(replaced=deleted))

    def _write_one(self, request: AddLineageRequest, write: Callable[[Http, EntitiesEdge], EdgeWrite]) -> _Written:
        try:
            done = write(self._platform.http, request.edge)
        except (Rejected, ServerFailed) as error:
            result = WriteResult(request, Outcome.REJECTED, str(error))
            return _Written((result,), WriteCounts(rejected=1))
        columns = len(request.edge.lineage_details.columns_lineage) - done.refused_columns
        result = WriteResult(request, done.outcome, refused_columns=done.refused_columns)
        return _Written((result,), _count_of(done.outcome, columns))

    def _finish_views(self, unit: _Unit) -> None:
        if not unit.views or not unit.whole:
            return
        try:
            mark_view_processed(self._platform.http, unit.target)
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: not marked as processed: %s", unit.name, error)


class DryRunSink:
    """Sends nothing: each request goes to `emit` as a line of JSON, with its contributions and what it replaces."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit

    def write(self, requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement] = ()) -> WriteReport:
        """Every request counts as unchanged."""
        for request in requests:
            said = [contribution.to_json() for contribution in request.contributions]
            self._emit(json.dumps({**request.to_json(), "contributions": said}, ensure_ascii=False))
        for replacement in replacements:
            self._emit(json.dumps({"replace": replacement.to_json()}, ensure_ascii=False))
        results = tuple(WriteResult(request, Outcome.UNCHANGED) for request in requests)
        columns = sum(len(request.edge.lineage_details.columns_lineage) for request in requests)
        return WriteReport(results, WriteCounts(unchanged=len(results), column_edges=columns))


def _units(requests: Sequence[AddLineageRequest], replacements: Sequence[Replacement]) -> list[_Unit]:
    units: dict[str, _Unit] = {}
    for request in requests:
        target = request.edge.to_entity
        units.setdefault(target.id, _Unit(target)).requests.append(request)
    for replacement in replacements:
        target = replacement.to_entity
        units.setdefault(target.id, _Unit(target)).replacements.append(replacement)
    return list(units.values())


def _batches(units: Sequence[_Unit], size: int) -> Iterator[list[_Unit]]:
    batch: list[_Unit] = []
    held = 0
    for unit in units:
        if batch and held + unit.size > size:
            yield batch
            batch, held = [], 0
        batch.append(unit)
        held += unit.size
    if batch:
        yield batch


def _bulk_edges(request: AddLineageRequest) -> Iterator[dict[str, Any]]:
    ends = {
        name: {"id": end.id, "type": end.type}
        for name, end in (("fromEntity", request.edge.from_entity), ("toEntity", request.edge.to_entity))
    }
    for contribution in request.contributions:
        yield {**ends, "contribution": contribution.to_json()}


def _sum_of(counts: BatchCounts) -> WriteCounts:
    return WriteCounts(
        new=counts.new,
        merged=counts.merged,
        unchanged=counts.unchanged,
        replaced=counts.replaced,
        column_edges=counts.column_edges,
    )


def _count_of(outcome: Outcome, columns: int) -> WriteCounts:
    return WriteCounts(
        new=outcome is Outcome.NEW,
        merged=outcome is Outcome.MERGED,
        unchanged=outcome is Outcome.UNCHANGED,
        replaced=outcome is Outcome.REPLACED,
        column_edges=columns,
    )
