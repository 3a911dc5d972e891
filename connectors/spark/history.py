"""Spark's history as a query log: event logs in, a DataFrame of records out, all on Spark."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import BinaryIO, NamedTuple

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

TASK_BYTES = 320 << 20
"""Bytes of logs, decompressed, that one task reads."""

LARGEST_REMOTE_FILE = 1 << 30
"""Bytes of a file that is read as one value: only this machine's own files are streamed."""

EVENT_SCHEMA = StructType(
    [
        StructField("log", StringType()),
        StructField("order", IntegerType()),
        StructField("path", StringType()),
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
    logs: dict[str, list[EventLogFile]] = {}
    for file in listing.to_read:
        logs.setdefault(file.log, []).append(file)
    names, until = options.names, options.read_until
    before = {} if until is None else dict.fromkeys(logs.keys() & listing.read_before, until)
    whole = [files for files in logs.values() if _is_read_whole(files)]
    parted = [files for files in logs.values() if not _is_read_whole(files)]
    frames: list[DataFrame] = []
    if whole:
        frames.append(_read_in_packs(spark, whole, lambda events: _records_of(events, names, before), RECORD_SCHEMA))
    if parted:
        chosen = _chosen_events(spark, [file for files in parted for file in files])
        tasks = min(len(parted), max(2, spark.sparkContext.defaultParallelism) * 4)
        ordered = chosen.repartition(tasks, "log").sortWithinPartitions("log", "order", "path", "number")
        frames.append(ordered.mapInArrow(lambda rows: _records_of(_events(rows), names, before), RECORD_SCHEMA))
    return reduce(DataFrame.unionAll, frames) if frames else spark.createDataFrame([], RECORD_SCHEMA)


def _is_read_whole(log: list[EventLogFile]) -> bool:
    """Whether one task reads a log from its first file to its last, and needs nobody to put them together."""
    size = sum(_weight(file) for file in log)
    return all(_is_streamed(file.path) for file in log) and (len(log) == 1 or size <= TASK_BYTES)


# Decoding: the events of files, in the tasks.


class LogEvent(NamedTuple):
    """A chosen line of a log, and the file that it is in, which has a place in the log."""

    log: str
    order: int
    path: str
    line: EventLine


def _chosen_events(spark: SparkSession, files: list[EventLogFile]) -> DataFrame:
    """The events that lineage needs out of all files as rows, each file decoded in one task."""
    local = [[file] for file in files if _is_streamed(file.path)]
    remote = [file for file in files if not _is_streamed(file.path)]
    parts: list[DataFrame] = []
    if local:
        parts.append(_read_in_packs(spark, local, _to_rows, EVENT_SCHEMA))
    if remote:
        by_path = {file.path: file for file in remote}
        loaded = [file.path for file in remote if not _left_out(file)]
        if loaded:
            contents = spark.read.format("binaryFile").load(loaded).select("path", "content")
            parts.append(contents.mapInArrow(lambda b: _to_rows(_events_of_contents(b, by_path)), EVENT_SCHEMA))
        rows = [_event_row(_event(file, line)) for file in remote if (line := _left_out(file)) is not None]
        if rows:
            parts.append(spark.createDataFrame(rows, EVENT_SCHEMA))
    return reduce(DataFrame.unionAll, parts)


def _read_in_packs(
    spark: SparkSession,
    groups: list[list[EventLogFile]],
    read: Callable[[Iterator[LogEvent]], Iterator[pa.RecordBatch]],
    schema: StructType,
) -> DataFrame:
    """What `read` makes of the events of files, those of a group in one task and in their order."""
    packs = _pack(groups, spark.sparkContext.defaultParallelism)

    def in_task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        return read(event for number in numbers for file in packs[number] for event in file_events(file))

    return spark.range(0, len(packs), 1, len(packs)).mapInArrow(in_task, schema)


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


def _weight(file: EventLogFile) -> int:
    """Bytes of a file's content, about: a compressed one holds some ten times as many."""
    return file.size * (10 if named_codec(file.path) else 1)


def _pack(groups: list[list[EventLogFile]], parallelism: int) -> list[list[EventLogFile]]:
    """Groups of files packed into tasks of about equal size, the largest first, in no fewer than cores allow."""
    # what a history server has tells no size: each counts, that not all of them come to one task
    weights = [max(1, sum(_weight(file) for file in files)) for files in groups]
    count = min(max(parallelism, -(-sum(weights) // TASK_BYTES)), len(groups))
    packs: list[list[EventLogFile]] = [[] for _ in range(count)]
    loads = [0] * count
    for weight, files in sorted(zip(weights, groups, strict=True), key=lambda one: -one[0]):
        lightest = loads.index(min(loads))
        packs[lightest] += files
        loads[lightest] += weight
    return packs


def file_events(file: EventLogFile) -> Iterator[LogEvent]:
    """The events of one file, or of an application that a history server gives."""
    if is_served(file.path):
        yield from (_event(origin, line) for origin, line in served_events(file))
        return
    try:
        with Path(local_path(file.path) or file.path).open("rb") as stream:
            yield from _stream_events(file, stream)
    except OSError:
        yield _event(file, EventLine(0, UNAVAILABLE))


def _events_of_contents(batches: Iterable[pa.RecordBatch], by_path: Mapping[str, EventLogFile]) -> Iterator[LogEvent]:
    """The events of files whose bytes come in as values."""
    for batch in batches:
        for path, content in zip(batch.column(0), batch.column(1), strict=True):
            yield from _stream_events(by_path[path.as_py()], io.BytesIO(content.as_buffer()))


def _stream_events(file: EventLogFile, stream: BinaryIO) -> Iterator[LogEvent]:
    """One file's events; the last of a running application may still be half written, which is no problem."""
    codec = codec_of(file.path.rpartition("/")[2], stream)
    if codec is None:
        codec_unknown = (
            "the codec that the file's name tells is not known: zstd, lz4, snappy, lzf, gz or none can be read"
        )
        yield _event(file, _without_events(file, codec_unknown))
        return
    for line in event_lines(decode_stream(stream, codec)):
        if line.kind == TORN and not may_grow(file):
            line = replace(line, kind=PROBLEM)
        if line.kind == FOREIGN:
            line = _without_events(file, NO_EVENT)
        yield _event(file, line)


def _without_events(file: EventLogFile, problem: str) -> EventLine:
    """What is told of a file in which no event was found: a problem where its name is that of a log."""
    return EventLine(1, PROBLEM, problem=problem) if is_named(file) else EventLine(1, FOREIGN)


def _event(file: EventLogFile, line: EventLine) -> LogEvent:
    return LogEvent(file.log, file.index, file.path, line)


def _to_rows(events: Iterable[LogEvent]) -> Iterator[pa.RecordBatch]:
    return _to_batches(map(_event_row, events), to_arrow_schema(EVENT_SCHEMA))


def _event_row(event: LogEvent) -> Row:
    line = event.line
    content = json.dumps(line.event)
    line_key = {"log": event.log, "order": event.order, "path": event.path, "number": line.number}
    return {**line_key, "kind": line.kind, "json": content, "problem": line.problem}


def _events(batches: Iterable[pa.RecordBatch]) -> Iterator[LogEvent]:
    """The events whose rows come in."""
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            for row in batch.slice(start, BATCH_ROWS).to_pylist():
                line = EventLine(row["number"], row["kind"], json.loads(row["json"]), row["problem"])
                yield LogEvent(row["log"], row["order"], row["path"], line)


# Putting together: the events of one application to its records.


def _records_of(
    events: Iterable[LogEvent], names: NameMapping, before: Mapping[str, float]
) -> Iterator[pa.RecordBatch]:
    """The records of logs whose events come in, one log after the other, each in its order.

    `before` tells of logs until when they were read: what had ended by then is no record again.
    """

    def rows(texts: TextReader) -> Iterator[Row]:
        current: str | None = None
        plans = kept_plans(repr(names.rules))
        reading, writer = ApplicationLog(), RecordWriter.of("", names, texts)
        for event in events:
            if event.log != current:
                yield from _finish(reading, writer)
                current = event.log
                reading, writer = ApplicationLog(), RecordWriter.of(current, names, texts)
                writer.plans, writer.read_until = plans, before.get(current)
            if event.line.kind in (PROBLEM, TORN, UNAVAILABLE, FOREIGN):
                yield _unread_row(event)
                continue
            for statement in reading.read(event.line):
                yield from writer.rows(statement)
        yield from _finish(reading, writer)

    with TextReader(DIALECT) as texts:
        yield from _to_batches(rows(texts), to_arrow_schema(RECORD_SCHEMA))


def _unread_row(event: LogEvent) -> Row:
    """The record of what could not be read, not yet, or is not to be read."""
    line = event.line
    status = {TORN: Outcome.UNFINISHED, UNAVAILABLE: Outcome.UNREAD, FOREIGN: Outcome.NOT_AN_EVENT_LOG}.get(line.kind)
    return problem_row(f"{event.path}:{line.number}", None if status else line.problem, status)


def _finish(reading: ApplicationLog, writer: RecordWriter) -> Iterator[Row]:
    for statement in reading.finish():
        yield from writer.rows(statement)


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
