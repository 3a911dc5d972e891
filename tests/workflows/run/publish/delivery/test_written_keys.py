"""A sink with keys is told what does not stand any more, whatever it answered for and whatever it did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pytest

from connectors.sink import EdgeCounts, KeyedSink, TargetBatch, WriteReport, WriteResult, target_batches
from ingestion.errors import TargetDown
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.job_slots import JobSlot, RunDays
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, EdgeSource, Replacement, request_of
from workflows.run.publish.delivery import Publisher
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import CompleteScope, PublishedState

DAY = 86_400.0


@dataclass
class Board:
    """What stands: the keys that were written and not taken away. `fails` calls are taken and not answered for."""

    stands: set[str] = field(default_factory=set)
    fails: int = 0

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        return [f"{request.from_entity.id} {column.expression}" for column in contribution.columns]

    def missing_keys(self, written: frozenset[str]) -> frozenset[str]:
        return written - self.stands

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        results = []
        for batch in batches:
            self.stands -= batch.ended
            for request in batch.requests:
                keys = {key for one in request.contributions for key in self.keys(request, one)}
                self.stands |= keys - batch.superseded
                results.append(WriteResult(request, WriteOutcome.STORED))
        if self.fails:
            self.fails -= 1
            raise TargetDown("no answer")
        return WriteReport(tuple(results), EdgeCounts(new=len(results)))


@dataclass
class Workflow:
    """Runs after each other: what they keep of the target `t`."""

    board: Board = field(default_factory=Board)
    states: dict[str, PublishedState] = field(default_factory=dict)

    others: frozenset[str] = frozenset()

    def run(self, *said: Contribution, whole: bool = True, orders: Sequence[Replacement] = ()) -> set[str]:
        requests = [request_of(EntityReference("s", "table"), TARGET, said)] if said else []
        keys = {one.key for state in self.states.values() for one in state.digests}
        scope = CompleteScope(frozenset(keys) if whole else frozenset())
        known, note = dict(self.states), self.states.update
        publisher = Publisher(self.board, known, note, note, 9, RunOptions("r"), {TARGET.id: self.others})
        publisher.deliver(target_batches(requests, orders), scope, lambda _count: None)
        return self.board.stands


TARGET = EntityReference("t", "table")
SLOT = "job"


def word(key: str, expression: str, days: tuple[int, ...] = (), source: str = EdgeSource.QUERY) -> Contribution:
    column = ColumnEvidence(("s.a",), "t.b", Transformation(Subtype.TRANSFORMATION), expression)
    slots: tuple[JobSlot, ...] = ()
    for day in days:
        one = RunDays(day * DAY, day * DAY)
        slots = (JobSlot(SLOT, slots[0].ran.join(one) if slots else one),)
    return Contribution(Producer(ProducerKind.QUERY, key), source, "INSERT", (column,), slots=slots)


def test_a_sink_with_keys_is_known_by_its_method() -> None:
    assert isinstance(Board(), KeyedSink)


def test_what_a_producer_says_otherwise_takes_the_place_of_what_it_said() -> None:
    workflow = Workflow()
    assert workflow.run(word("q", "a"), word("p", "z")) == {"s a", "s z"}
    assert workflow.run(word("q", "b"), word("p", "z")) == {"s b", "s z"}
    assert workflow.run(word("p", "z")) == {"s z"}
    assert workflow.run() == set()


def test_what_only_some_of_it_is_known_of_stays() -> None:
    workflow = Workflow()
    workflow.run(word("q", "a"))
    assert workflow.run(word("q", "b"), whole=False) == {"s a", "s b"}
    assert workflow.run(word("p", "c"), whole=False) == {"s a", "s b", "s c"}


def test_what_two_say_stands_until_both_are_silent() -> None:
    workflow = Workflow()
    workflow.run(word("q", "a"), word("p", "a"))
    assert workflow.run(word("p", "a")) == {"s a"}
    assert workflow.run() == set()


def test_what_another_workflow_says_too_is_not_taken_away() -> None:
    workflow = Workflow(others=frozenset({"s a"}))
    workflow.run(word("q", "a"), word("p", "b"))
    assert workflow.run() == {"s a"}
    assert not any(one.written for one in workflow.states["t"].digests.values())


def test_a_view_that_is_defined_anew_ends_its_old_columns_whoever_said_them() -> None:
    workflow = Workflow()
    workflow.run(word("v", "a", source=EdgeSource.VIEW), word("q", "z"))
    orders = [Replacement(TARGET, EdgeSource.VIEW)]
    now = workflow.run(word("v", "b", source=EdgeSource.VIEW), word("q", "z"), whole=False, orders=orders)
    assert now == {"s b", "s z"}


def test_a_statement_that_a_job_runs_no_more_is_superseded_and_is_not_written_again() -> None:
    workflow = Workflow()
    workflow.run(word("old", "a", (1, 2, 3)), whole=False)
    assert workflow.run(word("old", "a", (1, 2, 3)), word("new", "b", (4, 5, 6)), whole=False) == {"s b"}
    assert Workflow().run(word("old", "a", (1, 2, 3)), word("new", "b", (4, 5, 6))) == {"s b"}


def test_what_was_taken_and_not_answered_for_ends_too() -> None:
    workflow = Workflow(Board(fails=1))
    with pytest.raises(TargetDown):
        workflow.run(word("q", "a"))
    assert workflow.board.stands == {"s a"}

    assert workflow.run(word("q", "b")) == {"s b"}

    workflow.board.fails = 1
    with pytest.raises(TargetDown):
        workflow.run(word("q", "c"))
    assert workflow.run(word("q", "d")) == {"s d"}
    assert workflow.run() == set()
