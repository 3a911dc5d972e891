# ruff: noqa: N803 — the names are the wire's
"""Tests with their last result, and the results of one test: what data quality has beside a collection's calls."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from sqlalchemy import Connection

from connectors.catalog.api.context import ERRORS, Include, Paging, PathText, Store, reply, unescape_name
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.quality_models import TestResult
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.tests import file_result, results
from ingestion.model import Json

router = APIRouter(prefix="/api/v1/dataQuality/testCases", tags=["testCase"], responses=ERRORS)
Millis = Annotated[int | None, Query(ge=0, le=2**53)]


@router.get("")
def listing(store: Store, paging: Annotated[Paging, Depends()], entityFQN: str | None = None) -> Response:
    """One page of tests; `entityFQN`: of what lies under this name."""
    with store.read() as connection:
        page = entities.listing(connection, BY_TYPE["testCase"], paging.page(entityFQN))
        return reply({**page, "data": _with_results(connection, page["data"])})


@router.get("/name/{name:path}")
def by_name(store: Store, name: PathText, include: Include = "non-deleted") -> Response:
    """The test with this fully qualified name."""
    with store.read() as connection:
        document = entities.answer(entities.get(connection, "testCase", unescape_name(name), include))
        return reply(_with_results(connection, [document])[0])


@router.post("/testCaseResults/{name:path}")
def add_result(store: Store, name: PathText, request: TestResult) -> Response:
    """Files what became of a test."""
    result = request.model_dump(exclude_none=True)
    with store.write() as connection:
        file_result(connection, entities.get(connection, "testCase", unescape_name(name)), result)
    return reply(result, 201)


@router.get("/testCaseResults/{name:path}")
def all_results(store: Store, name: PathText, startTs: Millis = None, endTs: Millis = None) -> Response:
    """The results of a test between two moments, the newest first."""
    with store.read() as connection:
        row = entities.get(connection, "testCase", unescape_name(name))
        found = results(connection, [row.id], endTs).get(row.id, [])
    inside = [one for one in reversed(found) if startTs is None or one["timestamp"] >= startTs]
    return reply({"data": inside, "paging": {"total": len(inside)}})


def _with_results(connection: Connection, documents: list[Json]) -> list[Json]:
    last = results(connection, [one["id"] for one in documents])
    return [
        {**one, "testCaseResult": last[one["id"]][-1], "testCaseStatus": last[one["id"]][-1]["testCaseStatus"]}
        if last.get(one["id"])
        else one
        for one in documents
    ]
