"""What became of the loads of tables: failures, and how many rows were written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.schema import load_outcomes


@dataclass(frozen=True, slots=True)
class StoredLoad:
    """A load of a table at a time (milliseconds); `rows` None: not told. `job` is the name of what ran it."""

    entity_id: str
    at: int
    failed: bool
    rows: int | None
    job: str


def load_history(connection: Connection, entities: Iterable[str], until: int) -> list[StoredLoad]:
    """The loads of entities that are known one by one, up to `until` (milliseconds), oldest first."""
    found: list[StoredLoad] = []
    for chunk in chunks_of(sorted(set(entities))):
        where = (load_outcomes.c.entity_id.in_(chunk), load_outcomes.c.at <= until)
        rows = connection.execute(select(load_outcomes).where(*where))
        found += [StoredLoad(row.entity_id, row.at, row.status == "failed", row.rows, row.job) for row in rows]
    return sorted(found, key=lambda one: (one.at, one.entity_id, one.job))
