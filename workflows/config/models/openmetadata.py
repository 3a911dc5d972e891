"""The YAML of OpenMetadata's lineage workflow, field for field, with our defaults where they differ."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from connectors.fields import NO_EFFECT, Bool, Model, OrEmpty, Percent, Positive, Regex, Secret, Text, cores
from connectors.sink import SinkSettings


class FilterPattern(Model):
    includes: tuple[Regex, ...] = Field(
        default=(), description="Names to keep: regular expressions matched at the start, case ignored."
    )
    excludes: tuple[Regex, ...] = Field(default=(), description="Names to leave out; stronger than includes.")


class QueryParserConfig(Model):
    type: Literal["Auto", "SqlGlot", "SqlFluff"] = Field(
        default="Auto",
        description="Which parser goes first; what it refuses falls to the next, down to the token rules.",
    )


class LineageConfig(Model):
    """`source.sourceConfig.config`."""

    type: Literal["DatabaseLineage"] = Field(default="DatabaseLineage", description="The kind of workflow.")
    query_log_file_path: Text | None = Field(
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
    database_filter_pattern: FilterPattern | None = Field(default=None, description="Databases whose lineage is kept.")
    schema_filter_pattern: FilterPattern | None = Field(default=None, description="Schemas whose lineage is kept.")
    table_filter_pattern: FilterPattern | None = Field(default=None, description="Tables whose lineage is kept.")
    stored_procedure_filter_pattern: FilterPattern | None = Field(
        default=None, description="Procedures whose lineage is kept."
    )
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


class SparkHistoryLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type spark-history-lineage; its own keys are Headwater's."""

    event_log_directory: Text | None = Field(
        default=None,
        description="Where Spark writes its event logs: any URI that Spark reads. This or historyServer.",
    )
    history_server: Text | None = Field(
        default=None, description="The URL of a Spark history server. This or eventLogDirectory."
    )
    min_date: Text | None = Field(
        default=None, description="Applications that started on or after this ISO date or time."
    )
    status: Literal["all", "completed", "running"] = Field(default="all", description="Which applications to read.")


class ConnectionConfig(Model):
    """`serviceConnection.config`: the type is checked, the connector's own keys are taken as they come."""

    model_config = ConfigDict(extra="allow")

    type: Text = Field(
        description="The kind of database, which determines the dialect: Postgres, Snowflake, BigQuery, ..."
    )


class ServiceConnection(Model):
    config: ConnectionConfig = Field(description="The connection; `type` is needed, the rest depends on it.")


class SourceConfig(Model):
    config: Annotated[LineageConfig, OrEmpty] = Field(
        default_factory=LineageConfig, description="What to read, and how."
    )


class SparkHistorySourceConfig(SourceConfig):
    config: Annotated[SparkHistoryLineageConfig, OrEmpty] = Field(
        default_factory=SparkHistoryLineageConfig, description="What to read, and how."
    )


class QuerySource(Model):
    """`source`."""

    type: Text = Field(description="query-log-lineage, spark-history-lineage, or <connection type>-lineage.")
    service_name: Text = Field(description="The catalog's database service that the names in the log belong to.")
    service_connection: ServiceConnection | None = Field(
        default=None, description="How to reach the source; left out, the type of the catalog's service is taken."
    )
    source_config: Annotated[SourceConfig, OrEmpty] = Field(
        default_factory=SourceConfig, description="The workflow's settings."
    )


class SparkHistorySource(QuerySource):
    source_config: Annotated[SparkHistorySourceConfig, OrEmpty] = Field(
        default_factory=SparkHistorySourceConfig, description="The workflow's settings."
    )


class Sink(Model):
    """`sink`: what its `config` is, its type decides (see `workflow_model`)."""

    type: Text = Field(description="What is written to.")
    config: SinkSettings = Field(description="The sink's settings.")


class SecurityConfig(Model):
    jwt_token: Secret | None = Field(
        default=None,
        description="The token, or the path of a file that holds it; no_token where authentication is off.",
    )


class SslConfig(Model):
    ca_certificate: Text | None = Field(default=None, description="A PEM file with the authorities to trust.")
    ssl_certificate: Text | None = Field(default=None, description="A PEM file with the client's certificate.")
    ssl_key: Text | None = Field(default=None, description="A PEM file with the client's key.")


class ServerConfig(Model):
    """`workflowConfig.openMetadataServerConfig`."""

    host_port: Text = Field(
        default="embedded", description="`embedded`, or the API of an OpenMetadata: http://host:8585/api."
    )
    auth_provider: Text = Field(
        default="openmetadata", description="Not used: the token is sent as it is.", json_schema_extra=NO_EFFECT
    )
    security_config: Annotated[SecurityConfig, OrEmpty] = Field(
        default_factory=SecurityConfig, description="How to authenticate."
    )
    verify_ssl: Literal["no-ssl", "ignore", "validate"] = Field(
        default="no-ssl",
        alias="verifySSL",
        description="`ignore` accepts any certificate; the others verify it where the URL is https.",
    )
    ssl_config: SslConfig | None = Field(default=None, description="Certificates.")
    api_version: Literal["v1"] = Field(default="v1", description="The API's version.")
    enable_version_validation: Bool = Field(default=True, description="Ask the server for its version before the run.")
    extra_headers: dict[str, str] = Field(default_factory=dict, description="Headers to send with every request.")
    type: Literal["OpenMetadata"] = Field(default="OpenMetadata", description="The kind of target.")
    cluster_name: Text = Field(default="openmetadata", description="Not used.", json_schema_extra=NO_EFFECT)
    store_service_connection: Bool = Field(
        default=True, description="Not used: connections are never sent.", json_schema_extra=NO_EFFECT
    )
    force_entity_overwriting: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)
    secrets_manager_provider: Text = Field(default="db", description="Not used.", json_schema_extra=NO_EFFECT)
    secrets_manager_loader: Text = Field(default="noop", description="Not used.", json_schema_extra=NO_EFFECT)


class WorkflowConfig(Model):
    """`workflowConfig`."""

    logger_level: Literal["DEBUG", "INFO", "WARN", "ERROR"] = Field(
        default="INFO", description="Log from this level up."
    )
    raise_on_error: Bool = Field(
        default=True, description="Exit with 3 below the success threshold; false only reports it."
    )
    success_threshold: Percent = Field(default=90, description="Per cent of statements that must not be given up on.")
    open_metadata_server_config: Annotated[ServerConfig, OrEmpty] = Field(
        default_factory=ServerConfig, description="The catalog to publish to."
    )


class Component(Model):
    """`processor`, `stage` and `bulkSink`, which other workflows use."""

    type: Text = Field(description="Not used.")
    config: dict[str, Any] | None = Field(default=None, description="Not used.")
