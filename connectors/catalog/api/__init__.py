"""The routes, one module per family of calls."""

from __future__ import annotations

from fastapi import APIRouter

from connectors.catalog.api import (
    explore,
    explorer,
    extension,
    lineage,
    omitted,
    openlineage,
    search,
    system,
)
from connectors.catalog.api.entities import (
    assets,
    collections,
    data_quality,
    ingestion_pipelines,
    queries,
    table_parts,
    usage,
    versions,
)

# order matters where paths overlap: the special calls of a collection come before its general ones
ROUTERS: tuple[APIRouter, ...] = (
    system.router,
    omitted.router,
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
    extension.router,
    explore.router,
    explorer.router,
    openlineage.router,
    collections.router,
)
