"""Publishing in chunks: what the target has acknowledged is noted at once, so that no run sends it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.openmetadata.client import LINEAGE, MOST_CHARACTERS, Platform
from connectors.sink import NOT_OURS, UNANSWERED, EdgeCounts, KeyedSink, Sink, SinkSettings, TargetBatch, WriteReport
from ingestion.chunks import chunks_within
from ingestion.model.contributions import Contribution, Producer, ProducerKind
from ingestion.model.digests import digest
from ingestion.model.entities import EntityReference
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import Json
from ingestion.model.requests import AddLineageRequest, Replacement
from workflows.run.publish._written_keys import KeyChange, key_of
from workflows.run.resolve.contributions import EdgeKey
from workflows.run.resolve.lineage import EdgeOutcome
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import (
    CompleteScope,
    ContributionDigest,
    ContributionKey,
    PublishedState,
    WrittenEdge,
)

_MOST_COLUMNS = 50_000
"""That contributions of one call speak of."""
_MOST_RECORDS = 200_000
"""Digests of the log's records in one call: of what runs each hour each contribution has a thousand."""
_AT_ONCE, _AT_ONCE_IN_BULK = 500, 2_000
"""Contributions in one call, where nothing is configured."""
_MOST_AT_ONCE = 2_000
"""Requests into one target in one call: 16,000 of them, of one UNION, took up to 7 s, in which no signal was heard."""


# What to remember of a batch once its target has taken it, and how many are sent at once.


def requests_at_once(settings: SinkSettings, platform: Platform) -> int:
    """How many go in one call.

    A catalog that files a call in one transaction writes a page of its indexes once for all of them: 2,000 took a sixth
    less processor time than four times 500.
    """
    in_bulk = settings.writes_to_catalog and LINEAGE in platform.capabilities
    return settings.bulk_sink_batch_size or (_AT_ONCE_IN_BULK if in_bulk else _AT_ONCE)


def chunks(batches: Iterable[TargetBatch], size: int) -> Iterator[list[TargetBatch]]:
    """The batches, in their order, in lists of at most `size` contributions; one that is larger is alone.

    Of wide tables fewer go together, since what a target works on for a minute it may not answer in time, and of long
    statements and of those that ran often, since it takes no body of any size.
    """
    most = size, _MOST_COLUMNS, MOST_CHARACTERS, _MOST_RECORDS
    return chunks_within(batches, lambda one: (one.size, one.columns, one.characters, one.records), most)


def _parts(batch: TargetBatch) -> Iterator[TargetBatch]:
    """What is sent of a batch at a time, none of it more than _MOST_AT_ONCE requests.

    One with replacements stays whole: what is not said beside them ends.
    """
    if batch.replacements or len(batch.requests) <= _MOST_AT_ONCE:
        yield batch
        return
    for start in range(0, len(batch.requests), _MOST_AT_ONCE):
        yield replace(batch, requests=batch.requests[start : start + _MOST_AT_ONCE])


def published_state(batch: TargetBatch) -> PublishedState:
    """What to remember of a batch once the target has taken it, before any order to end what one producer said.

    Those are given once, and the next run makes the batch without them.
    """
    contents: list[str] = []
    texts: dict[str, str] = {}
    digests: dict[ContributionKey, list[_SourcedContribution]] = {}
    for request in batch.requests:
        contents_of_request: list[str] = []
        for contribution in request.contributions:
            one = _SourcedContribution.of(request.from_entity.id, contribution, texts)
            digests.setdefault(key_of(contribution), []).append(one)
            contents_of_request += [one.meaning, one.sightings]
        contents.append("\0".join((*request.key, *contents_of_request)))
    contents.sort()
    contents += sorted(_text(replacement.to_json()) for replacement in batch.replacements)
    return PublishedState(
        batch.target.type, digest(*contents), {key: _digest_of(found) for key, found in digests.items()}
    )


@dataclass(frozen=True, slots=True)
class _SourcedContribution:
    """What one contribution says of an edge from `source`, and apart from that how often, when and in which job."""

    source: str
    meaning: str
    sightings: str
    first: float | None
    last: float | None

    @classmethod
    def of(cls, source: str, contribution: Contribution, texts: dict[str, str]) -> _SourcedContribution:
        """`texts`: the digests of masked texts, each made once, as a text may stand behind thousands of edges."""
        text = contribution.sql_query
        if text and text not in texts:
            texts[text] = digest(text)
        meaning = contribution.meaning_text({"sqlQuery": texts[text] if text else None})
        return cls(source, meaning, contribution.sightings_text(), contribution.first_seen, contribution.last_seen)


