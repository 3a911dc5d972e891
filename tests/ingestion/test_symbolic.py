"""Symbolic lineage crosses borders as bytes, and nothing else does."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import pytest

from ingestion import symbolic
from ingestion.errors import Unparsable
from ingestion.model import StatementLineage
from ingestion.parsing.sqlglot_tier.tier import parse
from ingestion.relational.form import RelationalStatement
from ingestion.symbolic import Symbolic, dumps, loads


def test_what_is_written_is_read_back() -> None:
    statement = parse("INSERT INTO t SELECT a, count(*) FROM s GROUP BY a", "postgres")
    assert loads(dumps(statement)) == statement


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
