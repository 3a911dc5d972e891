"""The boundary of a statement, a name or an edge: what goes wrong inside it costs that one, and no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

from ingestion.errors import LineageError, RecordError, RetryableError, TooManySteps
from ingestion.model.outcomes import Outcome
from ingestion.model.steps import begin_steps

Key = TypeVar("Key")
Item = TypeVar("Item")


class FailureStage(StrEnum):
    """What was being done; the order is that of a run."""

    PARSING = "parsing"
    ANALYSIS = "analysis"
    BINDING = "binding"
    FOLDING = "folding"
    RESOLUTION = "resolution"
    REGISTRATION = "registration"
    EVIDENCE = "evidence"
    PUBLISHING = "publishing"
    ROUTINES = "routines"
    NAMES = "names"
    QUERIES = "queries"
    LOADS = "loads"
    EVENTS = "events"


Probe = Callable[[FailureStage, object], None]
"""Is told of each subject before a stage works on it; what it raises counts as the stage's own."""


def no_probe(_stage: FailureStage, _subject: object) -> None:
    """The probe that never raises."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a statement, name or edge was given up on; `location` is the exception's type and its line, nothing of its
    message, which may quote a statement. `limit`: the code of the limit that it went beyond, "" for other failures."""

    stage: FailureStage
    location: str
    limit: str = ""

    @property
    def reason(self) -> Outcome:
        """What a statement or an edge ends as on which the stage failed."""
        return Outcome[self.limit.upper() if self.limit else f"{self.stage.name}_FAILED"]


class Isolation(Generic[Key]):
    """Collects by key what was given up on.

    What ends a run wherever it comes up is raised as it is: a target that is down, a signal, a lost lease.
    """

    def __init__(self, probe: Probe = no_probe) -> None:
        self.probe = probe
        self.failures: dict[Key, Failure] = {}

    def around(self, stage: FailureStage, key: Key) -> AbstractContextManager[None]:
        """Keeps what is raised in the block to `key`; the first failure of a key stands."""
        return _Boundary(self.failures, stage, key)


class _Boundary(AbstractContextManager[None], Generic[Key]):
    """One block, of the hundred thousands in a run: no generator stands behind it."""

    __slots__ = ("_failures", "_key", "_stage", "_steps_around")

    def __init__(self, failures: dict[Key, Failure], stage: FailureStage, key: Key) -> None:
        self._failures = failures
        self._stage = stage
        self._key = key
        self._steps_around: int | None = None

    def __enter__(self) -> None:
        self._steps_around = begin_steps()

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        begin_steps(self._steps_around)
        if not isinstance(error, Exception) or _ends_a_run(error):
            return False
        failure = Failure(self._stage, line_of_error(error), error.code if isinstance(error, TooManySteps) else "")
        self._failures.setdefault(self._key, failure)
        return True


def in_parts(
    items: Sequence[Item], work: Callable[[Sequence[Item]], None], stage: FailureStage, probe: Probe = no_probe
) -> list[tuple[Item, Failure]]:
    """Does the `work` on all items at once; where that fails, on each half by itself, the first one first.

    What is left in the end, with why: the items that fail alone. The work may be done more than once.
    """
    if not items:
        return []
    isolation = Isolation[int](probe)
    with isolation.around(stage, 0):
        probe(stage, items)
        work(items)
        return []
    if len(items) == 1:
        return [(items[0], isolation.failures[0])]
    middle = len(items) // 2
    return in_parts(items[:middle], work, stage, probe) + in_parts(items[middle:], work, stage, probe)


def _ends_a_run(error: Exception) -> bool:
    """Whether an exception speaks of the run or its surroundings, and not of what was being worked on."""
    return isinstance(error, LineageError) and not isinstance(error, RecordError | RetryableError)


def line_of_error(error: BaseException) -> str:
    """The type of an exception and the line that raised it."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {Path(last[0].filename).name}:{last[0].lineno}" if last else ""
    return f"{type(error).__name__}{where}"
