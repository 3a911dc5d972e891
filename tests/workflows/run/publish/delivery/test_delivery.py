"""What a run orders to end of what was said before, and what it says of whoever else spoke there."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from connectors.sink import TargetBatch, WriteReport, WriteResult, target_batches
from ingestion.errors import Interrupted, TargetDown
from ingestion.model.contributions import Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, Replacement, request_of
from workflows.run.publish.delivery import Publisher, published_states
from workflows.runtime.options import RunOptions
from workflows.runtime.signals import GracefulShutdown
from workflows.state.acknowledgements import CompleteScope, PublishedState

TARGET = EntityReference("t", "table", "t", "svc.db.public.t")
LOAD, NIGHTLY = Producer(ProducerKind.PROCEDURE, "db.public.load"), Producer(ProducerKind.QUERY, "fingerprint")


@dataclass
class RecordingSink:
    """A sink that takes everything."""

    ended: list[Replacement] = field(default_factory=list)

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        self.ended += [replacement for batch in batches for replacement in batch.replacements]
        return WriteReport(
            tuple(WriteResult(request, WriteOutcome.NEW) for batch in batches for request in batch.requests)
        )


def says(producer: Producer, *sources: str, at: float = 10.0) -> list[AddLineageRequest]:
    contribution = Contribution(producer, "QueryLineage", "INSERT", first_seen=at, last_seen=at)
    return [request_of(EntityReference(source, "table"), TARGET, [contribution]) for source in sources]


def delivered(
    before: Sequence[AddLineageRequest], now: Sequence[AddLineageRequest], rebound: CompleteScope
) -> tuple[Replacement, ...]:
    """The orders of a run that says `now`, after one that said `before`."""
    known: dict[str, PublishedState] = {}
    orders: tuple[Replacement, ...] = ()
    for requests in (before, now):
        sink = RecordingSink()

        def note(done: Mapping[str, PublishedState]) -> None:
            known.update(done)

        deliverer = Publisher(sink, dict(known), note, note, 100, RunOptions("r"))
        deliverer.deliver(target_batches(requests), rebound, lambda _count: None)
        orders = tuple(sink.ended)
    return orders


ALL = CompleteScope(frozenset({LOAD.key, NIGHTLY.key}))


def test_what_a_redefined_procedure_said_before_ends() -> None:
    (order,) = delivered(says(LOAD, "a", "b"), says(LOAD, "a", at=20.0), ALL)
    assert (order.to_entity, order.producer, order.at, order.until) == (TARGET, LOAD, 10.0, 20.0)
    assert not order.shared


def test_what_was_sent_and_not_answered_for_ends_where_something_else_is_said() -> None:
    known: dict[str, PublishedState] = {}

    class Silent(RecordingSink):
        def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
            super().write(batches)
            raise TargetDown("no answer")

    def sent(sink: RecordingSink, requests: Sequence[AddLineageRequest]) -> list[Replacement]:
        deliverer = Publisher(sink, dict(known), known.update, known.update, 100, RunOptions("r"))
        with suppress(TargetDown):
            deliverer.deliver(target_batches(requests), ALL, lambda _count: None)
        return sink.ended

    assert sent(Silent(), says(LOAD, "a", "b")) == []
    (order,) = sent(Silent(), says(LOAD, "c", at=20.0))  # whichever of the two it has taken
    assert (order.producer, order.at, order.until) == (LOAD, 10.0, 20.0)
    (order,) = sent(RecordingSink(), says(LOAD, "c", at=20.0))
    assert order.producer == LOAD
    assert sent(RecordingSink(), says(LOAD, "c", at=20.0)) == []
    (order,) = sent(RecordingSink(), [])
    assert order.producer == LOAD


def test_an_order_to_end_a_word_is_no_part_of_what_is_remembered() -> None:
    known: dict[str, PublishedState] = {}
    unchanged = []
    for requests in (says(LOAD, "a", "b"), says(LOAD, "a", at=20.0), says(LOAD, "a", at=20.0)):
        sink = RecordingSink()
        deliverer = Publisher(sink, dict(known), known.update, known.update, 100, RunOptions("r"))
        unchanged.append(deliverer.deliver(target_batches(requests), ALL, lambda _count: None).counts.unchanged)
        assert len(sink.ended) == (len(unchanged) == 2)
    assert unchanged == [0, 0, 1]


class Answering(RecordingSink):
    """A sink that counts what it is given in each call, and while it answers the second one a signal comes."""

    def __init__(self, drain: GracefulShutdown | None = None) -> None:
        super().__init__()
        self.calls: list[int] = []
        self._drain = drain

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        self.calls.append(sum(len(batch.requests) for batch in batches))
        if self._drain is not None and len(self.calls) == 2:
            self._drain.receive(signal.SIGTERM)
        return super().write(batches)


def test_a_signal_waits_for_one_call_of_a_target_with_very_many_sources_and_they_are_sent_again() -> None:
    many = says(LOAD, *(f"s{number}" for number in range(5_000)))
    known: dict[str, PublishedState] = {}
    drain = GracefulShutdown()
    signalled, again, unchanged = Answering(drain), Answering(), Answering()
    with pytest.raises(Interrupted):
        Publisher(signalled, {}, known.update, known.update, 100, RunOptions("r", drain=drain)).deliver(
            target_batches(many), ALL, lambda _count: None
        )
    assert signalled.calls == [2_000, 2_000]
    for sink in (again, unchanged):
        publisher = Publisher(sink, dict(known), known.update, known.update, 100, RunOptions("r"))
        result = publisher.deliver(target_batches(many), ALL, lambda _count: None)
        assert len(result.edges) == len(many)
    assert (again.calls, len(again.ended)) == ([5_000], 1)  # which of them it has taken, nobody knows
    assert (unchanged.calls, unchanged.ended) == ([], [])


def test_what_makes_room_goes_in_one_call_with_what_it_makes_room_for() -> None:
    many = says(LOAD, *(f"s{number}" for number in range(5_000)))
    sink, known = Answering(), dict[str, PublishedState]()
    batches = target_batches(many, [Replacement(TARGET)])
    Publisher(sink, {}, known.update, known.update, 100, RunOptions("r")).deliver(batches, ALL, lambda _count: None)
    assert sink.calls == [5_000]


def test_what_it_says_again_ends_nothing() -> None:
    assert delivered(says(LOAD, "a", "b"), says(LOAD, "a", "b", at=20.0), ALL) == ()


@pytest.mark.parametrize(
    ("others", "rebound", "shared"),
    [
        (says(NIGHTLY, "b"), ALL, False),  # the same word again: nothing of it can be lost
        ([], CompleteScope(frozenset({LOAD.key})), True),  # older than what this run has read
        ([], ALL, False),  # it is known not to be said any more
    ],
)
def test_who_else_spoke_there_is_told(others: list[AddLineageRequest], rebound: CompleteScope, shared: bool) -> None:
    before = [*says(LOAD, "a"), *says(NIGHTLY, "b")]
    orders = delivered(before, [*says(LOAD, "c"), *others], rebound)
    (order,) = [order for order in orders if order.producer == LOAD]
    assert order.shared is shared


def test_a_procedure_of_which_not_all_is_known_ends_nothing() -> None:
    assert delivered(says(LOAD, "a"), says(LOAD, "b"), replace(ALL, since=15.0)) == ()
    assert delivered(says(LOAD, "a"), says(LOAD, "b"), CompleteScope()) == ()


@pytest.mark.parametrize("kind", [ProducerKind.PLAN, ProducerKind.EXTERNAL_TABLE, ProducerKind.QUERY])
@pytest.mark.parametrize("still_said", [True, False])
def test_what_was_said_under_a_replaced_key_ends(kind: ProducerKind, still_said: bool) -> None:
    """Whether the same edge is said under the new key, or nothing is said of the target any more."""
    old, new = Producer(kind, "old"), Producer(kind, "new")
    now = says(new, "a") if still_said else []
    (order,) = delivered(says(old, "a"), now, CompleteScope(ended=frozenset({"old"}), since=50.0, window=10.0))
    assert (order.to_entity.id, order.producer, order.shared) == (TARGET.id, old, False)
    assert delivered(says(old, "a"), now, CompleteScope(ended=frozenset({"old"}), window=11.0)) == ()
    assert delivered(says(old, "a"), now, CompleteScope(frozenset({"new"}))) == ()


def test_what_was_worked_out_before_of_a_batch_is_remembered_and_not_worked_out_again() -> None:
    batches = target_batches(says(LOAD, "a", "b"))
    kept: list[Mapping[str, PublishedState]] = []
    states = {target: replace(now, digest="as before") for target, now in published_states(batches).items() if now}
    publisher = Publisher(RecordingSink(), {}, kept.append, kept.append, 100, RunOptions("r"), states=states)
    publisher.deliver(batches, ALL, lambda _count: None)
    assert [state["t"].digest for state in kept] == ["", "as before"]
    known = Publisher(RecordingSink(), kept[-1], kept.append, kept.append, 100, RunOptions("r"), states=states)
    assert known.deliver(batches, ALL, lambda _count: None).counts.unchanged == 2
    assert len(kept) == 2
