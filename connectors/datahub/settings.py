"""The keys that both sinks of DataHub have: what the services are called there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from connectors.fields import Bool, Model, Text
from connectors.platforms.datahub_platforms import ENVIRONMENTS, MOST_COLUMNS, MOST_UPSTREAMS
from connectors.sink import EdgeCounts, SinkSettings
from ingestion.arguments import suggestion


def _environment(given: str) -> str:
    if given not in ENVIRONMENTS:
        raise ValueError(f"no environment of DataHub's{suggestion(given.upper(), sorted(ENVIRONMENTS))}")
    return given


Environment = Annotated[Text, AfterValidator(_environment)]


class ServiceNaming(Model):
    """One service of the catalog, as DataHub has it."""

    model_config = ConfigDict(alias_generator=None)

    platform: Text | None = Field(
        default=None, description="DataHub's name of the platform; by the connection's type if left out."
    )
    platform_instance: Text | None = Field(default=None, description="Its instance, which begins the names there.")
    env: Environment | None = Field(default=None, description="Its environment; that of the sink if left out.")
    lowercase: Bool | None = Field(
        default=None, description="Whether names are in lower case there; as the platform's own connector has it."
    )


class DatahubSettings(SinkSettings):
    """The keys of both sinks."""

    env: Environment = Field(default="PROD", description="The environment of the datasets: PROD, DEV, ...")
    services: dict[str, ServiceNaming] = Field(
        default_factory=dict, description="By the service's name in the catalog: what it is in DataHub."
    )

    def losses(self, counts: EdgeCounts) -> Iterator[str]:
        """What DataHub has no place for, or its own connectors would have cut."""
        lost = (
            (counts.influences, "columns that only decide (filters, joins): {:,} edges without them"),
            (counts.candidates, "columns that are one of several candidates: {:,} left out"),
            (counts.without_hops, "temporary tables on the way: {:,} edges without them"),
            (counts.wide_targets, f"more than {MOST_UPSTREAMS} upstreams or {MOST_COLUMNS:,} column edges of a table: "
             "{:,} tables have more, all of it is written, and its own connectors cut there"),
        )  # fmt: skip
        parts = [how.format(number) for number, how in lost if number]
        if parts:
            yield f"DataHub cannot hold all: {'; '.join(parts)}"
