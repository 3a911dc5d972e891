from __future__ import annotations

import gc
import sys
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
    _search_after(20_000, monkeypatch)
    circles = []
    for _ in range(20):
        with collection_paused():
            circles += [ref(_Circle()) for _ in range(1_000)]
        if len(circles) == 1_000:
            assert all(circle() is not None for circle in circles)
    assert sum(circle() is not None for circle in circles) < len(circles)


def test_what_has_gone_by_the_end_of_its_pause_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _search_after(9_000, monkeypatch)
    with collection_paused():
        circle = ref(_Circle())
    for _ in range(6):
        with collection_paused():
            assert all([number] for number in [[number] for number in range(3_000)])
    assert circle() is not None


def _search_after(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    monkeypatch.setattr(garbage_collection, "_MORE_BLOCKS", blocks)
    monkeypatch.setattr(garbage_collection, "_last_search", garbage_collection._LastSearch(sys.getallocatedblocks()))


def test_a_pause_within_a_pause_ends_with_the_outer_one() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
