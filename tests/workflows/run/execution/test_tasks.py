"""The shards that are at work in tasks, when the run ends."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from connectors.sink import UNANSWERED
from ingestion.errors import Interrupted, TargetDown
from workflows.run.execution import Result, SparkExecutor, TaskResult
from workflows.run.passes import send_shard
from workflows.run.publish.publishing import PublishOrder, SharedLineage
from workflows.runtime.options import RunOptions
from workflows.runtime.signals import interrupted_by_signals
from workflows.runtime.spill import Packed, SpillList
from workflows.state.acknowledgements import CompleteScope, ContributionDigest, ContributionKey, PublishedState

EMPTY = cast(Any, SimpleNamespace(lineage=SimpleNamespace(requests=(), replacements=())))
ORDER = cast(Any, PublishOrder({}, CompleteScope(), SharedLineage()))
WHO = ContributionKey("query", "fingerprint", "QueryLineage")


def executor_with(options: RunOptions, noted: list[str], sending: list[Any] | None = None) -> SparkExecutor:
    """One shard at a time; `noted` gets what the target has acknowledged, `sending` what may stand before that."""
    listener = SimpleNamespace(
        on_sending=(sending if sending is not None else []).append,
        on_acknowledged=noted.extend,
        on_progress=lambda _count: None,
    )
    driver = SimpleNamespace(context=SimpleNamespace(options=options, listener=listener))
    return SparkExecutor(cast(Any, None), cast(Any, SimpleNamespace(publishers=1)), 1, cast(Any, driver))


def test_a_shard_that_stands_by_is_not_begun_when_the_one_before_it_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A target that is down is not asked once more for each thread that waits."""
    begun: list[int] = []
    noted: list[str] = []

    def run(_executor: SparkExecutor, number: int, *_given: object) -> TaskResult:
        begun.append(number)
        down = TargetDown("no answer") if number == 1 else None
        return TaskResult(Result(None, None), down, acknowledged=[cast(Any, {str(number): None})])

    monkeypatch.setattr(SparkExecutor, "run", run)
    executor = executor_with(RunOptions("run"), noted)
    with pytest.raises(TargetDown):
        executor.map(send_shard, [EMPTY] * 4, [ORDER] * 4, lambda _result: None)
    assert begun == [0, 1]
    assert noted == ["0", "1"]


@pytest.mark.parametrize("after", [0.0, 0.2])
def test_a_signal_lets_what_is_being_published_end_and_begins_nothing_more(
    monkeypatch: pytest.MonkeyPatch, after: float
) -> None:
    """Also where it comes before the one that it interrupts has begun to wait, and where another shard stands by."""
    options = RunOptions("run")
    begun: list[int] = []
    noted: list[str] = []

    def run(_executor: SparkExecutor, number: int, *_given: object) -> TaskResult:
        begun.append(number)
        if number == 0:
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGTERM)
            while options.drain.interruption is None:
                time.sleep(0.01)
        time.sleep(0.2)
        return TaskResult(acknowledged=[cast(Any, {str(number): None})])

    monkeypatch.setattr(SparkExecutor, "run", run)
    executor = executor_with(options, noted)
    with pytest.raises(Interrupted), interrupted_by_signals(options.drain):
        executor.map(send_shard, [EMPTY] * 3, [ORDER] * 3, lambda _result: None)
    assert begun == [0]
    assert noted == ["0"]


def test_what_may_stand_is_kept_before_a_shard_is_sent_which_the_driver_does_not_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = {
        target: PublishedState("table", digest, {WHO: ContributionDigest(digest, 10.0, 20.0)})
        for target, digest in (("new", "1"), ("known", "2"), ("other", "3"))
    }
    before = {"known": states["known"], "other": replace(states["other"], digest="0")}
    order = PublishOrder(before, CompleteScope(), SharedLineage(), states=states)
    sending: list[Any] = []
    seen: list[Any] = []

    def run(_executor: SparkExecutor, _number: int, _work: object, shard: object, _given: object) -> TaskResult:
        seen.extend((shard, list(sending)))
        return TaskResult(Result(None, None))

    monkeypatch.setattr(SparkExecutor, "run", run)
    shards: SpillList[Any] = SpillList(0)
    shards.append(Packed(b"what nobody can open"))
    executor_with(RunOptions("run"), [], sending).map(send_shard, shards, [cast(Any, order)], lambda _result: None)
    unanswered = {
        target: PublishedState("table", "", {WHO: ContributionDigest(UNANSWERED, 10.0, 20.0)})
        for target in ("new", "other")
    }
    assert seen == [Packed(b"what nobody can open"), [unanswered]]
