"""Logs that are text: files streamed in the tasks that read them, big ones in parts."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from connectors.base import BatchReading
from connectors.query_log.batches import FAILURE_SCHEMA, failure_batches, record_batches
from connectors.query_log.csvlog import Failures
from connectors.query_log.files import QueryLogFile
from connectors.query_log.interpretation.column_reading import ReadingHints
from connectors.query_log.layout import Form, sniff
from connectors.query_log.slices import FileSlice, cut, pack
from connectors.query_log.streams import SliceStream, is_compressed
from ingestion.errors import ConfigError

HEAD_BYTES = 1 << 20
"""As much of a file is looked at to tell what it is."""

# what Spark's binaryFile can hold in one row
_LARGEST_REMOTE = (1 << 31) - 1
# a byte that is a line end or a quote is nothing else in these
_BYTEWISE = frozenset({"utf-8", "latin-1"})


def text_records(spark: SparkSession, files: Sequence[FileSlice], reading: BatchReading) -> DataFrame:
    """What comes of the records of files with layouts."""
    slices = cut(spark, files, [_splittable(part) for part in files])
    failures: Failures = _failures(spark, [part for part in slices if part.layout and part.layout.csvlog])
    return _run(spark, slices, partial(record_batches, failures=failures, schema=reading.arrow_schema), reading)


def with_layout(file: QueryLogFile, head: bytes, hints: ReadingHints) -> FileSlice:
    """A file that begins (as it is stored) with `head`, and its layout, or the reason why it has none.

    Raises ConfigError for a file that is too large to be read from where it is.
    """
    if not file.local and file.size > _LARGEST_REMOTE:
        raise ConfigError(f"{file.name} has more than 2 GiB: split or compress it, or read it from a local disk")
    end = None if is_compressed(head) else file.size
    try:
        return FileSlice(file, sniff(_decompressed_head(file, head), file.name, hints), end=end)
    except ConfigError as error:
        return FileSlice(file, None, end=end, problem=str(error))


def stored_head(spark: SparkSession, file: QueryLogFile) -> bytes:
    """The first HEAD_BYTES of a file, as they are stored. Raises ConfigError where it cannot be read."""
    if file.local:
        try:
            with Path(file.path).open("rb") as raw:
                return raw.read(HEAD_BYTES)
        except OSError as error:
            raise ConfigError(f"{file.path} cannot be read ({error.strerror}): check its permissions") from error
    where: Any = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(file.path)  # type: ignore[union-attr]
    stream = where.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).open(where)
    try:
        return bytes(stream.readNBytes(HEAD_BYTES))
    finally:
        stream.close()


def _decompressed_head(file: QueryLogFile, head: bytes) -> bytes:
    stream = SliceStream(partial(io.BytesIO, head))
    content = io.BufferedReader(stream).read(HEAD_BYTES)
    if not content and stream.problem:
        raise ConfigError(f"{file.name} cannot be decompressed: it is damaged or no CSV file")
    return content


def _splittable(part: FileSlice) -> bool:
    layout = part.layout
    in_lines = layout is not None and layout.encoding in _BYTEWISE and layout.form is not Form.JSON_DOCUMENT
    return part.file.local and part.end is not None and in_lines


def _failures(spark: SparkSession, slices: Sequence[FileSlice]) -> Failures:
    """The failed statements of the log, by session: keys alone, a few bytes for each error in the log."""
    if not slices:
        return {}
    by_session: dict[str, set[bytes]] = {}
    for row in _run(spark, slices, failure_batches, BatchReading(FAILURE_SCHEMA, FAILURE_SCHEMA)).collect():
        by_session.setdefault(row.session, set()).add(bytes(row.statement))
    return {session: frozenset(statements) for session, statements in by_session.items()}


def _run(spark: SparkSession, slices: Sequence[FileSlice], work: Any, reading: BatchReading) -> DataFrame:
    """What comes of the batches that `work(slice, stream)` yields for each slice."""
    local = pack(spark, [part for part in slices if part.file.local])
    frame = reading.apply(spark.range(0, len(local), 1, max(len(local), 1)), partial(_local, local, work))
    remote = {part.file.path: part for part in slices if not part.file.local}
    if not remote:
        return frame
    contents = spark.read.format("binaryFile").load(list(remote)).select("path", "content")
    return reading.apply(contents, partial(_remote, remote, work))


def _local(groups: list[list[FileSlice]], work: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for group in batch.column(0).to_pylist():
            for part in groups[group]:
                with SliceStream(partial(_on_disk, part.file.path), part.start, part.end, _encoding(part)) as stream:
                    yield from work(part, stream)


def _remote(parts: dict[str, FileSlice], work: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path, content in zip(batch.column(0), batch.column(1), strict=True):
            part = parts[path.as_py()]
            with SliceStream(partial(_in_memory, content), encoding=_encoding(part)) as stream:
                yield from work(part, stream)


def _encoding(part: FileSlice) -> str:
    return "utf-8" if part.layout is None else part.layout.encoding


def _on_disk(path: str) -> BinaryIO:
    return Path(path).open("rb")


def _in_memory(content: pa.BinaryScalar) -> BinaryIO:
    return io.BytesIO(memoryview(content.as_buffer()))
