"""Progress by stage: live bars in a terminal, plain log lines where nobody is watching."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichBars

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_LINES = 30.0


class StageProgress(Protocol):
    """One stage at work. Thread-safe."""

    def advance(self, count: int = 1) -> None:
        """So many more are done."""

    def expect(self, total: int) -> None:
        """So many are to be done in all."""

    def note(self, text: str) -> None:
        """A word on what is being done; no literal of a query and no secret."""


class Progress(Protocol):
    """The stages of a run, one after the other."""

    def stage(self, name: str) -> AbstractContextManager[StageProgress]:
        """A stage that begins now and ends with the block; its seconds are kept, also when it fails.

        One that is entered again goes on from what was done of it.
        """

    @property
    def seconds_by_stage(self) -> dict[str, float]:
        """Seconds of each stage so far, in the order of their beginning; a stage entered again adds up."""


@contextmanager
def open_progress(console: Console) -> Iterator[Progress]:
    """Progress on a console: live where it is a terminal, else as log lines."""
    if not console.is_terminal:
        yield LoggedProgress()
        return
    columns = (
        SpinnerColumn(finished_text="[green]✓[/green]"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}[/dim]"),
    )
    with RichBars(*columns, console=console, refresh_per_second=5) as bars:
        yield LiveProgress(bars)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        self.seconds.setdefault(name, 0.0)
        try:
            yield
        finally:
            self.seconds[name] += time.monotonic() - started


class LoggedProgress:
    """A log line when a stage begins, ends, and every half minute between."""

    def __init__(self) -> None:
        self._clock = _Clock()
        self._stages: dict[str, _LoggedStage] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[StageProgress]:
        logger.info("%s ...", name)
        stage = self._stages.setdefault(name, _LoggedStage(name))
        with self._clock.running(name):
            yield stage
        logger.info("%s: %s in %.1f s", name, stage.state(), self._clock.seconds[name])

    @property
    def seconds_by_stage(self) -> dict[str, float]:
        return dict(self._clock.seconds)


class _LoggedStage:
    def __init__(self, name: str) -> None:
        self._name = name
        self._done = 0
        self._total: int | None = None
        self._note = ""
        self._last_line = time.monotonic()

    def advance(self, count: int = 1) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            logger.info("%s: %s", self._name, self.state())

    def expect(self, total: int) -> None:
        self._total = total

    def note(self, text: str) -> None:
        self._note = text

    def state(self) -> str:
        done = "done" if not self._done else f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}"
        return f"{done} ({self._note})" if self._note else done


class LiveProgress:
    """A bar for each stage."""

    def __init__(self, bars: RichBars) -> None:
        self._bars = bars
        self._clock = _Clock()
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[StageProgress]:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=None, note="")
        task = self._tasks[name]
        self._bars.update(task, completed=self._done.get(name, 0))
        with self._clock.running(name):
            yield _LiveStage(self._bars, task)
        done = self._done[name] = self._bars.tasks[task].completed
        # A full bar, also where the total was never known.
        self._bars.update(task, total=done or 1, completed=done or 1)

    @property
    def seconds_by_stage(self) -> dict[str, float]:
        return dict(self._clock.seconds)


class _LiveStage:
    def __init__(self, bars: RichBars, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def advance(self, count: int = 1) -> None:
        self._bars.advance(self._task, count)

    def expect(self, total: int) -> None:
        self._bars.update(self._task, total=total)

    def note(self, text: str) -> None:
        self._bars.update(self._task, note=text)
