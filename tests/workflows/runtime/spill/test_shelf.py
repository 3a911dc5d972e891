"""Values that are too many to be held."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ingestion.errors import StateLost
from workflows.runtime.spill import PackedMapping, SpillList, SpillMapping, unpack


def test_what_is_not_held_is_read_again_as_it_was() -> None:
    shelf: SpillList[dict[str, int]] = SpillList(held=1)
    values = [{"a": 1}, {"b": 2}, {"c": 3}]
    assert [shelf.append(value) for value in values] == [0, 1, 2]
    assert list(shelf) == values
    assert shelf[1:] == values[1:]
    assert (shelf[0] is values[0], shelf[2] is values[2]) == (True, False)
    with pytest.raises(IndexError):
        shelf[3]


def test_what_is_too_deep_for_a_file_is_held() -> None:
    deep: list[object] = []
    for _ in range(2 * sys.getrecursionlimit()):
        deep = [deep]
    shelf: SpillList[list[object]] = SpillList(held=0)
    shelf.append(deep)
    shelf.append([])
    assert shelf[0] is deep
    assert shelf[1] == []


def test_the_value_that_was_put_last_counts() -> None:
    found: SpillMapping[str, int] = SpillMapping(held=0)
    for key, value in (("a", 1), ("b", 2), ("a", 3)):
        found.put(key, value)
    assert dict(found) == {"a": 3, "b": 2}
    assert ("a" in found, "c" in found, len(found)) == (True, False, 2)


@pytest.mark.parametrize("size", [10, 1_000_000], ids=["as it is", "compressed"])
def test_packed_values_are_what_they_were_in_another_process_too(size: int) -> None:
    values: PackedMapping[str, list[int]] = PackedMapping()
    values.put("a", [*range(size)])
    values.put("b", [])
    assert dict(pickle.loads(pickle.dumps(values))) == dict(values) == {"a": [*range(size)], "b": []}
    assert ("a" in values, "c" in values, len(values)) == (True, False, 2)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: the system takes what fits of a write that is longer."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_value_for_which_there_is_no_room_is_an_error_and_no_half_value() -> None:
    shelf: SpillList[bytes] = SpillList(held=0)
    shelf.append(b"first")
    with largest_file(1_000), pytest.raises(StateLost, match=r"File too large\): make room there.*TMPDIR"):
        shelf.append(os.urandom(200_000))
    second = os.urandom(200_000)
    assert shelf.append(second) == 1
    assert list(shelf) == [b"first", second]


def test_values_are_what_they_were_wherever_they_are_read_while_others_are_added() -> None:
    """Small ones are written together and read together."""
    values = [os.urandom(number * 97 % 30_000) for number in range(200)]
    shelf: SpillList[bytes] = SpillList(held=3)
    for number, value in enumerate(values):
        shelf.append(value)
        assert (shelf[number], shelf[number // 2], shelf[number // 3]) == (
            value,
            values[number // 2],
            values[number // 3],
        )
    assert list(shelf) == values
    assert list(shelf)[::-1] == [shelf[number] for number in reversed(range(200))]
    assert [unpack(value) for value in shelf.packed_values()] == values
