"""The kinds of database that a source can be, each with the dialect that its statements are written in."""

from __future__ import annotations

from collections.abc import Mapping

CONNECTION_TYPES: Mapping[str, str] = {
    "Athena": "athena",
    "AzureSQL": "tsql",
    "BigQuery": "bigquery",
    "BigTable": "bigquery",
    "BurstIQ": "ansi",
    "Cassandra": "ansi",
    "Clickhouse": "clickhouse",
    "Cockroach": "cockroach",
    "Couchbase": "ansi",
    "CustomDatabase": "ansi",
    "Databricks": "databricks",
    "Datalake": "ansi",
    "Db2": "db2",
    "DeltaLake": "spark",
    "Domodatabase": "mysql",
    "Doris": "doris",
    "Dremio": "dremio",
    "Drill": "drill",
    "Druid": "druid",
    "DuckDB": "duckdb",
    "DynamoDB": "ansi",
    "Epic": "ansi",
    "Exasol": "exasol",
    "Flink": "flink",
    "Glue": "athena",
    "Greenplum": "greenplum",
    "Hive": "hive",
    "Iceberg": "spark",
    "Impala": "impala",
    "Informix": "informix",
    "Iomete": "spark",
    "MariaDB": "mariadb",
    "Materialize": "materialize",
    "MicrosoftAccess": "tsql",
    "MicrosoftFabric": "fabric",
    "MongoDB": "ansi",
    "Mssql": "tsql",
    "Mysql": "mysql",
    "Oracle": "oracle",
    "PinotDB": "pinot",
    "Postgres": "postgres",
    "Presto": "presto",
    "QuestDB": "questdb",
    "Redshift": "redshift",
    "RisingWave": "risingwave",
    "SAS": "ansi",
    "SSAS": "ansi",
    "SQLite": "sqlite",
    "Salesforce": "soql",
    "SapErp": "saphana",
    "SapHana": "saphana",
    "ServiceNow": "ansi",
    "SingleStore": "singlestore",
    "Snowflake": "snowflake",
    "Spark": "spark",
    "StarRocks": "starrocks",
    "Synapse": "tsql",
    "Teradata": "teradata",
    "Timescale": "postgres",
    "Trino": "trino",
    "UnityCatalog": "databricks",
    "Vertica": "vertica",
}

_OWN = frozenset({"DuckDB", "Drill", "Flink", "Iceberg", "Materialize", "RisingWave", "Spark"})
_SELDOM = frozenset({"AzureSQL", "MicrosoftAccess"})
OTHER_DATABASE = "CustomDatabase"

# What people write for a dialect that goes by another name here.
SPELLINGS: Mapping[str, str] = {
    "": "ansi",
    "fabricsql": "fabric",
    "flinksql": "flink",
    "mssql": "tsql",
    "pg": "postgres",
    "postgresql": "postgres",
    "spark2": "spark",
    "sparksql": "spark",
    "sqlserver": "tsql",
    "timescaledb": "postgres",
}


def connection_type_of(dialect: str) -> str:
    """The kind of database whose SQL a dialect is; of several the one that goes by its name, else the first."""
    by_name = next((kind for kind in CONNECTION_TYPES if kind.lower() == dialect), None)
    speaking = (kind for kind, spoken in CONNECTION_TYPES.items() if spoken == dialect and kind not in _SELDOM)
    return by_name or (OTHER_DATABASE if dialect == "ansi" else next(speaking, OTHER_DATABASE))


def service_type(kind: str) -> str:
    """OpenMetadata's service type for a kind of database: its clients can read no service of a type that they lack."""
    if kind == "Domodatabase":
        return "DomoDatabase"
    return OTHER_DATABASE if kind in _OWN else kind
