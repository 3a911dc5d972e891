"""How often entities are read, in distinct log records: those that prove lineage, and those told of besides."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, union

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.schema import contributions, intervals, records, usage_records
from ingestion.model import Json


def uses(connection: Connection, identifiers: list[str]) -> dict[str, Json]:
    """For each entity that was read: how many records did, and when last (milliseconds)."""
    found: dict[str, Json] = {}
    for chunk in chunks_of(identifiers):
        last = _last_reads(connection, chunk)
        proving = select(contributions.c.from_id.label("entity_id"), records.c.digest).join_from(
            contributions, records, records.c.contribution_id == contributions.c.id
        )
        recorded = select(usage_records.c.entity_id, usage_records.c.digest)
        # A record that proves several edges, or is told of as well, is one reading.
        readings = union(
            proving.where(contributions.c.from_id.in_(chunk)), recorded.where(usage_records.c.entity_id.in_(chunk))
        ).subquery()
        counted = select(readings.c.entity_id, func.count()).group_by(readings.c.entity_id)
        for identifier, reads in connection.execute(counted):
            found[identifier] = {"reads": reads, "lastRead": last.get(identifier)}
    return found


def _last_reads(connection: Connection, identifiers: list[str]) -> dict[str, int]:
    last: dict[str, int] = {}
    for entity, moment in (
        (intervals.c.from_id, intervals.c.last_seen),
        (usage_records.c.entity_id, usage_records.c.at),
    ):
        newest = select(entity, func.max(moment)).where(entity.in_(identifiers)).group_by(entity)
        for identifier, at in connection.execute(newest):
            last[identifier] = max(at, last.get(identifier, at))
    return last
