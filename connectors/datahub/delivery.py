"""Batches to proposals, and these to wherever DataHub takes them; what is refused costs itself and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING

from connectors.batch_writer import BatchWriter
from connectors.datahub.names import DatahubNames
from connectors.datahub.settings import DatahubSettings
from connectors.sink import EdgeCounts, SinkRun, TargetBatch, WriteReport, WriteResult
from ingestion.errors import ConfigError, Rejected, TargetDown
from ingestion.model.contributions import Contribution
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest

if TYPE_CHECKING:
    from connectors.datahub.changes import Changes, Proposal


def changes_of(settings: DatahubSettings, run: SinkRun[object]) -> Changes:
    """What makes proposals of batches. Raises ConfigError where DataHub's library is not there."""
    try:
        made: type[Changes] = import_module("connectors.datahub.changes").Changes
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "datahub":
            raise
        raise ConfigError("this sink needs DataHub's library: pip install 'headwater[datahub]'") from None
    return made(DatahubNames(run.service, run.service_type, settings.env, settings.services))


_MOST_FAILURES = 12
"""Calls in a row that failed: to find one edge of 500 that cannot be taken, its half is sent nine times."""


class CallFailed(Rejected):
    """DataHub fails at a call: out of order, or at something in it."""


@dataclass
class DatahubSink:
    """Writes what `changes` makes of batches by `send`, which raises Rejected, TargetDown and ConfigError.

    Where calls fail, what they fail at is rejected; where none gets through, or many in a row fail, it is DataHub.

    `upstreams_of_others`: of a dataset, those that others wrote last, where that can be asked. Raises TargetDown and
    ConfigError.
    """

    changes: Changes
    send: Callable[[Sequence[Proposal]], None]
    upstreams_of_others: Callable[[str], frozenset[str]] | None = None
    _got_through: bool = False
    _failures: list[str] = field(default_factory=list)

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        return self.changes.keys(request, contribution)

    def missing_keys(self, _written: frozenset[str]) -> frozenset[str]:
        """DataHub is not asked for all that is in it."""
        return frozenset()

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """All batches in one call, but for edges that have no name in DataHub."""
        named = [self._without_unnamed(self._sparing_others(batch)) for batch in batches]
        writer = BatchWriter(self._send_batches, (Rejected,), lambda batch: bool(batch.ended))
        report = writer.write([batch for batch, _found in named if batch.requests or batch.ended])
        if self._failures and not self._got_through:
            raise TargetDown(f"DataHub fails at all that it is sent ({self._failures[-1]}); run again later")
        unnamed = tuple(result for _batch, found in named for result in found)
        report += WriteReport(unnamed, EdgeCounts(rejected=len(unnamed)))
        by_edge = {result.request.key: result for result in report.results}
        results = tuple(by_edge[request.key] for batch in batches for request in batch.requests)
        return WriteReport(results, report.counts)

    def _sparing_others(self, batch: TargetBatch) -> TargetBatch:
        if self.upstreams_of_others is None or not batch.ended:
            return batch
        return replace(batch, ended=self.changes.without_those_of_others(batch.ended, self.upstreams_of_others))

    def _without_unnamed(self, batch: TargetBatch) -> tuple[TargetBatch, Sequence[WriteResult]]:
        """What can be said in DataHub, and what is told of the rest. What the batch is to end goes all the same.

        No later run has more to say in its place, until the configuration names the rest.
        """
        unnamed = []
        for request in batch.requests:
            try:
                self.changes.check_names(request)
            except Rejected as error:
                unnamed.append(WriteResult(request, WriteOutcome.REJECTED, str(error)))
        rejected = {result.request.key for result in unnamed}
        left = tuple(request for request in batch.requests if request.key not in rejected)
        return replace(batch, requests=left), unnamed

    def _send_batches(self, batches: Sequence[TargetBatch]) -> WriteReport:
        try:
            self.send([proposal for batch in batches for proposal in self.changes.proposals(batch)])
        except CallFailed as error:
            self._failures.append(str(error))
            if len(self._failures) > _MOST_FAILURES:
                raise TargetDown(f"DataHub fails at one call after the other ({error}); run again later") from None
            raise
        self._got_through, self._failures = True, []
        return self._report_of(batches)

    def _report_of(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """What was written: not all that is said of columns has a place in DataHub."""
        requests = [request for batch in batches for request in batch.requests]
        results = tuple(WriteResult(request, WriteOutcome.STORED) for request in requests)
        return WriteReport(results, sum(map(self.changes.counts, batches), EdgeCounts()))
