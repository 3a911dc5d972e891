"""A Dataform project as a source: its actions as definitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.dataform.projects import open_dataform
from connectors.dataform.settings import DataformLineageConfig
from connectors.model_source import open_models
from connectors.source import OpenSource, SourceRun


@contextmanager
def open_source(settings: DataformLineageConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The graph, read as the run begins."""
    yield open_models(open_dataform(settings.graph, run.dialect or None))
