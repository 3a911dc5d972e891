"""Power BI projects as a source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.dashboards.files import exported_files
from connectors.dashboards.queries import PLAIN_SQL
from connectors.dashboards.records import source_of
from connectors.powerbi._assets import assets_of
from connectors.powerbi._project import ENDINGS, read_projects
from connectors.powerbi.settings import PowerBiConfig
from connectors.source import OpenSource, SourceRun


@contextmanager
def open_source(settings: PowerBiConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The projects; the run tells whose SQL is asked over connections that do not say. Raises ConfigError."""
    project = read_projects(exported_files(settings.path, ENDINGS), settings.path.resolve().stem)
    yield source_of(assets_of(project, settings, run.dialect or PLAIN_SQL), settings.dashboard_path)
