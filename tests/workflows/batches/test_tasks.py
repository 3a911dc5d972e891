"""The batches that are at work in tasks, when the run ends."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingestion.errors import Interrupted
from workflows.batches.passes import send_batch
from workflows.batches.tasks import InTasks
from workflows.batches.worker import Recorded
from workflows.control.options import RunOptions
from workflows.control.shelf import Shelf
from workflows.control.signals import interrupted_by_signals


@pytest.mark.parametrize("after", [0.0, 0.2])
def test_a_signal_lets_what_is_being_published_end_and_begins_nothing_more(
    monkeypatch: pytest.MonkeyPatch, after: float
) -> None:
    """Also where it comes before the one that it interrupts has begun to wait, and where another batch stands by."""
    begun: list[int] = []
    noted: list[str] = []

    def run(_place: InTasks, number: int, *_given: object) -> Recorded:
        begun.append(number)
        if number == 0:
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)
        return Recorded(notes=[cast(Any, {str(number): None})])

    monkeypatch.setattr(InTasks, "run", run)
    options = RunOptions("run")
    course = SimpleNamespace(note=noted.extend, advance=lambda _count: None)
    driver = SimpleNamespace(stages=SimpleNamespace(options=options, course=course))
    place = InTasks(cast(Any, None), cast(Any, SimpleNamespace(publishers=1)), 1, cast(Any, driver))
    with pytest.raises(Interrupted), interrupted_by_signals(options.drain):
        place.carry_out(send_batch, (list("abc"), [None] * 3), Shelf(0), lambda _summary: None)
    assert begun == [0]
    assert noted == ["0"]
