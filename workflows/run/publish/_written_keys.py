"""What stands of a target after a batch, by the keys of a sink that is told what to take away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from connectors.sink import UNANSWERED, KeyedSink, TargetBatch
from ingestion.model.contributions import Contribution
from ingestion.model.job_slots import JobSlot, join_slots, superseding_moments
from workflows.state.acknowledgements import ContributionDigest, ContributionKey, PublishedState

_Keys = Mapping[ContributionKey, frozenset[str]]


@dataclass(frozen=True, slots=True)
class KeyChange:
    """The keys by producer: those that may stand `before` a batch and those that it says `now`; those `after` it.

    What a producer says again without all that it spoken before being known stands beside that.
    """

    before: _Keys
    now: _Keys
    after: _Keys

    @classmethod
    def of(cls, batch: TargetBatch, known: PublishedState | None, sink: KeyedSink) -> KeyChange:
        """That of a batch with its replacements, over what is `known` of its target."""
        digests = known.digests if known is not None else {}
        before = {who: earlier.written for who, earlier in digests.items() if earlier.written}
        spoken, slots = defaultdict[ContributionKey, set[str]](set), defaultdict[ContributionKey, list[JobSlot]](list)
        for request in batch.requests:
            for contribution in request.contributions:
                spoken[key_of(contribution)].update(sink.keys(request, contribution))
                slots[key_of(contribution)] += contribution.slots
        now = {who: frozenset(keys) for who, keys in spoken.items()}
        gone = superseding_moments({who: join_slots(found) for who, found in slots.items()})
        replaced = set(_replaced_producers(batch, before))
        after = {who: now.get(who, frozenset()) | _still_true(who, before, replaced) for who in {*before, *now}}
        return cls(before, now, {who: frozenset() if who in gone else keys for who, keys in after.items()})

    def applied_to(self, batch: TargetBatch, elsewhere: frozenset[str] = frozenset()) -> TargetBatch:
        """The batch with what it ends, and what of it is not to be written; `elsewhere` is what other workflows say."""
        stands = _union(self.after)
        return replace(batch, ended=_union(self.before) - stands - elsewhere, superseded=_union(self.now) - stands)

    def while_unanswered(self, state: PublishedState) -> PublishedState:
        """What may stand until the target answers: both."""
        return _with_written(state, {who: _of(self.before, who) | _of(self.now, who) for who in state.digests})

    def once_taken(self, state: PublishedState) -> PublishedState:
        """What stands once it was taken."""
        return _with_written(state, self.after)


def key_of(contribution: Contribution) -> ContributionKey:
    """Who says it, and from which kind of source."""
    producer = contribution.producer
    return ContributionKey(str(producer.kind), producer.key, str(contribution.source))


def keys_of(state: PublishedState) -> frozenset[str]:
    """The keys of all that may stand of a target."""
    return frozenset().union(*(one.written for one in state.digests.values()))


def without_keys(state: PublishedState, keys: frozenset[str]) -> PublishedState:
    """What is known of a target where what has these keys is not there any more: whoever said it says it again."""
    digests = {
        who: replace(one, digest=UNANSWERED, written=one.written - keys) if one.written & keys else one
        for who, one in state.digests.items()
    }
    return replace(state, digest="", digests=digests)


def _replaced_producers(batch: TargetBatch, before: Iterable[ContributionKey]) -> Iterable[ContributionKey]:
    """The producers all of whose earlier words a batch replaces."""
    for order in batch.replacements:
        if order.producer is not None:
            yield ContributionKey(str(order.producer.kind), order.producer.key, str(order.source))
        else:
            yield from (who for who in before if who.source == str(order.source))


def _still_true(who: ContributionKey, before: _Keys, replaced: set[ContributionKey]) -> frozenset[str]:
    return frozenset() if who in replaced else _of(before, who)


def _of(keys: _Keys, who: ContributionKey) -> frozenset[str]:
    return keys.get(who, frozenset())


def _union(keys: _Keys) -> frozenset[str]:
    return frozenset().union(*keys.values())


def _with_written(state: PublishedState, keys: _Keys) -> PublishedState:
    digests: dict[ContributionKey, ContributionDigest] = {
        who: replace(one, written=_of(keys, who)) for who, one in state.digests.items()
    }
    return replace(state, digests=digests)
