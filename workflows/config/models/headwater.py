"""The block `headwater:` of the YAML, and the YAML as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from connectors.fields import NO_EFFECT, Bool, Model, NotNegative, OrEmpty, Port, Positive, Secret, Text, TimeZone
from workflows.config.models.openmetadata import (
    Component,
    QuerySource,
    Sink,
    WorkflowConfig,
)
from workflows.config.models.query_log import QueryLogColumns, QueryLogJdbc

_CRON_FIELDS = 5


def _cron(fields: str) -> str:
    try:
        CronSim(fields, datetime.now(UTC))
        if len(fields.split()) != _CRON_FIELDS:  # a sixth would be seconds
            raise CronSimError(fields)
    except CronSimError:
        raise ValueError("not five cron fields; write some such as 15 * * * * or 0 6 * * MON-FRI") from None
    return fields


def _property(value: Any) -> str:
    """A Spark property as Spark writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise ValueError("expected text, a number, true or false")
    return str(value)


def _path_alone(value: Any) -> Any:
    """A schema file may be given as nothing but its path."""
    return {"path": value} if isinstance(value, str) else value


Property = Annotated[str, BeforeValidator(_property), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class SparkConfig(Model):
    master: Text = Field(
        default="local[*]", description="Spark's master: local[*], local[2], spark://host:7077, yarn, k8s://..."
    )
    conf: dict[str, Property] = Field(
        default_factory=dict,
        description="Spark properties: spark.driver.memory, spark.sql.shuffle.partitions, ...",
    )
    catalogs: tuple[Text, ...] | None = Field(
        default=None,
        description="Catalogs that this Spark sees, whose views and columns are read too: [spark_catalog, iceberg]; "
        "left out, spark_catalog where source.type is spark-lineage, and none elsewhere.",
    )


class CatalogConfig(Model):
    file: Text = Field(
        default=".headwater/catalog.db", description="The embedded catalog's file; made where there is none."
    )
    port: Port = Field(default=0, description="The loopback port it answers on during a run; 0 takes a free one.")
    token: Secret | None = Field(
        default=None, description="The token that it demands; none by default, since it is on loopback."
    )


class SchemaFile(Model):
    path: Text = Field(description="A file of CREATE TABLE statements in the source's dialect.")
    database: Text | None = Field(
        default=None, description="The database of its unqualified tables; the default database if left out."
    )
    schema_: Text | None = Field(
        default=None,
        alias="schema",
        description="The schema of its unqualified tables; the default schema if left out.",
    )


class JdbcName(Model):
    to: Text = Field(description="Whose they are: service, service.database or service.database.schema.")
    url: Text | None = Field(
        default=None,
        description="Where they are: jdbc:postgresql://host:5432/database, or less of it; any place if left out. "
        "Spark tells it of JDBC catalogs only: for other tables name their patterns.",
    )
    tables: tuple[Text, ...] = Field(
        default=(), description="Patterns of their names, such as APP.* or legacy_*; all if left out."
    )


class PathName(Model):
    prefix: Text = Field(description="What their paths begin with: s3://bucket/raw, /data/in, or s3:// for all of S3.")
    to: Text = Field(
        description="Whose they are: a storage service; or service.database, below which folders are schema/table; "
        "or service.database.schema, below which each folder is a table."
    )


class SparkNames(Model):
    """`headwater.sparkNames`: what Spark reads and writes, and whose it is."""

    catalogs: dict[str, Text] = Field(
        default_factory=dict,
        description="Spark's catalogs, or catalog.namespace: {spark_catalog: service.database, lake: service}. "
        "What is left out keeps Spark's name.",
    )
    jdbc: tuple[JdbcName, ...] = Field(
        default=(), description="Tables of other databases: {to, url, tables}; the first that fits counts."
    )
    paths: tuple[PathName, ...] = Field(
        default=(), description="Files: {prefix, to}; the longest prefix that fits counts."
    )


class Defaults(Model):
    database: Text | None = Field(
        default=None, description="The database of names that neither the query nor its session qualifies."
    )
    schema_: Text | None = Field(
        default=None,
        alias="schema",
        description="The schema of names that neither the query nor its session qualifies.",
    )


class StateConfig(Model):
    url: Text | None = Field(
        default=None,
        description="A file, or postgresql://user@host/database where machines share it; "
        "left out, state.db beside the embedded catalog, or .headwater/state.db.",
    )
    workflow: Text | None = Field(
        default=None,
        description="The name that progress is kept under; ingestionPipelineFQN, or else serviceName and type.",
    )
    folder: Text | None = Field(
        default=None,
        description="A folder that every host of a cluster sees under this path: large logs are remembered there. Left "
        "out, beside the file of url where Spark is local, and else in the database itself.",
    )


class OpenLineageConfig(Model):
    transport: dict[str, Any] = Field(
        default_factory=dict,
        description="openlineage-python's own transport: {type: http, url: ...}, {type: file, log_file_path: ...}, "
        "{type: kafka, ...}; left out, no events are sent.",
    )
    namespace: Text | None = Field(
        default=None, description="The namespace of the jobs; the service's name if left out."
    )
    dataset_namespace: Text | None = Field(
        default=None,
        description="The namespace of the tables, such as postgres://host:5432; made of the connection if left out.",
    )


class ScheduleConfig(Model):
    cron: Annotated[str, AfterValidator(_cron)] | None = Field(
        default=None, description="Five cron fields: minute, hour, day of month, month, day of week."
    )
    timezone: TimeZone = Field(default="UTC", description="The time zone of the cron fields.")
    jitter: NotNegative = Field(
        default=0, description="Seconds; each run starts up to so much later, so that not all start at once."
    )
    timeout: Positive = Field(default=3600, description="Seconds after which a run is stopped.")
    retries: NotNegative = Field(default=2, description="How often a run that failed for a passing reason is repeated.")


class Headwater(Model):
    """`headwater`: what OpenMetadata's YAML has no word for."""

    spark: Annotated[SparkConfig, OrEmpty] = Field(
        default_factory=SparkConfig, description="The Spark that the run starts."
    )
    catalog: Annotated[CatalogConfig, OrEmpty] = Field(
        default_factory=CatalogConfig, description="The embedded catalog, used where hostPort is embedded."
    )
    schema_files: tuple[Annotated[SchemaFile, BeforeValidator(_path_alone)], ...] = Field(
        default=(), description="DDL of tables that the log only reads: paths, or {path, database, schema}."
    )
    register_tables: Literal["auto", "never", "always"] = Field(
        default="auto",
        description="Whether tables that the catalog lacks are registered; auto: in the embedded catalog only.",
    )
    query_log_columns: Annotated[QueryLogColumns, OrEmpty] = Field(
        default_factory=QueryLogColumns,
        description="Where a query log has what, if its exporter is not known: {text: argument, time: event_time}.",
    )
    query_log_timezone: TimeZone = Field(default="UTC", description="Of the log's times that name no zone.")
    query_log_table: Text | None = Field(
        default=None, description="In place of queryLogFilePath: a table that this Spark sees (Delta, Iceberg, Hive)."
    )
    query_log_jdbc: Annotated[QueryLogJdbc, OrEmpty] = Field(
        default_factory=QueryLogJdbc, description="In place of queryLogFilePath: a table or query over JDBC."
    )
    defaults: Annotated[Defaults, OrEmpty] = Field(
        default_factory=Defaults, description="What qualifies a bare name last."
    )
    catalog_services: dict[str, Text] = Field(
        default_factory=dict,
        description="First name parts that stand for another service: {trino_catalog: service}.",
    )
    spark_names: Annotated[SparkNames, OrEmpty] = Field(
        default_factory=SparkNames, description="Of a Spark history: whose its tables and files are."
    )
    parser_memory_limit: Positive = Field(
        default=100, description="Megabytes for one parser above its idle size; its process is killed then."
    )
    templates_at_once: Positive = Field(
        default=10_000,
        description="Distinct statements that are bound and published in memory; more go in batches of a quarter, what "
        "hangs together in several of them.",
    )
    dead_letters: Text = Field(
        default=".headwater/dead_letters.jsonl",
        description="Where statements that were given up on are kept, masked, with the reason.",
    )
    state: Annotated[StateConfig, OrEmpty] = Field(
        default_factory=StateConfig, description="Where a run keeps what the next one goes on from."
    )
    metrics_file: Text | None = Field(
        default=None, description="Where a run writes Prometheus metrics for a textfile collector."
    )
    open_lineage: Annotated[OpenLineageConfig, OrEmpty] = Field(
        default_factory=OpenLineageConfig, description="A second sink: OpenLineage's run events."
    )
    schedule: Annotated[ScheduleConfig, OrEmpty] = Field(
        default_factory=ScheduleConfig, description="When `ingest schedule` runs it."
    )


class Workflow(Model):
    """The whole file; `source` and `sink` are as `workflow_model` has them for their types."""

    source: QuerySource = Field(description="Where the lineage is read from.")
    sink: Sink = Field(description="Where it is written to.")
    workflow_config: Annotated[WorkflowConfig, OrEmpty] = Field(
        default_factory=WorkflowConfig, description="The catalog, and when a run counts as failed."
    )
    headwater: Annotated[Headwater, OrEmpty] = Field(
        default_factory=Headwater, description="Headwater's own settings: Spark, embedded catalog, schemas."
    )
    ingestion_pipeline_fqn: Text | None = Field(
        default=None, alias="ingestionPipelineFQN", description="The name that progress is kept under."
    )
    pipeline_run_id: Text | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    enable_streamable_logs: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)
    ingestion_runner_name: Text | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    processor: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    stage: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    bulk_sink: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
