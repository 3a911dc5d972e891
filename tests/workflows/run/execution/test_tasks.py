"""The batches that are at work in tasks, when the run ends."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingestion.errors import Interrupted, TargetDown
from workflows.run.execution import InTasks, Recorded
from workflows.run.passes import send_shard
from workflows.runtime.options import RunOptions
from workflows.runtime.signals import interrupted_by_signals
from workflows.runtime.spill import SpillList


def place_with(options: RunOptions, noted: list[str]) -> InTasks:
    """One batch at a time; `noted` gets what the target has acknowledged."""
    course = SimpleNamespace(note=noted.extend, advance=lambda _count: None)
    driver = SimpleNamespace(stages=SimpleNamespace(options=options, course=course))
    return InTasks(cast(Any, None), cast(Any, SimpleNamespace(publishers=1)), 1, cast(Any, driver))


def test_a_batch_that_stands_by_is_not_begun_when_the_one_before_it_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A target that is down is not asked once more for each thread that waits."""
    begun: list[int] = []
    noted: list[str] = []

    def run(_place: InTasks, number: int, *_given: object) -> Recorded:
        begun.append(number)
        down = TargetDown("no answer") if number == 1 else None
        return Recorded(b"", error=down, notes=[cast(Any, {str(number): None})])

    monkeypatch.setattr(InTasks, "run", run)
    place = place_with(RunOptions("run"), noted)
    with pytest.raises(TargetDown):
        place.carry_out(send_shard, (list("abcd"), [None] * 4), SpillList(0), lambda _summary: None)
    assert begun == [0, 1]
    assert noted == ["0", "1"]


@pytest.mark.parametrize("after", [0.0, 0.2])
def test_a_signal_lets_what_is_being_published_end_and_begins_nothing_more(
    monkeypatch: pytest.MonkeyPatch, after: float
) -> None:
    """Also where it comes before the one that it interrupts has begun to wait, and where another batch stands by."""
    options = RunOptions("run")
    begun: list[int] = []
    noted: list[str] = []

    def run(_place: InTasks, number: int, *_given: object) -> Recorded:
        begun.append(number)
        if number == 0:
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGTERM)
            while options.drain.interruption is None:
                time.sleep(0.01)
        time.sleep(0.2)
        return Recorded(notes=[cast(Any, {str(number): None})])

    monkeypatch.setattr(InTasks, "run", run)
    place = place_with(options, noted)
    with pytest.raises(Interrupted), interrupted_by_signals(options.drain):
        place.carry_out(send_shard, (list("abc"), [None] * 3), SpillList(0), lambda _summary: None)
    assert begun == [0]
    assert noted == ["0"]
