"""Query logs read by Spark: exports of many platforms, and PostgreSQL's csvlog."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from connectors.base import RECORD_SCHEMA
from connectors.query_log.batches import FAILURE_DDL, failure_batches, record_batches
from connectors.query_log.csvlog import Failures
from connectors.query_log.files import QueryLogFile, find_log_files
from connectors.query_log.interpretation.tables import PIECE_SCHEMA
from connectors.query_log.layout import Form, sniff
from connectors.query_log.pieces import PIECE_DDL, joined
from connectors.query_log.slices import FileSlice, cut, pack
from connectors.query_log.streams import SliceStream, is_compressed
from ingestion.errors import ConfigError

_HEAD_BYTES = 1 << 20
# what Spark's binaryFile can hold in one row
_LARGEST_REMOTE = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class QueryLogOptions:
    """Where the log is (a file, a directory, a glob; a path or any URI that Spark reads), and its zone.

    `timezone` (IANA name) counts for times that the log gives without a zone. `connection_type` is the service's, which
    decides between exporters of the same columns.
    """

    path: str
    timezone: str = "UTC"
    connection_type: str | None = None


def read_query_log(spark: SparkSession, options: QueryLogOptions) -> DataFrame:
    """The log's records, with RECORD_SCHEMA; read in parallel by the tasks, never collected.

    A record without a statement has status `not_a_statement`, one that cannot be read a `problem`; none stops the run.
    Files may be plain or compressed (gzip, bzip2, zstd). Files on local disks are streamed, big plain ones in ranges;
    those of other file systems come whole through Spark's binaryFile and may have up to 2 GiB each as stored.

    Raises ConfigError where there is no such file, or none of the files is a query log.
    """
    files = _with_layouts(spark, find_log_files(spark, options.path), options)
    slices = cut(spark, files, [_splittable(part) for part in files])
    failures: Failures = _failures(spark, [part for part in slices if part.layout and part.layout.csvlog])
    if not any(part.layout is not None and part.layout.in_pieces for part in slices):
        return _run(spark, slices, partial(record_batches, failures=failures), RECORD_SCHEMA)
    work = partial(record_batches, failures=failures, schema=PIECE_SCHEMA)
    return joined(_run(spark, slices, work, _ddl(RECORD_SCHEMA, PIECE_DDL)))


def _ddl(schema: StructType, more: str) -> str:
    return ", ".join([f"{column.name} {column.dataType.simpleString()}" for column in schema] + [more])


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(f"{name} is no time zone: give a name such as UTC or Europe/Berlin") from error


def _with_layouts(spark: SparkSession, files: Sequence[QueryLogFile], options: QueryLogOptions) -> list[FileSlice]:
    """Each file that is not empty with its layout; where some files have none these carry the reason as a problem."""
    zone = _zone(options.timezone)
    found: list[FileSlice] = []
    for file in files:
        if not file.local and file.size > _LARGEST_REMOTE:
            raise ConfigError(f"{file.name} has more than 2 GiB: split or compress it, or read it from a local disk")
        head = _stored_head(spark, file)
        if not head:
            continue
        end = None if is_compressed(head) else file.size
        try:
            layout = sniff(_decompressed_head(file, head), file.name, zone, options.connection_type)
            found.append(FileSlice(file, layout, end=end))
        except ConfigError as error:
            found.append(FileSlice(file, None, end=end, problem=str(error)))
    if found and all(part.layout is None for part in found):
        raise ConfigError(found[0].problem or "")
    return found


def _stored_head(spark: SparkSession, file: QueryLogFile) -> bytes:
    if file.local:
        try:
            with Path(file.path).open("rb") as raw:
                return raw.read(_HEAD_BYTES)
        except OSError as error:
            raise ConfigError(f"{file.path} cannot be read ({error.strerror}): check its permissions") from error
    where: Any = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(file.path)  # type: ignore[union-attr]
    stream = where.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).open(where)
    try:
        return bytes(stream.readNBytes(_HEAD_BYTES))
    finally:
        stream.close()


def _decompressed_head(file: QueryLogFile, head: bytes) -> bytes:
    stream = SliceStream(partial(io.BytesIO, head))
    content = io.BufferedReader(stream).read(_HEAD_BYTES)
    if not content and stream.problem:
        raise ConfigError(f"{file.name} cannot be decompressed: it is damaged or no CSV file")
    return content


def _splittable(part: FileSlice) -> bool:
    layout = part.layout
    in_lines = layout is not None and layout.encoding == "utf-8" and layout.form is not Form.JSON_DOCUMENT
    return part.file.local and part.end is not None and in_lines


def _failures(spark: SparkSession, slices: Sequence[FileSlice]) -> Failures:
    """The failed statements of the log, by session: keys alone, a few bytes for each error in the log."""
    if not slices:
        return {}
    by_session: dict[str, set[bytes]] = {}
    for row in _run(spark, slices, failure_batches, FAILURE_DDL).collect():
        by_session.setdefault(row.session, set()).add(bytes(row.statement))
    return {session: frozenset(statements) for session, statements in by_session.items()}


def _run(spark: SparkSession, slices: Sequence[FileSlice], work: Any, schema: Any) -> DataFrame:
    """A DataFrame of the batches that `work(slice, stream)` yields for each slice."""
    local = pack(spark, [part for part in slices if part.file.local])
    frame = spark.range(0, len(local), 1, max(len(local), 1)).mapInArrow(partial(_local, local, work), schema)
    remote = {part.file.path: part for part in slices if not part.file.local}
    if not remote:
        return frame
    contents = spark.read.format("binaryFile").load(list(remote)).select("path", "content")
    return contents.mapInArrow(partial(_remote, remote, work), schema)


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
