"""When Python looks for values that only refer to each other: seldom, as a run makes many values and few of those."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_NEW_VALUES = 50_000
"""Values between two searches; Python's own 700 cost a tenth of a run's time."""
_OLD_VALUES = 4_000_000
"""Values that pauses may leave between two searches through all there is, which take about a second."""


@dataclass(slots=True)
class _Unsearched:
    """How many values pauses have left since all were searched."""

    values: int = 0


_unsearched = _Unsearched()


def collect_seldom() -> None:
    """From now on, and not through what was loaded until now before a first pause has ended.

    When the process ends it searches nothing: what is left then goes with it.
    """
    gc.freeze()
    gc.set_threshold(_NEW_VALUES, 20, 10)
    atexit.register(gc.freeze)


@contextmanager
def collection_paused() -> Iterator[None]:
    """No search in the block, which makes many values that outlive it: for these, each search is in vain.

    Nor right after it: they are among the old values then, which are searched when very many have come.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            _let_values_be_old()
            gc.enable()


def _let_values_be_old() -> None:
    """Python counts no value that became old in this way, and would never search among them of itself."""
    _unsearched.values += gc.get_count()[0]
    gc.freeze()
    gc.unfreeze()
    if _unsearched.values > _OLD_VALUES:
        _unsearched.values = 0
        gc.collect()
