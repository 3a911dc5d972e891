"""The rows and values of WITH items."""

from __future__ import annotations

from ingestion.analysis._columns import ColumnSources, ColumnValue, Entry, QueryColumns, UnexpandedStar
from ingestion.analysis._expressions import evaluate
from ingestion.analysis.form import CommonTable, Projection, Select, SetOperation, named_relations
from ingestion.analysis.scope import AnalysisContext, Scope, View, WithItem, item_key

_RECURSION_ROUNDS = 10
_MANY = 40


def with_items(
    analysis: AnalysisContext, definitions: tuple[CommonTable, ...], parent: Scope | None, view: View
) -> View:
    """What is in view where these items are defined, each of which sees those before it."""
    for definition in definitions:
        item = WithItem(definition, view, parent)
        view = {**view, item_key(definition.name, analysis.dialect): item}
        if definition.recursive:
            item.view = view
    if len(definitions) > _MANY:
        _analyse_in_order(analysis, definitions, view)
    return view


def value_of(analysis: AnalysisContext, item: WithItem, scope: Scope) -> ColumnValue | None:
    """ClickHouse: the value that an item names; what it reads is added to the scope's tables.

    In `WITH a + 1 AS x SELECT x FROM t` the expression is over the columns of the query that uses it; its own name in
    it is a column's.
    """
    query = item.definition.query
    if isinstance(query, Select) and not query.relations and isinstance(query.projections[0], Projection):
        outer = [(one, one.view) for one in scope.outward()]
        for one, _view in outer:
            one.view = item.view
        try:
            return evaluate(scope, query.projections[0].expression)
        finally:
            for one, view in outer:
                one.view = view
    rows = rows_of(analysis, item)
    scope.tables.update(rows.tables)
    entry = next(iter(rows.entries), None)
    return entry[1] if isinstance(entry, tuple) else None


def _analyse_in_order(analysis: AnalysisContext, definitions: tuple[CommonTable, ...], view: View) -> None:
    """Analyse a long list of items first to last, so that a chain of them is no recursion."""
    keys = [item_key(definition.name, analysis.dialect) for definition in definitions]
    read = {keys[-1]}
    for key, definition in zip(reversed(keys), reversed(definitions), strict=True):
        if key in read:
            names = named_relations(definition.query)
            read.update(item_key(name.parts[0], analysis.dialect) for name in names if len(name.parts) == 1)
    for key in keys:
        if key in read:
            rows_of(analysis, view[key])


def rows_of(analysis: AnalysisContext, item: WithItem) -> QueryColumns:
    """The rows of an item, analysed when they are first read."""
    if item.rows is None:
        definition = item.definition
        if definition.recursive:
            item.rows = QueryColumns(analysis.sources, [])
            if isinstance(definition.query, SetOperation):
                item.rows = _recursive_rows(analysis, item, definition.query)
                return item.rows
        rows = analysis.query(definition.query, item.parent, item.view)
        item.rows = rename_columns(analysis.sources, rows, definition.columns)
    return item.rows


def _recursive_rows(analysis: AnalysisContext, item: WithItem, query: SetOperation) -> QueryColumns:
    """The least rows that the branches give when the item's name means those very rows.

    `WITH RECURSIVE r AS (SELECT a, b FROM s UNION ALL SELECT b, a FROM r)`: the first round gives a and b from s.a and
    s.b, the second each from both, the third nothing new.
    """
    columns, sources = item.definition.columns, analysis.sources
    rows = rename_columns(sources, analysis.query(query.branches[0], item.parent, item.view), columns)
    for _ in range(_RECURSION_ROUNDS):
        item.rows, before = rows, _state(rows)
        rows = rename_columns(sources, analysis.query(query, item.parent, item.view), columns)
        if _state(rows) == before:
            break
    return rows


def rename_columns(sources: ColumnSources, rows: QueryColumns, columns: tuple[str, ...]) -> QueryColumns:
    """The rows under the names of a column list, by position: in `WITH c (x) AS (SELECT a FROM s)` x is s.a."""
    if not columns:
        return rows
    entries: list[Entry] = []
    left = list(columns)
    for entry in rows.entries:
        if not left:
            entries.append(entry)
        elif isinstance(entry, UnexpandedStar):
            unknown = entry.whole(sources)
            rest = len(rows.entries) - len(entries) - 1
            take = max(len(left) - rest, 0) if rest < len(left) else 0
            entries += [(name, unknown) for name in left[:take]]
            left = left[take:]
        else:
            entries.append((left.pop(0), entry[1]))
    return QueryColumns(sources, entries, rows.indirect, rows.tables)


def _state(rows: QueryColumns) -> list[object]:
    return [
        (entry[0], frozenset(entry[1].keys)) if isinstance(entry, tuple) else entry.table for entry in rows.entries
    ] + [frozenset(rows.indirect)]
