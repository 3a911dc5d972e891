"""Run reports of clients: status, progress and metrics of their ingestion pipelines."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.http._context import ERRORS, NO_CONDITION, PathText, Store, empty_response, reply, unescape_name
from connectors.catalog.store.database import dumps, loads, tick
from connectors.catalog.store.schema import pipeline_runs
from ingestion.model.lineage import Json

router = APIRouter(
    prefix="/api/v1/services/ingestionPipelines",
    tags=["ingestionPipeline"],
    responses=ERRORS,
    dependencies=[NO_CONDITION],
)
Report = Annotated[dict[str, Any], Body()]
_MAX_RUNS = 100


def _file(store: Store, pipeline: str, run: str, part: str, report: Json) -> Json:
    with store.write() as connection:
        now = tick(connection)
        where = (pipeline_runs.c.pipeline == unescape_name(pipeline), pipeline_runs.c.run_id == run)
        known = connection.scalar(select(pipeline_runs.c.document).where(*where))
        document = loads(known) if known is not None else {}
        document[part] = report
        row = upsert(pipeline_runs).values(
            pipeline=unescape_name(pipeline), run_id=run, at=now, document=dumps(document)
        )
        connection.execute(row.on_conflict_do_update(set_={"at": now, "document": row.excluded.document}))
    return report


@router.put("/{pipeline}/pipelineStatus")
def put_status(store: Store, pipeline: PathText, report: Report) -> Response:
    """Files the status of a run."""
    return reply(_file(store, pipeline, str(report.get("runId") or "")[:256], "status", report))


@router.get("/{pipeline}/pipelineStatus")
def statuses(store: Store, pipeline: PathText) -> Response:
    """The latest runs of a pipeline."""
    with store.read() as connection:
        where = pipeline_runs.c.pipeline == unescape_name(pipeline)
        latest = select(pipeline_runs.c.document).where(where).order_by(pipeline_runs.c.at.desc()).limit(_MAX_RUNS)
        found = [loads(document).get("status") for document in connection.scalars(latest)]
    data = [status for status in found if status is not None]
    return reply({"data": data, "paging": {"total": len(data)}})


@router.get("/{pipeline}/pipelineStatus/{run}")
def status(store: Store, pipeline: PathText, run: PathText) -> Response:
    """The status of one run; nothing at all for a run that has reported none: clients take a 404 for a failure."""
    with store.read() as connection:
        where = (pipeline_runs.c.pipeline == unescape_name(pipeline), pipeline_runs.c.run_id == unescape_name(run))
        document = connection.scalar(select(pipeline_runs.c.document).where(*where))
    found = loads(document).get("status") if document is not None else None
    return empty_response() if found is None else reply(found)


@router.put("/progress/{pipeline}/{run}")
def progress(store: Store, pipeline: PathText, run: PathText, report: Report) -> Response:
    """Files how far a run is."""
    _file(store, pipeline, unescape_name(run), "progress", report)
    return empty_response()


@router.post("/metrics/{pipeline}/{run}")
def metrics(store: Store, pipeline: PathText, run: PathText, report: Report) -> Response:
    """Files what a run measured."""
    _file(store, pipeline, unescape_name(run), "metrics", report)
    return empty_response()
