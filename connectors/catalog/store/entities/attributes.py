"""What was known of an entity, and when: every change of an attribute is an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.schema import attributes
from ingestion.model import Json
from ingestion.names import fqn

_ENTITY_ATTRIBUTES = ("description", "owners", "tableType", "schemaDefinition", "displayName")


@dataclass(frozen=True, slots=True)
class Change:
    """An attribute took a value (canonical JSON; None = gone) at a time; `label` makes a new name findable."""

    entity_id: str
    path: str
    name: str
    value: str | None
    at: int
    label: str | None = None


def entity_changes(identifier: str, before: Json, after: Json, at: int) -> list[Change]:
    """The events that lead from the answer `before` (empty: not there) to `after`, `at` a time in milliseconds."""
    changes = []
    if not before:
        label = after["fullyQualifiedName"]
        changes.append(Change(identifier, "", "exists", "true", at, label))
    for name in _ENTITY_ATTRIBUTES:
        old, new = before.get(name), after.get(name)
        if old != new:
            changes.append(Change(identifier, "", name, None if new is None else dumps(new), at))
    return changes + _column_changes(identifier, before, after, at)


def _column_changes(identifier: str, before: Json, after: Json, at: int) -> list[Change]:
    old = {path: (position, column) for path, position, column in columns_of.walk(columns_of.of_document(before))}
    new = {path: (position, column) for path, position, column in columns_of.walk(columns_of.of_document(after))}
    changes = []
    for path, (position, column) in new.items():
        shape = dumps(columns_of.shape(position, column))
        known = old.get(path)
        if known is None or dumps(columns_of.shape(*known)) != shape:
            label = column["name"] if known is None else None
            changes.append(Change(identifier, path, "shape", shape, at, label))
        described = column.get("description")
        if described != (known[1].get("description") if known is not None else None):
            changes.append(Change(identifier, path, "description", None if described is None else dumps(described), at))
    changes += [Change(identifier, path, "shape", None, at) for path in old if path not in new]
    return changes


def record(connection: Connection, changes: list[Change]) -> None:
    """Writes events."""
    rows = [
        {"entity_id": c.entity_id, "column_path": c.path, "name": c.name, "value": c.value, "at": c.at} for c in changes
    ]
    if rows:
        connection.execute(insert(attributes), rows)


def known_columns(connection: Connection, identifiers: list[str]) -> Mapping[str, set[str]]:
    """The paths of every column each entity ever had."""
    known: dict[str, set[str]] = {identifier: set() for identifier in identifiers}
    for chunk in chunks_of(identifiers):
        rows = connection.execute(
            select(attributes.c.entity_id, attributes.c.column_path)
            .where(attributes.c.entity_id.in_(chunk), attributes.c.name == "shape")
            .distinct()
        )
        for identifier, path in rows:
            known[identifier].add(path)
    return known


def history(connection: Connection, identifier: str) -> list[dict[str, Any]]:
    """Every event of an entity's attributes, oldest first."""
    rows = connection.execute(
        select(attributes).where(attributes.c.entity_id == identifier).order_by(attributes.c.at, attributes.c.seq)
    )
    return [{"column": r.column_path, "name": r.name, "value": r.value, "at": r.at} for r in rows]


def columns_at(connection: Connection, identifiers: list[str], moment: int | None) -> dict[str, list[Json]]:
    """The columns each entity had at a moment, in their order then; entities without any known then are left out."""
    if moment is None:
        return {}
    shapes: dict[str, dict[str, Json]] = {identifier: {} for identifier in identifiers}
    for chunk in chunks_of(identifiers):
        where = (attributes.c.entity_id.in_(chunk), attributes.c.name == "shape", attributes.c.at <= moment)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
            if row.value is None:
                shapes[row.entity_id].pop(row.column_path, None)
            else:
                shapes[row.entity_id][row.column_path] = loads(row.value)
    return {
        identifier: [
            {"path": path, "name": fqn.split(path)[-1], **shape}
            for path, shape in sorted(known.items(), key=lambda item: (item[1]["position"], item[0]))
        ]
        for identifier, known in shapes.items()
        if known
    }
