"""The routes, one module per family of calls."""

from __future__ import annotations

from fastapi import APIRouter

from connectors.catalog.http import _assets as assets
from connectors.catalog.http import _bulk as bulk
from connectors.catalog.http import _collections as collections
from connectors.catalog.http import _data_quality as data_quality
from connectors.catalog.http import _ingestion_pipelines as ingestion_pipelines
from connectors.catalog.http import _lineage as lineage
from connectors.catalog.http import _openlineage as openlineage
from connectors.catalog.http import _page as page
from connectors.catalog.http import _queries as queries
from connectors.catalog.http import _questions as questions
from connectors.catalog.http import _search as search
from connectors.catalog.http import _system as system
from connectors.catalog.http import _table_parts as table_parts
from connectors.catalog.http import _unsupported_endpoints as unsupported_endpoints
from connectors.catalog.http import _usage as usage
from connectors.catalog.http import _versions as versions

# order matters where paths overlap: the special calls of a collection come before its general ones
ROUTERS: tuple[APIRouter, ...] = (
    system.router,
    unsupported_endpoints.router,
    ingestion_pipelines.router,
    queries.router,
    data_quality.router,
    data_quality.suite_router,
    table_parts.router,
    assets.router,
    usage.router,
    versions.router,
    lineage.router,
    search.router,
    bulk.router,
    questions.router,
    page.router,
    openlineage.router,
    collections.router,
)
