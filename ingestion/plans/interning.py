"""Lineage whose equal parts are one object, so that equal lineage is written as equal bytes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def canonical(value: T) -> T:
    """An equal value in which everything that is equal, down to the strings, is the same object.

    Pickle writes an object once and refers to it afterwards: without this, bytes would depend on which of two equal
    names a set happened to keep.
    """
    seen: dict[Any, Any] = {}
    return _share(value, seen)  # type: ignore[no-any-return]


def _share(value: Any, seen: dict[Any, Any]) -> Any:
    kind: type = type(value)
    if kind is str:
        return seen.setdefault(value, value)
    if kind is tuple:
        parts = tuple([_share(item, seen) for item in value])
        return seen.setdefault((tuple, *map(id, parts)), parts)
    if value is None or kind is bool or isinstance(value, Enum):
        return value
    names = _field_names(kind)
    if not names:
        return seen.setdefault((kind, value), value)
    content = [_share(getattr(value, name), seen) for name in names]
    key = (kind, *map(id, content))
    if key not in seen:
        seen[key] = kind(*content)
    return seen[key]


@cache
def _field_names(kind: Hashable) -> tuple[str, ...]:
    """The fields of a dataclass; none of any other type."""
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()
