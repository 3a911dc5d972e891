"""Where an entity went that is not there under a name: its name now, and what is called nearly so."""

from __future__ import annotations

from sqlalchemy import Connection, select

from connectors.catalog.search import names as name_search
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.entities import lineage_entity
from connectors.catalog.store.schema import entities
from ingestion.model import fqn
from ingestion.model.lineage import Json

_NEAR = 8


def whereabouts(connection: Connection, name: str) -> Json:
    """`renamed` (the entity's name now, and when it moved there), `dropped` (when), and names `near` this one."""
    row = lineage_entity(connection, name)
    renamed, dropped = _present_name(connection, row.id) if row is not None and row.deleted else (None, None)
    return {"renamed": renamed, "dropped": dropped, "near": _near(connection, name)}


def _present_name(connection: Connection, identifier: str) -> tuple[Json | None, int | None]:
    """What bears the name's entity now, however often it moved; or when it was dropped."""
    known = name_events.lives(connection, [identifier])
    seen: set[str] = set()
    at = None
    while identifier in known and identifier not in seen:
        seen.add(identifier)
        last = known[identifier][-1]
        if last.back is not None:
            break
        at = last.at
        if last.other is None:
            return None, at
        identifier = last.other
    if at is None or not seen - {identifier}:
        return None, None
    name = connection.scalar(select(entities.c.fqn).where(entities.c.id == identifier))
    return {"entity": name, "at": at}, None


def _near(connection: Connection, name: str) -> list[str]:
    results = name_search.find(connection, fqn.split(name)[-1], 2 * _NEAR)
    names = dict.fromkeys(one["entity"]["fullyQualifiedName"] for one in results if one["kind"] == "entity")
    return [one for one in names if one != name][:_NEAR]
