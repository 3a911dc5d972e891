"""What the temporary tables of a log are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingestion.relational.form import RelationalStatement
from ingestion.symbolic import Symbolic


def temporary_names(statements: Iterable[Symbolic]) -> frozenset[str]:
    """What temporary tables are called: which one a session meant is not known of a query alone."""
    return frozenset(name for one in statements for name in _temporary_names(one))


def _temporary_names(statement: Symbolic) -> Sequence[str]:
    if not isinstance(statement, RelationalStatement):
        return ()
    made = [change.name.table for change in statement.changes if change.temporary]
    written = [write.target.name.table for write in statement.writes if write.target and write.target.temporary]
    return [*made, *written]
