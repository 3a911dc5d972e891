"""Entities as they are now: registered under their names, read by name, id or list, deleted and restored.

An entity's id is a function of its type and fully qualified name, so a repeated registration changes nothing.
"""

from __future__ import annotations

import base64
import binascii
import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, select, update

from connectors.catalog.contract.entity_types import BY_TYPE, GO_WITH_THEIR_TABLE, LINEAGE_TYPES, EntityType
from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.store.database import loads
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import entities
from ingestion.model.lineage import Json

_NAMESPACE = uuid.UUID("6a4b0d0e-6f0e-5b7e-9d5c-1f6a0c9b7e11")
MAX_PAGE = 1_000
EntityRow = Row[Any]
_ROWS_OF = select(entities).where(entities.c.id.in_(IDS))


def entity_id(kind: str, name: str) -> str:
    """The id of the entity of type `kind` with fully qualified name `name`."""
    return str(uuid.uuid5(_NAMESPACE, f"{kind}:{name}"))


def answer(row: EntityRow) -> Json:
    """The entity as a client reads it."""
    document = loads(row.document)
    document["version"] = round(row.version, 1)
    document["updatedAt"] = row.updated_at
    document["updatedBy"] = "admin"
    if BY_TYPE[row.type].deletable:
        document["deleted"] = bool(row.deleted)
    if row.processed:
        document["processedLineage"] = True
    return document


def reference(document: Json, kind: str) -> Json:
    """A reference to an entity, as other entities carry it."""
    ref = {key: document[key] for key in ("id", "name", "fullyQualifiedName")}
    ref["type"] = kind
    return {**ref, "displayName": document["displayName"]} if document.get("displayName") else ref


def reference_of(row: EntityRow) -> Json:
    """A reference to a stored entity."""
    return reference(loads(row.document), row.type)


def find(connection: Connection, kind: str, name: str, include: str = "non-deleted") -> EntityRow | None:
    """The entity named `name`, if `include` (non-deleted, deleted, all) admits it."""
    where = and_(entities.c.type == kind, entities.c.fqn == name, _inclusion(include))
    return connection.execute(select(entities).where(where)).one_or_none()


def find_id(connection: Connection, identifier: str, include: str = "non-deleted") -> EntityRow | None:
    """The entity with this id, if `include` admits it."""
    where = and_(entities.c.id == identifier.lower(), _inclusion(include))
    return connection.execute(select(entities).where(where)).one_or_none()


def get(connection: Connection, kind: str, name: str, include: str = "non-deleted") -> EntityRow:
    """The entity named `name`, if `include` (as of `find`) admits it. Raises ApiError (404) when there is none."""
    row = find(connection, kind, name, include)
    if row is None:
        raise not_found(kind, name)
    return row


def get_id(connection: Connection, kind: str, identifier: str, include: str = "non-deleted") -> EntityRow:
    """The entity with this id, if it is of that `kind` and `include` admits it. Raises ApiError (404) else."""
    row = find_id(connection, identifier, include)
    if row is None or row.type != kind:
        raise not_found(kind, identifier)
    return row


@dataclass(frozen=True, slots=True)
class Page:
    """Which entities of a collection to list."""

    limit: int = 10
    after: str | None = None
    before: str | None = None
    include: str = "non-deleted"
    under: str | None = None  # fully qualified name of an ancestor
    query_ids: tuple[str, ...] | None = None


def listing(connection: Connection, kind: EntityType, page: Page) -> Json:
    """One page in order of name, with cursors that survive insertions. Raises ApiError (400) for a bad cursor."""
    scope = and_(entities.c.type == kind.type, _inclusion(page.include))
    if page.under is not None:
        scope = and_(scope, *lies_under(page.under))
    if page.query_ids is not None:
        scope = and_(scope, entities.c.id.in_(page.query_ids))
    total = connection.scalar(select(func.count()).select_from(entities).where(scope)) or 0
    wanted = max(0, min(page.limit, MAX_PAGE))
    rows = _page_rows(connection, scope, page, wanted)
    paging: Json = {"total": total}
    if rows:
        first, last = rows[0].fqn, rows[-1].fqn
        if _exists(connection, and_(scope, entities.c.fqn > last)):
            paging["after"] = _encode_cursor(last)
        if _exists(connection, and_(scope, entities.c.fqn < first)):
            paging["before"] = _encode_cursor(first)
    return {"data": [answer(row) for row in rows], "paging": paging}


