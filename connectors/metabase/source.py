"""Metabase as a source: what its export, or its server, has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.dashboards.files import exported_files
from connectors.dashboards.records import source_of
from connectors.metabase._api import documents_of_server
from connectors.metabase._assets import assets_of
from connectors.metabase._documents import documents_of
from connectors.metabase.settings import MetabaseConfig
from connectors.source import OpenSource, SourceRun

_ENDINGS = (".yaml", ".yml")


@contextmanager
def open_source(settings: MetabaseConfig, _run: SourceRun) -> Iterator[OpenSource]:
    """What Metabase has: the dialect of each of its databases it tells itself. Raises ConfigError and TargetDown."""
    server = settings.dashboard_server
    by_files = settings.dashboard_path is not None
    content = documents_of(exported_files(settings.path, _ENDINGS)) if by_files else documents_of_server(server)
    yield source_of(assets_of(content, settings), settings.dashboard_path)
