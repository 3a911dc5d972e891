"""`sink.config` of the sink databricks-rest: which workspace, and what its Unity Catalog has of the services."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from connectors.fields import Bool, FieldContext, Model, NotNegative, Positive, Secret, Text, http_url
from connectors.platforms.unity_systems import SYSTEM_TYPES
from connectors.sink import EdgeCounts, SinkSettings
from ingestion.arguments import suggestion


def _system_type(given: str) -> str:
    if given not in SYSTEM_TYPES:
        raise ValueError(f"no system of Unity Catalog's{suggestion(given.upper(), sorted(SYSTEM_TYPES))}")
    return given


def _storage_path(given: str) -> str:
    scheme, _, rest = given.partition("://")
    if not scheme or not rest.strip("/"):
        raise ValueError("expected a storage path such as s3://lake/landing")
    return given.rstrip("/")


class ServiceInUnity(Model):
    """One service of the catalog, as Unity Catalog has it."""

    model_config = ConfigDict(alias_generator=None)

    unity_catalog: Bool | None = Field(
        default=None, description="Whether its tables are in Unity Catalog; by the connection's type if left out."
    )
    system_type: Annotated[Text, AfterValidator(_system_type)] | None = Field(
        default=None, description="What the system of a service outside is called there: SNOWFLAKE, KAFKA, OTHER, ..."
    )


class DatabricksSettings(SinkSettings):
    written_to: ClassVar[str] = "Unity Catalog's external lineage"
    one_writer: ClassVar[bool] = True

    host: Annotated[Text, AfterValidator(lambda url: http_url(url, "https://dbc-1234.cloud.databricks.com"))] = Field(
        description="The workspace's address."
    )
    token: Secret = Field(repr=False, description="A token of the workspace: ${VAR} or ${file:/run/secrets/token}.")
    services: dict[str, ServiceInUnity] = Field(
        default_factory=dict, description="By the service's name in the catalog: what it is in Unity Catalog."
    )
    paths: tuple[Annotated[Text, AfterValidator(_storage_path)], ...] = Field(
        default=(), description="Storage that Unity Catalog has as external locations: s3://lake/landing, ..."
    )
    timeout_sec: Positive = Field(default=60, description="Seconds for one call.")
    retry_max_times: NotNegative = Field(default=4, description="How often a call is tried again that may succeed.")
    bulk_sink_batch_size: Positive = Field(
        default=50, description="Edges after which it is noted what was acknowledged; each is a call of its own."
    )

    @field_validator("token")
    @classmethod
    def _never_shown(cls, given: SecretStr, info: ValidationInfo) -> SecretStr:
        value = given.get_secret_value()
        FieldContext.of(info).secrets.append(value)
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise ValueError("a character in it that no token has")
        return given

    @property
    def location(self) -> str:
        return self.host

    def identity(self, catalog: str) -> str:
        named = f"{self.host} {sorted(self.services.items())} {sorted(self.paths)} {catalog}"
        return f"unity-catalog {hashlib.sha256(named.encode()).hexdigest()[:32]}"

    def losses(self, counts: EdgeCounts) -> Iterator[str]:
        """What was not sent, and what external lineage has no room for."""
        kept = (
            (counts.recorded_there, "{:,} edges within Unity Catalog: it records those itself"),
            (counts.outside, "{:,} edges wholly outside of it"),
        )
        lost = (
            (counts.influences, "columns that only decide (filters, joins): {:,} edges without them"),
            (counts.candidates, "columns that are one of several candidates: {:,} left out"),
            (counts.without_hops, "temporary tables on the way: {:,} edges without them"),
        )
        for begin, parts in (("not sent to Unity Catalog", kept), ("external lineage cannot hold all", lost)):
            found = [how.format(number) for number, how in parts if number]
            if found:
                yield f"{begin}: {'; '.join(found)}"


SETTINGS = DatabricksSettings
