"""The catalog's application: routes over one store, every failure as JSON with a code."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.http._assets import router as assets
from connectors.catalog.http._bulk import router as bulk
from connectors.catalog.http._collections import router as collections
from connectors.catalog.http._corrections import router as corrections
from connectors.catalog.http._data_quality import router as test_cases
from connectors.catalog.http._data_quality import suite_router as test_suites
from connectors.catalog.http._ingestion_pipelines import router as ingestion_pipelines
from connectors.catalog.http._lineage import router as lineage
from connectors.catalog.http._openlineage import DEFAULT_ENDPOINT
from connectors.catalog.http._openlineage import router as openlineage_events
from connectors.catalog.http._page import router as page
from connectors.catalog.http._queries import router as queries
from connectors.catalog.http._questions import router as questions
from connectors.catalog.http._replays import Replays
from connectors.catalog.http._routes_on_demand import all_routes
from connectors.catalog.http._search import router as search
from connectors.catalog.http._system import router as system
from connectors.catalog.http._table_parts import router as table_parts
from connectors.catalog.http._unsupported_endpoints import router as unsupported_endpoints
from connectors.catalog.http._usage import router as usage
from connectors.catalog.http._versions import router as versions
from connectors.catalog.http._workflow_runs import router as workflow_runs
from connectors.catalog.store.database import Database
from connectors.catalog.store.lineage.openlineage import Intake
from connectors.sqlite_files import StoreDamaged
from ingestion.errors import TargetDown

logger = logging.getLogger(__name__)
_SAYINGS = {"extra_forbidden": "the catalog does not keep this: leave it out"}
_TOO_COMPLEX = (
    "expression tree",
    "too many sql variables",
    "parser stack",
    "pattern too complex",
    "string or blob too big",
)

# order matters where paths overlap: the special calls of a collection come before its general ones
_ROUTERS: tuple[APIRouter, ...] = (
    system,
    unsupported_endpoints,
    ingestion_pipelines,
    queries,
    test_cases,
    test_suites,
    table_parts,
    assets,
    usage,
    versions,
    lineage,
    search,
    bulk,
    questions,
    page,
    corrections,
    workflow_runs,
    openlineage_events,
    collections,
)


def create_app(
    database: Database,
    version: str,
    *,
    openlineage: bool = False,
    sample_data: bool = False,
    intake: Intake | None = None,
) -> FastAPI:
    """The application over `database`, reporting `version` to clients.

    With `openlineage` it takes run events at the default endpoint of OpenLineage's clients too, with `sample_data` it
    keeps the rows of data that clients send; `intake` is how it takes run events.
    """
    routers = (*_ROUTERS, *((DEFAULT_ENDPOINT,) if openlineage else ()))
    app = _Catalog(
        title="Headwater catalog",
        version=version,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        redirect_slashes=False,
        # the routes as they are, built once a process: including a router builds them again for every application
        routes=[route for router in routers for route in router.routes],
    )
    app.state.database = database
    app.state.version = version
    app.state.sample_data = sample_data
    app.state.intake = intake or Intake()
    app.state.replays = Replays()
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(UnicodeEncodeError, _not_text)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(OperationalError, _busy)
    app.add_exception_handler(PoolTimeout, _busy)
    app.add_exception_handler(StoreDamaged, _out_of_order)
    app.add_exception_handler(TargetDown, _out_of_order)
    app.add_exception_handler(Exception, _internal_error)
    return app


class _Catalog(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Every call, those too that no client has made yet."""
        return self._document

    @cached_property
    def _document(self) -> dict[str, Any]:
        return get_openapi(title=self.title, version=self.version, routes=list(all_routes(self.routes)))


def _failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The body that clients of the contract understand."""
    return JSONResponse({"code": status, "message": message}, status_code=status, headers=headers)


async def _api_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return _failure(error.status, error.message)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # the place and the rule, never the value: bodies may hold queries and passwords
    problems = [
        f"{'.'.join(map(str, one['loc']))[:200]}: {_SAYINGS.get(one['type'], one['type'])}"
        for one in error.errors()[:5]
    ]
    return _failure(400, "; ".join(problems) or "the request is not valid")


async def _http_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _failure(error.status_code, str(error.detail), error.headers)


async def _not_text(_: Request, __: Exception) -> JSONResponse:
    return _failure(400, "the request holds text that is not valid Unicode")


async def _too_deep(_: Request, __: Exception) -> JSONResponse:
    return _failure(400, "the request is nested too deeply")


async def _busy(_: Request, error: Exception) -> JSONResponse:
    message = str(error.__cause__ or error).lower()
    if any(sign in message for sign in _TOO_COMPLEX):
        return _failure(400, "the filter or pattern is too large: ask for less at a time")
    logger.warning("the store refused a call: %s", type(error.__cause__ or error).__name__)
    return _failure(503, "the store is busy: try again")


async def _out_of_order(_: Request, error: Exception) -> JSONResponse:
    """Of a status that is not asked again: a repetition does not mend the disk."""
    return _failure(507, str(error))


async def _internal_error(_: Request, __: Exception) -> JSONResponse:
    return _failure(500, "the call failed inside the catalog")
