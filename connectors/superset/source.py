"""Superset as a source: what its export, or its server, has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.dashboards.files import exported_files
from connectors.dashboards.records import source_of
from connectors.source import OpenSource, SourceRun
from connectors.superset._api import documents_of_server
from connectors.superset._assets import assets_of
from connectors.superset._documents import documents_of
from connectors.superset.settings import SupersetConfig


@contextmanager
def open_source(settings: SupersetConfig, _run: SourceRun) -> Iterator[OpenSource]:
    """What Superset has: the dialect of each of its databases it tells itself. Raises ConfigError and TargetDown."""
    if settings.dashboard_path is not None:
        documents = documents_of(exported_files(settings.path, (".yaml", ".yml")))
    else:
        documents = documents_of_server(settings.dashboard_server)
    yield source_of(assets_of(documents, settings), settings.dashboard_path)
