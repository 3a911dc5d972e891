"""The source type spark-history-lineage: where Spark's event logs are, and which of them are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from connectors.fields import InputLocation, Misfits, Moment, Text, http_url
from connectors.source_settings import LineageConfig


class SparkHistoryLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type spark-history-lineage; its own keys are Headwater's."""

    has_own_log: ClassVar[bool] = True
    has_engine_names: ClassVar[bool] = True

    event_log_directory: InputLocation | None = Field(
        default=None,
        description="Where Spark writes its event logs: any URI that Spark reads. This or historyServer.",
    )
    history_server: Annotated[Text, AfterValidator(lambda url: http_url(url, "http://spark:18080"))] | None = Field(
        default=None, description="The URL of a Spark history server. This or eventLogDirectory."
    )
    min_date: Moment | None = Field(
        default=None, description="Applications that started on or after this ISO date or time."
    )
    status: Literal["all", "completed", "running"] = Field(default="all", description="Which applications to read.")

    @model_validator(mode="after")
    def _has_one_location(self) -> Self:
        if (self.event_log_directory is None) == (self.history_server is None):
            raise Misfits(((), "give one of eventLogDirectory and historyServer"))
        return self

    @property
    def location(self) -> str | None:
        """The directory or the server."""
        return self.event_log_directory or self.history_server

    @property
    def input_paths(self) -> Mapping[str, str]:
        """The event logs too."""
        own = {} if self.event_log_directory is None else {"eventLogDirectory": self.event_log_directory}
        return {**super().input_paths, **own}

    def implied_connection(self) -> str | None:
        """Spark's own."""
        return "Spark"


SETTINGS = SparkHistoryLineageConfig
