"""What became of single loads, as query logs tell: which failed, and how many rows others wrote."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.bulk_models import StatementLoad
from connectors.catalog.contract.errors import not_found
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.schema import statement_loads
from ingestion.model import Json


def file_statement_loads(connection: Connection, loads: Sequence[StatementLoad]) -> Json:
    """Files the loads, each once; a number of rows is kept where one is told. Raises ApiError (404)."""
    rows = any_rows_of(connection, {load.entity.id.lower() for load in loads})
    for load in loads:
        row = rows.get(load.entity.id.lower())
        if row is None or row.purged or row.type != load.entity.type:
            raise not_found(load.entity.type, load.entity.id)
    before = _count(connection)
    if loads:
        new = upsert(statement_loads)
        known = func.coalesce(new.excluded.rows, statement_loads.c.rows)
        key = list(statement_loads.primary_key)
        connection.execute(new.on_conflict_do_update(index_elements=key, set_={"rows": known}), list(map(_row, loads)))
    return {"filed": len(loads), "new": _count(connection) - before}


def _row(load: StatementLoad) -> Json:
    return {"entity_id": load.entity.id.lower(), **load.model_dump(exclude={"entity"})}


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(statement_loads)) or 0
