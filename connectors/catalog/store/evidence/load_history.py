"""What became of the loads of tables: failures, and how many rows were written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.schema import load_outcomes, statement_loads


@dataclass(frozen=True, slots=True)
class StoredLoad:
    """A load of a table at a time (milliseconds); `rows` None: not told. `job` is the name of what ran it.

    `producer` is by what key it speaks of lineage: a job's name, or a statement's fingerprint (`is_statement`). `error`
    is the code of why it failed, "" where that is not known.
    """

    entity_id: str
    at: int
    failed: bool
    rows: int | None
    job: str
    producer: str
    is_statement: bool = False
    error: str = ""


def load_history(connection: Connection, entities: Iterable[str], until: int) -> list[StoredLoad]:
    """The loads of entities that are known one by one, up to `until` (milliseconds), oldest first."""
    found: list[StoredLoad] = []
    for chunk in chunks_of(sorted(set(entities))):
        runs = select(load_outcomes).where(load_outcomes.c.entity_id.in_(chunk), load_outcomes.c.at <= until)
        found += map(_of_job, connection.execute(runs))
        logged = select(statement_loads).where(statement_loads.c.entity_id.in_(chunk), statement_loads.c.at <= until)
        found += map(_of_statement, connection.execute(logged))
    return sorted(found, key=lambda one: (one.at, one.entity_id, one.producer, one.failed))


def _of_job(row: Row[Any]) -> StoredLoad:
    return StoredLoad(row.entity_id, row.at, row.status == "failed", row.rows, row.job, row.job)


def _of_statement(row: Row[Any]) -> StoredLoad:
    what = row.entity_id, row.at, row.status == "failed", row.rows, row.job, row.statement
    return StoredLoad(*what, is_statement=True, error=row.error)
