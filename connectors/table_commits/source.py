"""The commits of tables as a source: a record for each, without a text, that says what was written and by whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.records import RECORD_SCHEMA
from connectors.source import FrameOfRecords, OpenSource, RecordsWanted, SourceRun
from connectors.table_commits._commits import Commit, UnreadableCommit, delta_commit, iceberg_commits
from connectors.table_commits._tables import CommitFile, commit_files
from connectors.table_commits.settings import TableCommitsConfig
from ingestion.analysis.symbolic import dumps
from ingestion.errors import TooLarge
from ingestion.model.lineage import Flow, StatementLineage, TableName, Target, WriteMode
from ingestion.model.outcomes import Outcome
from ingestion.model.table_commits import TableFormat
from ingestion.plans.names import NameMapping, clean_location

_LARGEST_FILE = 64 << 20
"""Bytes of a file that is read as one value: of 200 MB a JVM of the usual 1 GB dies."""
_AT_ONCE = 1_000
_GLOB = re.compile(r"([\\*?\[\]{}])")
_ARROW_SCHEMA = to_arrow_schema(RECORD_SCHEMA)


@contextmanager
def open_source(settings: TableCommitsConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The tables; what their folders are called in the catalog, the run's names say."""
    yield OpenSource(records=partial(_records, settings.table_paths, NameMapping(run.names)))


def _records(paths: tuple[str, ...], names: NameMapping, spark: SparkSession, _wanted: RecordsWanted) -> FrameOfRecords:
    files = {file.path: file for path in paths for file in commit_files(spark, path)}
    formats = [file.table_format for file in {file.table: file for file in files.values()}.values()]
    counts = {f"a log of {one}": formats.count(one) for one in TableFormat if one in formats}
    size = sum(file.size for file in files.values())
    return FrameOfRecords(_frame(spark, files, names), size=size, exporters=counts)


def _frame(spark: SparkSession, files: Mapping[str, CommitFile], names: NameMapping) -> DataFrame:
    """The records of the files, each read in one task; what is gone by then, as an old version may be, gives none."""
    large = [file for file in files.values() if file.size > _LARGEST_FILE]
    problems = [_problem(file, f"{TooLarge.code}: more than {_LARGEST_FILE >> 20} MiB") for file in large]
    unread = spark.createDataFrame(problems, RECORD_SCHEMA)
    paths = [_GLOB.sub(r"\\\1", file.path) for file in files.values() if file.size <= _LARGEST_FILE]
    if not paths:
        return unread
    contents = spark.read.format("binaryFile").option("ignoreMissingFiles", "true").load(paths)
    written = (F.unix_millis("modificationTime") / 1000).alias("written")
    read = contents.select("path", written, "content").mapInArrow(partial(_records_of, files, names), RECORD_SCHEMA)
    return read.unionAll(unread) if large else read


def _records_of(
    files: Mapping[str, CommitFile], names: NameMapping, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    rows: list[dict[str, object]] = []
    for batch in batches:
        for path, written, content in zip(*batch.columns, strict=True):
            file = files[path.as_py()]
            rows += _rows(file, content.as_py(), written.as_py(), names)
            if len(rows) >= _AT_ONCE:
                yield pa.RecordBatch.from_pylist(rows, schema=_ARROW_SCHEMA)
                rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=_ARROW_SCHEMA)


def _rows(file: CommitFile, content: bytes, written: float, names: NameMapping) -> list[dict[str, object]]:
    """The record boundary: what is wrong with a file costs its own commits."""
    try:
        if file.table_format is TableFormat.DELTA:
            commits = [delta_commit(file.version, content, written)]
        else:
            commits = list(iceberg_commits(content))
    except UnreadableCommit as error:
        return [_problem(file, str(error))]
    table = names.path(file.table)
    return [_row(file, commit, table) for commit in commits]


def _row(file: CommitFile, commit: Commit, table: TableName) -> dict[str, object]:
    source_id = f"{clean_location(file.table)}#{commit.version}"
    row: dict[str, object] = {
        "source_id": source_id,
        "start_time": commit.time,
        "user": commit.user,
        # what tells two commits of one moment apart: a table's versions are its own
        "session": source_id,
    }
    if not commit.changes_rows:
        return row | {"status": Outcome.MAINTENANCE}
    # no more is known than that it was written: not what it read, nor whether what stood there before is gone
    flow = Flow(Target(table, WriteMode.APPEND), ())
    lineage = StatementLineage(commit.kind, (flow,), witness=file.table_format.value)
    job = f"{commit.operation} by {commit.who}" if commit.who else commit.operation
    return row | {"rows": commit.rows, "job": job, "edges": dumps(lineage)}


def _problem(file: CommitFile, problem: str) -> dict[str, object]:
    return {"source_id": f"{clean_location(file.path)}:1", "problem": problem}
