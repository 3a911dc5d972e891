"""The REST sink: each request is merged with what the platform has, in bulk where it can, else edge by edge."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.extension import BatchCounts
from connectors.openmetadata.plain_writer import PlainWriter, finish_view
from connectors.openmetadata.transport.platform import Platform
from connectors.openmetadata.transport.responses import ServerFailed
from connectors.openmetadata.units import Unit, WriteOutcome, batches_of, units_of
from connectors.sink import Outcome, WriteCounts, WriteReport, WriteResult
from ingestion.errors import Rejected
from ingestion.lineage_request import AddLineageRequest, Replacement

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """`batch_size` contributions in one bulk call, `threads` targets at a time where there is no bulk call.

    `run` is the id of the run: a repeated bulk call of one run is applied once.
    """

    run: str
    batch_size: int = 500
    threads: int = 4


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
        bulk: list[Unit] = []
        plain: list[Unit] = []
        for unit in units_of(requests, replacements):
            # without contributions a request is what any client of the contract would say: it goes the contract's way
            whole = all(request.contributions for request in unit.requests)
            (bulk if self._bulk and whole else plain).append(unit)
        written = WriteOutcome()
        for batch in batches_of(bulk, self._options.batch_size):
            written += self._write_batch(batch)
        written += PlainWriter(self._platform.http, self._options.threads).write(plain)
        by_edge = {result.request.edge.key: result for result in written.results}
        return WriteReport(tuple(by_edge[request.edge.key] for request in requests), written.counts)

    def _write_batch(self, units: Sequence[Unit]) -> WriteOutcome:
        """One bulk call; when it is refused, its halves, until only what is refused is left."""
        try:
            counts = self._send(units)
        except (Rejected, ServerFailed) as error:
            if len(units) > 1:
                middle = len(units) // 2
                return self._write_batch(units[:middle]) + self._write_batch(units[middle:])
            return self._write_parts(units[0], str(error))
        for unit in units:
            finish_view(self._platform.http, unit)
        results = tuple(WriteResult(request, Outcome.STORED) for unit in units for request in unit.requests)
        return WriteOutcome(results, _sum_of(counts))

    def _write_parts(self, unit: Unit, reason: str) -> WriteOutcome:
        """What can be written of a unit that was refused. What it was to replace stays: the new truth is not whole."""
        if len(unit.requests) > 1:
            written = self._write_batch([Unit(unit.target, [request]) for request in unit.requests])
            if unit.replacements and not written.counts.rejected:
                return written + WriteOutcome(
                    counts=self._write_batch([Unit(unit.target, [], unit.replacements)]).counts
                )
        else:
            rejected = tuple(WriteResult(request, Outcome.REJECTED, reason) for request in unit.requests)
            written = WriteOutcome(rejected, WriteCounts(rejected=len(rejected)))
        if unit.replacements:
            logger.warning("%s: its earlier lineage stays: %s", unit.name, reason)
        return written

    def _send(self, units: Sequence[Unit]) -> BatchCounts:
        edges = [edge for unit in units for request in unit.requests for edge in _bulk_edges(request)]
        replace = [replacement.to_json() for unit in units for replacement in unit.replacements]
        # the position keeps a batch apart from an equal one before it, when something else was said in between
        self._batches += 1
        content = json.dumps([self._options.run, self._batches, edges, replace], sort_keys=True)
        batch_id = hashlib.sha256(content.encode()).hexdigest()
        return extension.add_lineage(self._platform.http, batch_id, edges, replace)


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
