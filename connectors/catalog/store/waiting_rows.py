"""What is to be written of entities that are put: row by row it costs several times as much as all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection

from connectors.catalog.store.row_inserts import insert_new_rows, insert_rows
from connectors.catalog.store.schema import entities, query_uses
from connectors.catalog.store.search_tables import entity_labels

_ENTITY = tuple(column.name for column in entities.columns)
_LABEL = tuple(column.name for column in entity_labels.columns)
_USE = tuple(column.name for column in query_uses.columns)
_entity_values, _label_values, _use_values = itemgetter(*_ENTITY), itemgetter(*_LABEL), itemgetter(*_USE)


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
