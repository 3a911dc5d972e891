"""Spark's history as a query log: event logs in, a DataFrame of records out, all on Spark."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from connectors.records import RECORD_SCHEMA
from connectors.spark._application_log import ApplicationLog
from connectors.spark._codecs import codec_of, decode_stream, named_codec
from connectors.spark._event_logs import (
    EventLogFile,
    Listing,
    SparkHistoryOptions,
    is_named,
    is_served,
    list_history,
    local_path,
    may_grow,
    served_events,
)
from connectors.spark._events import FOREIGN, NO_EVENT, PROBLEM, TORN, UNAVAILABLE, EventLine, event_lines
from connectors.spark._history_records import DIALECT, RecordWriter, Row, TextReader, problem_row
from ingestion.model.outcomes import Outcome
from ingestion.plans.cache import kept_plans
from ingestion.plans.names import NameMapping

BATCH_BYTES = 4 << 20
BATCH_ROWS = 500

COMPRESSED_TASK_BYTES = 32 << 20
"""Bytes of files that one task reads: compressed logs hold about ten times as many."""

LARGEST_REMOTE_FILE = 1 << 30
"""Bytes of a file that is read as one value: only this machine's own files are streamed."""

EVENT_SCHEMA = StructType(
    [
        StructField("log", StringType()),
        StructField("index", IntegerType()),
        StructField("file", StringType()),
        StructField("number", LongType()),
        StructField("kind", StringType()),
        StructField("json", StringType()),
        StructField("problem", StringType()),
    ]
)
"""The chosen events, between decoding and putting together."""

TRUNCATION_ADVICE = (
    "Spark cut plans of more than 25 fields: set spark.sql.debug.maxToStringFields=2000 and "
    "spark.sql.ui.explainMode=extended in the applications, and their next runs give every column"
)
"""What to tell the user when plans were cut (a problem `incomplete` with the subject `more fields`)."""


def read_spark_history(spark: SparkSession, options: SparkHistoryOptions) -> DataFrame:
    """The records of a Spark history, with RECORD_SCHEMA; what could not be read is a row that says so.

    Raises:
        ConfigError: neither or both sources are given, or the one given cannot be read.
        TargetDown: the history server does not answer.
    """
    return read_event_logs(spark, list_history(spark, options), options)


def read_event_logs(spark: SparkSession, listing: Listing, options: SparkHistoryOptions) -> DataFrame:
    """The records of the event logs that a listing chose, as `read_spark_history` gives them."""
    files = list(listing.to_read)
    if not files:
        return spark.createDataFrame([], RECORD_SCHEMA)
    logs = {file.log for file in files}
    tasks = min(len(logs), max(2, spark.sparkContext.defaultParallelism) * 4)
    events = _chosen_events(spark, files)
    ordered = events.repartition(tasks, "log").sortWithinPartitions("log", "index", "file", "number")
    until = options.read_until
    before = {} if until is None else dict.fromkeys(logs & listing.read_before, until)
    return ordered.mapInArrow(lambda batches: _records_of(batches, options.names, before), RECORD_SCHEMA)


# Decoding: a row for each event, in the tasks.


def _chosen_events(spark: SparkSession, files: list[EventLogFile]) -> DataFrame:
    """The events that lineage needs out of all files, each file decoded in one task."""
    local = [file for file in files if _is_streamed(file.path)]
    remote = [file for file in files if not _is_streamed(file.path)]
    parts: list[DataFrame] = []
    if local:
        packs = _pack(local, spark.sparkContext.defaultParallelism)
        parts.append(
            spark.range(0, len(packs), 1, len(packs)).mapInArrow(lambda b: _events_of_packs(b, packs), EVENT_SCHEMA)
        )
    if remote:
        by_path = {file.path: file for file in remote}
        loaded = [file.path for file in remote if not _left_out(file)]
        if loaded:
            contents = spark.read.format("binaryFile").load(loaded).select("path", "content")
            parts.append(contents.mapInArrow(lambda b: _events_of_contents(b, by_path), EVENT_SCHEMA))
        rows = [_event_row(file, line) for file in remote if (line := _left_out(file)) is not None]
        if rows:
            parts.append(spark.createDataFrame(rows, EVENT_SCHEMA))
    together = parts[0]
    for part in parts[1:]:
        together = together.unionAll(part)
    return together


def _is_streamed(path: str) -> bool:
    """Whether a task reads a file bit by bit, whatever its size."""
    return local_path(path) is not None or is_served(path)


def _left_out(file: EventLogFile) -> EventLine | None:
    """What is told of a file of other storage that cannot be read as one value; None of one that can."""
    if file.path.rpartition("/")[2].startswith("_"):
        return EventLine(0, UNAVAILABLE)  # Spark gives no rows of it, and no error
    if file.size <= LARGEST_REMOTE_FILE:
        return None
    limit = LARGEST_REMOTE_FILE >> 30
    problem = f"a file of more than {limit} GiB can only be read from a local path: let Spark roll its event logs"
    return EventLine(0, PROBLEM, problem=problem)


