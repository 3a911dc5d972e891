"""The table that a statement changes where its target is a query: an item of WITH, or one in brackets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingestion.analysis.form import CommonTable, Projection, Query, RelationSource, Select, Slot, Star
from ingestion.analysis.roles import GROUP_BY
from ingestion.errors import FinalRefusal
from ingestion.model.lineage import NameKind, TableName, Target, WriteMode

_Items = tuple[CommonTable, ...]


def table_behind(target: Target, items: _Items) -> Target:
    """The target, or the table that stands behind it where it is an item, with its own names of the columns.

    T-SQL changes a table through an item of WITH. Oracle's and Db2's query in place of a table, `MERGE INTO (SELECT …)
    c`, comes as such an item. Of several tables that it joins it is the one that the columns are of.

    Raises FinalRefusal where they are not seen to be columns of one table: an item's name is no table's, and would be
    published.
    """
    name, columns = target.name, target.columns
    if _number(items, name) is not None:
        if columns is None and target.mode is WriteMode.APPEND:
            columns = _listed_columns(items, name)
        found = [_column(items, name, column) for column in columns] if columns else []
        tables = {one[0] if one is not None else None for one in found} or {_table(items, name)}
        behind = tables.pop()
        if behind is None or tables:
            raise _unknown_target()
        name, columns = behind, tuple(one[1] for one in found if one is not None) or columns
    return replace(target, name=name, columns=columns, temporary=target.temporary or name.table.startswith("#"))


def queries_in_from(target: TableName, relations: Iterable[RelationSource]) -> _Items:
    """UPDATE (SELECT …) x, T-SQL's UPDATE x … FROM s JOIN (SELECT …) x (p, q): what x stands for, as an item of WITH.

    Raises FinalRefusal where x is what a function or a pivot gives.
    """
    named = [one for one in relations if one.written and table_of(one) is None and is_called(one, target)]
    items = [CommonTable(one.alias, one.columns, one.source) for one in named if isinstance(one.source, Query)]
    if len(items) < len(named) or any(one.pivots for one in named):
        raise _unknown_target()
    return tuple(items)


def merged_table(target: RelationSource) -> tuple[TableName, _Items]:
    """What MERGE changes; where that is a query, T-SQL's `MERGE OPENQUERY(…) AS x`, a name that stands for it.

    Raises FinalRefusal where it is what a function gives.
    """
    table = table_of(target)
    if table is not None:
        return table, ()
    name = relation_name(target) or "merged"
    return TableName((name,), name), queries_in_from(TableName((name,), name), [replace(target, alias=name)])


def table_of(relation: RelationSource) -> TableName | None:
    """The table that a relation is; None where it is a query, what a function gives, or what is pivoted of a table."""
    return relation.source if isinstance(relation.source, TableName) and not relation.pivots else None


def changed_table(relation: RelationSource) -> TableName | None:
    """The table that a relation is, which the statement names by its alias.

    Raises FinalRefusal of a file: T-SQL's `UPDATE x SET … FROM OPENROWSET(BULK …) AS x` changes none.
    """
    table = table_of(relation)
    if table is not None and table.kind is NameKind.PATH:
        raise _unknown_target()
    return table


def refuse_rows_of_query(relation: RelationSource) -> None:
    """Raises FinalRefusal where a relation is none that can be changed: MySQL's `UPDATE t, (SELECT …) x SET x.a`.

    What T-SQL changes through it is looked for behind it.
    """
    if not relation.written and table_of(relation) is None:
        raise _unknown_target()


def refuse_items(names: Iterable[TableName], items: _Items) -> None:
    """Raises FinalRefusal where one of the names is an item's: MySQL's `WITH c AS (…) UPDATE t JOIN c SET c.a = b`."""
    if any(_number(items, name) is not None for name in names):
        raise _unknown_target()


def is_called(relation: RelationSource, name: TableName) -> bool:
    """Whether a bare name is what the relation goes by."""
    return name.parts == (relation_name(relation),)


def _unknown_target() -> FinalRefusal:
    return FinalRefusal("the target of the statement is a query, and no table is known that it stands for")


def _number(items: _Items, name: TableName) -> int | None:
    """The number of the item that a name means: the last of that name."""
    numbers = (number for number in reversed(range(len(items))) if name.parts == (items[number].name,))
    return next(numbers, None)


def _column(items: _Items, source: object, column: str, listed: tuple[str, ...] = ()) -> tuple[TableName, str] | None:
    """The table and its column that a column of a relation is; None where it is none, or more than one."""
    if isinstance(source, TableName):
        number = _number(items, source)
        if number is None:
            return None if listed else (source, column)
        item = items[number]
        if listed:  # `c AS x (p, q)`: names of a list that is not the item's own
            return None
        return _column(items[:number], item.query, column, item.columns)
    if not isinstance(source, Select) or _is_combined(source):
        return None
    items += source.common_tables
    found = {
        _column(items, relation.source, name, relation.columns)
        for name, relation in _origins(items, source, column, listed)
        if not relation.pivots
    } - {None}
    return found.pop() if len(found) == 1 else None


def _is_combined(query: Select) -> bool:
    """Whether a row of the query is none of a table: no engine changes a table through it."""
    return query.distinct or any(clause.role == GROUP_BY for clause in query.clauses)


def _origins(
    items: _Items, query: Select, column: str, listed: tuple[str, ...]
) -> Iterator[tuple[str, RelationSource]]:
    """What a column of a query is called in each relation that may have it, or in the one that has it.

    Behind a star nobody knows which column a name of a list is.
    """
    for parts in _names_within(query, column, listed):
        called = [one for one in query.relations if not parts[:-1] or parts[-2] == relation_name(one)]
        columns = [(_columns(items, one), one) for one in called]
        having = [one for known, one in columns if known is not None and parts[-1] in known]
        for relation in having or (one for known, one in columns if known is None):
            yield parts[-1], relation


def _names_within(query: Select, column: str, listed: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The names that a query may read one of its columns by as it is; none where it reads it otherwise."""
    projections = query.projections
    if listed:
        number = listed.index(column) if column in listed else len(projections)
        starred = any(isinstance(item, Star) for item in projections[: number + 1])
        chosen = () if starred else projections[number : number + 1]
    else:
        chosen = tuple(item for item in projections if isinstance(item, Projection) and item.name == column)[:1]
        chosen = chosen or tuple(item for item in projections if isinstance(item, Star))
    names = ((*item.qualifier, column) if isinstance(item, Star) else _parts(item) for item in chosen)
    return [name for name in names if name]


