"""Connectors of Kafka Connect by their classes, each from its own manual: what they read or write, by which keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MYSQL, MARIADB, POSTGRES, SQLSERVER, ORACLE, DB2, MONGODB = (
    *("mysql", "mariadb", "postgresql", "sqlserver", "oracle", "db2", "mongodb"),
)
"""Systems as JDBC calls them."""

WITHOUT_SCHEMAS = frozenset({MYSQL, MARIADB, MONGODB})
"""Where a table's name has a database, and no schema."""

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


@dataclass(frozen=True, slots=True)
class TableSink:
    """A sink into tables of one `system`: the keys of its address, of the levels of names, of its map of tables.

    `keeps_all`: the message is one value of a row unless the key `spread_by` says that its fields are columns.
    """

    system: str
    address: str
    port: str = ""
    levels: tuple[str, ...] = ()
    tables: str = ""
    table: str = ""
    spread_by: str = ""


TABLE_SINKS: Mapping[str, TableSink] = {
    "SnowflakeSinkConnector": TableSink(
        "snowflake",
        "snowflake.url.name",
        levels=("snowflake.database.name", "snowflake.schema.name"),
        tables="snowflake.topic2table.map",
        spread_by="snowflake.enable.schematization",
    ),
    "SnowflakeStreamingSinkConnector": TableSink(
        "snowflake",
        "snowflake.url.name",
        levels=("snowflake.database.name", "snowflake.schema.name"),
        tables="snowflake.topic2table.map",
        spread_by="snowflake.enable.schematization",
    ),
    "BigQuerySinkConnector": TableSink("bigquery", "", levels=("project", "defaultDataset"), tables="topic2TableMap"),
    "ClickHouseSinkConnector": TableSink("clickhouse", "hostname", "port", ("database",), tables="topic2TableMap"),
    "MongoSinkConnector": TableSink(MONGODB, "connection.uri", levels=("database",), table="collection"),
    "ElasticsearchSinkConnector": TableSink("elasticsearch", "connection.url"),
    "OpensearchSinkConnector": TableSink("opensearch", "connection.url"),
}


@dataclass(frozen=True, slots=True)
class _FileSink:
    """A sink into files: the scheme of their paths, the keys of the bucket and of the folder, and its usual folder."""

    scheme: str
    bucket: str
    folder: str = "topics.dir"
    usual: str = "topics"


FILE_SINKS: Mapping[str, _FileSink] = {
    "S3SinkConnector": _FileSink("s3", "s3.bucket.name"),
    "GcsSinkConnector": _FileSink("gs", "gcs.bucket.name"),
    "AivenKafkaConnectS3SinkConnector": _FileSink("s3", "aws.s3.bucket.name", "aws.s3.prefix", ""),
}

LAKE_SINKS = frozenset({"IcebergSinkConnector", "IcebergSink"})
"""Apache's sink into Iceberg, and Tabular's that it was made of."""
