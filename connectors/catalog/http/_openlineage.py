"""OpenLineage in: agents post their run events here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Request
from fastapi.responses import Response
from pydantic import ValidationError
from sqlalchemy import Connection

from connectors.catalog.contract.bulk_models import Reads
from connectors.catalog.contract.errors import ApiError, bad_request
from connectors.catalog.contract.openlineage_models import DatasetEvent, Event, JobEvent, RunEvent, event_model
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, reply, with_warning
from connectors.catalog.store.evidence.readers import file_reads
from connectors.catalog.store.lineage.openlineage import PRODUCER, FiledEvent, Intake, file_event
from connectors.catalog.store.lineage.rejections import rejected_names
from ingestion.model.lineage import Json

router = APIRouter(prefix="/api/v1/openlineage", tags=["openlineage"], responses=ERRORS, dependencies=[NO_CONDITION])

EVENTS = [
    {"title": one.__name__, "type": "object", "required": sorted(_required)}
    for one, _required in (
        (RunEvent, ("eventTime", "job", "run")),
        (JobEvent, ("eventTime", "job")),
        (DatasetEvent, ("dataset", "eventTime")),
    )
]
_MAX_EDGES = 10_000
"""Edges of one batch beyond which its other events are to be sent again."""


def _intake(request: Request) -> Intake:
    intake: Intake = request.app.state.intake
    return intake


Taking = Annotated[Intake, Depends(_intake)]
Document = Annotated[dict[str, Any], Body(json_schema_extra={"anyOf": EVENTS})]

DEFAULT_ENDPOINT = APIRouter(prefix="/api/v1", tags=["openlineage"], responses=ERRORS, dependencies=[NO_CONDITION])
"""Where OpenLineage's clients post when they are told no more than a server's address."""


@router.post("/lineage")
def file(store: Store, intake: Taking, document: Document) -> Response:
    """Files one event, of a run, a job or a dataset."""
    try:
        event = event_model(document).model_validate(document)
    except ValidationError as error:
        raise bad_request(f"{_location(error)} is not valid") from error
    with store.write() as connection:
        filed = _file(connection, event, intake)
        rejected = rejected_names(connection, filed.given)
    answer = {"status": "success", "lineageEdgesCreated": len(filed.given), **_joining_lines([filed])}
    return _reply(answer, rejected)


@router.post("/lineage/batch")
def file_many(
    store: Store, intake: Taking, events: Annotated[list[dict[str, Any]], Body(max_length=10_000)]
) -> Response:
    """Files many events; each is filed or refused by itself."""
    refused: list[dict[str, Any]] = []
    edges = 0
    taken: list[FiledEvent] = []
    rejected: list[Json] = []
    for number, item in enumerate(events):
        if edges > _MAX_EDGES:
            refused.append({"index": number, "reason": "too many edges in one call", "retriable": True})
            continue
        try:
            event = event_model(item).model_validate(item)
            with store.write() as connection:
                filed = _file(connection, event, intake)
                rejected += rejected_names(connection, filed.given)
            edges += len(filed.given)
            taken.append(FiledEvent(unjoined=filed.unjoined))
        except ValidationError as error:
            refused.append({"index": number, "reason": f"{_location(error)} is not valid", "retriable": False})
        except ApiError as error:
            refused.append({"index": number, "reason": error.message, "retriable": False})
    summary = {"received": len(events), "successful": len(events) - len(refused), "failed": len(refused)}
    status = "success" if not refused else "partial_success" if len(refused) < len(events) else "failure"
    answer = {"status": status, "summary": summary, "failed_events": refused, "lineageEdgesCreated": edges}
    return _reply(answer | _joining_lines(taken), list({(one["from"], one["to"]): one for one in rejected}.values()))


def _file(connection: Connection, event: Event, intake: Intake) -> FiledEvent:
    filed = file_event(connection, event, intake)
    if filed.reads:
        file_reads(connection, Reads(source=PRODUCER, reads=list(filed.reads)))
    return filed


def _reply(answer: Json, rejected: list[Json]) -> Response:
    return with_warning(reply(answer | ({"rejected": rejected} if rejected else {})), rejected)


def _joining_lines(taken: list[FiledEvent]) -> Json:
    """The namespaces whose tables stand by themselves, with the line of YAML that would join each."""
    found = {namespace: line for filed in taken for namespace, line in filed.unjoined.items()}
    lines = [{"namespace": namespace, "line": found[namespace]} for namespace in sorted(found)]
    return {"unjoined": lines} if lines else {}


def _location(error: ValidationError) -> str:
    return ".".join(str(part)[:100] for part in error.errors(include_input=False)[0]["loc"])


router.post("/batch", name="file_many_batch")(file_many)


DEFAULT_ENDPOINT.post("/lineage", name="file_at_default")(file)
