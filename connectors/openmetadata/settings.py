"""`sink.config` of OpenMetadata's REST sink: where it writes to is the run's own catalog."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from connectors.fields import NO_EFFECT, Bool, Positive, Text
from connectors.sink import SinkSettings


class Settings(SinkSettings):
    """OpenMetadata's own keys: its server decides what most of them did."""

    written_to: ClassVar[str] = "the REST API of OpenMetadata"
    writes_to_catalog: ClassVar[bool] = True

    api_endpoint: Text | None = Field(
        default=None, description="Not used: hostPort says where.", json_schema_extra=NO_EFFECT
    )
    enable_async_pipeline: Bool = Field(default=True, description="Not used.", json_schema_extra=NO_EFFECT)
    async_pipeline_workers: Positive = Field(default=2, description="Not used.", json_schema_extra=NO_EFFECT)
    override_metadata: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)

    def identity(self, catalog: str) -> str:
        return catalog


SETTINGS = Settings
