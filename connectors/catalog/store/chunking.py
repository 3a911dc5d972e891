"""Rows of the store in pieces that one statement can bind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_CHUNK = 500


def chunks_of(wanted: Sequence[_T]) -> Iterator[list[_T]]:
    """`wanted` in order, some hundred at a time."""
    for start in range(0, len(wanted), _CHUNK):
        yield list(wanted[start : start + _CHUNK])
