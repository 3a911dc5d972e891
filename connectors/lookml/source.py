"""A LookML project as a source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.dashboards.files import exported_files
from connectors.dashboards.queries import PLAIN_SQL
from connectors.dashboards.records import source_of
from connectors.lookml._assets import assets_of
from connectors.lookml._project import ENDINGS, read_project
from connectors.lookml.settings import LookmlConfig
from connectors.source import OpenSource, SourceRun


@contextmanager
def open_source(settings: LookmlConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The project, whose SQL is that of the run: LookML does not say. Raises ConfigError."""
    project = read_project(exported_files(settings.path, ENDINGS))
    yield source_of(assets_of(project, settings, run.dialect or PLAIN_SQL), settings.dashboard_path)
