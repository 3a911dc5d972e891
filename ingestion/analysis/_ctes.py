"""WITH: its items in view, analysed when they are first read, so that one that nobody reads gives nothing."""

from __future__ import annotations

from ingestion.analysis._columns import ColumnSources, ColumnValue, Entry, QueryColumns, UnexpandedStar
from ingestion.analysis._expressions import evaluate
from ingestion.analysis.form import CommonTable, Projection, Select, SetOperation, named_relations
from ingestion.analysis.scope import AnalysisContext, Scope
from ingestion.model.lineage import NameKind, TableName

_RECURSION_ROUNDS = 10
_MANY = 40


class CteColumns:
    """One WITH item: its definition, the items that it may read, and the query around it.

    In `WITH a AS (SELECT x FROM s), b AS (SELECT x FROM a) SELECT x FROM b` the item b may read a.
    """

    __slots__ = ("definition", "parent", "rows", "view")

    def __init__(self, definition: CommonTable, view: View, parent: Scope | None) -> None:
        self.definition = definition
        self.view = view
        self.parent = parent
        self.rows: QueryColumns | None = None


View = dict[str, CteColumns]


class CteScope:
    """The items in view at one place of the analysis."""

    __slots__ = ("_analysis", "view")

    def __init__(self, analysis: AnalysisContext) -> None:
        self._analysis = analysis
        self.view: View = {}

    def enter(self, definitions: tuple[CommonTable, ...], parent: Scope | None) -> View:
        """Bring items into view, each seeing those before it; returns what was in view until now."""
        outer = self.view
        for definition in definitions:
            item = CteColumns(definition, self.view, parent)
            self.view = {**self.view, self._key(definition.name): item}
            if definition.recursive:
                item.view = self.view
        if len(definitions) > _MANY:
            self._analyse_in_order(definitions)
        return outer

    def find(self, name: TableName) -> QueryColumns | None:
        """The rows of the item that a bare name means, None where it means a table.

        `WITH c AS (SELECT a FROM s) SELECT a FROM web.c` reads a table: an item has no schema.
        """
        if len(name.parts) != 1 or not self.view or name.kind is not NameKind.TABLE:
            return None
        item = self.view.get(self._key(name.parts[0]))
        return None if item is None or item.definition.scalar else self._rows(item)

    def scalar(self, name: str, scope: Scope) -> ColumnValue | None:
        """ClickHouse: the value that WITH names; what it reads is added to the scope's tables.

        An expression is over the columns of the query that uses it; its own name in it is a column's.
        """
        item = self.view.get(self._key(name))
        if item is None or not item.definition.scalar:
            return None
        tables, query = scope.tables, item.definition.query
        if isinstance(query, Select) and not query.relations and isinstance(query.projections[0], Projection):
            outer, self.view = self.view, item.view
            try:
                return evaluate(scope, query.projections[0].expression)
            finally:
                self.view = outer
        rows = self._rows(item)
        tables.update(rows.tables)
        entry = next(iter(rows.entries), None)
        return entry[1] if isinstance(entry, tuple) else None

    def _analyse_in_order(self, definitions: tuple[CommonTable, ...]) -> None:
        """Analyse a long list of items first to last, so that a chain of them is no recursion."""
        read = {self._key(definitions[-1].name)}
        for definition in reversed(definitions):
            if self._key(definition.name) in read:
                names = named_relations(definition.query)
                read.update(self._key(name.parts[0]) for name in names if len(name.parts) == 1)
        for definition in definitions:
            if self._key(definition.name) in read:
                self._rows(self.view[self._key(definition.name)])

    def _key(self, name: str) -> str:
        return name.lower() if self._analysis.dialect.keeps_case else name

    def _rows(self, item: CteColumns) -> QueryColumns:
        if item.rows is not None:
            return item.rows
        outer, self.view = self.view, item.view
        query, columns = item.definition.query, item.definition.columns
        sources = self._analysis.sources
        try:
            if item.definition.recursive:
                item.rows = QueryColumns(sources, [])
                if isinstance(query, SetOperation):
                    item.rows = self._recursive(item, query)
                    return item.rows
            item.rows = rename_columns(sources, self._analysis.query(query, item.parent), columns)
        finally:
            self.view = outer
        return item.rows

    def _recursive(self, item: CteColumns, query: SetOperation) -> QueryColumns:
        """The least rows that the branches give when the item's name means those very rows."""
        columns, sources = item.definition.columns, self._analysis.sources
        rows = rename_columns(sources, self._analysis.query(query.branches[0], item.parent), columns)
        for _ in range(_RECURSION_ROUNDS):
            item.rows, before = rows, _state(rows)
            rows = rename_columns(sources, self._analysis.query(query, item.parent), columns)
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
