"""A SQLMesh project as a source: its models as views, and its log by the models' names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from connectors.model_source import open_models
from connectors.source import OpenSource, SourceRun
from connectors.sqlmesh.physical_names import by_model_names
from connectors.sqlmesh.projects import SqlmeshOptions, open_sqlmesh
from connectors.sqlmesh.settings import SqlmeshLineageConfig


@contextmanager
def open_source(settings: SqlmeshLineageConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The project, read as the run begins; a log beside it names its models, not the tables of their versions."""
    options = SqlmeshOptions(run.dialect or None, settings.sqlmesh_python, settings.sqlmesh_own_rules, run.limits)
    project = open_sqlmesh(settings.project, options)
    models = frozenset((key[1].lower(), key[2].lower()) for key in project.keys)
    yield replace(open_models(project), text_names=partial(by_model_names, models))
