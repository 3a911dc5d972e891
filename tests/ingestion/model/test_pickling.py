"""Frozen values are written by their fields, and all else as it writes itself."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import pytest

from ingestion.analysis.form import Slot
from ingestion.model.lineage import NameKind, StatementKind, TableChange, TableName
from ingestion.model.pickling import dumps


@dataclass(frozen=True, slots=True)
class Counted:
    """A value that makes one of its fields itself."""

    name: str
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@dataclass(slots=True)
class Changing:
    """A value that may have another field's value by now than when it was made."""

    name: str
    seen: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class One:
    """A value of one field, which may be a tuple."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A value whose fields are brought into order."""

    parts: tuple[str, ...]
    __normalizes__: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(sorted(self.parts)))


@dataclass(frozen=True, slots=True)
class Small:
    """A value that writes less than it has."""

    name: str
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __reduce__(self) -> tuple[type[Small], tuple[str]]:
        return Small, (self.name,)


class Pair(NamedTuple):
    """A named tuple."""

    number: int


class Noted(Pair):
    """A named tuple that has more than its fields."""

    note = ""


VALUES = [
    TableChange(StatementKind.RENAME, TableName(("s", "t"), "S.t"), other=TableName(("/x",), kind=NameKind.PATH)),
    Slot(("t", "c"), 3),
    One(("a", "b")),
    Counted("abc"),
    Ordered(("b", "a")),
    Small("abc", ("left out",)),
    Changing("a", ["b"]),
    Counter("aab"),
    re.compile("a+"),
    int | str,
    Counted,
    NameKind,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_written_is_read_back(value: object) -> None:
    read = pickle.loads(dumps(value))
    assert (read, repr(read)) == (value, repr(value))


def test_frozen_values_are_made_by_a_call_and_no_state_is_set() -> None:
    operations = {operation.name for operation, _argument, _place in pickletools.genops(dumps(VALUES[0]))}
    assert "REDUCE" in operations
    assert "BUILD" not in operations


def test_named_tuples_are_made_by_a_call_and_of_a_class_made_of_one_all_is_kept() -> None:
    slot = Slot(("t", "c"), 3)
    assert dumps(slot) != pickle.dumps(slot, pickle.HIGHEST_PROTOCOL)
    noted = Noted(1)
    noted.note = "kept"
    read = pickle.loads(dumps(noted))
    assert (type(read), read, read.note) == (Noted, noted, "kept")


def test_what_brings_its_fields_into_order_is_made_by_a_call_too() -> None:
    operations = {operation.name for operation, _argument, _place in pickletools.genops(dumps(Ordered(("b", "a"))))}
    assert "BUILD" not in operations


def test_a_class_decides_what_it_writes() -> None:
    assert pickle.loads(dumps(Small("abc", ("left out",)))).notes == ()


def test_a_value_that_is_met_twice_is_written_once() -> None:
    name = TableName(("s", "t"))
    first, second = pickle.Unpickler(io.BytesIO(dumps((name, name)))).load()
    assert first is second


@dataclass(frozen=True, slots=True)
class Halved:
    """A value that is another one each time that it is made of its fields."""

    number: int
    notes: list[str] = field(default_factory=list, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", self.number // 2)


class Open(Changing):
    """A value that may have more than its fields."""


@pytest.mark.parametrize("value", [Halved(8, notes=["a"]), Counted("abc"), Changing("a", ["b"])], ids=repr)
def test_fields_of_what_its_class_would_make_another_are_set_as_they_were(value: object) -> None:
    read = pickle.loads(dumps(value))
    assert (read, repr(read)) == (value, repr(value))
    operations = {operation.name for operation, _argument, _place in pickletools.genops(dumps(value))}
    assert "BUILD" not in operations


def test_of_a_value_that_has_more_than_its_fields_all_is_kept() -> None:
    value = Open("a")
    vars(value)["more"] = 1
    assert vars(pickle.loads(dumps(value))) == {"more": 1}
