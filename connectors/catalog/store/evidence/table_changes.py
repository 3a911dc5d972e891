"""Each change of the tables and columns of some entities, at its own time: not only what is left of them at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.database import loads
from connectors.catalog.store.schema import attributes
from ingestion.dialects.types import is_same_type

_NAMES = ("shape", "exists", "schemaDefinition", "renamedFrom", "retyped")
_NO_TYPE = "unknown"


@dataclass(frozen=True, slots=True)
class StoredChange:
    """At `at` (milliseconds) the column at `path` ("": the entity) changed in the way of `kind`.

    `kind`: added, dropped, retyped, renamed, redefined. `before` and `after` are types or names, "" where there is
    none: never a definition's text.
    """

    entity_id: str
    path: str
    kind: str
    at: int
    before: str = ""
    after: str = ""


def table_changes(connection: Connection, entities: Iterable[str], start: int, end: int) -> list[StoredChange]:
    """The changes after `start` and up to `end` (milliseconds), oldest first. What came with its table is none."""
    found: list[StoredChange] = []
    known: dict[tuple[str, str, str], str | None] = {}
    begun: dict[str, int] = {}
    for chunk in chunks_of(sorted(set(entities))):
        where = (attributes.c.entity_id.in_(chunk), attributes.c.name.in_(_NAMES), attributes.c.at <= end)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
            key = row.entity_id, row.column_path, row.name
            before = known.get(key)
            if before is not None and row.name == "shape" and row.value is not None and _type_of(row.value) == _NO_TYPE:
                continue  # who does not tell a type does not change it
            known[key] = row.value
            first = begun.setdefault(row.entity_id, row.at) if row.name != "retyped" else begun.get(row.entity_id)
            change = _change(row.entity_id, row.column_path, row.name, (before, row.value), row.at)
            if change is not None and row.at > start and (row.name == "retyped" or row.at != first):
                found.append(change)
    renamed = {(one.entity_id, one.at) for one in found if one.kind == "renamed"}
    kept = [one for one in _once(found) if one.kind != "added" or (one.entity_id, one.at) not in renamed]
    return sorted(kept, key=lambda one: (one.at, one.entity_id, one.path, one.kind))


def _once(changes: list[StoredChange]) -> list[StoredChange]:
    """Each change once: another type is told by its event and by what stands after it."""
    of_one = {(one.entity_id, one.path, one.at, one.kind): one for one in sorted(changes, key=lambda one: one.before)}
    return list(of_one.values())


def _change(entity: str, path: str, name: str, values: tuple[str | None, str | None], at: int) -> StoredChange | None:
    before, after = values
    if name == "renamedFrom":
        return StoredChange(entity, path, "renamed", at, str(loads(after)), path) if after is not None else None
    if name == "retyped":
        old, new = map(str.lower, loads(after or '["", ""]'))
        return StoredChange(entity, path, "retyped", at, old, new)
    if name == "schemaDefinition":
        return StoredChange(entity, path, "redefined", at) if before is not None and before != after else None
    if before is None and after is None:
        return None
    old, new = ("" if value is None or name == "exists" else _type_of(value) for value in values)
    if before is None:
        return StoredChange(entity, path, "added", at, "", new)
    if after is None:
        return StoredChange(entity, path, "dropped", at, old)
    return None if is_same_type(old, new) or old == _NO_TYPE else StoredChange(entity, path, "retyped", at, old, new)


def _type_of(shape: str) -> str:
    column = loads(shape)
    return str(column.get("dataTypeDisplay") or column.get("dataType") or "").lower()


def known_since(connection: Connection) -> int | None:
    """When the store's knowledge of tables begins (milliseconds); None: it has none."""
    first: int | None = connection.scalar(select(func.min(attributes.c.at)))
    return first
