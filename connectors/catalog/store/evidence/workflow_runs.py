"""The runs of workflows as each tells of itself, the statements that are dead still, and tables without a source."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.schema import dead_statements, pipeline_runs, writes_without_source
from ingestion.model.lineage import Json

if TYPE_CHECKING:
    from connectors.catalog.contract.run_models import OpenStatements, WorkflowRun

_RUNS_KEPT = 1_000
"""Runs of a workflow that are kept."""
RUN, STATUS = "run", "status"
"""What a document of a run has: what Headwater tells of it, and what OpenMetadata's clients know it by."""
_TELLS = func.json_type(pipeline_runs.c.document, f"$.{RUN}") == "object"
"""Whether a run is one that Headwater told of, and no other client's."""


# What runs file.


def file_run(connection: Connection, run: WorkflowRun, coverage: Json | None = None) -> None:
    """Keeps a run in place of what it had told before, with how much was covered at its end."""
    values = run.model_dump() | {"coverage": coverage}
    document = {RUN: values, STATUS: _status(run)}
    row = upsert(pipeline_runs).values(pipeline=run.workflow, run_id=run.run, at=run.started, document=dumps(document))
    connection.execute(row.on_conflict_do_update(set_={"at": row.excluded.at, "document": row.excluded.document}))
    _end_killed_runs(connection, run)
    table = pipeline_runs.c
    older = select(table.run_id).where(table.pipeline == run.workflow).order_by(table.at.desc(), table.run_id)
    gone = list(connection.scalars(older.offset(_RUNS_KEPT)))
    if gone:
        connection.execute(delete(pipeline_runs).where(table.pipeline == run.workflow, table.run_id.in_(gone)))


def _end_killed_runs(connection: Connection, run: WorkflowRun) -> None:
    """What began before `run` and is running still was killed: of a workflow there is one run at a time."""
    from connectors.catalog.contract.run_models import WorkflowRun  # by those who write: slow to load for all others

    table = pipeline_runs.c
    running = func.json_extract(pipeline_runs.c.document, f"$.{RUN}.outcome") == "running"
    earlier = (_TELLS, running, table.pipeline == run.workflow, table.run_id != run.run, table.at < run.started)
    for row in connection.execute(select(table.run_id, table.document).where(*earlier)).all():
        killed = WorkflowRun(**(values := loads(row.document)[RUN]) | {"outcome": "crashed"})
        document = {RUN: values | {"outcome": killed.outcome}, STATUS: _status(killed)}
        ended = update(pipeline_runs).where(table.pipeline == run.workflow, table.run_id == row.run_id)
        connection.execute(ended.values(document=dumps(document)))


def _status(run: WorkflowRun) -> Json:
    from connectors.catalog.contract.run_models import pipeline_state

    state = pipeline_state(run.outcome)
    ended = {} if run.ended is None else {"endDate": run.ended}
    return {
        "runId": run.run,
        "pipelineState": state,
        "startDate": run.started,
        "timestamp": run.started,
        **ended,
    }


def file_open_statements(connection: Connection, given: OpenStatements) -> None:
    """Keeps the dead statements of a workflow in place of those before, and why tables have no source."""
    workflow = given.workflow
    connection.execute(delete(dead_statements).where(dead_statements.c.workflow == workflow))
    dead = [
        {"workflow": workflow, "number": number, "run_id": one.run, "document": dumps(one.model_dump())}
        for number, one in enumerate(given.dead)
    ]
    if dead:
        connection.execute(insert(dead_statements), dead)
    table = writes_without_source
    if given.whole:
        connection.execute(delete(table).where(table.c.workflow == workflow))
    known = any_rows_of(connection, {one.entity.id.lower() for one in given.writes})
    writes = [
        {
            "entity_id": one.entity.id.lower(),
            "workflow": workflow,
            "reason": one.reason,
            "document": dumps({"names": one.names}),
        }
        for one in given.writes
        if one.entity.id.lower() in known
    ]
    if writes:
        new = upsert(table)
        connection.execute(new.on_conflict_do_update(set_={"document": new.excluded.document}), writes)


