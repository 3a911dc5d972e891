"""The block `source` of the YAML: whose lineage it is, where it is read from, and what of it is wanted.

The keys are those of OpenMetadata's lineage workflow, with our defaults where they differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from connectors.fields import (
    Bool,
    InputLocation,
    Misfits,
    Model,
    Moment,
    OrEmpty,
    Positive,
    Regex,
    Text,
    cores,
    http_url,
)
from ingestion.arguments import nearest_name
from ingestion.dialects import dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.parsing._tiers import Parser

_SUFFIX = "-lineage"
_QUERY_LOG, _SPARK_HISTORY, _DBT = f"query-log{_SUFFIX}", f"spark-history{_SUFFIX}", "dbt"
SOURCE_TYPES: tuple[str, ...] = (
    _QUERY_LOG,
    _SPARK_HISTORY,
    _DBT,
    *(f"{kind.lower()}{_SUFFIX}" for kind in CONNECTION_TYPES),
)
_CONNECTION_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}
_DAYS_KEPT = 31
"""Of a log that is read whole; a month's export fits."""


class SourceKind(StrEnum):
    """Where lineage is read from."""

    QUERY_LOG = "query-log"
    SPARK_HISTORY = "spark-history"
    DBT = "dbt"
    DATABASE = "database"  # a connection type: its views and procedures, its log where it can be read


class FilterPattern(Model):
    """Regular expressions over names, matched from their start, case ignored; an exclude outweighs an include."""

    includes: tuple[Regex, ...] = Field(
        default=(), description="Names to keep: regular expressions matched at the start, case ignored."
    )
    excludes: tuple[Regex, ...] = Field(default=(), description="Names to leave out; stronger than includes.")

    def allows(self, name: str) -> bool:
        """Whether a name is kept."""
        if _matches_one(self.excludes, name):
            return False
        return not self.includes or _matches_one(self.includes, name)


def _none_if_empty(given: FilterPattern | None) -> FilterPattern | None:
    return None if given == FilterPattern() else given


Pattern = Annotated[FilterPattern | None, AfterValidator(_none_if_empty)]


def _matches_one(patterns: Iterable[str], name: str) -> bool:
    return any(re.match(pattern, name, re.IGNORECASE) for pattern in patterns)


class QueryParserConfig(Model):
    type: Literal["Auto", "SqlGlot", "SqlFluff"] = Field(
        default="Auto",
        description="Which parser goes first; what it refuses falls to the next, down to the token rules.",
    )


