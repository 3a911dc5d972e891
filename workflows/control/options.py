"""How one run is asked for, beside what its configuration says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workflows.control.failpoints import Failpoints
from workflows.control.signals import GracefulShutdown


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is new and late, unless asked otherwise.

    `full`: everything again, as if for the first time. `since` and `until` (seconds since the epoch): the records of
    that time again. `dead`: the records of the dead letters again.
    """

    full: bool = False
    since: float | None = None
    until: float | None = None
    dead: bool = False

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