def _last_seen(contributions: Iterable[Contribution]) -> dict[ContributionKey, float | None]:
    """When each of their producers said it last; None where that is not known of all that it says."""
    found: dict[ContributionKey, float | None] = {}
    for one in contributions:
        last, other = one.last_seen, found.get(key_of(one), one.last_seen)
        found[key_of(one)] = None if last is None or other is None else max(last, other)
    return found


def _digest_of(found: Sequence[_SourcedContribution]) -> ContributionDigest:
    meanings = digest(*sorted(one.source + one.meaning for one in found))
    first = [one.first for one in found if one.first is not None]
    last = [one.last for one in found if one.last is not None]
    timed = len(first) == len(last) == len(found)
    return ContributionDigest(meanings, min(first) if timed else None, max(last) if timed else None)


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


# The sending, chunk by chunk.


@dataclass(slots=True)
class PublishResult:
    """What became of each edge, by its ends, and the sums; `receipts` where the sink gave some."""

    edges: dict[EdgeKey, EdgeOutcome] = field(default_factory=dict)
    counts: EdgeCounts = field(default_factory=EdgeCounts)
    receipts: dict[EdgeKey, str] = field(default_factory=dict)

    def add(self, report: WriteReport) -> None:
        """What the sink tells of a chunk."""
        self.counts += report.counts
        for result in report.results:
            reason = None if result.accepted else result.refusal
            self.edges[result.request.key] = EdgeOutcome(reason)
            if result.receipt:
                self.receipts[result.request.key] = result.receipt

    def give_up(self, requests: Sequence[AddLineageRequest], reason: str) -> None:
        """What could not be said."""
        self.counts += EdgeCounts(rejected=len(requests))
        self.edges.update({request.key: EdgeOutcome(reason) for request in requests})

    def pass_over(self, batch: TargetBatch) -> None:
        """What the sink has acknowledged in an earlier run."""
        columns = sum(len(contribution.columns) for r in batch.requests for contribution in r.contributions)
        self.counts += EdgeCounts(unchanged=len(batch.requests), column_edges=columns)
        self.edges.update({request.key: EdgeOutcome() for request in batch.requests})

    def has_accepted(self, batch: TargetBatch) -> bool:
        """Whether nothing of it was rejected."""
        return all(self.edges[request.key].rejected is None for request in batch.requests)


States = Mapping[str, PublishedState]
"""By the id of the target."""


def published_states(batches: Iterable[TargetBatch]) -> dict[str, PublishedState | None]:
    """What to remember of each batch; None of one that fails, which is given up where it is to be sent."""
    isolation = Isolation[str]()
    found: dict[str, PublishedState | None] = {}
    for batch in batches:
        found[batch.target.id] = None
        with isolation.around(FailureStage.PUBLISHING, batch.target.id):
            found[batch.target.id] = published_state(batch)
    return found


def unanswered_states(states: States, acknowledged: States) -> dict[str, PublishedState]:
    """What may stand of what is said now and is to be sent, until its targets answer."""
    known = {target: acknowledged.get(target) for target in states}
    return {
        target: _unanswered_state(known[target], now)
        for target, now in states.items()
        if not _is_known(known[target], now)
    }


def _ended_producers(batch: TargetBatch) -> frozenset[ContributionKey]:
    """Who is ordered to have said something no longer."""
    named = ((order.producer, order.source) for order in batch.replacements)
    return frozenset(ContributionKey(str(who.kind), who.key, str(source)) for who, source in named if who is not None)


def _is_known(known: PublishedState | None, now: PublishedState) -> bool:
    """Whether it is acknowledged already; one of which nothing is said is not: what stands there is to end."""
    return known is not None and bool(now.digests) and known.digest == now.digest


def _unanswered_state(known: PublishedState | None, now: PublishedState) -> PublishedState:
    """No digest is that of what is said `now`: a target may take what it never answers for."""
    digests = dict(known.digests) if known is not None else {}
    for contribution_key, sent in now.digests.items():
        unanswered = replace(sent, digest=UNANSWERED)
        earlier = digests.get(contribution_key)
        digests[contribution_key] = unanswered if earlier is None else unanswered.widen(earlier)
    return PublishedState(now.kind, "", digests, known.edges if known is not None else {})


