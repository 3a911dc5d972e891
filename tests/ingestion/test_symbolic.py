"""Symbolic lineage crosses borders as bytes, and nothing else does."""

from __future__ import annotations

import os
import pickle

import pytest

from ingestion.errors import Unparsable
from ingestion.parsing.sqlglot_tier.tier import parse
from ingestion.symbolic import dumps, loads


def test_what_is_written_is_read_back() -> None:
    statement = parse("INSERT INTO t SELECT a, count(*) FROM s GROUP BY a", "postgres")
    assert loads(dumps(statement)) == statement


@pytest.mark.parametrize("data", [b"", b"nonsense", pickle.dumps("text"), pickle.dumps(os.getcwd)])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Unparsable):
        loads(data)


def test_stored_bytes_cannot_run_code() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("exit 1",)

    with pytest.raises(Unparsable):
        loads(pickle.dumps(Bomb()))
