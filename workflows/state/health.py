"""A small server beside the scheduler: /metrics, /healthz, /readyz."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from connectors.web_server import STOP_SECONDS, HttpProtocol, WebServer, listen, server_thread, url_of
from ingestion.errors import StateLost
from workflows.state.metrics import CONTENT_TYPE, metrics_text
from workflows.state.runs import run_totals
from workflows.state.store import StateStore


@contextmanager
def health_server(store: StateStore, host: str, port: int) -> Iterator[str]:
    """The URL at which the store's metrics are served during the block. Raises ConfigError where it cannot listen."""
    with listen(host, port, "choose another --metrics-port") as listener:
        settings = uvicorn.Config(
            _application(store),
            http=HttpProtocol,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        with server_thread(WebServer(settings), listener, "health"):
            yield url_of(listener, host)


def _application(store: StateStore) -> Starlette:
    """Plain functions: starlette calls them in threads, so that a store that hangs holds up no other call."""

    def healthz(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    def readyz(_request: Request) -> Response:
        store.follow()
        with store.read() as connection:
            run_totals(connection)
        return PlainTextResponse("ok\n")

    def metrics(_request: Request) -> Response:
        store.follow()
        return Response(metrics_text(store), media_type=CONTENT_TYPE)

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
    return Starlette(routes=routes, exception_handlers={StateLost: _unavailable, 404: _not_found})


def _unavailable(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", 503)


def _not_found(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("/metrics, /healthz and /readyz are here\n", 404)
