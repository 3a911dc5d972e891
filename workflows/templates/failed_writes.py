"""The writes among the statements that failed: which tables they would have filled, and which template they are of."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.query_log.profiles.export_profile import FAILED
from ingestion.dialects import dialect_of
from ingestion.errors import Unparsable
from ingestion.masking import fingerprint
from ingestion.masking.fingerprint_cache import FingerprintCache
from ingestion.model import StatementKind
from ingestion.parsing.written_tables import written_tables
from ingestion.statements import SkipReason, StatementText, classify, split

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
_MOST = 20_000
"""Templates that are kept at most; a log with more begins anew."""


class FailedWrites:
    """What one task has seen of them."""

    def __init__(self) -> None:
        self._shapes: dict[str, FingerprintCache] = {}
        self._rows: dict[tuple[str, str], dict[str, object]] = {}

    def row(self, text: str | None, dialect: str) -> dict[str, object]:
        """What the row of a record that failed has of its own: its `failure`, where it was to write a table."""
        if not text:
            return _NO_WRITE
        shapes = self._shapes.get(dialect) or self._shapes.setdefault(dialect, FingerprintCache(dialect))
        shape = shapes.shape_of(text)
        known = shapes.fingerprint(shape) if shape is not None else None
        if known is not None and (dialect, known) in self._rows:
            return self._rows[dialect, known]
        row, template = _read(text, dialect)
        if shape is not None and template:
            if len(self._rows) >= _MOST:
                self._rows.clear()
            shapes.learn(shape, template)
            self._rows[dialect, template] = row
        return row


def _read(text: str, dialect: str) -> tuple[dict[str, object], str]:
    """The row of a text that failed, and the fingerprint of what it was to write; "" where that is nothing."""
    try:
        write = next(_ended_by_failure(text, dialect), None)
        tables = written_tables(write.text, dialect_of(dialect)) if write is not None else ()
        template = fingerprint(write.text, dialect) if write is not None and tables else ""
    except Unparsable:
        return _NO_WRITE, ""
    if not template:
        return _NO_WRITE, ""
    targets = [list(name.parts) for name in tables]
    return {"skipped": FAILED, "failure": {"template": template, "targets": targets}}, template


def _ended_by_failure(text: str, dialect: str) -> Iterator[StatementText]:
    """The load that a text ends with: whichever of its statements failed, this one did, or never ran.

    What stands before it may have come to its end.
    """
    for statement in reversed(split(text, dialect)):
        found = classify(statement.text, dialect)
        if found.skip_reason is None and found.kind in _LOADS:
            yield statement
        if found.skip_reason is not SkipReason.TRANSACTION:
            return
