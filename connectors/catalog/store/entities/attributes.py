"""What was known of an entity, and when: every change of an attribute is an event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, select

from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.rows import IDS, bind_ids, insert_rows, thousands_of
from connectors.catalog.store.schema import attributes
from ingestion.model import fqn
from ingestion.model.lineage import Json

_COLUMNS = ("entity_id", "column_path", "name", "value", "at")
_OF_CARDS = ("exists", "shape", "description", "owners", "tableType")
_EVER = select(
    attributes.c.entity_id,
    attributes.c.column_path,
    # all but these few stand in the index: only their values are looked up
    case((attributes.c.name == "renamedFrom", attributes.c.value)),
).where(attributes.c.entity_id.in_(IDS), attributes.c.name.in_(("shape", "dropped", "renamedFrom")))
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
    return changes + column_changes(identifier, before, after, at)


def column_changes(identifier: str, before: Json, after: Json, at: int) -> list[Change]:
    """The events that lead from the columns of the answer `before` to those of `after`."""
    old = {path: (position, column) for path, position, column in columns_of.walk(columns_of.of_document(before))}
    new = {path: (position, column) for path, position, column in columns_of.walk(columns_of.of_document(after))}
    changes = []
    for path, (position, column) in new.items():
        shape = columns_of.shape_text(position, column)
        known = old.get(path)
        if known is None or columns_of.shape_text(*known) != shape:
            label = column["name"] if known is None else None
            changes.append(Change(identifier, path, "shape", shape, at, label))
        described = column.get("description")
        if described != (known[1].get("description") if known is not None else None):
            changes.append(Change(identifier, path, "description", None if described is None else dumps(described), at))
    changes += [Change(identifier, path, "shape", None, at) for path in old if path not in new]
    return changes


def record(connection: Connection, changes: list[Change]) -> None:
    """Writes events."""
    rows = [(one.entity_id, one.path, one.name, one.value, one.at) for one in changes]
    insert_rows(connection, attributes, _COLUMNS, rows)


def shapes_around(connection: Connection, identifier: str, at: int) -> tuple[dict[str, str | None], set[str]]:
    """The shapes of an entity's columns (by path) as of `at` (milliseconds), and which are defined after it."""
    shapes: dict[str, str | None] = {}
    later = set()
    where = (attributes.c.entity_id == identifier, attributes.c.name == "shape")
    for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
        if row.at <= at:
            shapes[row.column_path] = row.value
        elif row.value is not None:
            later.add(row.column_path)
    return shapes, later


def is_recorded(connection: Connection, change: Change) -> bool:
    """Whether this very event is there."""
    where = (
        attributes.c.entity_id == change.entity_id,
        attributes.c.column_path == change.path,
        attributes.c.name == change.name,
        attributes.c.at == change.at,
    )
    return connection.execute(select(attributes.c.seq).where(*where).limit(1)).first() is not None


def known_columns(connection: Connection, identifiers: list[str]) -> Mapping[str, set[str]]:
    """The paths of every column each entity ever had."""
    known: dict[str, set[str]] = {identifier: set() for identifier in identifiers}
    for some in thousands_of(identifiers):
        for identifier, path, old in connection.execute(_EVER, bind_ids(some)).all():
            known[identifier].add(path if old is None else str(loads(old)))
    return known


def history(connection: Connection, identifier: str) -> list[dict[str, Any]]:
    """Every event of an entity's attributes, oldest first."""
    rows = connection.execute(
        select(attributes).where(attributes.c.entity_id == identifier).order_by(attributes.c.at, attributes.c.seq)
    )
    return [{"column": r.column_path, "name": r.name, "value": r.value, "at": r.at} for r in rows]


@dataclass(frozen=True, slots=True)
class PastEntity:
    """What was known of an entity at a moment: whether it was there, its attributes, its columns in their order."""

    there: bool
    attributes: Json
    columns: list[Json]


def entities_at(connection: Connection, identifiers: list[str], moment: int | None) -> dict[str, PastEntity]:
    """What was known of each entity at a moment; entities of which nothing was are left out."""
    if moment is None:
        return {}
    known: dict[str, dict[str, dict[str, str]]] = {}
    for some in thousands_of(identifiers):
        where = (attributes.c.entity_id.in_(some), attributes.c.name.in_(_OF_CARDS), attributes.c.at <= moment)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
            values = known.setdefault(row.entity_id, {}).setdefault(row.column_path, {})
            if row.value is None:
                values.pop(row.name, None)
            else:
                values[row.name] = row.value
    return {identifier: _past_entity(paths) for identifier, paths in known.items()}


def _past_entity(paths: Mapping[str, Mapping[str, str]]) -> PastEntity:
    own = {name: json.loads(value) for name, value in paths.get("", {}).items()}
    columns = []
    for path, values in paths.items():
        if path and "shape" in values:
            described = {"description": json.loads(values["description"])} if "description" in values else {}
            columns.append({"path": path, "name": fqn.split(path)[-1], **loads(values["shape"]), **described})
    columns.sort(key=lambda column: (column["position"], column["path"]))
    return PastEntity(bool(own.pop("exists", False)), own, columns)
