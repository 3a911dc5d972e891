"""Values as pickles. Of dataclasses with slots only the fields are written. Reading frozen ones is a call of the class,
of named tuples as well; where that call would do more than take its arguments, the fields are set as they were.

Python's own way (`__getstate__` and `__setstate__` in Python, field by field, or a dict of all slots;
`__getnewargs__`) takes several times as long.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, TypeVar

Value = TypeVar("Value")

_NORMALIZES = "__normalizes__"
"""The attribute of a class whose `__post_init__` brings fields into their normal form, and does nothing else."""

Reduction = Callable[[Any], Any]


class _Reductions(dict[type, Reduction]):
    """How a value of each type is taken apart, found out when the first one is met."""

    def __missing__(self, kind: type) -> Reduction:
        if issubclass(kind, type):
            raise KeyError(kind)  # a class is written by its name
        found = self[kind] = _reduction(kind)
        return found


class _Pickler(pickle.Pickler):
    dispatch_table = _Reductions()


def dumps(value: object) -> bytes:
    """The pickle of a value. Raises RecursionError where it nests too deep, and PicklingError."""
    written = io.BytesIO()
    _Pickler(written, pickle.HIGHEST_PROTOCOL).dump(value)
    return written.getvalue()


def _reduction(kind: type) -> Reduction:
    if kind in copyreg.dispatch_table:
        return copyreg.dispatch_table[kind]
    if kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and "__reduce__" not in vars(kind):
        return lambda value: (kind, tuple(value))
    if "__reduce__" in vars(kind) or not (is_dataclass(kind) and "__slots__" in vars(kind) and fields(kind)):
        return _own_reduction
    names = [one.name for one in fields(kind)]
    values = attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
    if _is_made_of_its_fields(kind):
        return lambda value: (kind, values(value))
    if kind.__dictoffset__:  # it may have more than its fields
        return _own_reduction
    return lambda value: (with_fields, (kind, values(value)))


def _is_made_of_its_fields(kind: type) -> bool:
    """Whether a call with a value's fields gives an equal one, and runs nothing else."""
    plain = all(one.init and not one.kw_only for one in fields(kind))
    frozen: bool = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    as_given = not hasattr(kind, "__post_init__") or _NORMALIZES in vars(kind)
    return plain and frozen and as_given


class _Setters(dict[type, tuple[Callable[[object, object], None], ...]]):
    """What sets each field of a type, also where it is frozen."""

    def __missing__(self, kind: type) -> tuple[Callable[[object, object], None], ...]:
        found = self[kind] = tuple(getattr(kind, one.name).__set__ for one in fields(kind))
        return found


_setters = _Setters()


def with_fields(kind: type[Value], values: tuple[object, ...]) -> Value:
    """A value of a dataclass with slots that has these fields: how a pickle is read."""
    made = object.__new__(kind)
    for put, value in zip(_setters[kind], values, strict=True):
        put(made, value)
    return made


def _own_reduction(value: Any) -> Any:
    return value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
