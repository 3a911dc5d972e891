"""The routes, one module per family of calls."""

from __future__ import annotations

from fastapi import APIRouter

from connectors.catalog.api import (
    collections,
    data_quality,
    explore,
    explorer,
    extension,
    ingestion_pipelines,
    lineage,
    openlineage,
    queries,
    search,
    system,
)

# order matters where paths overlap: the special calls of a collection come before its general ones
ROUTERS: tuple[APIRouter, ...] = (
    system.router,
    ingestion_pipelines.router,
    queries.router,
    data_quality.router,
    lineage.router,
    search.router,
    extension.router,
    explore.router,
    explorer.router,
    openlineage.router,
    collections.router,
)
