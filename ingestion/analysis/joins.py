"""Joins: relations brought into scope, with the columns that USING and NATURAL merge."""

from __future__ import annotations

from ingestion.analysis.clauses import act
from ingestion.analysis.columns.relations import TableColumns, spellings
from ingestion.analysis.columns.values import ColumnValue, combine
from ingestion.analysis.expressions import evaluate
from ingestion.analysis.scope_relations import ScopedRelation
from ingestion.analysis.scopes import AnalysisContext, Scope
from ingestion.model import ProblemKind
from ingestion.relational.form import RelationSource
from ingestion.relational.roles import CONDITIONAL, JOIN, TRANSFORMATION


def join_relation(
    scope: Scope, relation: RelationSource, visible: ScopedRelation, indirect: dict[int, ColumnValue]
) -> None:
    """Bring one FROM item into scope; what acts on its rows, and the join's condition, acts on all outputs."""
    analysis, rows = scope.analysis, visible.rows
    scope.add(visible)
    if not relation.written:
        scope.tables.update(rows.tables)
    elif not isinstance(rows, TableColumns):  # changed through a WITH item: its first table is the target itself
        scope.tables.update(dict.fromkeys(list(rows.tables)[1:]))
    for key, value in rows.indirect.items():
        indirect.setdefault(key, value)
    for clause in relation.on:
        if clause.expression is not None:
            act(indirect, evaluate(scope, clause.expression), clause.role)
    if relation.using:
        _merge(analysis, scope, relation.join, relation.using, indirect)
    elif relation.natural:
        _merge(analysis, scope, relation.join, _shared_columns(analysis, scope, visible), indirect)
    if relation.join.endswith(("SEMI", "ANTI")):
        visible.hidden = True


def _shared_columns(analysis: AnalysisContext, scope: Scope, visible: ScopedRelation) -> tuple[str, ...]:
    """The columns that both sides of a NATURAL join have, in the order of the left one."""
    left = scope.relations[:-1]
    if visible.rows.open or any(other.rows.open for other in left):
        name = visible.alias or ".".join(visible.parts)
        analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, f"NATURAL JOIN {name}")
    known = dict.fromkeys(scope.merged)
    known.update((name, None) for other in left if not other.hidden for name in other.rows.names())
    return tuple(name for name in known if visible.rows.find(name) is not None)


def _merge(
    analysis: AnalysisContext, scope: Scope, how: str, names: tuple[str, ...], indirect: dict[int, ColumnValue]
) -> None:
    visible = scope.relations[-1]
    position = len(scope.relations) - 1
    merged: dict[str, ColumnValue] = {}
    for name in names:
        right = _side(analysis, [visible], name)
        (called,) = spellings(scope.merged, (name,))
        left = scope.merged.get(called) or _side(analysis, scope.relations[:-1], name)
        for value in (left, right):
            act(indirect, value, JOIN)
        if how.startswith("FULL"):
            both = combine((role, side) for role in (TRANSFORMATION, CONDITIONAL) for side in (left, right))
            merged[name] = ColumnValue(both).known_as(f"COALESCE({left.text()}, {right.text()})", left.type())
        else:
            merged[name] = right if how.startswith("RIGHT") else left
    if how.endswith(("SEMI", "ANTI")) and not analysis.dialect.semi_joins_merge:
        return
    merged.update((name, value) for name, value in scope.merged.items() if name not in merged)
    scope.merged = merged
    for name in names:
        scope.merged_until[name] = position
    scope.add(scope.relations.pop())


def _side(analysis: AnalysisContext, relations: list[ScopedRelation], name: str) -> ColumnValue:
    """The column of one side of a join."""
    found = [value for other in relations if not other.hidden and (value := other.rows.find(name)) is not None]
    if not found:
        found = [guess for other in relations if not other.hidden for guess in other.rows.guesses(name)]
    if not found:
        analysis.problem(ProblemKind.UNKNOWN_COLUMN, name)
        return ColumnValue(()).known_as(name)
    if len(found) > 1:
        analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, name)
        return analysis.sources.one_of(found, name)
    return found[0]
