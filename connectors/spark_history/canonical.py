"""Lineage whose equal parts are one object, so that equal lineage is written as equal bytes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


def canonical(value: T) -> T:
    """An equal value in which everything that is equal, down to the strings, is the same object.

    Pickle writes an object once and refers to it afterwards: without this, bytes would depend on which of two equal
    names a set happened to keep.
    """
    seen: dict[Any, Any] = {}
    return shared(value, seen)  # type: ignore[no-any-return]


def shared(value: Any, seen: dict[Any, Any]) -> Any:
    if isinstance(value, Enum) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        parts = tuple(shared(item, seen) for item in value)
        return seen.setdefault((tuple, *map(id, parts)), parts)
    if is_dataclass(value) and not isinstance(value, type):
        content = [shared(getattr(value, item.name), seen) for item in fields(value)]
        key = (type(value), *map(id, content))
        if key not in seen:
            seen[key] = type(value)(*content)
        return seen[key]
    return seen.setdefault((type(value), value), value)
