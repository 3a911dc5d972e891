"""How one run is asked for, beside what its configuration says."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ingestion.errors import ConfigError
from ingestion.model.isolation import FailureStage
from workflows.runtime.signals import GracefulShutdown

VARIABLE = "HEADWATER_FAILPOINT"
_SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM}
_RAISE = "raise"


# Failpoints: points where a test can have a run die or fail, off unless the environment names one.
#
# `HEADWATER_FAILPOINT=publish:3:kill` kills the process when it passes `publish` for the third time; `term` sends it
# SIGTERM instead. `HEADWATER_FAILPOINT=binding:word:raise` has the stage `binding` raise on whatever it works on that
# shows `word`: the statement, name or edge with it.


class InjectedFault(Exception):
    """What a failpoint raises: of no type that anything expects."""


class Failpoints:
    """Counts how often a run passes each point."""

    def __init__(self, armed: str | None = None) -> None:
        self._passed: Counter[str] = Counter()
        self._name, self._mark, self._action = _parse(armed) if armed else ("", "", "")

    @classmethod
    def from_environment(cls) -> Failpoints:
        """As the environment says. Raises ConfigError where that cannot be read."""
        return cls(os.environ.get(VARIABLE))

    def for_workers(self) -> Failpoints:
        """The same for tasks of Spark, where stages may fail; what kills a run kills its driver."""
        return self if self._action == _RAISE else Failpoints()

    def reach(self, name: str) -> None:
        """The run is at `name`."""
        self._passed[name] += 1
        if name == self._name and self._action in _SIGNALS and self._passed[name] == int(self._mark):
            os.kill(os.getpid(), _SIGNALS[self._action])

    def probe(self, stage: FailureStage, subject: object) -> None:
        """The run is about to work on `subject`. Raises InjectedFault where that is asked for."""
        if self._action == _RAISE and stage == self._name and self._mark in repr(subject):
            raise InjectedFault


def _parse(armed: str) -> tuple[str, str, str]:
    name, _, rest = armed.partition(":")
    mark, _, action = rest.rpartition(":")
    if action == _RAISE and mark and name in set(FailureStage):
        return name, mark, action
    if not mark.isdigit() or action not in _SIGNALS:
        raise ConfigError(
            f"{VARIABLE}: write place:number:kill, place:number:term or stage:word:raise, as in publish:3:kill; "
            f"the stages are {', '.join(FailureStage)}"
        )
    return name, mark, action


# What is asked of the run.


class RunKind(StrEnum):
    """What a run is asked to read."""

    RUN = "run"
    """What is new and late."""
    BACKFILL = "backfill"
    """Everything, or a stretch of time, again."""
    REPLAY = "replay"
    """The records of dead letters again."""


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is new and late, unless asked otherwise.

    `full`: everything again, as if for the first time. `since` and `until` (seconds since the epoch): the records of
    that time again. `dead`: the records of the dead letters again; of one `statement` alone where that is named, by its
    location as dead letters have it (`log.csv:7`) or by its fingerprint.
    """

    full: bool = False
    since: float | None = None
    until: float | None = None
    dead: bool = False
    statement: str = ""

    @property
    def kind(self) -> RunKind:
        """What a run of this extent is."""
        if self.dead:
            return RunKind.REPLAY
        return RunKind.BACKFILL if self.full or self.between is not None else RunKind.RUN

    @property
    def between(self) -> tuple[float, float] | None:
        """The time that is asked for, None where none is."""
        if self.since is None and self.until is None:
            return None
        begin = float("-inf") if self.since is None else self.since
        return begin, float("inf") if self.until is None else self.until


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`show` is given each request of a dry run as JSON, which then sends nothing; otherwise it is None.

    `extent` is what to read, `drain` holds signals back while something is being finished.
    """

    run_id: str
    show: Callable[[Mapping[str, Any]], None] | None = None
    extent: Backfill = field(default_factory=Backfill)
    drain: GracefulShutdown = field(default_factory=GracefulShutdown)
    failpoints: Failpoints = field(default_factory=Failpoints)

    @property
    def dry_run(self) -> bool:
        return self.show is not None
