"""Each change of the tables and columns of some entities, at its own time: not only what is left of them at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from connectors.catalog.store.database import loads
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import attributes
from ingestion.dialects.types import is_same_type

_OF_STATEMENTS = ("dropped", "renamedFrom", "retyped")
"""What statements did at their time, which may be before the table was known."""
_NAMES = ("shape", "exists", "schemaDefinition", *_OF_STATEMENTS)
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
    moved = _MovedColumns()
    for some in thousands_of(sorted(set(entities))):
        where = (attributes.c.entity_id.in_(some), attributes.c.name.in_(_NAMES), attributes.c.at <= end)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
            key = row.entity_id, row.column_path, row.name
            before = known.get(key)
            if before is not None and row.name == "shape" and row.value is not None and _type_of(row.value) == _NO_TYPE:
                continue  # who does not tell a type does not change it
            known[key] = row.value
            of_statement = row.name in _OF_STATEMENTS
            first = begun.get(row.entity_id) if of_statement else begun.setdefault(row.entity_id, row.at)
            change = _change(row.entity_id, row.column_path, row.name, (before, row.value), row.at)
            if (
                change is not None
                and not moved.explain(change, of_statement=of_statement)
                and row.at > start
                and (of_statement or row.at != first)
            ):
                found.append(change)
    renamed = {
        (one.entity_id, one.at, path) for one in found if one.kind == "renamed" for path in (one.path, one.before)
    }
    moves = ("added", "dropped")
    kept = [one for one in _once(found) if one.kind not in moves or (one.entity_id, one.at, one.path) not in renamed]
    return sorted(kept, key=lambda one: (one.at, one.entity_id, one.path, one.kind))


class _MovedColumns:
    """The columns that statements dropped or renamed: what is registered later without or with them is no news."""

    def __init__(self) -> None:
        self._gone: set[tuple[str, str]] = set()
        self._come: set[tuple[str, str]] = set()

    def explain(self, change: StoredChange, *, of_statement: bool) -> bool:
        """Whether a statement before is why a column came or went; each explains that once."""
        column = change.entity_id, change.path
        if of_statement and change.kind == "renamed":
            self._gone.add((change.entity_id, change.before))
            self._come.add(column)
        elif of_statement and change.kind == "dropped":
            self._gone.add(column)
        elif change.kind in ("dropped", "added"):
            expected = self._gone if change.kind == "dropped" else self._come
            known = column in expected
            self._gone.discard(column)
            self._come.discard(column)
            return known
        return False


def _once(changes: list[StoredChange]) -> list[StoredChange]:
    """Each change once: another type is told by its event and by what stands after it."""
    of_one = {(one.entity_id, one.path, one.at, one.kind): one for one in sorted(changes, key=lambda one: one.before)}
    return list(of_one.values())


def _change(entity: str, path: str, name: str, values: tuple[str | None, str | None], at: int) -> StoredChange | None:
    before, after = values
    if name == "renamedFrom":
        return StoredChange(entity, path, "renamed", at, str(loads(after)), path) if after is not None else None
    if name == "dropped":
        return StoredChange(entity, path, "dropped", at, str(loads(after or '""')).lower())
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
