"""The source type sqlmesh: where the project is, and who renders it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from connectors.fields import Bool, InputLocation, Misfits, Text
from connectors.source_settings import LineageConfig
from ingestion.dialects.connection_types import connection_type_of
from ingestion.errors import ConfigError


class SqlmeshLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type sqlmesh; its own keys are Headwater's."""

    has_own_definitions: ClassVar[bool] = True

    sqlmesh_project_path: InputLocation | None = Field(
        default=None, description="The folder of the SQLMesh project: the one that has config.yaml or config.py."
    )
    sqlmesh_python: Text | None = Field(
        default=None, description="The Python that has sqlmesh installed, where it is another than Headwater's."
    )
    sqlmesh_own_rules: Bool = Field(
        default=False, description="Whether SQLMesh is left alone, so that no macro of the project is run as Python."
    )

    @model_validator(mode="after")
    def _has_a_project(self) -> Self:
        if self.sqlmesh_project_path is None:
            raise Misfits((("sqlmeshProjectPath",), "needed by the source type sqlmesh, and not given"))
        return self

    @property
    def project(self) -> Path:
        """Where it is."""
        return Path(self.sqlmesh_project_path or "")

    def implied_connection(self) -> str | None:
        """That of the project's dialect, where it tells it."""
        from connectors.sqlmesh.projects import project_dialect  # with the parsers, which no other configuration needs

        try:
            return connection_type_of(project_dialect(self.project))
        except ConfigError:
            return None  # told when it is read


SETTINGS = SqlmeshLineageConfig
