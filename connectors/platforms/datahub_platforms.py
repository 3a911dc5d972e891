"""What DataHub calls each platform, and how it names a table of it: by its own connectors."""

from __future__ import annotations

from collections.abc import Mapping

PLATFORMS: Mapping[str, str] = {
    "AzureSQL": "mssql",
    "Cockroach": "cockroachdb",
    "DeltaLake": "delta-lake",
    "Mssql": "mssql",
    "PinotDB": "pinot",
    "SapHana": "hana",
    "Synapse": "mssql",
    "Timescale": "postgres",
    "UnityCatalog": "databricks",
}
"""Of the connection types that are called something else there than their own name in lower case."""

TWO_PARTS = frozenset(
    {"athena", "cassandra", "clickhouse", "doris", "druid", "glue", "hive", "impala", "mariadb", "mongodb", "mysql",
     "oracle", "spark", "starrocks", "teradata"}
)  # fmt: skip
"""Platforms of which a name has no more than schema (or database) and table."""
LOWER = frozenset({"snowflake", "dbt"})
"""Those whose own connectors write names in lower case."""
OF_SCHEMES: Mapping[str, str] = {
    "s3": "s3", "gs": "gcs", "abfs": "abs", "abfss": "abs", "wasb": "abs", "wasbs": "abs", "hdfs": "hdfs",
    "dbfs": "dbfs", "files": "file", "file": "file",
}  # fmt: skip
"""Storage by the service that is made of a path."""
OF_TOPICS = "kafka"
SHARDED = frozenset({"bigquery"})
"""Of which the days of a table are no datasets of their own."""

ENVIRONMENTS = frozenset(
    {"DEV", "TEST", "QA", "UAT", "EI", "PRE", "STG", "NON_PROD", "PROD", "CORP", "RVW", "PRD", "TST", "SIT", "SBX",
     "SANDBOX"}
)  # fmt: skip
"""What an environment may be called."""

MOST_UPSTREAMS, MOST_COLUMNS = 300, 2_000
"""Of one dataset: what DataHub's own connectors write at most, since a page with more of them is slow, or none."""