def _pack(files: list[EventLogFile], parallelism: int) -> list[list[EventLogFile]]:
    """Files packed into tasks of about equal size, the largest first; never fewer tasks than files or cores allow."""
    weights = {file.path: file.size * (10 if named_codec(file.path) else 1) for file in files}
    total = sum(weights.values())
    wanted = max(min(parallelism, len(files)), -(-total // (COMPRESSED_TASK_BYTES * 10)))
    count = int(min(wanted, len(files)))
    packs: list[list[EventLogFile]] = [[] for _ in range(count)]
    loads = [0] * count
    for file in sorted(files, key=lambda file: -weights[file.path]):
        lightest = loads.index(min(loads))
        packs[lightest].append(file)
        loads[lightest] += weights[file.path]
    return packs


def _events_of_packs(batches: Iterable[pa.RecordBatch], packs: list[list[EventLogFile]]) -> Iterator[pa.RecordBatch]:
    """The events of the packs whose numbers come in."""

    def rows() -> Iterator[Row]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file in packs[number]:
                    yield from file_rows(file)

    return _to_batches(rows(), to_arrow_schema(EVENT_SCHEMA))


def file_rows(file: EventLogFile) -> Iterator[Row]:
    if is_served(file.path):
        yield from (_event_row(origin, line) for origin, line in served_events(file) if line.kind != "ignored")
        return
    try:
        with Path(local_path(file.path) or file.path).open("rb") as stream:
            yield from _stream_rows(file, stream)
    except OSError:
        yield _event_row(file, EventLine(0, UNAVAILABLE))


def _events_of_contents(
    batches: Iterable[pa.RecordBatch], by_path: Mapping[str, EventLogFile]
) -> Iterator[pa.RecordBatch]:
    """The events of files whose bytes come in as values."""

    def rows() -> Iterator[Row]:
        for batch in batches:
            for path, content in zip(batch.column(0), batch.column(1), strict=True):
                file = by_path[path.as_py()]
                yield from _stream_rows(file, io.BytesIO(content.as_buffer()))

    return _to_batches(rows(), to_arrow_schema(EVENT_SCHEMA))


def _stream_rows(file: EventLogFile, stream: BinaryIO) -> Iterator[Row]:
    """One file's events; the last of a running application may still be half written, which is no problem."""
    codec = codec_of(file.path.rpartition("/")[2], stream)
    if codec is None:
        codec_unknown = (
            "the codec that the file's name tells is not known: zstd, lz4, snappy, lzf, gz or none can be read"
        )
        yield _event_row(file, _without_events(file, codec_unknown))
        return
    for line in event_lines(decode_stream(stream, codec)):
        if line.kind == TORN and not may_grow(file):
            line = replace(line, kind=PROBLEM)
        if line.kind == FOREIGN:
            line = _without_events(file, NO_EVENT)
        if line.kind != "ignored":
            yield _event_row(file, line)


def _without_events(file: EventLogFile, problem: str) -> EventLine:
    """What is told of a file in which no event was found: a problem where its name is that of a log."""
    return EventLine(1, PROBLEM, problem=problem) if is_named(file) else EventLine(1, FOREIGN)


def _event_row(file: EventLogFile, line: EventLine) -> Row:
    return {
        "log": file.log,
        "index": file.index,
        "file": file.path,
        "number": line.number,
        "kind": line.kind,
        "json": line.json,
        "problem": line.problem,
    }


# Putting together: the events of one application to its records.


def _records_of(
    batches: Iterable[pa.RecordBatch], names: NameMapping, before: Mapping[str, float]
) -> Iterator[pa.RecordBatch]:
    """The records of logs whose events come in, sorted by log and place in it.

    `before` tells of logs until when they were read: what had ended by then is no record again.
    """

    def rows(texts: TextReader) -> Iterator[Row]:
        current: str | None = None
        plans = kept_plans(repr(names.rules))
        reading, writer = ApplicationLog(), RecordWriter.of("", names, texts)
        for event in _events(batches):
            if event["log"] != current:
                yield from _finish(reading, writer)
                current = event["log"]
                reading, writer = ApplicationLog(), RecordWriter.of(current, names, texts)
                writer.plans, writer.read_until = plans, before.get(current)
            if event["kind"] in (PROBLEM, TORN, UNAVAILABLE, FOREIGN):
                yield _unread_row(event)
                continue
            for statement in reading.read(EventLine(event["number"], event["kind"], event["json"])):
                yield from writer.rows(statement)
        yield from _finish(reading, writer)

    with TextReader(DIALECT) as texts:
        yield from _to_batches(rows(texts), to_arrow_schema(RECORD_SCHEMA))


def _unread_row(event: Row) -> Row:
    """The record of what could not be read, not yet, or is not to be read."""
    status = {TORN: Outcome.UNFINISHED, UNAVAILABLE: Outcome.UNREAD, FOREIGN: Outcome.NOT_AN_EVENT_LOG}.get(
        event["kind"]
    )
    return problem_row(f"{event['file']}:{event['number']}", None if status else event["problem"], status)


def _finish(reading: ApplicationLog, writer: RecordWriter) -> Iterator[Row]:
    for statement in reading.finish():
        yield from writer.rows(statement)


def _events(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield from batch.slice(start, BATCH_ROWS).to_pylist()


def _to_batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as Arrow batches of bounded size."""
    pending: list[Row] = []
    size = 0
    for row in rows:
        pending.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if size >= BATCH_BYTES or len(pending) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(pending, schema=schema)
            pending, size = [], 0
    if pending:
        yield pa.RecordBatch.from_pylist(pending, schema=schema)
