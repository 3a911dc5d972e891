"""The block `source` of the YAML: whose lineage it is, and where it is read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from connectors.fields import Misfits, Model, OrEmpty, Text
from connectors.source_settings import LineageConfig
from connectors.sources import OWN_TYPES
from ingestion.arguments import nearest_name
from ingestion.dialects import dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES

_SUFFIX = "-lineage"
_CONNECTION_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}
SOURCE_TYPES: tuple[str, ...] = (
    *(kind for kind in OWN_TYPES if kind.removesuffix(_SUFFIX) not in _CONNECTION_TYPES),
    *(f"{kind}{_SUFFIX}" for kind in _CONNECTION_TYPES),
)


def _connection_type(written: str) -> str:
    found = _CONNECTION_TYPES.get(written.lower())
    if found is None:
        near = nearest_name(written, CONNECTION_TYPES)
        raise ValueError(
            f"unknown connection type; {f'did you mean {near}?' if near else 'use CustomDatabase where nothing fits'}"
        )
    return found


class SourceConnection(Model):
    """`serviceConnection.config`: the type is checked, the connector's own keys are taken as they come."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[Text, AfterValidator(_connection_type)] = Field(
        description="The kind of database, which determines the dialect: Postgres, Snowflake, BigQuery, ..."
    )

    @property
    def dialect(self) -> str:
        """The SQL of such a database."""
        return dialect_of(self.type).name

    @property
    def options(self) -> Mapping[str, Any]:
        """The connector's own keys, secrets in clear."""
        return self.model_extra or {}

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        """Without the options, which may be secrets."""
        return [("type", self.type)]


class ServiceConnection(Model):
    config: SourceConnection = Field(description="The connection; `type` is needed, the rest depends on it.")


class SourceConfig(Model):
    config: Annotated[LineageConfig, OrEmpty] = Field(
        default_factory=LineageConfig, description="What to read, and how."
    )


def _source_type(written: str) -> str:
    lowered = written.lower()
    if lowered not in SOURCE_TYPES:
        found = _CONNECTION_TYPES.get(lowered)
        near = f"{found.lower()}{_SUFFIX}" if found else nearest_name(written, SOURCE_TYPES)
        expected = f"expected {SOURCE_TYPES[0]}, {SOURCE_TYPES[1]} or postgres{_SUFFIX}"
        raise ValueError(f"unknown source type; {f'did you mean {near}?' if near else expected}")
    return written


class Source(Model):
    """Whose lineage it is, and where it is read from."""

    type: Annotated[Text, AfterValidator(_source_type)] = Field(
        description="query-log-lineage, spark-history-lineage, or <connection type>-lineage."
    )
    service_name: Text = Field(description="The catalog's database service that the names in the log belong to.")
    service_connection: ServiceConnection | None = Field(
        default=None, description="How to reach the source; left out, the type of the catalog's service is taken."
    )
    source_config: Annotated[SourceConfig, OrEmpty] = Field(
        default_factory=SourceConfig, description="The workflow's settings.", validate_default=True
    )

    @field_validator("service_connection")
    @classmethod
    def _is_of_the_type(cls, given: ServiceConnection | None, info: ValidationInfo) -> ServiceConnection | None:
        implied = _CONNECTION_TYPES.get(info.data.get("type", "").lower().removesuffix(_SUFFIX))
        if given is not None and implied is not None and given.config.type != implied:
            message = f"source.type is for {implied}, and this is {given.config.type}"
            raise Misfits((("config", "type"), message))
        return given

    def with_connection(self) -> Self:
        """The same; where no connection is given, with the one that the type or the settings imply."""
        implied = _CONNECTION_TYPES.get(self.type.lower().removesuffix(_SUFFIX))
        implied = implied or self.source_config.config.implied_connection()
        if self.service_connection is not None or implied is None:
            return self
        return self.with_value("service_connection", ServiceConnection(config=SourceConnection(type=implied)))

    @property
    def is_database(self) -> bool:
        """Whether it is read by its connection: its views and procedures, its log where it can be read."""
        return self.type.lower().removesuffix(_SUFFIX) in _CONNECTION_TYPES

    @property
    def connection(self) -> SourceConnection | None:
        """The connection; None where the catalog's service has to say what it is."""
        return self.service_connection.config if self.service_connection is not None else None

    @property
    def dialect(self) -> str | None:
        """The SQL of the source; None where nothing says what it is."""
        connection = self.connection
        return connection.dialect if connection is not None else None
