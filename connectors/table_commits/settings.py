"""The source type table-commits: where the tables are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, model_validator

from connectors.fields import InputLocation, Misfits
from connectors.source_settings import LineageConfig


class TableCommitsConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type table-commits; its own key is Headwater's."""

    has_own_log: ClassVar[bool] = True
    has_engine_names: ClassVar[bool] = True

    table_paths: tuple[InputLocation, ...] = Field(
        default=(),
        description="Folders of tables in Delta Lake or Iceberg, or up to three levels above them: paths, globs or "
        "URIs for Spark.",
    )

    @model_validator(mode="after")
    def _has_tables(self) -> Self:
        if not self.table_paths:
            raise Misfits((("tablePaths",), "needed by the source type table-commits, and not given"))
        return self

    @property
    def location(self) -> str | None:
        """The first of the folders."""
        return self.table_paths[0] if self.table_paths else None

    @property
    def input_paths(self) -> Mapping[str, str]:
        """The folders too."""
        return {**super().input_paths, **{f"tablePaths.{at}": path for at, path in enumerate(self.table_paths)}}

    def implied_connection(self) -> str | None:
        """Spark's own: its names mean what the tables are called."""
        return "Spark"


SETTINGS = TableCommitsConfig
