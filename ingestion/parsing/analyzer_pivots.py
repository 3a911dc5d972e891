"""PIVOT and UNPIVOT: columns that vanish, and those that come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingestion.model import ProblemKind
from ingestion.parsing.analyzer_clauses import act
from ingestion.parsing.analyzer_common import renamed
from ingestion.parsing.analyzer_rows import Entry, Rows, spelled
from ingestion.parsing.analyzer_runs import NO_TABLE, StarRun
from ingestion.parsing.analyzer_scopes import Scope
from ingestion.parsing.analyzer_stars import star_entries
from ingestion.parsing.analyzer_values import Value, combined, union_of
from ingestion.parsing.analyzer_visible import Visible
from ingestion.parsing.expression_slots import all_slots
from ingestion.parsing.relational import Pivot, Relation, Select, Slot
from ingestion.parsing.roles import CONDITIONAL, GROUP_BY, IDENTITY

if TYPE_CHECKING:
    from ingestion.parsing.analyzer_queries import QueryAnalysis


def pivoted(analysis: QueryAnalysis, rows: Rows, pivot: Pivot, alias: str) -> Rows:
    """The rows that a pivot of rows gives."""
    scope = Scope(analysis, None)
    scope.add(Visible(Relation(Select(())), rows, alias))
    starred = star_entries(analysis, pivot.star, scope) if pivot.star is not None else []
    named = {slot.parts[-1] for slot in all_slots(pivot.consumed) if isinstance(slot, Slot)}
    named |= {entry[0] for entry in starred if isinstance(entry, tuple)}
    consumed = spelled(rows.names(), named)
    chosen = [scope.evaluate(key) for key in pivot.keys]
    indirect = dict(rows.indirect)
    if pivot.kept is not None:
        kept: list[Entry] = [(item.name, scope.evaluate(item.expression)) for item in pivot.kept]
    else:
        kept = [
            entry.without(consumed) if isinstance(entry, StarRun) else entry
            for entry in rows.entries
            if isinstance(entry, StarRun) or entry[0] not in consumed
        ]
    if pivot.keys:  # PIVOT groups by what is left
        for entry in kept:
            value = entry[1] if isinstance(entry, tuple) else entry.whole(analysis.sources)
            act(indirect, value, GROUP_BY)
    made: list[tuple[str, Value]] = []
    for column in pivot.columns:
        value = scope.evaluate(column.expression)
        if chosen:
            keys = combined([(IDENTITY, value), *((CONDITIONAL, key) for key in chosen)])
            value = Value(keys).known_as(value.text(), value.type())
        made.append((column.name, value))
    for aggregate in pivot.unnamed:
        value = scope.evaluate(aggregate)
        keys = combined([(IDENTITY, value), *((CONDITIONAL, key) for key in chosen)])
        kept.append(StarRun(NO_TABLE, value=Value(keys).known_as(value.text())))
    if starred and made:
        name, last = made[-1]
        values = [e[1] if isinstance(e, tuple) else e.whole(analysis.sources) for e in starred]
        made[-1] = (name, union_of([*([last] if last.keys else []), *values]))
        if any(isinstance(entry, StarRun) for entry in kept):  # which of its columns are left is not known
            analysis.problem(ProblemKind.UNSUPPORTED, "UNPIVOT over unknown columns")
            kept = [entry for entry in kept if not isinstance(entry, StarRun)]
    return renamed(analysis.sources, Rows(analysis.sources, [*kept, *made], indirect, rows.tables), pivot.names)
