"""The runs of workflows: what each tells of itself, what is dead still, and how to have that read again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from connectors.catalog.answer.rendering import document
from connectors.catalog.answer.runs import RUN, RUN_LIST
from connectors.catalog.contract import run_models
from connectors.catalog.contract.errors import ApiError, bad_request, not_found
from connectors.catalog.contract.models import Fqn
from connectors.catalog.http._context import ERRORS, NO_CONDITION, PathText, Store, reply
from connectors.catalog.http._replays import Replays
from connectors.catalog.questions.coverage import coverage_counts
from connectors.catalog.questions.runs import SHOWN, latest_runs, run_details
from connectors.catalog.store.evidence import workflow_runs
from ingestion.errors import ConfigError

router = APIRouter(
    prefix="/api/v1/headwater/workflow-runs", tags=["headwater"], responses=ERRORS, dependencies=[NO_CONDITION]
)


@router.post("")
def file_run(store: Store, run: run_models.WorkflowRun) -> Response:
    """Files how a run is going or how it ended, in place of what it told before."""
    with store.write() as connection:
        covered = coverage_counts(connection) if run.ended is not None else None
        workflow_runs.file_run(connection, run, covered)
    return reply({"run": run.run})


@router.post("/open-statements")
def file_open_statements(store: Store, given: run_models.OpenStatements) -> Response:
    """Files all statements of a workflow that are dead still, and the tables of which none tells a source."""
    with store.write() as connection:
        workflow_runs.file_open_statements(connection, given)
    return reply({"dead": len(given.dead)})


@router.post("/replays")
def replay(store: Store, request: Request, asked: run_models.Replay) -> Response:
    """Begins to read a dead statement again, or all of a workflow: where the server has its configuration (202).

    Where it has not, the command is told that does it (409).
    """
    with store.read() as connection:
        dead = workflow_runs.dead_of(connection, asked.workflow)
        latest = workflow_runs.stored_runs(connection, asked.workflow, 1)
    if not latest:
        raise not_found("workflow", asked.workflow)
    if not dead or (asked.location is not None and all(one.location != asked.location for one in dead)):
        raise bad_request("no such statement is dead: look at the runs again")
    replays: Replays = request.app.state.replays
    if not replays.knows(asked.workflow):
        raise ApiError(409, f"this server does not have its configuration (serve -c); type: {latest[0].replay}")
    if not replays.start(asked.workflow, asked.location):
        raise ApiError(409, "a replay of it is under way")
    return reply({"workflow": asked.workflow, "location": asked.location}, 202)


@router.get("")
def list_runs(
    store: Store,
    request: Request,
    workflow: Fqn | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = SHOWN,
) -> Response:
    """The latest runs of a workflow, or of all; `replayable` are the workflows whose statements can be read again."""
    with store.read() as connection:
        found = document(latest_runs(connection, workflow, limit), RUN_LIST)
    replays: Replays = request.app.state.replays
    return reply({**found, "replayable": replays.workflows})


@router.get("/{run}")
def one_run(store: Store, run: PathText) -> Response:
    """A run by (the beginning of) its id: its counts, what changed since the one before, what is dead still."""
    with store.read() as connection:
        try:
            return reply(document(run_details(connection, run), RUN))
        except ConfigError as error:
            raise not_found("run", run) from error
