"""How often things are used, as clients tell it, and ask for it."""

from __future__ import annotations

import uuid
from datetime import date as Day  # noqa: N812 — `date` is the wire's name of a parameter
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from sqlalchemy import Connection

from connectors.catalog.contract.errors import bad_request, not_found
from connectors.catalog.contract.models import DailyCount
from connectors.catalog.http._context import ERRORS, NO_CONDITION, PathText, Store, reply, unescape_name
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities import entities, usage
from ingestion.model.lineage import Json

router = APIRouter(prefix="/api/v1/usage", tags=["usage"], responses=ERRORS, dependencies=[NO_CONDITION])
Days = Annotated[int, Query(ge=1, le=30)]


@router.post("/compute.percentile/{kind}/{day}")
def compute_percentile(kind: PathText, day: PathText) -> Response:
    """Accepted without effect: percentiles are computed whenever they are read."""
    if kind not in (*usage.COUNTED, *usage.SUMMED):
        raise not_found("usage of", kind[:100])
    try:
        Day.fromisoformat(day)
    except ValueError as error:
        raise bad_request("the day is not written as 2026-12-31") from error
    return reply({}, 201)


@router.post("/{kind}/name/{name:path}")
def replace_by_name(store: Store, kind: PathText, name: PathText, request: DailyCount) -> Response:
    """Files the count of a day instead of what was told of it, by name."""
    with store.write() as connection:
        return _count(connection, entities.get(connection, kind, unescape_name(name)), request, add=False)


@router.put("/{kind}/name/{name:path}")
def add_by_name(store: Store, kind: PathText, name: PathText, request: DailyCount) -> Response:
    """Files the count of a day besides what was told of it, by name."""
    with store.write() as connection:
        return _count(connection, entities.get(connection, kind, unescape_name(name)), request, add=True)


@router.post("/{kind}/{identifier}")
def replace(store: Store, kind: PathText, identifier: PathText, request: DailyCount) -> Response:
    """Files the count of a day instead of what was told of it."""
    with store.write() as connection:
        return _count(connection, entities.get_id(connection, kind, identifier), request, add=False)


@router.put("/{kind}/{identifier}")
def add(store: Store, kind: PathText, identifier: PathText, request: DailyCount) -> Response:
    """Files the count of a day besides what was told of it."""
    with store.write() as connection:
        return _count(connection, entities.get_id(connection, kind, identifier), request, add=True)


@router.get("/{kind}/name/{name:path}")
def of_name(store: Store, kind: PathText, name: PathText, date: Day | None = None, days: Days = 1) -> Response:
    """The use of the days up to `date`, by name."""
    with store.read() as connection:
        return _answer(connection, entities.get(connection, kind, unescape_name(name)), date, days)


@router.get("/{kind}/{identifier}")
def of_id(store: Store, kind: PathText, identifier: PathText, date: Day | None = None, days: Days = 1) -> Response:
    """The use of the days up to `date`."""
    with store.read() as connection:
        return _answer(connection, entities.get_id(connection, kind, identifier), date, days)


def _count(connection: Connection, row: entities.EntityRow, given: DailyCount, *, add: bool) -> Response:
    """Files a count; answers with the event that it is, as the contract has it."""
    if row.type not in usage.COUNTED:
        raise bad_request(f"use is told of {', '.join(usage.COUNTED)}, and not of a {row.type}")
    usage.count(connection, row, given.date, given.count, add=add)
    document = entities.answer(row)
    return reply(
        {
            "id": str(uuid.uuid4()),
            "eventType": "entityFieldsChanged",
            "entityType": row.type,
            "entityId": row.id,
            "entityFullyQualifiedName": row.fqn,
            "previousVersion": document["version"],
            "currentVersion": document["version"],
            "userName": document["updatedBy"],
            "timestamp": now_millis(),
        },
        201,
    )


def _answer(connection: Connection, row: entities.EntityRow, last: Day | None, days: int) -> Response:
    if row.type not in (*usage.COUNTED, *usage.SUMMED):
        raise bad_request(f"no use is told of a {row.type}")
    found: Json = {"entity": entities.reference_of(row), "usage": usage.usage(connection, row, last, days)}
    return reply(found)