# What is known of them.


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run told of itself, times in milliseconds; `report` as `ingest run --report` writes it.

    `coverage`: how many tables had their source known at its end, by what is known of it; None where it did not end.
    """

    run: str
    workflow: str
    service: str
    started: int
    ended: int | None
    outcome: str
    message: str
    report: Json
    replay: str
    coverage: Json | None
    configuration: Json | None = None

    @property
    def kind(self) -> str:
        """What it was asked to read: `run`, `backfill` or `replay`."""
        return str(self.report.get("kind", "run"))

    @property
    def read_until(self) -> int | None:
        """The time of the newest record that it or a run before it read, in milliseconds; None where none is known."""
        newest = self.report.get("read_until")
        return _millis(newest) if isinstance(newest, str) else None

    @property
    def counts(self) -> Json:
        """The counts of its report; empty where it did not come to its end."""
        found: Json = self.report.get("counts") or {}
        return found


def stored_runs(connection: Connection, workflow: str | None = None, limit: int = 20) -> list[StoredRun]:
    """The latest runs of a workflow (None: of all), the newest first."""
    where = [_TELLS]
    if workflow is not None:
        where.append(pipeline_runs.c.pipeline == workflow)
    order = pipeline_runs.c.at.desc(), pipeline_runs.c.run_id
    found = connection.execute(select(pipeline_runs).where(*where).order_by(*order).limit(limit))
    return list(map(_stored_run, found))


def stored_run(connection: Connection, run: str) -> StoredRun | None:
    """The one run of that id, or whose id begins so; None where there is none, or several are."""
    table = pipeline_runs.c
    where = (_TELLS, table.run_id.startswith(run, autoescape=True))
    found = connection.execute(select(pipeline_runs).where(*where).limit(2)).all()
    return _stored_run(found[0]) if len(found) == 1 else None


def run_before(connection: Connection, run: StoredRun) -> StoredRun | None:
    """The run of the same workflow that came to its end last before it began; a replay, of a few records, is none."""
    table = pipeline_runs.c
    where = (_TELLS, table.pipeline == run.workflow, table.at < run.started)
    for row in connection.execute(select(pipeline_runs).where(*where).order_by(table.at.desc()).limit(50)):
        found = _stored_run(row)
        if found.counts and found.kind != "replay":
            return found
    return None


def read_until_by_service(connection: Connection) -> dict[str, int]:
    """The time of the newest record that was read of each service, in milliseconds."""
    values = pipeline_runs.c.document
    service, until = (func.json_extract(values, f"$.{RUN}.{name}") for name in ("service", "report.read_until"))
    newest = select(service, func.max(until)).where(_TELLS, until.is_not(None)).group_by(service)
    return {name: _millis(iso) for name, iso in connection.execute(newest)}  # in UTC, so that text is in order of time


def _millis(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def _stored_run(row: Row[Any]) -> StoredRun:
    values = loads(row.document)[RUN]
    return StoredRun(**{name: values.get(name) for name in StoredRun.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class DeadStatementRow:
    """A statement that is dead still, as its run told it; `writes` are the ids of the tables that it was to fill."""

    workflow: str
    run: str
    location: str
    reason: str
    masked: str
    dialect: str
    at: int | None
    error: str
    fingerprint: str
    writes: tuple[str, ...]


def dead_of(connection: Connection, workflow: str | None = None, run: str | None = None) -> list[DeadStatementRow]:
    """The statements that are dead still of a workflow (None: of all), given up on in a run (None: in any)."""
    where = []
    if workflow is not None:
        where.append(dead_statements.c.workflow == workflow)
    if run is not None:
        where.append(dead_statements.c.run_id == run)
    order = dead_statements.c.workflow, dead_statements.c.number
    rows = connection.execute(select(dead_statements).where(*where).order_by(*order))
    return [_dead(row.workflow, loads(row.document)) for row in rows]


def _dead(workflow: str, document: Json) -> DeadStatementRow:
    return DeadStatementRow(workflow, **{**document, "writes": tuple(document["writes"])})


@dataclass(frozen=True, slots=True)
class Sourceless:
    """Why a statement that fills a table tells no source of it, and the names that nobody knows."""

    workflow: str
    reason: str
    names: tuple[str, ...] = ()


def sourceless_writes(connection: Connection) -> dict[str, list[Sourceless]]:
    """All of them, by the id of the table."""
    found: dict[str, list[Sourceless]] = defaultdict(list)
    table = writes_without_source.c
    for row in connection.execute(
        select(writes_without_source).order_by(table.entity_id, table.workflow, table.reason)
    ):
        found[row.entity_id].append(Sourceless(row.workflow, row.reason, tuple(loads(row.document)["names"])))
    return found
