"""When Python looks for values that only refer to each other: seldom, as a run makes many values and few of those."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_VALUES = 50_000
"""Values between two searches; Python's own 700 cost a tenth of a run's time."""


def collect_seldom() -> None:
    """From now on, and never through what was loaded until now."""
    gc.freeze()
    gc.set_threshold(_NEW_VALUES, 20, 10)


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search in the block, which makes many values that outlive it: for these, each search is in vain.

    Nor right after it: they are among the old values then, which are looked through last.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.freeze()
            gc.unfreeze()
            gc.enable()
