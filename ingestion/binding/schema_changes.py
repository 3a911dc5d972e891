"""Schemas and databases that change their names, or exchange them: what stands in them moves, each relation by itself.

`ALTER SCHEMA staging SWAP WITH mart` names no table. Which it moves the names of the log tell that it is part of; of
those that were not made in it, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingestion.analysis.analyzer import names_in, without_schema
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.timeline import Occurrence
from ingestion.model.lineage import NameKind, StatementKind, TableChange, TableName, TableUsageNames
from ingestion.model.namespaces import QUALIFIED_PARTS, Namespace, RelationKey, candidates

_OF_NAMESPACES = frozenset({NameKind.SCHEMA, NameKind.DATABASE})


def changes_namespaces(statement: Symbolic | TableUsageNames) -> bool:
    """Whether a statement moves all that a schema, or a database, holds."""
    return any(change.name.kind in _OF_NAMESPACES for change in statement.changes)


def keys_of(names: TableUsageNames, namespace: Namespace) -> Iterator[RelationKey]:
    """The relations that the names of a statement may mean."""
    for name in names.names():
        if name.kind is NameKind.TABLE:
            yield from candidates(name, namespace)


def with_tables_of_schemas(symbolic: Symbolic, namespace: Namespace, known: Iterable[RelationKey]) -> Symbolic:
    """The statement with the changes of each of the `known` relations that it moves, in the place of its schema's."""
    if not isinstance(symbolic, RelationalStatement):
        return symbolic
    tables = sorted({key.parts for key in known if len(key.parts) == QUALIFIED_PARTS})
    changes: list[TableChange] = []
    for change in symbolic.changes:
        if change.name.kind in _OF_NAMESPACES:
            changes += _changes_of_tables(change, namespace, tables)
        else:
            changes.append(change)
    return replace(symbolic, changes=tuple(dict.fromkeys(changes)))


def _changes_of_tables(
    change: TableChange, namespace: Namespace, tables: Iterable[tuple[str, ...]]
) -> Iterator[TableChange]:
    if change.other is None:
        return
    left, right = _prefix(change.name, namespace), _prefix(change.other, namespace)
    swaps = change.kind is StatementKind.SWAP
    for parts in tables:
        if _is_in(parts, left):
            yield _table_change(change, parts, _under(right, parts))
        elif swaps and _is_in(parts, right):
            yield _table_change(change, _under(left, parts), parts)


def _table_change(change: TableChange, old: tuple[str, ...], new: tuple[str, ...]) -> TableChange:
    return TableChange(change.kind, _table(old), other=_table(new), of_schema=True)


def _is_in(parts: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    """Whether a key is of what a schema, or a database, holds; sessions spell databases in letters of their own."""
    return parts[0].casefold() == prefix[0].casefold() and parts[1 : len(prefix)] == prefix[1:]


def _under(prefix: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    """The key in another schema, or database, whose name is spelled as it is known."""
    database = parts[0] if parts[0].casefold() == prefix[0].casefold() else prefix[0]
    return (database, *prefix[1:], *parts[len(prefix) :])


def _prefix(name: TableName, namespace: Namespace) -> tuple[str, ...]:
    """The first parts of the keys of all that a schema, or a database, holds."""
    if name.kind is NameKind.DATABASE or len(name.parts) == QUALIFIED_PARTS - 1:
        return name.parts
    return (namespace.database, *name.parts)


def _table(parts: tuple[str, ...]) -> TableName:
    return TableName(parts if parts[0] else parts[1:])


def occurrences_of_tables(occurrences: Sequence[Occurrence]) -> list[Occurrence]:
    """The occurrences with the changes of tables in the place of their schemas'."""
    named = [changes_namespaces(one.symbolic) for one in occurrences]
    if not any(named):
        return [*occurrences]
    known = {key for one in occurrences for key in keys_of(names_in(without_schema(one.symbolic)), one.namespace)}
    return [
        replace(one, symbolic=with_tables_of_schemas(one.symbolic, one.namespace, known)) if changes else one
        for one, changes in zip(occurrences, named, strict=True)
    ]
