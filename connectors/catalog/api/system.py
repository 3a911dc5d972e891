"""What a client asks before it starts: version, health, how a connection would be tested."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from connectors.catalog.api.call_list import POLICY, call_list
from connectors.catalog.api.http.context import ERRORS, PathText, Store, reply, unescape_name
from connectors.catalog.store.clock import now_millis

router = APIRouter(tags=["system"], responses=ERRORS)


@router.get("/api/v1/system/version")
def version(request: Request) -> Response:
    """The version that clients compare with their own."""
    return reply({"version": request.app.state.version, "revision": "headwater", "timestamp": now_millis()})


@router.get("/api/v1/services/testConnectionDefinitions/name/{name}")
def test_connection_definition(name: PathText) -> Response:
    """No steps: the catalog itself opens no connection to a source."""
    service = unescape_name(name).removesuffix(".testConnectionDefinition")
    return reply({"name": service, "steps": []})


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Response:
    """Every call, for machines."""
    return reply(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def documentation(request: Request) -> Response:
    """Every call, for people: a page that needs no script and no network."""
    headers = {"content-security-policy": POLICY}
    return Response(call_list(request.app.openapi()), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/healthz")
def health() -> Response:
    """Whether the process answers."""
    return reply({"status": "ok"})


@router.get("/readyz")
def ready(store: Store) -> Response:
    """Whether the store can be read."""
    with store.read() as connection:
        connection.exec_driver_sql("select 1")
    return reply({"status": "ok"})
