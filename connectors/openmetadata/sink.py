"""The REST sink: each request is merged with what the platform has, in bulk where it can, else edge by edge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from connectors.batch_writer import BatchWriter
from connectors.openmetadata import client
from connectors.openmetadata._edge_writer import PlainWriter, redefinition_of
from connectors.openmetadata.client import Platform
from connectors.openmetadata.edges import delete_edge, get_edge, graph
from connectors.openmetadata.http import ServerFailed
from connectors.openmetadata.settings import Settings
from connectors.sink import PresentEdge, SinkRun, TargetBatch, WriteReport, WriteResult
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Json
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, EdgeSource


@contextmanager
def open_sink(_settings: Settings, run: SinkRun[Platform]) -> Iterator[RestSink]:
    """The sink over the client that the run has already: one breaker tells both that the platform is down."""
    yield RestSink(run.catalog, run.name, run.threads)


class RestSink:
    """Writes to one platform. Requests are expected aggregated: one for each edge."""

    def __init__(self, platform: Platform, run: str, threads: int = 4) -> None:
        """`run` is its id: a repeated bulk call of one run is applied once.

        `threads` targets are written at a time where there is no bulk call.
        """
        self._platform = platform
        self._run = run
        self._threads = threads
        self._bulk = client.LINEAGE in platform.capabilities
        self._calls = 0

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """Merges all requests and carries out the replacements, each after the edges it makes room for.

        What has contributions goes in one bulk call, where the platform has that. Raises TargetDown and ConfigError;
        what was written until then stays, and may be written again.
        """
        bulk: list[TargetBatch] = []
        plain: list[TargetBatch] = []
        for batch in batches:
            # without contributions a request is what any client of the contract would say: it goes the contract's way
            whole = all(request.contributions for request in batch.requests)
            (bulk if self._bulk and whole else plain).append(batch)
        in_bulk = BatchWriter(self._send, (Rejected, ServerFailed), lambda batch: bool(batch.replacements))
        written = in_bulk.write(bulk)
        written += PlainWriter(self._platform, self._threads).write(plain)
        by_edge = {result.request.key: result for result in written.results}
        results = tuple(by_edge[request.key] for batch in batches for request in batch.requests)
        return WriteReport(results, written.counts)

    def present_edges(self, target: EntityReference, receipts: Mapping[str, str]) -> Sequence[PresentEdge]:
        """As of an EdgeRemover."""
        http = self._platform.http
        around = graph(http, target, upstream=1, downstream=0)
        if around is None:
            return []
        found = []
        for edge in around.upstream:
            source, receipt = around.nodes.get(edge.from_id), receipts.get(edge.from_id)
            if source is None or receipt is None or edge.to_id != target.id:
                continue
            stored = get_edge(http, source, target)
            if stored is not None:
                found.append(PresentEdge(source, around.nodes[target.id], receipt, stored.receipt == receipt))
        return found

    def remove_edge(self, edge: PresentEdge) -> str:
        """As of an EdgeRemover."""
        try:
            # all edges were read before the first goes, and that may be minutes ago
            stored = get_edge(self._platform.http, edge.source, edge.target)
            if stored is not None and stored.receipt != edge.receipt:
                return "others have changed it"
            delete_edge(self._platform.http, edge.source, edge.target)
        except (Rejected, ServerFailed) as error:
            return str(error)
        return ""

    def _send(self, batches: Sequence[TargetBatch]) -> WriteReport:
        texts: dict[str, int] = {}
        edges = [edge for batch in batches for request in batch.requests for edge in _bulk_edges(request, texts)]
        ended = [replacement for batch in batches for replacement in _replacement_orders(batch)]
        # the position keeps a call apart from an equal one before it, when something else was said in between
        self._calls += 1
        call = client.LineageCall(f"{self._run} {self._calls}", list(texts), edges, ended)
        counts = client.add_lineage(self._platform.http, call)
        results = tuple(WriteResult(request, WriteOutcome.STORED) for batch in batches for request in batch.requests)
        return WriteReport(results, counts)


def _replacement_orders(batch: TargetBatch) -> Iterator[Json]:
    """The replacements of a batch; that of a view whose lineage is whole marks it as processed."""
    finishes = redefinition_of(batch).finishes_view
    for replacement in batch.replacements:
        marks = finishes and replacement.source == EdgeSource.VIEW
        yield {**replacement.to_json(), **({"processed": True} if marks else {})}


def _bulk_edges(request: AddLineageRequest, texts: dict[str, int]) -> Iterator[str]:
    """A JSON object for each contribution to an edge; it names its text by the place among `texts`."""
    ends = json.dumps(
        {
            name: {"id": end.id, "type": end.type}
            for name, end in (("fromEntity", request.from_entity), ("toEntity", request.to_entity))
        }
    )
    for contribution in request.contributions:
        text = contribution.sql_query
        query = {"sqlQueryIndex": texts.setdefault(text, len(texts))} if text else {}
        yield f'{ends[:-1]}, "contribution": {contribution.json_text(query)}}}'