@dataclass(frozen=True, slots=True)
class Publisher:
    """Sends to one sink what it has not acknowledged, `chunk` contributions at a time.

    `on_acknowledged` keeps what was acknowledged before the next chunk is sent, and `on_sending`, before it is sent,
    what may stand from then on: if it is never answered for, the next run may say another thing, and ends this.

    `elsewhere`: for a sink with keys, those of what other workflows say, by the target's id: it is not taken away.
    `states`: what to remember of batches, as far as that was worked out before.
    """

    sink: Sink
    acknowledged: States
    on_sending: Callable[[States], None]
    on_acknowledged: Callable[[States], None]
    chunk: int
    options: RunOptions
    elsewhere: Mapping[str, frozenset[str]] = field(default_factory=dict)
    states: States = field(default_factory=dict)

    def deliver(
        self, batches: Sequence[TargetBatch], complete: CompleteScope, advance: Callable[[int], None]
    ) -> PublishResult:
        """What became of the batches, each of another target; `advance` is told of every so many requests.

        What producers within `complete` said before and do not say now is ended. Raises TargetDown, LeaseHeld and
        Interrupted; what was acknowledged until then is noted.
        """
        result = PublishResult()
        isolation = Isolation[str](self.options.failpoints.probe)
        waiting = []
        states: dict[str, PublishedState] = {}
        for batch in self._with_withdrawals(batches, complete):
            with isolation.around(FailureStage.PUBLISHING, batch.target.id):
                now = self.states.get(batch.target.id) or published_state(batch)
                if _is_known(self.acknowledged.get(batch.target.id), now):
                    result.pass_over(batch)
                    advance(len(batch.requests))
                else:
                    waiting.append(self._with_receipts(self._superseding(batch, now, complete)))
                    states[batch.target.id] = now
            if batch.target.id in isolation.failures:
                result.give_up(batch.requests, isolation.failures[batch.target.id].reason)
        for chunk in chunks(waiting, self.chunk):
            self._send(chunk, states, result)
            advance(sum(len(batch.requests) for batch in chunk))
            self.options.failpoints.reach("publish")
        return result

    def _send(self, given: Sequence[TargetBatch], states: States, result: PublishResult) -> None:
        changes = self._key_changes(given)
        batches = [self._with_ends(one, changes[one.target.id]) if changes else one for one in given]
        calls = [batches] if len(batches) > 1 else [(part,) for part in _parts(batches[0])]
        whole: list[TargetBatch] = []
        for number, call in enumerate(calls, 1):  # a signal waits for the answer to one call, not to all of them
            with self.options.drain.hold():
                if number == 1:
                    self.options.failpoints.reach("send")
                    targets = [batch.target.id for batch in batches]
                    known = self.acknowledged
                    unanswered = {one: _unanswered_state(known.get(one), states[one]) for one in targets}
                    self.on_sending(
                        {
                            one: changes[one].while_unanswered(state) if changes else state
                            for one, state in unanswered.items()
                        }
                    )
                whole += self._write(call, result)
                if number == len(calls):
                    self.options.failpoints.reach("sent")
                    stand = self._states_of(whole if len(calls) == 1 else batches, states, result)
                    self.on_acknowledged(
                        {one: changes[one].once_taken(state) if changes else state for one, state in stand.items()}
                    )

    def _states_of(self, batches: Sequence[TargetBatch], states: States, result: PublishResult) -> States:
        """What stands of those that were taken."""
        taken = [batch for batch in batches if result.has_accepted(batch)]
        done = {one.target.id: self._published_state(one, states[one.target.id]) for one in taken}
        return {one.target.id: replace(done[one.target.id], edges=self._edges(one, result)) for one in taken}

    def _key_changes(self, batches: Sequence[TargetBatch]) -> dict[str, KeyChange]:
        """What the batches change in a sink with keys, by the target's id; nothing of another."""
        if not isinstance(self.sink, KeyedSink):
            return {}
        return {one.target.id: KeyChange.of(one, self.acknowledged.get(one.target.id), self.sink) for one in batches}

    def _with_ends(self, batch: TargetBatch, change: KeyChange) -> TargetBatch:
        return change.applied_to(batch, self.elsewhere.get(batch.target.id, frozenset()))

    def _write(self, batches: Sequence[TargetBatch], result: PublishResult) -> list[TargetBatch]:
        """The batches that were written whole.

        Where anything goes wrong that is not the target's, each half by itself, down to the requests of one batch; what
        it was to replace stays then, since the new truth is not whole.
        """
        isolation = Isolation[EdgeKey](self.options.failpoints.probe)
        with isolation.around(FailureStage.PUBLISHING, ("", "")):
            isolation.probe(FailureStage.PUBLISHING, [request for batch in batches for request in batch.requests])
            result.add(self.sink.write(batches))
            return list(batches)
        if len(batches) > 1:
            middle = len(batches) // 2
            return self._write(batches[:middle], result) + self._write(batches[middle:], result)
        only = replace(batches[0], replacements=(), ended=frozenset())
        for request in batches[0].requests:
            with isolation.around(FailureStage.PUBLISHING, request.key):
                isolation.probe(FailureStage.PUBLISHING, request)
                result.add(self.sink.write([replace(only, requests=(request,))]))
            if request.key in isolation.failures:
                result.give_up([request], isolation.failures[request.key].reason)
        return []

    def _with_receipts(self, batch: TargetBatch) -> TargetBatch:
        """The batch with what is known of the edges that earlier runs made."""
        known = self.acknowledged.get(batch.target.id)
        if known is None:
            return batch
        receipts = {source: edge.receipt for source, edge in known.edges.items()}
        for request in batch.requests:
            before = (known.digests.get(key_of(contribution)) for contribution in request.contributions)
            if any(one is not None and one.digest == UNANSWERED for one in before):
                receipts.setdefault(request.from_entity.id, UNANSWERED)
        return replace(batch, receipts=receipts)

    def _edges(self, batch: TargetBatch, result: PublishResult) -> dict[str, WrittenEdge]:
        """The edges that were written, and who says them now; of those of others only what is said."""
        known = self.acknowledged.get(batch.target.id)
        ended = _ended_producers(batch)
        edges = {
            source: replace(edge, producers={key: at for key, at in edge.producers.items() if key not in ended})
            for source, edge in (known.edges.items() if known is not None else ())
        }
        for request in batch.requests:
            source = request.from_entity.id
            before = edges.pop(source, None)
            if receipt := result.receipts.get(request.key):
                earlier = before.producers if before is not None else {}
                edges[source] = WrittenEdge(receipt, {**earlier, **_last_seen(request.contributions)})
        return {source: edge for source, edge in edges.items() if edge.producers or edge.receipt != NOT_OURS}

    def _published_state(self, batch: TargetBatch, now: PublishedState) -> PublishedState:
        """What stands now: what was said in this run, and what was said before and not ended."""
        known = self.acknowledged.get(batch.target.id)
        digests = dict(now.digests)
        ended = _ended_producers(batch)
        for contribution_key, earlier in known.digests.items() if known is not None else ():
            if contribution_key in digests:
                digests[contribution_key] = digests[contribution_key].widen(earlier)
            else:
                digests[contribution_key] = replace(earlier, digest="") if contribution_key in ended else earlier
        return replace(now, digests=digests)

    def _with_withdrawals(self, batches: Sequence[TargetBatch], complete: CompleteScope) -> Iterator[TargetBatch]:
        """The batches, and those targets of which nothing is said any more although something was."""
        yield from batches
        here = {batch.target.id for batch in batches}
        for target, known in sorted(self.acknowledged.items()):
            if target not in here and any(
                earlier.digest and complete.covers(who, earlier) for who, earlier in known.digests.items()
            ):
                yield TargetBatch(EntityReference(target, known.kind))

    def _superseding(self, batch: TargetBatch, now: PublishedState, complete: CompleteScope) -> TargetBatch:
        """The batch with the order to end what its producers said before and do not say now."""
        known = self.acknowledged.get(batch.target.id)
        if known is None:
            return batch
        orders = []
        shared = False
        for contribution_key, before in sorted(known.digests.items(), key=lambda item: item[0]):
            latest = now.digests.get(contribution_key, replace(before, digest=""))
            if latest.digest == before.digest:
                continue
            if not complete.covers(contribution_key, before):
                shared = True
                continue
            span = latest.widen(before)
            producer = Producer(ProducerKind(contribution_key.kind), contribution_key.key)
            held = None if latest.digest else complete.held_until(batch.target.id, contribution_key, before)
            at = span.first_seen if held is None else held
            orders.append(Replacement(batch.target, contribution_key.source, producer, at, span.last_seen))
        orders = [replace(order, shared=shared) for order in orders]
        return replace(batch, replacements=(*batch.replacements, *orders))
