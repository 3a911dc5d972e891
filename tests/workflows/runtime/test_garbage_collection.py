from __future__ import annotations

import gc
from weakref import ref

import pytest

from workflows.runtime import garbage_collection
from workflows.runtime.garbage_collection import collection_paused


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def test_what_a_pause_leaves_is_old_at_once() -> None:
    """Nothing looks through it when the pause ends, nor each time that some new values have come."""
    gc.collect()  # counts begin anew
    with collection_paused():
        made = [[number] for number in range(10_000)]
    assert gc.get_count()[0] < len(made)
    assert any(value is made for value in gc.get_objects(generation=2))
    assert gc.isenabled()


def test_circles_of_pauses_are_found_once_there_may_be_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "_OLD_VALUES", 9_000)
    monkeypatch.setattr(garbage_collection, "_unsearched", garbage_collection._Unsearched())
    circles = []
    for _ in range(6):
        with collection_paused():
            circles += [ref(_Circle()) for _ in range(1_000)]
    there = sum(circle() is not None for circle in circles)
    assert 0 < there < len(circles)


def test_a_pause_within_a_pause_ends_with_the_outer_one() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
