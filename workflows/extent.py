"""How much of a log a run is asked to read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extent:
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