def _parts(item: Projection) -> tuple[str, ...]:
    """The name of the column that a query reads as it is."""
    slots = item.expression.slots
    slot = slots[0] if len(item.expression.parts) == len(slots) == 1 else None
    return slot.parts if isinstance(slot, Slot) else ()


def relation_name(relation: RelationSource) -> str:
    """What columns of a relation are qualified with: its or its last pivot's alias, or the end of its table's name."""
    source = relation.source
    pivoted = relation.pivots[-1].alias if relation.pivots else ""
    return pivoted or relation.alias or (source.table if isinstance(source, TableName) else "")


def _columns(items: _Items, relation: RelationSource) -> tuple[str, ...] | None:
    """The columns of a relation where its text names them all."""
    source, listed = relation.source, relation.columns
    number = _number(items, source) if isinstance(source, TableName) else None
    if number is not None:
        source, listed = items[number].query, listed or items[number].columns
    if listed or not isinstance(source, Select) or any(isinstance(item, Star) for item in source.projections):
        return listed or None
    return tuple(item.name for item in source.projections if isinstance(item, Projection))


def _table(items: _Items, source: object) -> TableName | None:
    """The one table whose rows a relation has; None where it joins several, or its rows are those of none."""
    if isinstance(source, TableName):
        number = _number(items, source)
        return source if number is None else _table(items[:number], items[number].query)
    if not isinstance(source, Select) or _is_combined(source):
        return None
    items += source.common_tables
    found = {_table(items, relation.source) for relation in source.relations if not relation.pivots} - {None}
    return found.pop() if len(found) == 1 else None


def _listed_columns(items: _Items, source: object, listed: tuple[str, ...] = ()) -> tuple[str, ...] | None:
    """The columns of an item in their order; None where it has all of one table, whatever they are.

    Raises FinalRefusal where it has those and others.
    """
    if isinstance(source, TableName):
        number = _number(items, source)
        return None if number is None else _listed_columns(items[:number], items[number].query, items[number].columns)
    if not isinstance(source, Select):
        raise _unknown_target()
    names = tuple(item.name for item in source.projections if isinstance(item, Projection))
    if len(names) == len(source.projections):
        return listed or names
    if names or len(source.projections) != 1 or len(source.relations) != 1:
        raise _unknown_target()
    within = source.relations[0]
    return _listed_columns((*items, *source.common_tables), within.source, within.columns)
