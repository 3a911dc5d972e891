"""Symbolic lineage crosses borders as bytes, and nothing else does."""

from __future__ import annotations

import os
import pickle
import resource
import struct
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import pytest

from ingestion.analysis import symbolic
from ingestion.analysis.analyzer import mentions, without_schema
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import (
    Symbolic,
    dumps,
    is_resolved,
    is_whole,
    lineage_bytes,
    loads,
    names_in_bytes,
    with_names,
)
from ingestion.errors import Unparsable
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.sqlglot.tier import parse


def test_what_is_written_is_read_back() -> None:
    statement = parse("INSERT INTO t SELECT a, count(*) FROM s GROUP BY a", "postgres")
    assert loads(dumps(statement)) == statement


def test_names_stand_beside_the_lineage() -> None:
    statement = parse("CREATE TEMP TABLE t AS SELECT a, f(b) FROM s", "postgres")
    bare = dumps(statement)
    assert names_in_bytes(bare) is None
    named = with_names(bare, mentions(statement))
    assert (loads(named), names_in_bytes(named)) == (statement, mentions(statement))
    again = with_names(named, mentions(parse("INSERT INTO u SELECT a FROM s", "postgres")))
    assert loads(again) == statement
    assert [str(name) for name, _temporary, _mode in (names_in_bytes(again) or mentions(statement)).written] == ["u"]


def test_the_lineage_is_told_from_what_stands_behind_it() -> None:
    statement = parse("CREATE TEMP TABLE t AS SELECT a, f(b) FROM s", "postgres")
    for data in (dumps(statement), with_names(dumps(statement), mentions(statement))):
        assert pickle.loads(lineage_bytes(data)) == statement
        assert lineage_bytes(data).endswith(pickle.STOP)
    with pytest.raises(Unparsable):
        with_names(lineage_bytes(data), mentions(statement))


def test_what_a_plan_resolved_is_told_without_being_read() -> None:
    statement = parse("INSERT INTO t SELECT a FROM s", "postgres")
    assert not is_resolved(with_names(dumps(statement), mentions(statement)))
    assert is_resolved(with_names(dumps(without_schema(statement)), mentions(statement)))


def test_a_single_byte_that_differs_is_noticed() -> None:
    statement = parse("INSERT INTO t SELECT a FROM s", "postgres")
    data = with_names(dumps(statement), mentions(statement))
    assert is_whole(data)
    assert not any(is_whole(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]) for at in range(len(data)))
    assert not any(is_whole(part) for part in (data[:-1], data[1:], b""))


NO_CLASS = b"\x80\x04cingestion.relational.form\ndataclass\n."


@pytest.mark.parametrize("data", [b"", b"nonsense", pickle.dumps("text"), pickle.dumps(os.getcwd), NO_CLASS])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Unparsable):
        loads(data)


def modules_of(kind: Any, seen: set[Any]) -> set[str]:
    """The modules of the classes that a value of a type may be made of, as its annotations tell."""
    if kind in seen:
        return set()
    seen.add(kind)
    parts = [*get_args(kind), *get_args(getattr(kind, "__value__", None))]
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        parts += get_type_hints(kind).values()
    own = isinstance(kind, type) and kind.__module__.startswith("ingestion")
    return set().union({kind.__module__} if own else (), *(modules_of(part, seen) for part in parts))


def test_the_modules_that_are_trusted_are_those_of_the_vocabulary() -> None:
    seen = set[Any]()
    needed = modules_of(RelationalStatement, seen) | modules_of(StatementLineage, seen)
    assert sorted(needed) == sorted(symbolic._TRUSTED_MODULES)


def test_bytes_of_an_older_layout_are_refused(old_layout: Callable[[Symbolic], bytes]) -> None:
    data = old_layout(parse("INSERT INTO t SELECT a FROM s", "postgres"))
    assert b"ingestion.parsing.relational" in data
    with pytest.raises(Unparsable, match="vocabulary"):
        loads(data)


def test_stored_bytes_cannot_run_code() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("exit 1",)

    with pytest.raises(Unparsable):
        loads(pickle.dumps(Bomb()))


TOO_LARGE = 2**31 - 1
CRAFTED = {
    "a number for an index that no memory holds": b"\x80\x05N"
    + pickle.LONG_BINPUT
    + struct.pack("<I", TOO_LARGE)
    + b".",
    "the same in digits": b"\x80\x05N" + pickle.PUT + b"9" * 30 + b"\n.",
    "a text longer than any file": b"\x80\x05" + pickle.BINUNICODE8 + struct.pack("<Q", 2**64 - 1) + b".",
    "a frame longer than any file": b"\x80\x05" + pickle.FRAME + struct.pack("<Q", 2**64 - 1) + b"N.",
    "an index that nothing was put under": b"\x80\x05" + pickle.LONG_BINGET + struct.pack("<I", TOO_LARGE) + b".",
    "a number of a gigabyte": b"\x80\x05" + pickle.LONG4 + struct.pack("<i", 1 << 30) + b".",
}


@pytest.mark.parametrize(
    "data", sorted(CRAFTED.values()), ids=[key for key, _ in sorted(CRAFTED.items(), key=lambda one: one[1])]
)
def test_crafted_bytes_are_refused_before_room_is_made_for_them(data: bytes) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Unparsable):
        loads(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18  # KB