def _page_rows(connection: Connection, scope: ColumnElement[bool], page: Page, wanted: int) -> list[EntityRow]:
    if page.before is not None:
        where = and_(scope, entities.c.fqn < _decode_cursor(page.before))
        backwards = select(entities).where(where).order_by(entities.c.fqn.desc()).limit(wanted)
        return list(reversed(connection.execute(backwards).all()))
    where = scope if page.after is None else and_(scope, entities.c.fqn > _decode_cursor(page.after))
    return list(connection.execute(select(entities).where(where).order_by(entities.c.fqn).limit(wanted)).all())


def lies_under(ancestor: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The condition that an entity lies under `ancestor`: a range, so that nothing of the name is a pattern."""
    return entities.c.fqn > f"{ancestor}.", entities.c.fqn < f"{ancestor}/"


def _encode_cursor(name: str) -> str:
    """An opaque cursor that needs no escaping in a URL."""
    return base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _decode_cursor(cursor: str) -> str:
    """The name in a cursor. Raises ApiError (400) when it is none of ours."""
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise bad_request("after or before is not a cursor of this server") from error


def delete(connection: Connection, row: EntityRow, *, hard: bool, recursive: bool) -> list[str]:
    """Marks the entity deleted, its children with it; returns the ids.

    Raises ApiError (400) for an entity with children unless `recursive` is asked for.
    """
    children = connection.execute(
        select(entities).where(entities.c.parent_id == row.id, _inclusion("all" if hard else "non-deleted"))
    ).all()
    if not recursive and any(child.type not in GO_WITH_THEIR_TABLE for child in children):
        raise bad_request(f"{row.type} {row.fqn} is not empty: delete it with recursive=true")
    gone = [row.id]
    for child in children:
        gone += delete(connection, child, hard=hard, recursive=True)
    values: Json = {"deleted": True, "purged": True} if hard else {"deleted": True}
    connection.execute(update(entities).where(entities.c.id == row.id).values(**values))
    return gone


def restore(connection: Connection, identifier: str, kind: str) -> EntityRow:
    """Takes the soft deletion of an entity of that `kind` back. Raises ApiError (404) for what is not there."""
    row = get_id(connection, kind, identifier, "all")
    connection.execute(update(entities).where(entities.c.id == row.id).values(deleted=False))
    return get_id(connection, kind, identifier)


def _inclusion(include: str) -> ColumnElement[bool]:
    if include == "all":
        return entities.c.purged.is_(False)
    if include == "deleted":
        return and_(entities.c.purged.is_(False), entities.c.deleted.is_(True))
    return entities.c.deleted.is_(False)


def _exists(connection: Connection, where: ColumnElement[bool]) -> bool:
    return connection.execute(select(entities.c.id).where(where).limit(1)).first() is not None


def any_rows_of(connection: Connection, identifiers: set[str]) -> dict[str, EntityRow]:
    """The entities that are or were there, by id."""
    found: dict[str, EntityRow] = {}
    for some in thousands_of(sorted(identifiers)):
        found.update({row.id: row for row in connection.execute(_ROWS_OF, bind_ids(some)).all()})
    return found


def lineage_entity(connection: Connection, name: str) -> EntityRow | None:
    """The entity that lineage can touch with this fully qualified name, gone or not; exact case first."""
    where = and_(entities.c.type.in_(LINEAGE_TYPES), entities.c.fqn_folded == name.casefold())
    rows = connection.execute(select(entities).where(where).order_by(entities.c.deleted, entities.c.type)).all()
    return next((row for row in rows if row.fqn == name), rows[0] if rows else None)
