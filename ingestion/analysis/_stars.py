"""Stars: what `*`, `t.*` and COLUMNS(…) stand for, after EXCEPT, REPLACE and RENAME."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingestion.analysis._columns import (
    NO_TABLE,
    ColumnValue,
    Entry,
    QueryColumns,
    UnexpandedStar,
    combine,
    pair_of_map,
    rename_columns,
    spellings,
    union_of,
    values_of,
)
from ingestion.analysis._expressions import act, evaluate
from ingestion.analysis._fields import fields_of
from ingestion.analysis.form import Pivot, Slot, Star, all_slots
from ingestion.analysis.roles import CONDITIONAL, FILTER, GROUP_BY, IDENTITY
from ingestion.analysis.scope import AnalysisContext, Scope, ScopedRelation, without_columns
from ingestion.model.outcomes import ProblemKind

_GROUP = re.compile(r"\\([0-9])")


def star_entries(analysis: AnalysisContext, star: Star, scope: Scope) -> list[Entry]:
    """What a star stands for, after EXCEPT, REPLACE and RENAME: `* EXCEPT (a)` over a table of (a, b) is b."""
    if star.value is not None and star.unless is not None:
        value = evaluate(scope, star.value)
        opened = _unnested_columns(analysis, value, star.depth) if star.depth else pair_of_map(value)
        entries = opened or [(star.unless.name, evaluate(scope, star.unless.expression))]
    elif star.value is not None:
        entries = _fields(analysis, evaluate(scope, star.value))
    else:
        entries = _qualified_star(analysis, star, scope) if star.qualifier else scope.all_entries(star.changed_of)
    if star.excluded or star.renamed or star.replaced:
        entries = _alter(entries, star, scope)
    if star.pattern:
        entries = _matching(analysis, entries, star.pattern)
    if star.names:
        entries = rename_columns(analysis.sources, QueryColumns(analysis.sources, entries), star.names).entries
    if analysis.dialect.dotted_columns and star.value is None and len(scope.relations) > 1:
        entries = _beside_others(entries, star, scope)
    if star.wrapped is None and not star.label:
        return entries
    return [_made_column(analysis, entry, star) for entry in entries]


def _beside_others(entries: list[Entry], star: Star, scope: Scope) -> list[Entry]:
    """ClickHouse: the columns of a star over several relations, by what they are called then."""
    if not star.qualifier:
        return scope.entries_beside_others(entries)
    visible = scope.relation(star.qualifier)
    if visible is None:
        return entries
    return [
        (scope.name_beside_others(visible, entry[0]), entry[1]) if isinstance(entry, tuple) else entry
        for entry in entries
    ]


def _made_column(analysis: AnalysisContext, entry: Entry, star: Star) -> Entry:
    """A column of a star that a function is applied to, or that gets a name: `max(a)` of `* APPLY(max)`."""
    renames = bool(star.call or star.label)
    if isinstance(entry, UnexpandedStar):
        return UnexpandedStar(NO_TABLE, value=entry.whole(analysis.sources)) if renames else entry
    name, value = entry
    if star.wrapped is not None:
        value = ColumnValue(combine([(star.wrapped, value)])).known_as(value.text())
    if star.label:
        return _label_of(name, star), value
    return f"{star.call}({name})" if star.call else name, value


def _label_of(name: str, star: Star) -> str:
    """DuckDB: c_1 of `COLUMNS('a(.)') AS 'c_\\1'` for a column a1; `\\0` is all that the pattern found."""
    try:
        found = re.search(star.pattern or "", name)
    except re.error:
        found = None
    groups = (found[0] or name, *(each or "" for each in found.groups())) if found is not None else (name,)
    return _GROUP.sub(lambda match: groups[int(match[1])] if int(match[1]) < len(groups) else "", star.label)


def _unnested_columns(analysis: AnalysisContext, value: ColumnValue, depth: int) -> list[Entry]:
    """The columns of DuckDB's `UNNEST(s)`: the fields of a struct; none where the value is no struct.

    An array is a level of its own: `UNNEST(a)` gives structs, and `UNNEST(a, max_depth := 2)` their fields.
    """
    type_ = value.type()
    if type_.startswith("ARRAY<"):
        depth -= 1
    fields = fields_of(value, analysis.sources) if depth > 0 and (type_ or value.fields is not None) else None
    if fields is None:
        return []
    entries: list[Entry] = []
    for entry in fields.entries:
        inner = _unnested_columns(analysis, entry[1], depth - 1) if isinstance(entry, tuple) else []
        entries += inner or [entry]
    return entries


def _qualified_star(analysis: AnalysisContext, star: Star, scope: Scope) -> list[Entry]:
    inner: Scope | None = scope
    while inner is not None:
        visible = inner.relation(star.qualifier)
        if visible is not None:
            return inner.own_entries(visible)
        inner = inner.parent
    value = scope.lookup(star.qualifier)
    if value is None:
        analysis.problem(ProblemKind.UNKNOWN_COLUMN, ".".join((*star.qualifier, "*")))
        return []
    return _fields(analysis, value)


def _fields(analysis: AnalysisContext, value: ColumnValue) -> list[Entry]:
    """The fields of a value; a run of them, of which neither names nor number are known, where nothing says them."""
    known = fields_of(value, analysis.sources)
    if known is not None:
        return list(known.entries)
    analysis.problem(ProblemKind.UNSUPPORTED, "fields of a value of unknown type")
    return [UnexpandedStar(NO_TABLE, value=value)]


def _alter(entries: list[Entry], star: Star, scope: Scope) -> list[Entry]:
    """The columns of a star after its clauses: x and b of `* EXCEPT (c) REPLACE (a + 1 AS a) RENAME (a AS x)`."""
    known = [entry[0] for entry in entries if isinstance(entry, tuple)]
    excluded = spellings(known, star.excluded)
    renamed = {called: new for old, new in star.renamed for called in spellings(known, (old,))}
    replaced = {
        called: evaluate(scope, item.expression) for item in star.replaced for called in spellings(known, (item.name,))
    }
    found: list[Entry] = []
    open_ = any(isinstance(entry, UnexpandedStar) for entry in entries)
    placed: set[str] = set()
    for entry in entries:
        if isinstance(entry, UnexpandedStar):
            found.append(entry.without(excluded | replaced.keys()).with_renamed(star.renamed))
            continue
        name, value = entry
        if name in excluded:
            continue
        if name in replaced:
            placed.add(name)
            value = replaced[name]
        found.append((renamed.get(name, name), value))
    if open_:  # REPLACE leaves a column where it stands, but where that is among unknown ones nobody knows: last
        found += [(name, value) for name, value in replaced.items() if name not in placed]
    return found


def _matching(analysis: AnalysisContext, entries: list[Entry], pattern: str) -> list[Entry]:
    try:
        matches = re.compile(pattern).search
    except re.error:
        analysis.problem(ProblemKind.UNSUPPORTED, "COLUMNS")
        return []
    if any(isinstance(entry, UnexpandedStar) for entry in entries):
        analysis.problem(ProblemKind.UNSUPPORTED, "COLUMNS over unknown columns")
    return [entry for entry in entries if isinstance(entry, UnexpandedStar) or matches(entry[0])]


def _among(value: ColumnValue, chosen: Sequence[ColumnValue]) -> ColumnValue:
    """A pivot's value with the keys by which its rows are chosen."""
    if not chosen:
        return value
    keys = combine([(IDENTITY, value), *((CONDITIONAL, key) for key in chosen)])
    return ColumnValue(keys).known_as(value.text(), value.type())


