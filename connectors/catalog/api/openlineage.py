"""OpenLineage in: agents post their run events here."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.responses import Response
from pydantic import ValidationError

from connectors.catalog.api.context import ERRORS, Store, reply
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.contract.openlineage_models import RunEvent
from connectors.catalog.store.runs.run_events import file_event

router = APIRouter(prefix="/api/v1/openlineage", tags=["openlineage"], responses=ERRORS)

_MAX_EDGES = 10_000
"""Edges of one batch beyond which its other events are to be sent again."""


@router.post("/lineage")
def file(store: Store, event: RunEvent) -> Response:
    """Files one event."""
    with store.write() as connection:
        return reply({"status": "success", "lineageEdgesCreated": file_event(connection, event)})


@router.post("/lineage/batch")
def file_many(store: Store, events: Annotated[list[dict[str, Any]], Body(max_length=10_000)]) -> Response:
    """Files many events; each is filed or refused by itself."""
    refused: list[dict[str, Any]] = []
    edges = 0
    for number, item in enumerate(events):
        if edges > _MAX_EDGES:
            refused.append({"index": number, "reason": "too many edges in one call", "retriable": True})
            continue
        try:
            event = RunEvent.model_validate(item)
            with store.write() as connection:
                edges += file_event(connection, event)
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            refused.append({"index": number, "reason": f"{where} is not valid", "retriable": False})
        except ApiError as error:
            refused.append({"index": number, "reason": error.message, "retriable": False})
    summary = {"received": len(events), "successful": len(events) - len(refused), "failed": len(refused)}
    status = "success" if not refused else "partial_success" if len(refused) < len(events) else "failure"
    return reply({"status": status, "summary": summary, "failed_events": refused, "lineageEdgesCreated": edges})


router.post("/batch", name="file_many_batch")(file_many)

DEFAULT_ENDPOINT = APIRouter(prefix="/api/v1", tags=["openlineage"], responses=ERRORS)
"""Where OpenLineage's clients post when they are told no more than a server's address."""

DEFAULT_ENDPOINT.post("/lineage", name="file_at_default")(file)
