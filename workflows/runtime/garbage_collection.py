"""When Python looks for values that only refer to each other: seldom, as a run makes many values and few of those."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_NEW_VALUES = 50_000
"""Values between two searches; Python's own 700 cost a tenth of a run's time."""
_MORE_BLOCKS = 3_000_000
"""Blocks of memory, some 300 MB, by which what is in use may grow between two searches through all there is, which
take about a second. Not the values that were made: a task makes millions, and all have gone by its end.
"""


@dataclass(slots=True)
class _LastSearch:
    """How many blocks of memory were in use after all was searched."""

    blocks: int


_last_search = _LastSearch(sys.getallocatedblocks())


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
    gc.freeze()
    gc.unfreeze()
    if sys.getallocatedblocks() - _last_search.blocks > _MORE_BLOCKS:
        gc.collect()
        _last_search.blocks = sys.getallocatedblocks()
