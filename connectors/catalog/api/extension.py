"""Calls of our own, found at /api/v1/headwater: bulk look-up, bulk registration, bulk lineage."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from connectors.catalog.api.http.bulk_route import BulkRoute
from connectors.catalog.api.http.conditions import NO_CONDITION
from connectors.catalog.api.http.context import ERRORS, Store, reply
from connectors.catalog.api.rejection_warnings import with_warning
from connectors.catalog.contract import bulk_models
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.lineage import bulk_lineage, name_changes
from connectors.catalog.store.runs import statement_loads

router = APIRouter(
    prefix="/api/v1/headwater",
    tags=["headwater"],
    responses=ERRORS,
    dependencies=[NO_CONDITION],
    route_class=BulkRoute,
)
CAPABILITIES = (
    "bulkLineage",
    "bulkLookup",
    "bulkTables",
    "corrections",
    "impact",
    "loads",
    "names",
    "openLineage",
    "types",
    "usage",
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
        return reply(statement_loads.file_statement_loads(connection, request.loads))
