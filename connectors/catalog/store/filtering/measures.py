"""How much entities are used, and how old they are: what searches are ordered by and people choose by."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select, text

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.filtering.conditions import ADMITTED
from connectors.catalog.store.schema import attributes, entities
from connectors.catalog.store.search_tables import entity_activity
from ingestion.model import Json

_DESCENDING = frozenset({"used", "readers", "new"})
_COLUMNS = {
    "used": entity_activity.c.runs,
    "readers": entity_activity.c.readers,
    "stale": entity_activity.c.last_written,
}
_KEYS = {"used": "runs", "readers": "readers", "new": "appeared", "stale": "lastWritten"}
_APPEARED = (
    select(attributes.c.entity_id, func.min(attributes.c.at))
    .where(attributes.c.name == text("'exists'"), attributes.c.value.is_not(None))
    .group_by(attributes.c.entity_id)
)


def measures(connection: Connection, identifiers: Sequence[str]) -> dict[str, Json]:
    """Of each entity the runs that read it, the tables that read it, when it appeared and was last written."""
    found: dict[str, Json] = {identifier: {"runs": 0, "readers": 0} for identifier in identifiers}
    columns = (entity_activity.c.entity_id, *_COLUMNS.values())
    for chunk in chunks_of(sorted(found)):
        for row in connection.execute(select(*columns).where(entity_activity.c.entity_id.in_(chunk))):
            found[row.entity_id].update(runs=row.runs, readers=row.readers)
            if row.last_written is not None:
                found[row.entity_id]["lastWritten"] = row.last_written
        own = (attributes.c.entity_id.in_(chunk), attributes.c.column_path == "")
        for identifier, at in connection.execute(_APPEARED.where(*own)):
            found[identifier]["appeared"] = at
    return found


def identifiers_in_order(connection: Connection, order: str, limit: int) -> list[str]:
    """The admitted entities in an order (one of ORDERS), as many as are wanted; what is not known comes last."""
    query = select(ADMITTED.c.id).join(entities, entities.c.id == ADMITTED.c.id)
    if order == "name":
        return list(connection.scalars(query.order_by(entities.c.name_folded, entities.c.fqn).limit(limit)))
    if order == "new":
        appeared = _APPEARED.subquery()
        value = appeared.c[1]
        query = query.outerjoin(appeared, appeared.c.entity_id == ADMITTED.c.id)
    else:
        value = _COLUMNS[order]
        query = query.outerjoin(entity_activity, entity_activity.c.entity_id == ADMITTED.c.id)
    known = func.coalesce(value, 0) if order in {"used", "readers"} else value
    first = known.desc() if order in _DESCENDING else known.asc()
    return list(connection.scalars(query.order_by(first.nulls_last(), entities.c.fqn).limit(limit)))


def order_key(order: str, known: Json, name: str) -> tuple[bool, int, str]:
    """What puts an entity with these measures in the place that `order` gives it."""
    value = known.get(_KEYS.get(order, ""))
    if order == "name" or value is None:
        return order != "name", 0, name
    return False, -value if order in _DESCENDING else value, name