def pivot_rows(around: Scope, rows: QueryColumns, pivot: Pivot, visible: ScopedRelation) -> QueryColumns:
    """The rows that a pivot gives: id and x of `PIVOT (SUM(v) FOR k IN ('x' AS x))` over rows of (id, k, v).

    `visible` is what is pivoted, by whose name columns may be called: `t UNPIVOT (v FOR k IN (t.a, t.b))`.
    """
    analysis = around.analysis
    scope = Scope(analysis, None, around.view)
    visible.rows = rows
    scope.add(visible)
    starred = star_entries(analysis, pivot.star, scope) if pivot.star is not None else []
    named = {slot.parts[-1] for slot in all_slots(pivot.consumed) if isinstance(slot, Slot)}
    named |= {entry[0] for entry in starred if isinstance(entry, tuple)}
    sought = [analysis.query(query, None, around.view) for query in pivot.sought]
    chosen = [evaluate(scope, key) for key in pivot.keys]
    for values in sought:
        chosen += [*values_of(values.entries, analysis.sources), ColumnValue(values.indirect)]
    indirect = dict(rows.indirect)
    if pivot.drops_nulls:
        for value in (*(evaluate(scope, each) for each in pivot.consumed), *values_of(starred, analysis.sources)):
            act(indirect, value, FILTER)
    if pivot.kept is not None:
        kept: list[Entry] = [(item.name, evaluate(scope, item.expression)) for item in pivot.kept]
    else:
        kept = without_columns(rows.entries, named)
    if pivot.keys or pivot.kept:  # PIVOT groups by what is left
        for value in values_of(kept, analysis.sources):
            act(indirect, value, GROUP_BY)
    made = [(column.name, _among(evaluate(scope, column.expression), chosen)) for column in pivot.columns]
    unnamed = (_among(evaluate(scope, aggregate), chosen) for aggregate in pivot.unnamed)
    kept += [UnexpandedStar(NO_TABLE, value=value) for value in unnamed]
    if starred and made:
        name, last = made[-1]
        made[-1] = (name, union_of([*([last] if last.keys else []), *values_of(starred, analysis.sources)]))
        if any(isinstance(entry, UnexpandedStar) for entry in kept):  # which of its columns are left is not known
            analysis.problem(ProblemKind.UNSUPPORTED, "UNPIVOT over unknown columns")
            kept = [entry for entry in kept if not isinstance(entry, UnexpandedStar)]
    tables = dict.fromkeys(table for read in (rows, *sought) for table in read.tables)
    return rename_columns(
        analysis.sources, QueryColumns(analysis.sources, [*kept, *made], indirect, tables), pivot.names
    )
