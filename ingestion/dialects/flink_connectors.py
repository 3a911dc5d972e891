"""Connectors of Flink by the names that its scripts have for them, and its types of columns in the words of Spark.

Each from the connector's own manual.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.dialects.definition import keywords

TOPICS = keywords("kafka upsert-kafka")
"""Those of topics."""
CHANGES: Mapping[str, str] = {
    "mysql-cdc": "mysql",
    "postgres-cdc": "postgresql",
    "sqlserver-cdc": "sqlserver",
    "oracle-cdc": "oracle",
    "mongodb-cdc": "mongodb",
    "db2-cdc": "db2",
}
"""Those that read the changes of a table, and the system that it is in, as JDBC calls it."""
FILES = keywords("filesystem paimon hudi delta")
"""Those whose `path` holds the data."""

WAREHOUSES = keywords("paimon")
"""Types of catalogs that have each table below their `warehouse`, in a folder `<database>.db`."""

WINDOWS = keywords("tumble hop cumulate session")
"""Functions that give each row the windows in time that it falls into."""
WINDOW_BOUNDS = ("window_start", "window_end", "window_time")

SIMPLE_TYPES = keywords(
    "tinyint smallint int integer bigint float double decimal numeric boolean char varchar string date time timestamp "
    "timestamp_ltz binary varbinary"
)
"""Types that are called so in Spark too, with their numbers."""
NESTED_TYPES = keywords("array map")
"""Types of others in angle brackets, which are written so in Spark too, as long as these are."""
BYTES, OTHER_TYPE = "BINARY", "VARIANT"
"""What Spark calls Flink's bytes, and what stands for a type that it writes in another way."""
