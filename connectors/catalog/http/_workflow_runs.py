"""The runs of workflows: what each tells of itself, what is dead still."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from connectors.catalog.contract import run_models
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, reply
from connectors.catalog.questions.coverage import coverage_counts
from connectors.catalog.store.evidence import workflow_runs

router = APIRouter(
    prefix="/api/v1/headwater/workflow-runs", tags=["headwater"], responses=ERRORS, dependencies=[NO_CONDITION]
)


@router.post("")
def tell(store: Store, run: run_models.WorkflowRun) -> Response:
    """Files how a run is going or how it ended, in place of what it told before."""
    with store.write() as connection:
        covered = coverage_counts(connection) if run.ended is not None else None
        workflow_runs.file_run(connection, run, covered)
    return reply({"run": run.run})


@router.post("/open-statements")
def tell_open(store: Store, given: run_models.OpenStatements) -> Response:
    """Files all statements of a workflow that are dead still, and the tables of which none tells a source."""
    with store.write() as connection:
        workflow_runs.file_open_statements(connection, given)
    return reply({"dead": len(given.dead)})
