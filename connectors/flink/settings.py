"""The source type flink-sql: where the scripts are."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from connectors.fields import InputLocation, Misfits
from connectors.source_settings import LineageConfig


class FlinkConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type flink-sql; its own key is Headwater's."""

    has_own_log: ClassVar[bool] = True
    has_engine_names: ClassVar[bool] = True
    names_services: ClassVar[bool] = True
    is_whole: ClassVar[bool] = True

    script_path: InputLocation | None = Field(
        default=None,
        description="Scripts of Flink SQL: a file, or a folder of *.sql files, in the order of their names.",
    )

    @model_validator(mode="after")
    def _has_scripts(self) -> Self:
        if self.script_path is None:
            raise Misfits((("scriptPath",), "needed by the source type flink-sql, and not given"))
        return self

    @property
    def path(self) -> Path:
        """Where they are."""
        return Path(self.script_path or "")

    @property
    def location(self) -> str | None:
        return self.script_path

    def implied_connection(self) -> str | None:
        """Flink's own: its catalogs hold what has no other place."""
        return "Flink"


SETTINGS = FlinkConfig
