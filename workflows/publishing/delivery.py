"""Publishing in chunks: what the target has acknowledged is noted at once, so that no run sends it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.sink import Sink, WriteCounts, WriteReport
from ingestion.contribution import Producer, ProducerKind
from ingestion.entities import EntityReference
from ingestion.isolation import FailureStage, Isolation
from ingestion.lineage_request import AddLineageRequest, Replacement
from workflows.control.options import RunOptions
from workflows.lineage.contributions import EdgeKey
from workflows.lineage.lineage_source import EdgeOutcome
from workflows.publishing.batches import TargetBatch
from workflows.state.acknowledgements import CompleteScope, ContributionKey, PublishedState


@dataclass(slots=True)
class PublishResult:
    """What became of each edge, and the sums. `sent` counts targets; `warnings` are of what was told elsewhere too."""

    edges: dict[EdgeKey, EdgeOutcome] = field(default_factory=dict)
    counts: WriteCounts = field(default_factory=WriteCounts)
    sent: int = 0
    warnings: tuple[str, ...] = ()

    def add(self, report: WriteReport) -> None:
        """What the sink tells of a chunk."""
        self.counts += report.counts
        for result in report.results:
            reason = None if result.accepted else result.reason or "rejected"
            self.edges[result.request.edge.key] = EdgeOutcome(reason)

    def give_up(self, requests: Sequence[AddLineageRequest], reason: str) -> None:
        """What could not be said."""
        self.counts += WriteCounts(rejected=len(requests))
        self.edges.update({request.edge.key: EdgeOutcome(reason) for request in requests})

    def pass_over(self, unit: TargetBatch) -> None:
        """What the sink has acknowledged in an earlier run."""
        columns = sum(len(contribution.columns) for r in unit.requests for contribution in r.contributions)
        self.counts += WriteCounts(unchanged=len(unit.requests), column_edges=columns)
        self.edges.update({request.edge.key: EdgeOutcome() for request in unit.requests})

    def has_accepted(self, unit: TargetBatch) -> bool:
        """Whether nothing of it was rejected."""
        return all(self.edges[request.edge.key].rejected is None for request in unit.requests)


@dataclass(frozen=True, slots=True)
class Publisher:
    """Sends to one sink what it has not acknowledged, `chunk` contributions at a time.

    `note` keeps what was acknowledged before the next chunk is sent.
    """

    sink: Sink
    acknowledged: Mapping[str, PublishedState]
    note: Callable[[Mapping[str, PublishedState]], None]
    chunk: int
    options: RunOptions

    def deliver(
        self, units: Sequence[TargetBatch], rebound: CompleteScope, advance: Callable[[int], None]
    ) -> PublishResult:
        """Raises TargetDown, LeaseHeld and Interrupted; what was acknowledged until then is noted."""
        delivery = PublishResult()
        isolation = Isolation[str](self.options.failpoints.probe)
        waiting = []
        for unit in self._with_withdrawals(units, rebound):
            with isolation.around(FailureStage.PUBLISHING, unit.target.id):
                if self._is_known(unit):
                    delivery.pass_over(unit)
                    advance(len(unit.requests))
                else:
                    waiting.append(self._superseding(unit, rebound))
            if unit.target.id in isolation.failures:
                delivery.give_up(unit.requests, isolation.failures[unit.target.id].reason)
        for chunk in _chunks(waiting, self.chunk):
            self._send(chunk, delivery)
            advance(sum(len(unit.requests) for unit in chunk))
            self.options.failpoints.passed("publish")
        return delivery

    def _send(self, units: Sequence[TargetBatch], delivery: PublishResult) -> None:
        with self.options.drain.hold():
            self.options.failpoints.passed("send")
            whole = self._write(units, delivery)
            self.options.failpoints.passed("sent")
            self.note({unit.target.id: self._standing(unit) for unit in whole if delivery.has_accepted(unit)})
        delivery.sent += len(units)

    def _write(self, units: Sequence[TargetBatch], delivery: PublishResult) -> list[TargetBatch]:
        """The units that were written whole.

        Where anything goes wrong that is not the target's, each half by itself, down to the requests of one unit; what
        it was to replace stays then, since the new truth is not whole.
        """
        requests = [request for unit in units for request in unit.requests]
        replacements = [replacement for unit in units for replacement in unit.replacements]
        isolation = Isolation[EdgeKey](self.options.failpoints.probe)
        with isolation.around(FailureStage.PUBLISHING, ("", "")):
            isolation.probe(FailureStage.PUBLISHING, requests)
            delivery.add(self.sink.write(requests, replacements))
            return list(units)
        if len(units) > 1:
            middle = len(units) // 2
            return self._write(units[:middle], delivery) + self._write(units[middle:], delivery)
        for request in requests:
            with isolation.around(FailureStage.PUBLISHING, request.edge.key):
                isolation.probe(FailureStage.PUBLISHING, request)
                delivery.add(self.sink.write([request]))
            if request.edge.key in isolation.failures:
                delivery.give_up([request], isolation.failures[request.edge.key].reason)
        return []

    def _standing(self, unit: TargetBatch) -> PublishedState:
        """What stands now: what was said in this run, and what was said before and not ended."""
        now = unit.without_orders().acknowledgement()
        known = self.acknowledged.get(unit.target.id)
        words = dict(now.words)
        ended = {
            ContributionKey(str(r.producer.kind), r.producer.key, str(r.source))
            for r in unit.replacements
            if r.producer
        }
        for contribution_key, word in known.words.items() if known is not None else ():
            if contribution_key in words:
                words[contribution_key] = words[contribution_key].widened(word)
            else:
                words[contribution_key] = replace(word, digest="") if contribution_key in ended else word
        return replace(now, words=words)

    def _is_known(self, unit: TargetBatch) -> bool:
        known = self.acknowledged.get(unit.target.id)
        return known is not None and bool(unit.requests) and known.digest == unit.acknowledgement().digest

    def _with_withdrawals(self, units: Sequence[TargetBatch], rebound: CompleteScope) -> Iterator[TargetBatch]:
        """The units, and those targets of which nothing is said any more although something was."""
        yield from units
        here = {unit.target.id for unit in units}
        for target, known in sorted(self.acknowledged.items()):
            if target not in here and any(
                word.digest and rebound.covers(who, word) for who, word in known.words.items()
            ):
                yield TargetBatch(EntityReference(target, known.kind))

    def _superseding(self, unit: TargetBatch, rebound: CompleteScope) -> TargetBatch:
        """The unit with the order to end what its speakers said before and do not say now."""
        known = self.acknowledged.get(unit.target.id)
        if known is None:
            return unit
        now = unit.acknowledgement().words
        orders = []
        shared = False
        for contribution_key, before in sorted(known.words.items(), key=lambda said: said[0]):
            word = now.get(contribution_key, replace(before, digest=""))
            if word.digest == before.digest:
                continue
            if not rebound.covers(contribution_key, before):
                shared = True
                continue
            span = word.widened(before)
            producer = Producer(ProducerKind(contribution_key.kind), contribution_key.key)
            orders.append(Replacement(unit.target, contribution_key.source, producer, span.first_seen, span.last_seen))
        orders = [replace(order, shared=shared) for order in orders]
        return replace(unit, replacements=(*unit.replacements, *orders))


def _chunks(units: Sequence[TargetBatch], size: int) -> Iterator[list[TargetBatch]]:
    chunk: list[TargetBatch] = []
    held = 0
    for unit in units:
        if chunk and held + unit.size > size:
            yield chunk
            chunk, held = [], 0
        chunk.append(unit)
        held += unit.size
    if chunk:
        yield chunk
