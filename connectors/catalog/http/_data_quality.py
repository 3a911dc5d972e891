# ruff: noqa: N803 — the names are the wire's
"""Tests with their last result, and the results of one test: what data quality has beside a collection's calls."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection

from connectors.catalog.contract.entity_models import ChosenTests, CreateTestSuite, TestResult
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import ApiError, bad_request, not_found
from connectors.catalog.contract.models import Rows
from connectors.catalog.http._collections import Deletion, stored_fields
from connectors.catalog.http._context import (
    ERRORS,
    NO_CONDITION,
    IfMatch,
    Include,
    Paging,
    PathText,
    Store,
    check_row,
    etag,
    reply,
    reply_tagged,
    unescape_name,
)
from connectors.catalog.http._table_parts import NOT_ALLOWED, KeepsRows
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.parts import ROWS, TESTS, attach, file_part, part
from connectors.catalog.store.entities.registration import put_one
from connectors.catalog.store.entities.tests import file_result, results
from connectors.catalog.store.lineage import deletion
from ingestion.model.lineage import Json

router = APIRouter(prefix="/api/v1/dataQuality/testCases", tags=["testCase"], responses=ERRORS)
suite_router = APIRouter(prefix="/api/v1/dataQuality/testSuites", tags=["testSuite"], responses=ERRORS)
_CASES = "testCase"
Millis = Annotated[int | None, Query(ge=0, le=2**53)]


async def _raw_text(request: Request) -> str:
    """The body as it is: clients send a query and call it JSON. Raises ApiError (400) for what is no text."""
    try:
        return (await request.body()).decode()
    except UnicodeDecodeError as error:
        raise bad_request("the body is no text") from error


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
        return _answer(connection, entities.get(connection, _CASES, unescape_name(name), include))


@router.put("/logicalTestCases", dependencies=[NO_CONDITION])
def select_tests(store: Store, request: ChosenTests) -> Response:
    """Adds tests to a suite that selects tests of many tables."""
    with store.write() as connection:
        suite = entities.get_id(connection, "testSuite", request.testSuiteId)
        document = entities.answer(suite)
        if document.get("basic"):
            raise bad_request("this suite holds the tests of one table: make one without a table to select tests")
        chosen = [entities.get_id(connection, _CASES, one).id for one in request.testCaseIds]
        known = (part(connection, suite.id, TESTS) or {}).get("ids", [])
        file_part(connection, suite.id, TESTS, {"ids": list(dict.fromkeys([*known, *chosen]))})
        return reply(attach(connection, "testSuite", [document], TESTS)[0])


@router.put("/{identifier}/inspectionQuery", dependencies=[NO_CONDITION])
def inspection_query(store: Store, identifier: PathText, request: Annotated[str, Depends(_raw_text)]) -> Response:
    """Files the query that shows the rows a test fails on."""
    with store.write() as connection:
        document = entities.answer(entities.get_id(connection, _CASES, identifier))
        put_one(connection, _CASES, BY_TYPE[_CASES].request_of({**document, "inspectionQuery": request}))
        return _answer(connection, entities.get_id(connection, _CASES, identifier))


@router.put("/{identifier}/failedRowsSample", dependencies=[NO_CONDITION])
def failed_rows(store: Store, identifier: PathText, request: Rows, keeps: KeepsRows) -> Response:
    """Files rows that a test failed on, where that is allowed."""
    if not keeps:
        raise ApiError(403, NOT_ALLOWED)
    rows = request.model_dump(exclude_none=True)
    with store.write() as connection:
        row = entities.get_id(connection, _CASES, identifier)
        file_part(connection, row.id, ROWS, rows)
        return reply({**entities.answer(row), "failedRowsSample": rows})


@router.get("/{identifier}/failedRowsSample")
def failed_rows_of(store: Store, identifier: PathText, keeps: KeepsRows) -> Response:
    """The rows that a test failed on, where they are kept."""
    with store.read() as connection:
        rows = part(connection, entities.get_id(connection, _CASES, identifier).id, ROWS) if keeps else None
    if rows is None:
        raise not_found("failedRowsSample", identifier)
    return reply(rows)


@router.post("/testCaseResults/{name:path}", dependencies=[NO_CONDITION])
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


@router.get("/{identifier}")
def by_id(store: Store, identifier: PathText, include: Include = "non-deleted") -> Response:
    """The test with this id."""
    with store.read() as connection:
        return _answer(connection, entities.get_id(connection, _CASES, identifier, include))


@suite_router.put("/executable", dependencies=[NO_CONDITION])
@suite_router.put("/basic", dependencies=[NO_CONDITION])
def put_basic(store: Store, request: CreateTestSuite) -> Response:
    """Registers the suite of one table's tests, which is there as soon as the table has a test."""
    kind = BY_TYPE["testSuite"]
    fields = stored_fields(kind, request)
    if not fields.get("basicEntityReference"):
        raise bad_request("basicEntityReference is missing: it names the table")
    with store.write() as connection:
        done = put_one(connection, kind.type, {**fields, "basic": True})
        answer = entities.answer(entities.get_id(connection, kind.type, done.id))
    return reply_tagged(answer, 201 if done.created else 200)


@suite_router.delete("/executable/{identifier}")
@suite_router.delete("/basic/{identifier}")
def delete_basic(
    store: Store, identifier: PathText, how: Annotated[Deletion, Depends()], if_match: IfMatch = None
) -> Response:
    """Deletes the suite of one table's tests, as `how` has it: with recursive the tests too."""
    with store.write() as connection:
        row = entities.get_id(connection, "testSuite", identifier, "all" if how.hard else "non-deleted")
        check_row(if_match, row)
        for test in attach(connection, "testSuite", [entities.answer(row)], TESTS)[0][TESTS] if how.recursive else ():
            deletion.remove(connection, BY_TYPE[_CASES], test["id"], hard=how.hard, recursive=True)
        return reply(deletion.remove(connection, BY_TYPE["testSuite"], row.id, hard=how.hard, recursive=how.recursive))


def _answer(connection: Connection, row: entities.EntityRow) -> Response:
    document = entities.answer(row)
    answer = reply(_with_results(connection, [document])[0])
    answer.headers["etag"] = etag(document)
    return answer


def _with_results(connection: Connection, documents: list[Json]) -> list[Json]:
    last = results(connection, [one["id"] for one in documents])
    return [
        {**one, "testCaseResult": last[one["id"]][-1], "testCaseStatus": last[one["id"]][-1]["testCaseStatus"]}
        if last.get(one["id"])
        else one
        for one in documents
    ]
