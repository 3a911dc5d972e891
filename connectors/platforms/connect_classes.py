"""Connectors of Kafka Connect by their classes, each from its own manual: what they read or write, by which keys."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from connectors.platforms.connect_options import (
    CHANGE_EVENT_OPTIONS,
    COLUMN_STORE_OPTIONS,
    DATASET_OPTIONS,
    DOCUMENT_OPTIONS,
    FILE_OPTIONS,
    INDEX_OPTIONS,
    JDBC_SINK_OPTIONS,
    JDBC_SOURCE_OPTIONS,
    LAKE_OPTIONS,
    MIRROR_OPTIONS,
    STAGED_OPTIONS,
    NamingOptions,
)

MYSQL, MARIADB, POSTGRES, SQLSERVER, ORACLE, DB2, MONGODB = (
    *("mysql", "mariadb", "postgresql", "sqlserver", "oracle", "db2", "mongodb"),
)
"""Systems as JDBC calls them."""

WITHOUT_SCHEMAS = frozenset({MYSQL, MARIADB, MONGODB})
"""Where a table's name has a database, and no schema."""

UPPER_CASE = frozenset({ORACLE, DB2})
"""Where names that are not quoted are in capitals, and topics have them so, however a list writes them."""

SERVICE_TYPES: Mapping[str, str] = {
    MYSQL: "Mysql",
    MARIADB: "MariaDB",
    POSTGRES: "Postgres",
    SQLSERVER: "Mssql",
    ORACLE: "Oracle",
    DB2: "Db2",
    MONGODB: "MongoDB",
    "snowflake": "Snowflake",
    "redshift": "Redshift",
    "clickhouse": "Clickhouse",
    "bigquery": "BigQuery",
}
"""The catalog's type of a service, by the system."""

PORTS: Mapping[str, int] = {MYSQL: 3306, MARIADB: 3306, POSTGRES: 5432, SQLSERVER: 1433, ORACLE: 1521, MONGODB: 27017}

CHANGE_EVENTS: Mapping[str, str] = {
    "MySqlConnector": MYSQL,
    "MariaDbConnector": MARIADB,
    "PostgresConnector": POSTGRES,
    "SqlServerConnector": SQLSERVER,
    "OracleConnector": ORACLE,
    "Db2Connector": DB2,
    "MongoDbConnector": MONGODB,
    "MySqlCdcSource": MYSQL,
    "MySqlCdcSourceV2": MYSQL,
    "MariaDbCdcSource": MARIADB,
    "PostgresCdcSource": POSTGRES,
    "PostgresCdcSourceV2": POSTGRES,
    "SqlServerCdcSource": SQLSERVER,
    "MicrosoftSqlServerCdcSource": SQLSERVER,
    "SqlServerCdcSourceV2": SQLSERVER,
}
"""Debezium's connectors, and Confluent Cloud's that are made of them, with the systems that they read."""

JDBC_SOURCES = frozenset({"JdbcSourceConnector"})
JDBC_SINKS = frozenset({"JdbcSinkConnector", "JdbcSinkTaskConnector"})
TOPIC_MIRRORS = frozenset({"MirrorSourceConnector"})
WITHOUT_DATA = frozenset({"MirrorHeartbeatConnector", "MirrorCheckpointConnector"})


class TableNaming(StrEnum):
    """How a sink calls the table of a topic that no map of it has."""

    TOPIC = "topic"
    """As the topic."""
    INDEX = "index"
    """As an index: in lower case, without what it may not begin with; or as a data stream."""
    IDENTIFIER = "identifier"
    """As an identifier: what is none gets a number that tells it apart."""
    DATASET = "dataset"
    """As the topic, in the dataset that a pattern of topics has."""
    SPLIT = "split"
    """As the topic, or as two parts of it."""
    OVERRIDE = "override"
    """As options of each topic say, or a class."""


@dataclass(frozen=True, slots=True)
class TableSink:
    """A sink into tables of one `system`: the keys of its address, of the levels of names, of its maps of tables.

    The message is one value of a row, where `spread_by` is a key, unless that says that its fields are columns.
    `usual`: the address where none is given. A map has `mark` between a topic and its table.
    """

    system: str
    options: NamingOptions
    address: str = ""
    port: str = ""
    levels: tuple[str, ...] = ()
    tables: str = ""
    mark: str = ":"
    table: str = ""
    spread_by: str = ""
    naming: TableNaming = TableNaming.TOPIC
    usual: str = ""


