"""Power Query's connectors to databases: whose names and SQL they lead to, and through which levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DATABASE, SCHEMA, TABLE = "database", "schema", "table"
_THREE = (DATABASE, SCHEMA, TABLE)
_TWO = (SCHEMA, TABLE)


@dataclass(frozen=True, slots=True)
class _Connector:
    """A function that gives what a server has: its type of connection ("" where it does not tell), the levels below.

    `database`: the argument that names one, from 0 on.
    """

    connection: str
    levels: tuple[str, ...] = _TWO
    database: int | None = None


CONNECTORS: Mapping[str, _Connector] = {
    "AmazonAthena.Databases": _Connector("Athena", _THREE),
    "AmazonRedshift.Database": _Connector("Redshift", _TWO, 1),
    "ApacheSpark.Tables": _Connector("Spark"),
    "ClickHouse.Database": _Connector("Clickhouse"),
    "CommonDataService.Database": _Connector("Mssql"),
    "DB2.Database": _Connector("Db2", _TWO, 1),
    "Databricks.Catalogs": _Connector("Databricks", _THREE),
    "Databricks.Contents": _Connector("Databricks", _THREE),
    "DatabricksMultiCloud.Catalogs": _Connector("Databricks", _THREE),
    "Exasol.Database": _Connector("Exasol"),
    "Fabric.Warehouse": _Connector("MicrosoftFabric"),
    "GoogleBigQuery.Database": _Connector("BigQuery", _THREE),
    "Impala.Database": _Connector("Impala"),
    "Lakehouse.Contents": _Connector("MicrosoftFabric"),
    "MariaDB.Contents": _Connector("MariaDB"),
    "MySQL.Database": _Connector("Mysql"),
    "Odbc.DataSource": _Connector("", _THREE),
    "OleDb.DataSource": _Connector("", _TWO),
    "Oracle.Database": _Connector("Oracle"),
    "PostgreSQL.Database": _Connector("Postgres", _TWO, 1),
    "Snowflake.Databases": _Connector("Snowflake", _THREE),
    "Spark.Tables": _Connector("Spark"),
    "Sql.Database": _Connector("Mssql", _TWO, 1),
    "Sql.Databases": _Connector("Mssql", _THREE),
    "Teradata.Database": _Connector("Teradata"),
    "Vertica.Database": _Connector("Vertica", _TWO, 1),
}
"""Functions of databases, from which a query goes on by names: `Sql.Database(s, d){[Schema="dbo", Item="x"]}[Data]`."""

QUERIES: Mapping[str, str] = {
    "Databricks.Query": "Databricks",
    "DatabricksMultiCloud.Query": "Databricks",
    "Odbc.Query": "",
    "OleDb.Query": "",
}
"""Functions that are given SQL as their second argument, with the type of connection."""

REMOTE_MODELS = frozenset({"AnalysisServices.Database", "AnalysisServices.Databases"})
"""Functions that read another semantic model."""
