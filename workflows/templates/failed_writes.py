"""The writes among the statements that failed: which tables they would have filled, and which template they are of."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.query_log.profiles.export_profile import FAILED
from ingestion.dialects import dialect_of
from ingestion.dialects.definition import keywords
from ingestion.errors import Unparsable
from ingestion.lexing.cursor import Code
from ingestion.masking import fingerprint
from ingestion.masking.fingerprint_cache import FingerprintCache
from ingestion.model import StatementKind
from ingestion.parsing.written_tables import written_tables
from ingestion.statements import SkipReason, classify, split

_NO_WRITE: dict[str, object] = {"skipped": FAILED}
_LOADS = frozenset(
    {
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.INSERT,
        StatementKind.MERGE,
        StatementKind.COPY,
        StatementKind.OTHER,
    }
)
"""Of statements that are not skipped: of these a run that did not fail is known, and so whether a failure lasted.

Rows of values are those of a client, one by one; so are, often, those that an UPDATE or a DELETE changes.
"""
_CREATING_KINDS = frozenset({StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW})
_TAKEN_NAME = keywords("42P07 42S01 42710 1050 2714 955 2002 3803 601 57 ALREADY_EXISTS duplicate")
"""Codes of a CREATE that failed since what it makes is there, numbers without a sign: the standard's and ODBC's states,
MySQL, SQL Server, Oracle, Snowflake, Teradata, Db2, ClickHouse; Trino and BigQuery."""
_UNDOING = keywords("rollback abort")
_NEXT = keywords("insert update delete merge truncate drop create declare begin commit rollback")
"""What begins a statement, and is no name, in a dialect whose statements may stand side by side."""
_MOST = 20_000
"""Templates that are kept at most; a log with more begins anew."""


@dataclass(frozen=True, slots=True)
class _FailedWrite:
    """What a text that failed was to write: the row that tells it, and the fingerprint, "" where that is nothing.

    `creates`: it makes what it fills.
    """

    row: dict[str, object]
    template: str
    creates: bool


_NOTHING = _FailedWrite(_NO_WRITE, "", creates=False)


class FailedWrites:
    """What one task has seen of them."""

    def __init__(self) -> None:
        self._shapes: dict[str, FingerprintCache] = {}
        self._writes: dict[tuple[str, str], _FailedWrite] = {}

    def row(self, text: str | None, dialect: str, code: str | None = None) -> dict[str, object]:
        """What the row of a record that failed has of its own: its `failure`, where it was to write a table.

        `code`: of its error, where one is known.
        """
        write = self._write(text, dialect) if text else _NOTHING
        return _NO_WRITE if write.creates and _says_that_the_name_is_taken(code) else write.row

    def _write(self, text: str, dialect: str) -> _FailedWrite:
        shapes = self._shapes.get(dialect) or self._shapes.setdefault(dialect, FingerprintCache(dialect))
        shape = shapes.shape_of(text)
        known = shapes.fingerprint(shape) if shape is not None else None
        if known is not None and (dialect, known) in self._writes:
            return self._writes[dialect, known]
        write = _read(text, dialect)
        if shape is not None and write.template:
            if len(self._writes) >= _MOST:
                self._writes.clear()
            shapes.learn(shape, write.template)
            self._writes[dialect, write.template] = write
        return write


def _read(text: str, dialect: str) -> _FailedWrite:
    try:
        load = _failed_load(text, dialect)
        tables = written_tables(load[0], dialect_of(dialect)) if load is not None else ()
        template = fingerprint(load[0], dialect) if load is not None and tables else ""
    except Unparsable:
        return _NOTHING
    if load is None or not template:
        return _NOTHING
    targets = [list(name.parts) for name in tables]
    row: dict[str, object] = {"skipped": FAILED, "failure": {"template": template, "targets": targets}}
    return _FailedWrite(row, template, load[1] in _CREATING_KINDS)


def _says_that_the_name_is_taken(code: str | None) -> bool:
    return code is not None and (code in _TAKEN_NAME or code.lstrip("-0") in _TAKEN_NAME)


def _failed_load(text: str, dialect: str) -> tuple[str, StatementKind] | None:
    """The load that a text ends with, and its kind: whichever of its statements failed, this one did, or never ran.

    None where it may have come though the text failed, or is undone there on purpose. What stands before it may have
    come to its end.
    """
    definition, statements = dialect_of(dialect), split(text, dialect)
    if definition.goes_on_after_errors and (len(statements) > 1 or _holds_others(Code.of(text, definition))):
        return None
    for statement in reversed(statements):
        if Code.of(statement.text, definition).word(0) in _UNDOING:
            return None
        found = classify(statement.text, dialect)
        if found.skip_reason is None and found.kind in _LOADS:
            return statement.text, found.kind
        if found.skip_reason is not SkipReason.TRANSACTION:
            return None
    return None


def _holds_others(code: Code) -> bool:
    """Whether another statement stands behind the first, with nothing between the two."""
    place = code.find(2 if code.word(0) == "bulk" else 1, _NEXT)
    if code.word(0) == "with":
        place = code.find(place + 1, _NEXT)
    while place < len(code.tokens) and code.word(place - 1) == "then":  # of a MERGE
        place = code.find(place + 1, _NEXT)
    return place < len(code.tokens)
