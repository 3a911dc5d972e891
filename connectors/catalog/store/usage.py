"""How often entities are read, in distinct records of the log."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, func, select

from connectors.catalog.store.database import Json
from connectors.catalog.store.rows import chunks_of
from connectors.catalog.store.schema import usage_records


def uses(connection: Connection, identifiers: list[str], until: int | None = None) -> dict[str, Json]:
    """For each entity that was read: how many records did, and when last."""
    found: dict[str, Json] = {}
    for chunk in chunks_of(identifiers):
        where: list[ColumnElement[bool]] = [usage_records.c.entity_id.in_(chunk)]
        if until is not None:
            where.append(usage_records.c.at <= until)
        counted = (usage_records.c.entity_id, func.count(), func.max(usage_records.c.at))
        for identifier, reads, last in connection.execute(
            select(*counted).where(*where).group_by(usage_records.c.entity_id)
        ):
            found[identifier] = {"reads": reads, "lastRead": last}
    return found
