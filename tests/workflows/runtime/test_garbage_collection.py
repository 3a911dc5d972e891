from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from weakref import ref

import pytest

from workflows.runtime import garbage_collection
from workflows.runtime.garbage_collection import collection_paused


class _Circle:
    def __init__(self) -> None:
        self.itself = self


def what_a_pause_leaves_is_old_at_once() -> None:
    """Nothing looks through it when the pause ends, nor each time that some new values have come."""
    gc.collect()  # counts begin anew
    with collection_paused():
        made = [[number] for number in range(10_000)]
    assert gc.get_count()[0] < len(made)
    assert any(value is made for value in gc.get_objects(generation=2))
    assert gc.isenabled()


def circles_of_pauses_are_found_once_there_may_be_many() -> None:
    search_after(20_000)
    circles = []
    for _ in range(20):
        with collection_paused():
            circles += [ref(_Circle()) for _ in range(1_000)]
        if len(circles) == 1_000:
            assert all(circle() is not None for circle in circles)
    assert sum(circle() is not None for circle in circles) < len(circles)


def what_has_gone_by_the_end_of_its_pause_is_not_searched_for() -> None:
    search_after(9_000)
    with collection_paused():
        circle = ref(_Circle())
    for _ in range(6):
        with collection_paused():
            assert all([number] for number in [[number] for number in range(3_000)])
    assert circle() is not None


def search_after(blocks: int) -> None:
    gc.collect()
    garbage_collection._MORE_BLOCKS = blocks
    garbage_collection._last_search = garbage_collection._LastSearch(sys.getallocatedblocks())


@pytest.mark.parametrize(
    "holds",
    [
        what_a_pause_leaves_is_old_at_once,
        circles_of_pauses_are_found_once_there_may_be_many,
        what_has_gone_by_the_end_of_its_pause_is_not_searched_for,
    ],
    ids=lambda holds: holds.__name__,
)
def test_pauses_keep_searches_short_and_leave_no_circle_for_ever(holds: object) -> None:
    """To search through all that the tests before have left takes a second or two, each time."""
    name = holds.__name__  # type: ignore[attr-defined]
    program = [sys.executable, "-c", f"from {__name__} import {name}; {name}()"]
    done = subprocess.run(program, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_pause_within_a_pause_ends_with_the_outer_one() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
