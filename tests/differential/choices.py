"""Decisions read off bytes, so that a shorter or smaller string of bytes makes a simpler query.

The same bytes make the same query again, under other names if need be: that is what the properties rest on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Consumes bytes; when they have run out every decision is the first option."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def number(self, options: int) -> int:
        """A number from 0 to `options` - 1 (at most 256 options)."""
        if self._position >= len(self._data):
            return 0
        self._position += 1
        return self._data[self._position - 1] * options // 256

    def one_of(self, options: Sequence[T]) -> T:
        """One of the options; the first one is the simplest."""
        return options[self.number(len(options))]

    def happens(self, percent: int) -> bool:
        """True in about `percent` of 100 cases."""
        return self.number(100) >= 100 - percent
