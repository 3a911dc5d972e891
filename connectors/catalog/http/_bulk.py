"""Calls of our own, found at /api/v1/headwater: bulk look-up, bulk registration, bulk lineage."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect

from connectors.catalog.contract import bulk_models
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, reply, with_warning
from connectors.catalog.store.database import Database
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.evidence import loads, readers
from connectors.catalog.store.lineage import bulk_lineage, name_changes

CAPABILITIES = (
    "bulkLineage",
    "bulkLookup",
    "bulkTables",
    "corrections",
    "impact",
    "loads",
    "names",
    "openLineage",
    "reads",
    "types",
    "usage",
    "workflowRuns",
)


# Routes of bulk calls: bodies of megabytes, which are read into their model at once and off the event loop.


class _BulkRoute(APIRoute):
    """A route of a function of the store and a body, called with these alone where the body is plain and right.

    All else (other content types and encodings, conditions, bodies to refuse) goes FastAPI's own way, which has a
    body's values made and then looked at, in the thread that all clients share.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        usual = super().get_route_handler()
        if self.body_field is None:
            return usual
        model: Any = self.body_field.field_info.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(model)

        def call(database: Database, body: bytes) -> Response | None:
            try:
                given = adapter.validate_json(body)
            except ValidationError:
                return None
            answer: Response = self.endpoint(database, given)
            return answer

        async def handle(request: Request) -> Response:
            headers = request.headers
            if headers.get("content-type") != "application/json" or "if-match" in headers:
                return await usual(request)
            try:
                body = await request.body()
            except ClientDisconnect as error:
                raise HTTPException(400, "the body ended too early") from error
            answer = await run_in_threadpool(call, request.app.state.database, body)
            return await usual(request) if answer is None else answer

        return handle


# The calls.

router = APIRouter(
    prefix="/api/v1/headwater",
    tags=["headwater"],
    responses=ERRORS,
    dependencies=[NO_CONDITION],
    route_class=_BulkRoute,
)


@router.get("")
def capabilities(store: Store) -> Response:
    """What this server offers beyond the contract, and what tells its store from another."""
    return reply({"capabilities": CAPABILITIES, "store": store.identity})


@router.post("/tables/lookup")
def look_up(store: Store, request: bulk_models.Lookup) -> Response:
    """The entities that each name can mean, all of them, whatever the case."""
    with store.read() as connection:
        return reply({"matches": lookup.look_up(connection, request)})


@router.post("/tables")
def register(store: Store, request: bulk_models.Register) -> Response:
    """Registers services, databases, schemas, tables and more, parents first, all or nothing."""
    with store.write() as connection:
        return reply(lookup.register(connection, request))


@router.post("/lineage")
def add(store: Store, request: bulk_models.Lineage) -> Response:
    """Merges contributions into edges, all or nothing, once per batch id; `rejected` is what nobody reads of them."""
    with store.write() as connection:
        answer = bulk_lineage.apply(connection, request)
    return with_warning(reply(answer), answer.get("rejected", ()))


@router.post("/names")
def happen(store: Store, request: bulk_models.DdlEvents) -> Response:
    """Files DDL: names of entities and columns end or move at their time; each event once, all or nothing."""
    with store.write() as connection:
        return reply(name_changes.apply(connection, request.events))


@router.post("/usage")
def use(store: Store, request: bulk_models.Uses) -> Response:
    """Files log records that read entities; a record counts once."""
    with store.write() as connection:
        return reply(name_changes.file_usage(connection, request.items))


@router.post("/loads")
def load(store: Store, request: bulk_models.StatementLoads) -> Response:
    """Files what became of loads of tables, each once: those that failed, and how many rows others wrote."""
    with store.write() as connection:
        return reply(loads.file_statement_loads(connection, request.loads))


@router.post("/reads")
def read(store: Store, request: bulk_models.Reads) -> Response:
    """Files who reads which columns, and of which stretch of a log that is told; each as often as one likes."""
    with store.write() as connection:
        return reply(readers.file_reads(connection, request))


@router.post("/runs")
def run_statements(store: Store, request: bulk_models.WrittenRuns) -> Response:
    """Files the single runs that filled tables, with what each took; a run counts once."""
    with store.write() as connection:
        return reply(readers.file_runs(connection, request.runs))
