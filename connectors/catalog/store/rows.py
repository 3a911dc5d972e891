"""Rows of the store: as many as one statement can bind, and many of one table at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, Table, bindparam, func, select

from connectors.catalog.store.schema import entities, entity_labels, query_uses

_T = TypeVar("_T")
_MOST_BOUND = 1_000
_IDS = "ids"


def ids_bound_as(parameter: str) -> Select[Any]:
    """The ids that a statement is given by `bind_ids` under the name of a `parameter`."""
    return select(func.json_each(bindparam(parameter)).table_valued("value").c.value)


IDS = ids_bound_as(_IDS)
"""The ids that a statement is given by `bind_ids`: SQLAlchemy takes some hundred values of its own `in_` for longer
than SQLite takes to find their rows.
"""

_ENTITY = tuple(column.name for column in entities.columns)
_LABEL = tuple(column.name for column in entity_labels.columns)
_USE = tuple(column.name for column in query_uses.columns)
_entity_values, _label_values, _use_values = itemgetter(*_ENTITY), itemgetter(*_LABEL), itemgetter(*_USE)


# Rows of the store, as many at a time as one statement can bind.


def thousands_of(wanted: Sequence[_T]) -> Iterator[list[_T]]:
    """`wanted` in order, a thousand at a time."""
    for start in range(0, len(wanted), _MOST_BOUND):
        yield list(wanted[start : start + _MOST_BOUND])


def bind_ids(ids: Sequence[str] | Sequence[int], parameter: str = _IDS) -> dict[str, str]:
    """The parameter of a statement with `IDS`, or with others of this name: `ids` of entities, or numbers of rows."""
    text = json.dumps(ids, ensure_ascii=False)
    if "\\u0000" in text:  # where a text of SQLite's JSON would end; no id that is stored has it
        text = json.dumps([one for one in ids if not isinstance(one, str) or "\0" not in one], ensure_ascii=False)
    return {parameter: text}


def holder_number(holder: str | None) -> int:
    """The number by which edges name the schema, service or other entity that one of their ends lies in; 0 for none.

    It is made of the id: edges between schemas are counted in the order of an index of them, and ids make it six times
    as large.
    """
    return 0 if holder is None else int(holder.replace("-", "")[:15], 16)


# Many rows of one table, given to the driver itself.
#
# SQLAlchemy takes each row apart by the names of its columns, which costs more than storing it.


def insert_rows(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Adds `rows`, each with a value for each of the `columns`. Raises IntegrityError for one that is there."""
    if rows:
        connection.exec_driver_sql(_statement(table, columns), list(rows))


def insert_new_rows(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Adds those of `rows` that are not there yet, as `insert_rows` does."""
    if rows:
        connection.exec_driver_sql(f"{_statement(table, columns)} on conflict do nothing", list(rows))


@lru_cache(maxsize=64)
def _statement(table: Table, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{table.c[column].name}"' for column in columns)
    return f'insert into "{table.name}" ({names}) values ({", ".join("?" * len(columns))})'


# What is to be written of entities that are put: row by row it costs several times as much as all at once.


@dataclass(slots=True)
class WaitingRows:
    """The rows of new entities, and of the labels and uses of any, in the order in which they were given."""

    _names: set[tuple[str, str]] = field(default_factory=set)
    _entities: list[dict[str, Any]] = field(default_factory=list)
    _labels: list[dict[str, str]] = field(default_factory=list)
    _uses: list[dict[str, str]] = field(default_factory=list)

    def add(self, entity: dict[str, Any]) -> None:
        """Takes in the row of a new entity."""
        self._names.add((entity["type"], entity["fqn"]))
        self._entities.append(entity)

    def add_labels(self, labels: list[dict[str, str]]) -> None:
        """Takes in rows of labels."""
        self._labels += labels

    def add_uses(self, uses: list[dict[str, str]]) -> None:
        """Takes in rows of what queries use."""
        self._uses += uses

    def have(self, kind: str, name: str) -> bool:
        """Whether the entity of this name waits to be written."""
        return (kind, name) in self._names

    def write(self, connection: Connection) -> None:
        """Writes them all."""
        insert_rows(connection, entities, _ENTITY, list(map(_entity_values, self._entities)))
        insert_new_rows(connection, entity_labels, _LABEL, list(map(_label_values, self._labels)))
        insert_new_rows(connection, query_uses, _USE, list(map(_use_values, self._uses)))
        self._entities.clear()
        self._labels.clear()
        self._uses.clear()
        self._names.clear()
