"""The source type dataform: where the compiled graph is."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from connectors.fields import InputLocation, Misfits
from connectors.source_settings import LineageConfig
from ingestion.dialects.connection_types import connection_type_of
from ingestion.errors import ConfigError


class DataformLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type dataform; its own key is Headwater's."""

    has_own_definitions: ClassVar[bool] = True

    dataform_graph_path: InputLocation | None = Field(
        default=None, description="What `dataform compile --json` wrote, or the project's folder with that file in it."
    )

    @model_validator(mode="after")
    def _has_a_graph(self) -> Self:
        if self.dataform_graph_path is None:
            raise Misfits((("dataformGraphPath",), "needed by the source type dataform, and not given"))
        return self

    @property
    def graph(self) -> Path:
        """Where it is."""
        return Path(self.dataform_graph_path or "")

    def implied_connection(self) -> str | None:
        """That of the project's warehouse, where the graph tells it."""
        from connectors.dataform.projects import graph_dialect  # with the parsers, which no other configuration needs

        try:
            return connection_type_of(graph_dialect(self.graph))
        except ConfigError:
            return None  # told when it is read


SETTINGS = DataformLineageConfig
