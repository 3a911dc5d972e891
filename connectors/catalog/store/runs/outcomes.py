"""Whether runs wrote what they were to write, and how many rows."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.openlineage_models import RunEvent
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.runs.datasets import Datasets
from connectors.catalog.store.schema import load_outcomes

WROTE_NOTHING = ("ABORT", "FAIL")
COMPLETE, FAILED = "complete", "failed"


def file_load_outcomes(connection: Connection, event: RunEvent) -> None:
    """Files what became of a run for each table that it was to write; of tables that nobody knows nothing."""
    failed = event.eventType in WROTE_NOTHING
    if not failed and event.eventType != "COMPLETE":
        return
    datasets = Datasets(connection, Registration(connection, moment_of(event), replace=False))
    rows: list[dict[str, Any]] = []
    for output in event.outputs:
        row = datasets.known_entity(output)
        statistics = output.outputFacets.outputStatistics if output.outputFacets is not None else None
        count = statistics.rowCount if statistics is not None else None
        if row is not None and (failed or count is not None):
            rows.append(
                {
                    "entity_id": row.id,
                    "at": moment_of(event),
                    "run": event.run.runId,
                    "status": FAILED if failed else COMPLETE,
                    "rows": None if failed else count,
                    "job": f"{event.job.namespace}/{event.job.name}",
                }
            )
    if rows:
        connection.execute(upsert(load_outcomes).on_conflict_do_nothing(), rows)


def moment_of(event: RunEvent) -> int:
    """When an event was, in milliseconds; without a zone it is in UTC: that of the machine has no first year."""
    time = event.eventTime
    return max(0, round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000))
