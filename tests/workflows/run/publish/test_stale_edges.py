"""Edges on an OpenMetadata that runs wrote and that nothing says any more: they go, and nobody else's do."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from connectors.openmetadata.client import connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.edges import put_edge
from connectors.openmetadata.http import Call, Timing
from connectors.openmetadata.sink import RestSink
from connectors.sink import EdgeCounts, WriteReport, target_batches
from ingestion.errors import Rejected, TargetDown
from ingestion.model.entities import EntityReference
from ingestion.model.requests import AddLineageRequest, EdgeSource
from tests.support.openmetadata_shop import Shop, shop_of
from workflows.config import StaleEdges
from workflows.counts import RunCounts
from workflows.run.publish.delivery import Publisher
from workflows.run.publish.stale_edges import RunEnd, StaleEdgeRemoval
from workflows.run.remember.checkpoint import LineageResult
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import (
    CompleteScope,
    PublishedState,
    acknowledge,
    acknowledgements,
    edges_of_other_workflows,
    forget_edges,
    targets_of_written_edges,
)
from workflows.state.store import StateStore, open_state

CATALOG, DAY = "catalog", 86_400.0
GOOD = RunCounts(records_read=9, statements=9, published=9, edges=EdgeCounts(new=1))
ALL = StaleEdges(mostPercent=100)


@dataclass
class Workflow:
    """Runs of one workflow onto a shop, and what they remember."""

    shop: Shop
    store: StateStore
    name: str = "w"

    def targets_of_written_edges(self, sink: str) -> list[str]:
        with self.store.read() as connection:
            return targets_of_written_edges(connection, self.name, sink)

    def acknowledged_states(self, sink: str, targets: Collection[str] | None = None) -> dict[str, PublishedState]:
        with self.store.read() as connection:
            return acknowledgements(connection, self.name, sink, targets)

    def edges_of_other_workflows(self, sink: str, targets: Collection[str]) -> frozenset[tuple[str, str]]:
        with self.store.read() as connection:
            return edges_of_other_workflows(connection, self.name, sink, targets)

    def forget_edges(self, sink: str, target: str, sources: Collection[str]) -> None:
        with self.store.write() as connection:
            forget_edges(connection, self.name, sink, target, sources)

    def acknowledge(self, states: Mapping[str, PublishedState]) -> None:
        with self.store.write() as connection:
            acknowledge(connection, self.name, CATALOG, states)

    @property
    def sink(self) -> RestSink:
        return RestSink(self.shop.platform, "run", threads=2)

    def publish(self, *requests: AddLineageRequest, sink: Any = None, knows: Collection[str] = ()) -> None:
        """A run that says this, and knows all that the producers of these keys say."""
        known = self.acknowledged_states(CATALOG)
        publisher = Publisher(sink or self.sink, known, self.acknowledge, self.acknowledge, 1, RunOptions("r"))
        publisher.deliver(target_batches(requests), CompleteScope(frozenset(knows)), lambda _count: None)

    def remove(
        self, settings: StaleEdges = ALL, counts: RunCounts = GOOD, newest: float | None = None, **lineage: Any
    ) -> tuple[int, tuple[str, ...]]:
        """What goes at the end of a run."""
        removal = StaleEdgeRemoval(settings, self.sink, CATALOG, self, RunOptions("r"))
        return removal.remove(RunEnd(counts, LineageResult(**lineage), newest, 90))

    @property
    def edges(self) -> set[tuple[str, str]]:
        """What stands, by the names of the ends."""
        names = {one["id"]: one["name"] for one in self.shop.stub.entities["tables"].values()}
        return {(names[source], names[target]) for source, target in self.shop.stub.edges}


@pytest.fixture(params=[(1, 6), (1, 12)], ids=["1.6", "1.12"])
def workflow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workflow]:
    waited = [0.0]
    timing = Timing(sleep=lambda seconds: waited.append(waited[-1] + seconds), monotonic=lambda: waited[-1])
    with shop_of(request.param, timing) as shop, closing(open_state(str(tmp_path / "state.db"))) as store:
        yield Workflow(shop, store)


def test_what_its_producer_says_no_more_goes_and_what_another_still_says_stays(workflow: Workflow) -> None:
    said = workflow.shop.said
    workflow.publish(said("orders", "sales", "id"), said("v_sales", "sales", "amount"))
    workflow.publish(said("orders", "sales", "id", key="q2"))
    assert workflow.remove() == (0, ())
    workflow.publish(said("orders", "sales", "id"), knows={"q1"})  # and v_sales no more
    assert workflow.remove() == (1, ())
    assert workflow.edges == {("orders", "sales")}
    assert workflow.remove() == (0, ())
    workflow.publish(knows={"q1"})
    assert workflow.remove() == (0, ())  # q2 says it
    workflow.publish(knows={"q2"})
    assert workflow.remove() == (1, ())
    assert workflow.edges == set()


def test_an_edge_that_another_made_or_changed_is_not_ours(workflow: Workflow) -> None:
    """One stood before us, one was added to since, one was described by hand."""
    shop, said = workflow.shop, workflow.shop.said
    theirs = said("orders", "sales", "amount", key="theirs")
    shop.platform.http.send(put_edge(theirs.edge))
    workflow.publish(said("orders", "sales", "id"), said("v_sales", "sales", "id"), said("orders", "v_sales", "id"))
    shop.write(said("v_sales", "sales", "amount", key="theirs"))
    described = shop.stub.edges[shop.table("orders").id, shop.table("v_sales").id]
    described |= {"description": "ask Ann"}
    workflow.publish(knows={"q1"})
    removed, warnings = workflow.remove()
    assert (removed, [text[:40] for text in warnings]) == (0, ["2 edges that this workflow says no more "])
    assert len(workflow.edges) == 3
    assert workflow.remove() == (0, ())  # told once


def test_an_edge_that_another_workflow_says_too_stays_until_neither_does(workflow: Workflow) -> None:
    """That one found it there, and does not send again what it has sent."""
    other, request = replace(workflow, name="other"), workflow.shop.said("orders", "sales", "id")
    workflow.publish(request)
    other.publish(request)
    assert other.remove() == (0, ())
    workflow.publish(knows={"q1"})
    assert workflow.remove() == (0, ())
    assert workflow.edges == {("orders", "sales")}
    other.publish(knows={"q1"})
    assert other.remove() == (0, ())  # it is the first one's
    assert workflow.remove() == (1, ())
    assert workflow.edges == set()


def test_an_edge_that_another_changes_while_others_are_removed_stays(workflow: Workflow) -> None:
    shop = workflow.shop
    workflow.publish(shop.said("orders", "sales", "id"))
    (present,) = workflow.sink.present_edges(*_only_receipts(workflow))
    shop.stub.edges[shop.table("orders").id, shop.table("sales").id] |= {"description": "ask Ann"}
    assert present.is_ours
    assert workflow.sink.remove_edge(present) == "others have changed it"
    assert workflow.edges == {("orders", "sales")}


def _only_receipts(workflow: Workflow) -> tuple[EntityReference, dict[str, str]]:
    ((target, known),) = workflow.acknowledged_states(CATALOG).items()
    return EntityReference(target, known.kind), {source: edge.receipt for source, edge in known.edges.items()}


def test_edges_that_cannot_be_looked_at_now_wait_for_the_next_run(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Rejected("HTTP 403: may not view lineage")

    workflow.publish(workflow.shop.said("orders", "sales", "id"))
    workflow.publish(knows={"q1"})
    with monkeypatch.context() as refused:
        refused.setattr(RestSink, "present_edges", refuse)
        removed, (warning,) = workflow.remove()
    assert (removed, "may not view lineage" in warning) == (0, True)
    assert workflow.remove() == (1, ())


def test_an_edge_that_is_made_again_by_another_is_theirs_where_the_platform_tells_who_made_it(
    workflow: Workflow,
) -> None:
    request = workflow.shop.said("orders", "sales", "id")
    workflow.publish(request)
    workflow.shop.platform.http.send(put_edge(request.edge))
    workflow.publish(knows={"q1"})
    assert workflow.remove()[0] == (1 if workflow.shop.stub.minor < (1, 7) else 0)


def test_what_a_log_has_not_had_for_days_goes_where_that_is_asked_for(workflow: Workflow) -> None:
    said, now = workflow.shop.said, 100 * DAY
    workflow.publish(said("orders", "sales", "id", at=now - 40 * DAY), said("v_sales", "sales", "id", key="q2", at=now))
    assert workflow.remove(newest=now) == (0, ())
    assert workflow.remove(StaleEdges(afterDays=41, mostPercent=100), newest=now) == (0, ())
    assert workflow.remove(StaleEdges(afterDays=30, mostPercent=100)) == (0, ())  # a log without times
    assert workflow.remove(StaleEdges(afterDays=30, mostPercent=100), newest=now) == (1, ())
    assert workflow.edges == {("v_sales", "sales")}


@pytest.mark.parametrize("workflow", [(1, 6)], indirect=True)
def test_a_definition_ages_where_a_later_one_says_something_else(workflow: Workflow) -> None:
    """Both are in the log: what the view says now is what its later definition says."""
    said, now, aging = workflow.shop.said, 100 * DAY, StaleEdges(afterDays=30, mostPercent=100)
    older = said("orders", "v_sales", "id", of=EdgeSource.VIEW, at=now - 40 * DAY)
    workflow.publish(older)
    assert workflow.remove(aging, newest=now) == (0, ())
    workflow.publish(older, said("sales", "v_sales", "id", of=EdgeSource.VIEW, at=now))
    assert workflow.remove(aging, newest=now) == (1, ())
    assert workflow.edges == {("sales", "v_sales")}


@pytest.mark.parametrize(
    ("counts", "lineage", "settings", "told"),
    [
        (replace(GOOD, edges=EdgeCounts(new=1, rejected=2)), {}, ALL, "2 edges were refused"),
        (replace(GOOD, published=8, dead={"timeout": 1}), {}, ALL, "88.9 % of the statements"),
        (GOOD, {"failures": {"f": None}}, ALL, "1 distinct statements failed"),
        (RunCounts(), {}, ALL, "found no lineage"),
        (replace(GOOD, edges=EdgeCounts()), {}, ALL, "found no lineage"),
        (GOOD, {}, StaleEdges(mostPercent=49), "1 of 2 edges"),
        (GOOD, {}, StaleEdges(mostPercent=0), "staleEdges.mostPercent (0)"),
    ],
)
@pytest.mark.parametrize("workflow", [(1, 6)], indirect=True)
def test_nothing_goes_where_the_run_may_not_have_seen_all(
    workflow: Workflow, counts: RunCounts, lineage: dict[str, Any], settings: StaleEdges, told: str
) -> None:
    said = workflow.shop.said
    workflow.publish(said("orders", "sales", "id"), said("v_sales", "sales", "id"))
    workflow.publish(said("orders", "sales", "id"), knows={"q1"})
    removed, (warning,) = workflow.remove(settings, counts, **lineage)
    assert (removed, len(workflow.edges)) == (0, 2)
    assert told in warning
    assert workflow.remove() == (1, ())  # by the next run that has


def test_what_was_written_and_never_answered_for_is_known_again(workflow: Workflow) -> None:
    class Killed(RestSink):
        def write(self, batches: Any) -> WriteReport:
            super().write(batches)
            raise TargetDown("no answer")

    shop, said = workflow.shop, workflow.shop.said
    shop.platform.http.send(put_edge(said("v_sales", "sales", "id", key="theirs").edge))
    both = said("orders", "sales", "id"), said("v_sales", "sales", "id")
    with pytest.raises(TargetDown):
        workflow.publish(*both, sink=Killed(shop.platform, "run"))
    assert not workflow.targets_of_written_edges(CATALOG)
    workflow.publish(*both)
    workflow.publish(knows={"q1"})
    assert workflow.remove() == (1, ())
    assert workflow.edges == {("v_sales", "sales")}


def _end_at_change(workflow: Workflow, now: tuple[AddLineageRequest, ...], at: int) -> None:
    """A run in a process of its own, with its own connections, that kills itself once the platform took a change."""
    try:
        platform = connect(Connection(workflow.shop.url, jwt_token="us"), timing=workflow.shop.platform.http.timing)
        changes, send = count(1), platform.http._exchange

        def exchange(call: Call) -> Any:
            answered = send(call)
            if call.method != "GET" and next(changes) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return answered

        platform.http._exchange = exchange  # type: ignore[method-assign]
        with closing(open_state(workflow.store.location)) as store:
            run = Workflow(replace(workflow.shop, platform=platform), store)
            run.publish(*now, knows={"q1", "q2"})
            run.remove()
    finally:
        os._exit(1)


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("workflow", [(1, 6)], indirect=True)
def test_a_run_that_is_killed_while_it_writes_or_removes_leaves_nothing_behind(workflow: Workflow, at: int) -> None:
    """Killed at its n-th change of the platform: the next runs write what is missing, and take back what is stale."""
    said = workflow.shop.said
    workflow.publish(said("orders", "sales", "id"), said("sales", "v_sales", "id", key="q2"))
    now = said("v_sales", "sales", "id"), said("orders", "v_sales", "id", key="q2")

    process = os.fork()
    if process == 0:
        _end_at_change(workflow, now, at)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL
    workflow.publish(*now, knows={"q1", "q2"})
    workflow.remove()
    assert workflow.edges == {("v_sales", "sales"), ("orders", "v_sales")}
    workflow.publish(knows={"q1", "q2"})
    assert workflow.remove()[0] == 2
    assert workflow.edges == set()


def test_an_edge_that_is_gone_by_now_is_no_loss(workflow: Workflow) -> None:
    workflow.publish(workflow.shop.said("orders", "sales", "id"))
    workflow.shop.stub.edges.clear()
    workflow.publish(knows={"q1"})
    assert workflow.remove() == (0, ())
    assert not workflow.targets_of_written_edges(CATALOG)
