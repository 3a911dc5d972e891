"""Scripts of Flink SQL as records: a script is a session, its tables stand for what their connectors lead to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from connectors.dashboards.files import ExportedFile, exported_files
from connectors.flink.settings import FlinkConfig
from connectors.records import RECORD_SCHEMA
from connectors.source import FrameOfRecords, OpenSource, RecordsWanted, SourceRun
from connectors.stream_names import StreamNames
from ingestion.dialects import dialect_of
from ingestion.dialects.dataset_namespaces import UNKNOWN_DATABASE
from ingestion.errors import ConfigError, Unparsable
from ingestion.model.engine_names import JdbcUrl, Parts
from ingestion.model.outcomes import Outcome
from ingestion.scripts.connector_tables import ConnectorTables, with_locations

ENDINGS = (".sql",)
_DATABASE, _CATALOG = "default_database", "default_catalog"
"""Where Flink's own catalog has what no CREATE CATALOG and no USE says otherwise of."""


@contextmanager
def open_source(settings: FlinkConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The scripts. Raises ConfigError where there are none."""
    files = list(exported_files(settings.path, ENDINGS))
    if not files:
        raise ConfigError(f"{settings.location} holds no *.sql file")
    rows = list(_rows(files, StreamNames(run.names), run.dialect))
    size = sum(len(file.text) for file in files)

    def records(spark: SparkSession, _wanted: RecordsWanted) -> FrameOfRecords:
        columns = RECORD_SCHEMA.fieldNames()
        frame = spark.createDataFrame([tuple(row.get(one) for one in columns) for row in rows], RECORD_SCHEMA)
        return FrameOfRecords(frame, size=size, exporters={"Flink SQL": len(files)})

    yield OpenSource(records=records)


def _rows(files: list[ExportedFile], names: StreamNames, dialect: str) -> Iterator[dict[str, object]]:
    """A record for each script; one whose quotes do not pair is given as it is: its statements are told one by one."""

    def name(url: JdbcUrl, parts: Parts) -> Parts:
        return tuple(part or UNKNOWN_DATABASE for part in names.table(url, parts).parts)

    tables = ConnectorTables(dialect_of(dialect), name)
    for file in files:
        row: dict[str, object] = {"source_id": f"{file.name}:1"}
        if file.problem:
            yield row | {"problem": file.problem}
            continue
        try:
            text = with_locations(file.text, tables.dialect, tables)
        except Unparsable:
            text = file.text
        row |= {"session": file.name, "job": file.name, "database": _CATALOG, "schema": _DATABASE}
        yield row | ({"text": text} if text.strip() else {"status": Outcome.EMPTY})
