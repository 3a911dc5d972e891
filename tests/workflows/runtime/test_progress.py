"""Progress: bars for a terminal, log lines for nobody, seconds for both."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console

from workflows.runtime.progress import LiveProgress, LoggedProgress, open_progress


def test_without_a_terminal_each_stage_is_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.StringIO()

    with caplog.at_level(logging.INFO, "workflows"), open_progress(Console(file=stream)) as progress:
        with progress.stage("read") as stage:
            stage.expect(2_000)
            stage.advance(1_500)
            stage.note("two files")
        with progress.stage("parse") as stage:
            stage.expect(3)
            stage.advance()

    assert isinstance(progress, LoggedProgress)
    assert stream.getvalue() == ""
    assert [record.getMessage().split(" in ")[0] for record in caplog.records] == [
        "read ...",
        "read: 1,500 of 2,000 (two files)",
        "parse ...",
        "parse: 1 of 3",
    ]


def test_in_a_terminal_each_stage_is_a_bar() -> None:
    stream = io.StringIO()

    with open_progress(Console(file=stream, force_terminal=True, width=100)) as progress:
        with progress.stage("read records") as stage:
            stage.expect(10)
            stage.advance(4)
            stage.note("log.csv")
        with progress.stage("publish"):
            pass

    assert isinstance(progress, LiveProgress)
    assert "read records" in stream.getvalue()
    assert "4/4" in stream.getvalue()
    assert "publish" in stream.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_stages_are_timed_in_order_also_when_they_fail_or_come_again(terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal)

    with open_progress(console) as progress:
        with pytest.raises(ValueError, match="x"), progress.stage("b"):
            raise ValueError("x")
        with progress.stage("a"):
            pass
        with progress.stage("b"):
            pass

    assert list(progress.seconds_by_stage) == ["b", "a"]
    assert all(seconds >= 0 for seconds in progress.seconds_by_stage.values())


def test_a_stage_that_comes_again_goes_on_in_its_own_bar_or_count(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.StringIO()
    with open_progress(Console(file=stream, force_terminal=True, width=100)) as live, caplog.at_level(logging.INFO):
        for progress in (live, LoggedProgress()):
            for count in (0, 2, 3):
                with progress.stage("publish") as stage:
                    stage.expect(5)
                    stage.advance(count)

    assert stream.getvalue().rpartition("\x1b[2K")[2].count("publish") == 1
    assert "5/5" in stream.getvalue()
    assert [record.getMessage().split(" in ")[0] for record in caplog.records if " in " in record.getMessage()] == [
        "publish: done",
        "publish: 2 of 5",
        "publish: 5 of 5",
    ]
