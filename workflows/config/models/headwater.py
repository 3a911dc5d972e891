"""The block `headwater` of the YAML: what OpenMetadata's has no word for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from connectors.fields import (
    Bool,
    ExistingFile,
    KeptFile,
    KeptLocation,
    Misfits,
    Model,
    NotNegative,
    OrEmpty,
    PathAlone,
    Percent,
    Positive,
    Text,
    TimeZone,
)
from workflows.config.models.query_log import QueryLogColumns, QueryLogJdbc
from workflows.config.models.server import EmbeddedCatalog
from workflows.config.models.spark_names import SparkNames

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


Property = Annotated[str, BeforeValidator(_property), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class SparkSettings(Model):
    """`headwater.spark`; `conf` may hold secrets, in clear."""

    master: Text = Field(
        default="local[*]", description="Spark's master: local[*], local[2], spark://host:7077, yarn, k8s://..."
    )
    conf: dict[str, Property] = Field(
        default_factory=dict,
        description="Spark properties: spark.driver.memory, spark.sql.shuffle.partitions, ...",
        repr=False,
    )
    catalogs: tuple[Text, ...] | None = Field(
        default=None,
        description="Catalogs that this Spark sees, whose views and columns are read too: [spark_catalog, iceberg]; "
        "left out, spark_catalog where source.type is spark-lineage, and none elsewhere.",
    )


class SchemaFile(Model):
    """DDL on disk; `database` and `schema` qualify what it leaves bare."""

    path: ExistingFile = Field(description="A file of CREATE TABLE statements in the source's dialect.")
    database: Text | None = Field(
        default=None, description="The database of its unqualified tables; the default database if left out."
    )
    schema_: Text | None = Field(
        default=None,
        alias="schema",
        description="The schema of its unqualified tables; the default schema if left out.",
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


class State(Model):
    """`headwater.state`: where progress is kept, a file or a SQLAlchemy URL, and under which name."""

    url: KeptLocation | None = Field(
        default=None,
        repr=False,
        description="A file, or postgresql://user@host/database where machines share it; "
        "left out, state.db beside the embedded catalog, or .headwater/state.db.",
    )
    workflow: Text | None = Field(
        default=None,
        description="The name that progress is kept under; ingestionPipelineFQN, or else serviceName and type.",
    )
    folder: KeptLocation | None = Field(
        default=None,
        description="A folder that every host of a cluster sees under this path: large logs are remembered there. Left "
        "out, beside the file of url where Spark is local, and else in the database itself.",
    )


class OpenLineage(Model):
    """`headwater.openLineage`: where run events go, and the namespaces in them."""

    transport: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="openlineage-python's own transport: {type: http, url: ...}, {type: file, log_file_path: ...}, "
        "{type: kafka, ...}; left out, no events are sent.",
    )
    namespace: Text | None = Field(
        default=None, description="The namespace of the jobs; the service's name if left out."
    )
    namespaces: dict[str, Text] = Field(
        default_factory=dict,
        description="Which service each namespace of tables is: {postgres://host:5432: shop}; `*` in one is any text. "
        "The first of a service is what its tables go out under, left out, that of its connection.",
    )

    max_event_bytes: Positive | None = Field(
        default=None, description="Bytes of one event; left out, what the receiver is known to take."
    )
    max_event_links: Positive | None = Field(
        default=None, description="Inputs times outputs of one event; left out, what the receiver is known to take."
    )
    max_event_columns: Positive | None = Field(
        default=None, description="Edges of columns in one event; left out, what the receiver is known to take."
    )
    outcome: Bool | None = Field(
        default=None,
        description="Whether the workflow's own run goes out too, an event without inputs and outputs; left out, where "
        "the receiver takes such.",
    )

    @model_validator(mode="after")
    def _has_a_type(self) -> Self:
        if self.transport and not isinstance(self.transport.get("type"), str):
            raise Misfits((("transport",), "give its type: http, file, kafka, console, ..."))
        return self


class StaleEdges(Model):
    """`headwater.staleEdges`: when edges go that a run wrote to an OpenMetadata and that nothing says any more."""

    after_days: Positive | None = Field(
        default=None,
        description="Days, back from the log's newest record: what no query has said since then nothing says any more. "
        "Left out, only what was said anew, withdrawn or rewritten goes.",
    )
    most_percent: Percent = Field(
        default=20,
        description="Nothing goes where more than so many per cent of the edges that the workflow wrote would; 0 keeps "
        "all, 100 asks for no such care.",
    )


class Schedule(Model):
    """`headwater.schedule`: when to run; `jitter` and `timeout` in seconds."""

    cron: Annotated[str, AfterValidator(_cron)] | None = Field(
        default=None, description="Five cron fields: minute, hour, day of month, month, day of week."
    )
    timezone: TimeZone = Field(default="UTC", description="The time zone of the cron fields.")
    jitter: NotNegative = Field(
        default=0, description="Seconds; each run starts up to so much later, so that not all start at once."
    )
    timeout: Positive = Field(default=3600, description="Seconds after which a run is stopped.")
    retries: NotNegative = Field(default=2, description="How often a run that failed for a passing reason is repeated.")

    def moments(self, start: datetime, *, reverse: bool = False) -> Iterator[datetime]:
        """The moments that the cron fields name, from `start` on or backwards; none where there are no fields."""
        return iter(()) if self.cron is None else CronSim(self.cron, start, reverse=reverse)


class Headwater(Model):
    """`headwater`: what OpenMetadata's YAML has no word for."""

    spark: Annotated[SparkSettings, OrEmpty] = Field(
        default_factory=SparkSettings, description="The Spark that the run starts."
    )
    catalog: Annotated[EmbeddedCatalog, OrEmpty] = Field(
        default_factory=EmbeddedCatalog, description="The embedded catalog, used where hostPort is embedded."
    )
    schema_files: tuple[Annotated[SchemaFile, PathAlone], ...] = Field(
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
        default_factory=QueryLogJdbc,
        description="In place of queryLogFilePath: a table or query over JDBC.",
        repr=False,
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
    supersede_rewritten: bool = Field(
        default=True,
        description="Whether the newer statement of a job that was rewritten ends what its older one said.",
    )
    parser_memory_limit: Positive = Field(
        default=100, description="Megabytes for one parser above its idle size; its process is killed then."
    )
    templates_at_once: Positive = Field(
        default=10_000,
        description="Distinct statements that are bound and published in memory; more go in batches of a quarter, what "
        "hangs together in several of them.",
    )
    dead_letters: KeptFile = Field(
        default=Path(".headwater/dead_letters.jsonl"),
        description="Where statements that were given up on are kept, masked, with the reason.",
    )
    state: Annotated[State, OrEmpty] = Field(
        default_factory=State, description="Where a run keeps what the next one goes on from."
    )
    metrics_file: KeptFile | None = Field(
        default=None, description="Where a run writes Prometheus metrics for a textfile collector."
    )
    open_lineage: Annotated[OpenLineage, OrEmpty] = Field(
        default_factory=OpenLineage, description="A second sink: OpenLineage's run events."
    )
    stale_edges: Annotated[StaleEdges, OrEmpty] = Field(
        default_factory=StaleEdges,
        description="In an OpenMetadata: when edges go that nothing says any more, and that nobody else has changed.",
    )
    schedule: Annotated[Schedule, OrEmpty] = Field(
        default_factory=Schedule, description="When `ingest schedule` runs it."
    )
