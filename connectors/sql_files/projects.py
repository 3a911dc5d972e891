"""Which project a path is, if it is one of dbt, SQLMesh or Dataform."""

from __future__ import annotations

from pathlib import Path

from connectors.dataform.projects import is_dataform, open_dataform
from connectors.dbt.model_statements import DbtProject
from connectors.dbt.projects import is_project
from connectors.model_project import ModelProject
from connectors.sql_files.dbt_models import dbt_project
from connectors.sql_files.other_forms import refuse_other_forms
from connectors.sqlmesh.projects import SqlmeshOptions, is_sqlmesh, open_sqlmesh
from ingestion.parsing.sandbox.process import Limits


def project_at(path: Path, dialect: str | None, timeout_seconds: float) -> ModelProject | DbtProject | None:
    """The project at a path, None where there is none.

    Raises ConfigError, as where what is there is read by something else, and UnreadableArtifact.
    """
    models = _model_project(path, dialect, timeout_seconds)
    return models if models is not None else dbt_project(str(path), dialect, timeout_seconds)


def _model_project(path: Path, dialect: str | None, timeout_seconds: float) -> ModelProject | None:
    if not path.exists() or (path.is_dir() and is_project(path)):
        return None
    if is_dataform(path):
        return open_dataform(path, dialect)
    if is_sqlmesh(path):
        return open_sqlmesh(path, SqlmeshOptions(dialect, limits=Limits(seconds=timeout_seconds)))
    refuse_other_forms(path)
    return None
