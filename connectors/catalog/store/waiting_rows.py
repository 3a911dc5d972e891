"""What is to be written of entities that are put: row by row it costs several times as much as all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.schema import entities, query_uses
from connectors.catalog.store.search_tables import entity_labels

# Built once: for thousands of entities, building a statement costs more than carrying it out.
_ADD = insert(entities)
_ADD_LABELS = upsert(entity_labels).on_conflict_do_nothing()
_ADD_USES = upsert(query_uses).on_conflict_do_nothing()


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
        for statement, rows in ((_ADD, self._entities), (_ADD_LABELS, self._labels), (_ADD_USES, self._uses)):
            if rows:
                connection.execute(statement, rows)
                rows.clear()
        self._names.clear()
