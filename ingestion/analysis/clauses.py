"""What acts on all outputs of a query: its conditions and keys, DISTINCT, and the rest of set operations."""

from __future__ import annotations

from collections.abc import Iterable

from ingestion.analysis.columns.relations import QueryColumns, TableColumns
from ingestion.analysis.columns.values import ROLE_MASK, ColumnValue, UnexpandedStar, values_of
from ingestion.analysis.expressions import evaluate
from ingestion.analysis.scopes import AnalysisContext, Scope
from ingestion.dialects import Dialect
from ingestion.relational.form import Clause, OutputNames, Slot
from ingestion.relational.roles import COMPOSED

_OF_KEYS = (OutputNames.BEFORE_COLUMNS, OutputNames.AFTER_COLUMNS)


def apply_clauses(analysis: AnalysisContext, clauses: Iterable[Clause], scope: Scope, rows: QueryColumns) -> None:
    """Let conditions and keys act on all outputs.

    In `SELECT a AS b FROM t WHERE c > 0`, `scope` resolves c, and c then filters each column of `rows`: b.
    """
    indirect = rows.indirect
    for clause in clauses:
        if clause.expression is None:
            value = _ordinal(clause.ordinal, rows)
        else:
            scope.show_outputs(_visible(analysis.dialect, clause.aliases))
            value = _key_alias(analysis, clause, scope) or evaluate(scope, clause.expression)
        if value is not None:
            act(indirect, value, clause.role)
    scope.show_outputs(OutputNames.LATERAL)


def _visible(dialect: Dialect, aliases: OutputNames) -> OutputNames:
    if aliases is OutputNames.LATERAL:
        return OutputNames.LATERAL if dialect.output_names_in_where else OutputNames.HIDDEN
    shown = aliases is not OutputNames.HIDDEN and dialect.output_names_in_having
    return OutputNames.AFTER_COLUMNS if shown else OutputNames.HIDDEN


def _key_alias(analysis: AnalysisContext, clause: Clause, scope: Scope) -> ColumnValue | None:
    """The output that a key means by its name: before any column in ORDER BY, after known columns in GROUP BY."""
    expression = clause.expression
    if expression is None or clause.aliases not in _OF_KEYS or len(expression.slots) != 1:
        return None
    slot = expression.slots[0]
    if not isinstance(slot, Slot) or len(slot.parts) != 1 or len(expression.parts) != 1:
        return None
    name = slot.parts[0]
    alias = scope.outputs.get(name)
    if alias is None or clause.aliases is OutputNames.BEFORE_COLUMNS:
        return alias
    if not analysis.dialect.output_names_in_group_by:
        return None
    known = any(
        visible.rows.find(name) is not None
        or (isinstance(visible.rows, TableColumns) and name in visible.rows.confirmed)
        for visible in scope.relations
    )
    return None if known else alias


def _ordinal(ordinal: int, rows: QueryColumns) -> ColumnValue | None:
    if any(isinstance(entry, UnexpandedStar) for entry in rows.entries[:ordinal]) or not 0 < ordinal <= len(
        rows.entries
    ):
        return None
    entry = rows.entries[ordinal - 1]
    return entry[1] if isinstance(entry, tuple) else None


def all_columns(analysis: AnalysisContext, rows: QueryColumns, role: int, indirect: dict[int, ColumnValue]) -> None:
    """Let every column of rows act on all outputs: in `SELECT DISTINCT a, b FROM t` t.a and t.b are grouped by."""
    for value in values_of(rows.entries, analysis.sources):
        act(indirect, value, role)


def act(indirect: dict[int, ColumnValue], value: ColumnValue, role: int) -> None:
    """Let a value act on all outputs in a role: in `SELECT a FROM t WHERE b > 1` t.b is a filter of every output."""
    row = COMPOSED[role]
    origins = value.origins
    for key in value.keys:
        indirect.setdefault(key & ~ROLE_MASK | row[key & ROLE_MASK], origins.get(key, value) if origins else value)