class LineageConfig(Model):
    """`source.sourceConfig.config`."""

    type: Literal["DatabaseLineage"] = Field(default="DatabaseLineage", description="The kind of workflow.")
    query_log_file_path: InputLocation | None = Field(
        default=None,
        description="The query log as its platform exports it (CSV, JSON, Parquet, ORC, Avro, a csvlog): a file, a "
        "directory, a glob or a URI for Spark.",
    )
    query_log_duration: Positive | None = Field(
        default=None, description="Days back, from the newest record of the log; left out, all of it is read."
    )
    result_limit: Positive = Field(
        default=100_000, description="Records read at most; what lies beyond is counted as over limit."
    )
    parsing_timeout_limit: Positive = Field(
        default=30, description="Seconds for one parser on one statement; its process is killed then."
    )
    query_parser_config: Annotated[QueryParserConfig, OrEmpty] = Field(
        default_factory=QueryParserConfig, description="The parser to begin with."
    )
    filter_condition: Text | None = Field(
        default=None, description="Records to read: a Spark SQL condition, such as user = 'etl' AND duration > 5."
    )
    database_filter_pattern: Pattern = Field(default=None, description="Databases whose lineage is kept.")
    schema_filter_pattern: Pattern = Field(default=None, description="Schemas whose lineage is kept.")
    table_filter_pattern: Pattern = Field(default=None, description="Tables whose lineage is kept.")
    stored_procedure_filter_pattern: Pattern = Field(default=None, description="Procedures whose lineage is kept.")
    override_view_lineage: Bool = Field(
        default=True, description="A redefined view's old lineage goes when the new stands."
    )
    process_view_lineage: Bool = Field(default=True, description="Read the definitions of views.")
    process_query_lineage: Bool = Field(default=True, description="Read the query log.")
    process_stored_procedure_lineage: Bool = Field(default=True, description="Read the bodies of stored procedures.")
    threads: Positive = Field(
        default_factory=cores, description="Parser processes at a time; as many as cores if left out."
    )
    process_cross_database_lineage: Bool = Field(
        default=False, description="Look names up in crossDatabaseServiceNames as well."
    )
    cross_database_service_names: tuple[Text, ...] = Field(
        default=(), description="Services to look names up in, in this order."
    )
    enable_temp_table_lineage: Bool = Field(
        default=True, description="Follow temporary and staging tables to the tables behind them."
    )
    incremental_lineage_processing: Bool = Field(
        default=True, description="Leave out views and procedures that are done already."
    )
    process_entities: Bool = Field(
        default=False, description="Take the log's SELECTs apart into metrics (Headwater's own key)."
    )

    @property
    def parser(self) -> Parser:
        """Which parsers are asked."""
        return Parser(self.query_parser_config.type)

    @property
    def days_kept(self) -> int:
        """How much of what was read is remembered, to bind later records with."""
        return self.query_log_duration or _DAYS_KEPT

    @property
    def other_services(self) -> tuple[str, ...]:
        """Where names are looked up that the source's own service does not have."""
        return self.cross_database_service_names if self.process_cross_database_lineage else ()

    def allows(self, database: str, schema: str, table: str) -> bool:
        """Whether lineage of a table is kept."""
        patterns = (self.database_filter_pattern, self.schema_filter_pattern, self.table_filter_pattern)
        named = zip(patterns, (database, schema, table), strict=True)
        return all(pattern is None or pattern.allows(name) for pattern, name in named)

    def allows_procedure(self, database: str, schema: str, procedure: str) -> bool:
        """Whether lineage of a procedure is kept."""
        patterns = (self.database_filter_pattern, self.schema_filter_pattern, self.stored_procedure_filter_pattern)
        named = zip(patterns, (database, schema, procedure), strict=True)
        return all(pattern is None or pattern.allows(name) for pattern, name in named)


class SparkHistoryLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type spark-history-lineage; its own keys are Headwater's."""

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
    def _has_one_place(self) -> Self:
        if (self.event_log_directory is None) == (self.history_server is None):
            raise Misfits(((), "give one of eventLogDirectory and historyServer"))
        return self


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


class SparkHistorySourceConfig(SourceConfig):
    config: Annotated[SparkHistoryLineageConfig, OrEmpty] = Field(
        default_factory=SparkHistoryLineageConfig, description="What to read, and how.", validate_default=True
    )


def _source_type(written: str) -> str:
    lowered = written.lower()
    if lowered not in SOURCE_TYPES:
        found = _CONNECTION_TYPES.get(lowered)
        near = f"{found.lower()}{_SUFFIX}" if found else nearest_name(written, SOURCE_TYPES)
        expected = f"expected {_QUERY_LOG}, {_SPARK_HISTORY} or postgres{_SUFFIX}"
        raise ValueError(f"unknown source type; {f'did you mean {near}?' if near else expected}")
    return written


class Source(Model):
    """`source`."""

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
        """The same, with a connection that only what is read of the source implies."""
        return self

    @property
    def kind(self) -> SourceKind:
        """Where lineage is read from."""
        kinds = {
            _QUERY_LOG: SourceKind.QUERY_LOG, _SPARK_HISTORY: SourceKind.SPARK_HISTORY, _DBT: SourceKind.DBT
        }  # fmt: skip
        return kinds.get(self.type.lower(), SourceKind.DATABASE)

    @property
    def connection(self) -> SourceConnection | None:
        """The connection, or what the type says of it; None where the catalog's service has to say what it is."""
        if self.service_connection is not None:
            return self.service_connection.config
        lowered = self.type.lower()
        implied = "Spark" if lowered == _SPARK_HISTORY else _CONNECTION_TYPES.get(lowered.removesuffix(_SUFFIX))
        return SourceConnection(type=implied) if implied is not None else None

    @property
    def dialect(self) -> str | None:
        """The SQL of the source; None where nothing says what it is."""
        connection = self.connection
        return connection.dialect if connection is not None else None


class SparkHistorySource(Source):
    source_config: Annotated[SparkHistorySourceConfig, OrEmpty] = Field(
        default_factory=SparkHistorySourceConfig, description="The workflow's settings.", validate_default=True
    )
