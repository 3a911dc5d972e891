"""What a statement may cost each stage after its parsing, in steps: one for each column that a value is told to be of.

Steps and not seconds, so that a statement ends the same on every machine, however busy.
"""

from __future__ import annotations

import threading

from ingestion.errors import TooManySteps

MOST_STEPS = 1_000_000
"""Some ten seconds and 700 MB: `SELECT c1, ..., c1000 FROM t1, ..., t1000` over tables that are not known."""

MOST_COLUMNS = 20_000
"""Of one table: a catalog has no more of one, and no engine makes more but of those that are left empty."""


class _Taken(threading.local):
    """The steps of what this thread is at work on, None where nobody would catch what is raised."""

    steps: int | None = None


_TAKEN = _Taken()


def begin_steps(taken: int | None = 0) -> int | None:
    """Counts from `taken` on; gives what was counted until now, to go on with afterwards."""
    before, _TAKEN.steps = _TAKEN.steps, taken
    return before


def take_steps(count: int) -> None:
    """So many more. Raises TooManySteps."""
    steps = _TAKEN.steps
    if steps is not None:
        _TAKEN.steps = steps = steps + count
        if steps > MOST_STEPS:
            raise TooManySteps("the statement took too many steps")
