"""Deleting entities: softly or for good, their lineage ending with them, the past kept."""

from __future__ import annotations

from sqlalchemy import Connection, select

from connectors.catalog.contract.entity_types import EntityType
from connectors.catalog.store.database import tick
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.attributes import Change, record
from connectors.catalog.store.lineage.rest_edges import end_entity
from connectors.catalog.store.schema import entities as rows
from ingestion.model.lineage import Json


def remove(connection: Connection, kind: EntityType, identifier: str, *, hard: bool, recursive: bool) -> Json:
    """Deletes one entity, and what lies under it where `recursive`; `hard` for good. Answers the entity.

    Raises ApiError: 404 where it is not there, 400 where something lies under it and this is not `recursive`.
    """
    row = entities.get_id(connection, kind.type, identifier, "all" if hard else "non-deleted")
    _remove(connection, row, hard=hard, recursive=recursive)
    document = entities.answer(row)
    if kind.deletable:
        document["deleted"] = True
    return document


def restore(connection: Connection, kind: EntityType, identifier: str) -> Json:
    """Takes the soft deletion of the entity `identifier` of a `kind` back, and answers it.

    Raises ApiError (404) for what is not there.
    """
    gone = entities.get_id(connection, kind.type, identifier, "all").deleted
    row = entities.restore(connection, identifier, kind.type)
    if gone:
        record(connection, [Change(row.id, "", "exists", "true", tick(connection))])
    return entities.answer(row)


def remove_stale(connection: Connection, kind: EntityType, scope: str, seen: set[str]) -> Json:
    """Soft-deletes the entities of a collection under `scope` whose names are not in `seen`."""
    where = (rows.c.type == kind.type, rows.c.deleted.is_(False), *entities.lies_under(scope))
    gone = [row for row in connection.execute(select(rows).where(*where)).all() if row.fqn not in seen]
    for row in gone:
        if entities.find_id(connection, row.id) is not None:
            _remove(connection, row, hard=False, recursive=True)
    return {
        "status": "success",
        "numberOfRowsProcessed": len(gone),
        "numberOfRowsPassed": len(gone),
        "numberOfRowsFailed": 0,
        "successRequest": [{"request": row.fqn, "message": "", "status": 200} for row in gone],
        "failedRequest": [],
    }


def _remove(connection: Connection, row: entities.EntityRow, *, hard: bool, recursive: bool) -> None:
    gone = entities.delete(connection, row, hard=hard, recursive=recursive)
    now = tick(connection)
    record(connection, [Change(identifier, "", "exists", None, now) for identifier in gone])
    if hard:
        for identifier in gone:
            end_entity(connection, identifier)
