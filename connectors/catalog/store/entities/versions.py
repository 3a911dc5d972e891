"""Every version that an entity had, and what changed between one and the next."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities.entities import EntityRow, answer
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import entities, entity_versions
from ingestion.model.lineage import Json

_MARK = (
    update(entities)
    .where(entities.c.id == bindparam("marked"))
    .values(processed=True, version=bindparam("number"), updated_at=bindparam("moment"))
)
_STAMPS = frozenset({"version", "updatedAt", "updatedBy", "changeDescription"})


def keep_versions(connection: Connection, rows: Iterable[EntityRow]) -> None:
    """Files what a client reads of entities, before another version of each takes its place."""
    kept = [{"entity_id": row.id, "version": row.version, "answer": dumps(answer(row))} for row in rows]
    if kept:
        connection.execute(upsert(entity_versions).on_conflict_do_nothing(), kept)


def mark_processed(connection: Connection, identifiers: Iterable[str], now: int) -> None:
    """Marks tables (by `identifiers`, their ids) whose lineage is done, each in a version of `now` (milliseconds)."""
    unmarked = entities.c.type == "table", ~entities.c.processed, ~entities.c.deleted
    statement = select(entities).where(entities.c.id.in_(IDS), *unmarked)
    for some in thousands_of(sorted(identifiers)):
        rows = connection.execute(statement, bind_ids(some)).all()
        keep_versions(connection, rows)
        if rows:
            marks = [{"marked": row.id, "number": next_version(row), "moment": now} for row in rows]
            connection.execute(_MARK, marks)


def next_version(row: EntityRow) -> float:
    """The number of the version that takes the place of this one."""
    return round(float(row.version) + 0.1, 1)


def versions_of(connection: Connection, row: EntityRow) -> list[Json]:
    """All versions of an entity, the newest first, each with how it differs from the one before."""
    where = entity_versions.c.entity_id == row.id
    kept = select(entity_versions.c.answer).where(where).order_by(entity_versions.c.version)
    documents = [loads(text) for text in connection.scalars(kept)]
    documents.append(answer(row))
    for before, after in pairwise(documents):
        after["changeDescription"] = _change(before, after)
    return documents[::-1]


def version_of(connection: Connection, row: EntityRow, number: str) -> Json:
    """One version of an entity. Raises ApiError (404) when it had none of that `number`."""
    found = next((one for one in versions_of(connection, row) if f"{one['version']:.1f}" == number), None)
    if found is None:
        raise ApiError(404, f"{row.type} {row.fqn} has no version {number[:20]}")
    return found


def _change(before: Json, after: Json) -> Json:
    added: list[Json] = []
    updated: list[Json] = []
    gone: list[Json] = []
    for key in sorted((before.keys() | after.keys()) - _STAMPS):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        change = {"name": key} | {name: _text(value) for name, value in (("oldValue", old), ("newValue", new)) if value}
        (added if key not in before else gone if key not in after else updated).append(change)
    return {
        "fieldsAdded": added,
        "fieldsUpdated": updated,
        "fieldsDeleted": gone,
        "previousVersion": before["version"],
    }


def _text(value: object) -> str:
    """A value as the contract carries it in a change: text as it is, all else as JSON."""
    return value if isinstance(value, str) else dumps(value)