_SNOWFLAKE = TableSink(
    "snowflake",
    STAGED_OPTIONS,
    "snowflake.url.name",
    levels=("snowflake.database.name", "snowflake.schema.name"),
    tables="snowflake.topic2table.map",
    spread_by="snowflake.enable.schematization",
    naming=TableNaming.IDENTIFIER,
)
_ELASTICSEARCH = TableSink(
    "elasticsearch", INDEX_OPTIONS, "connection.url", tables="topic.index.map", naming=TableNaming.INDEX
)

TABLE_SINKS: Mapping[str, TableSink] = {
    "SnowflakeSinkConnector": _SNOWFLAKE,
    "SnowflakeStreamingSinkConnector": _SNOWFLAKE,
    "BigQuerySinkConnector": TableSink(
        "bigquery",
        DATASET_OPTIONS,
        levels=("project", "defaultDataset"),
        tables="topic2TableMap",
        naming=TableNaming.DATASET,
        usual="localhost",
    ),
    "ClickHouseSinkConnector": TableSink(
        "clickhouse",
        COLUMN_STORE_OPTIONS,
        "hostname",
        "port",
        ("database",),
        tables="topic2TableMap",
        mark="=",
        naming=TableNaming.SPLIT,
    ),
    "MongoSinkConnector": TableSink(
        MONGODB,
        DOCUMENT_OPTIONS,
        "connection.uri",
        levels=("database",),
        table="collection",
        naming=TableNaming.OVERRIDE,
        usual="localhost:27017",
    ),
    "ElasticsearchSinkConnector": _ELASTICSEARCH,
    "OpensearchSinkConnector": replace(_ELASTICSEARCH, system="opensearch"),
}


@dataclass(frozen=True, slots=True)
class FileSink:
    """A sink into files: the scheme of their paths, the keys of the bucket and of the folder, and its usual folder.

    `template`: the key of what files are called, and what that is where it is left out; "" where each topic has a
    folder of its own.
    """

    scheme: str
    bucket: str
    folder: tuple[str, ...] = ("topics.dir",)
    usual: str = "topics"
    template: str = ""


FILE_TEMPLATE = "{{topic}}-{{partition}}-{{start_offset}}"
"""What files are called where a template of theirs is left out."""

FILE_SINKS: Mapping[str, FileSink] = {
    "S3SinkConnector": FileSink("s3", "s3.bucket.name"),
    "GcsSinkConnector": FileSink("gs", "gcs.bucket.name"),
    "io.aiven.kafka.connect.gcs.GcsSinkConnector": FileSink(
        "gs", "gcs.bucket.name", ("file.name.prefix",), "", "file.name.template"
    ),
    "AivenKafkaConnectS3SinkConnector": FileSink(
        "s3", "aws.s3.bucket.name", ("aws.s3.prefix.template", "aws.s3.prefix"), "", "file.name.template"
    ),
}
"""By the class, with its package where others are called so too."""

LAKE_SINKS = frozenset({"IcebergSinkConnector", "IcebergSink"})
"""Apache's sink into Iceberg, and Tabular's that it was made of."""


def options_of(kind: str) -> NamingOptions | None:
    """What decides on names in a connector of a class, None for one that is not known."""
    if kind in TABLE_SINKS:
        return TABLE_SINKS[kind].options
    return next((options for classes, options in _OPTIONS if kind in classes), None)


_OPTIONS: tuple[tuple[Container[str], NamingOptions], ...] = (
    (CHANGE_EVENTS, CHANGE_EVENT_OPTIONS),
    (JDBC_SOURCES, JDBC_SOURCE_OPTIONS),
    (JDBC_SINKS, JDBC_SINK_OPTIONS),
    (TOPIC_MIRRORS, MIRROR_OPTIONS),
    (LAKE_SINKS, LAKE_OPTIONS),
    (FILE_SINKS, FILE_OPTIONS),
)
