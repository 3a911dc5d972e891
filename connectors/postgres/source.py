"""A live PostgreSQL as a source: its views and routines, its columns, what its statistics have of statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from pyspark.sql import SparkSession

from connectors.postgres.database import PostgresDatabase, PostgresOptions, connect
from connectors.postgres.explain import columns_read
from connectors.records import RECORD_SCHEMA
from connectors.source import FrameOfRecords, OpenSource, RecordsWanted, SourceRun
from ingestion.model.namespaces import RelationKey


@contextmanager
def open_source(settings: Mapping[str, object], _run: SourceRun) -> Iterator[OpenSource]:
    """The database that the keys of OpenMetadata's connection name. Raises ConfigError and TargetDown."""
    with connect(PostgresOptions.of(settings)) as session:
        database = PostgresDatabase(session)
        yield OpenSource(
            database=database.name,
            records=partial(_records, database),
            views=database.views,
            routines=database.routines,
            keeps=lambda _stored: False,  # the server tells all that it has
            columns=lambda: {RelationKey(key): columns for key, columns in database.columns().items()},
            planner=partial(columns_read, database),
        )


def _records(database: PostgresDatabase, spark: SparkSession, wanted: RecordsWanted) -> FrameOfRecords:
    names = RECORD_SCHEMA.fieldNames()
    rows = [tuple(row.get(name) for name in names) for row in database.statements(wanted.limit) or ()]
    return FrameOfRecords(spark.createDataFrame(rows, RECORD_SCHEMA))
