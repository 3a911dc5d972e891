"""What entities belong to: a domain, a tag, an owner."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, and_, func, select

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.entities.entities import EntityRow, answer, get_id, reference_of
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.schema import entities
from ingestion.model.lineage import Json

_HELD = {
    "domain": ("$.domains", "id"),
    "user": ("$.owners", "id"),
    "team": ("$.owners", "id"),
    "tag": ("$.tags", "tagFQN"),
}
"""Where an entity says what it belongs to: the list, and what in its items says so."""


def _belongs(path: str, key: str, value: str) -> ColumnElement[bool]:
    """The condition that the list at `path` of an entity's document has an item whose `key` is `value`."""
    items = func.json_each(entities.c.document, path).table_valued("value")
    return select(1).where(func.json_extract(items.c.value, f"$.{key}") == value).exists()


def page(connection: Connection, row: EntityRow, limit: int, offset: int) -> Json:
    """References to what belongs to an entity, by name: at most `limit`, without the first `offset`."""
    path, key = _HELD[row.type]
    where = and_(_belongs(path, key, row.id if key == "id" else row.fqn), entities.c.deleted.is_(False))
    total = connection.scalar(select(func.count()).select_from(entities).where(where)) or 0
    found = connection.execute(select(entities).where(where).order_by(entities.c.fqn).limit(limit).offset(offset)).all()
    return {"data": [reference_of(one) for one in found], "paging": {"total": total, "offset": offset, "limit": limit}}


def move(connection: Connection, domain: EntityRow, asset: Json, *, into: bool) -> str:
    """Puts what a reference names into a domain, or takes it out; its name. Raises ApiError (404, 400) if it cannot."""
    if asset["type"] not in BY_TYPE or "domains" not in BY_TYPE[asset["type"]].keys:
        raise bad_request("only what has a domain can be put into one")
    kind = BY_TYPE[asset["type"]]
    document = answer(get_id(connection, kind.type, asset["id"]))
    others = [one for one in document.get("domains") or () if one["id"] != domain.id]
    request = kind.request_of(document)
    request["domains"] = [*others, reference_of(domain)] if into else others
    registration = Registration(connection, exact=True)
    registration.put(kind, request)
    registration.finish()
    name: str = document["fullyQualifiedName"]
    return name
