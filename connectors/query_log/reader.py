"""Query logs read by Spark: CSV exports with a header, and PostgreSQL's csvlog."""

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

from connectors.base import RECORD_SCHEMA
from connectors.query_log.csvlog import CsvlogReader, Failures, FailureScan
from connectors.query_log.files import QueryLogFile, find_log_files
from connectors.query_log.layout import Layout, sniff
from connectors.query_log.records import Malformed, RecordReader, Records
from connectors.query_log.slices import FileSlice, cut, pack
from connectors.query_log.streams import SliceStream, is_compressed
from connectors.query_log.tables import Table, from_export
from ingestion.errors import ConfigError

_HEAD_BYTES = 1 << 20
_BLOCK_CHARS = 1 << 20
# what Spark's binaryFile can hold in one row
_LARGEST_REMOTE = (1 << 31) - 1

_FAILURE_SCHEMA = pa.schema([("session", pa.string()), ("statement", pa.binary())])
_FAILURE_DDL = "session string, statement binary"


@dataclass(frozen=True, slots=True)
class QueryLogOptions:
    """Where the log is (a file, a directory, a glob; a path or any URI that Spark reads), and its zone.

    `timezone` (IANA name) counts for times that the log gives without a zone.
    """

    path: str
    timezone: str = "UTC"


def read_query_log(spark: SparkSession, options: QueryLogOptions) -> DataFrame:
    """The log's records, with RECORD_SCHEMA; read in parallel by the tasks, never collected.

    A record without a statement has status `not_a_statement`, one that cannot be read a `problem`; none stops the run.
    Files may be plain or compressed (gzip, bzip2, zstd). Files on local disks are streamed, big plain ones in ranges;
    those of other file systems come whole through Spark's binaryFile and may have up to 2 GiB each as stored.

    Raises ConfigError where there is no such file, or none of the files is a query log.
    """
    files = _with_layouts(spark, find_log_files(spark, options.path), _zone(options.timezone))
    slices = cut(spark, files, [_splittable(part) for part in files])
    failures: Failures = _failures(spark, [part for part in slices if part.layout and part.layout.csvlog])
    return _run(spark, slices, partial(_record_batches, failures=failures), RECORD_SCHEMA)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(f"{name} is no time zone: give a name such as UTC or Europe/Berlin") from error


def _with_layouts(spark: SparkSession, files: Sequence[QueryLogFile], zone: ZoneInfo) -> list[FileSlice]:
    """Each file that is not empty with its layout; where some files have none these carry the reason as a problem."""
    found: list[FileSlice] = []
    for file in files:
        if not file.local and file.size > _LARGEST_REMOTE:
            raise ConfigError(f"{file.name} has more than 2 GiB: split or compress it, or read it from a local disk")
        head = _stored_head(spark, file)
        if not head:
            continue
        end = None if is_compressed(head) else file.size
        try:
            found.append(FileSlice(file, sniff(_decompressed_head(file, head), file.name, zone), end=end))
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
    return part.file.local and part.end is not None and part.layout is not None and part.layout.encoding == "utf-8"


def _failures(spark: SparkSession, slices: Sequence[FileSlice]) -> Failures:
    """The failed statements of the log, by session: keys alone, a few bytes for each error in the log."""
    if not slices:
        return {}
    by_session: dict[str, set[bytes]] = {}
    for row in _run(spark, slices, _failure_batches, _FAILURE_DDL).collect():
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


def _record_batches(part: FileSlice, stream: SliceStream, failures: Failures) -> Iterator[pa.RecordBatch]:
    if part.layout is None:
        yield Table([], {}, [Malformed(1, part.problem or "")]).to_batch(part.file.name)
        return
    csvlog = CsvlogReader(part.layout, failures) if part.layout.csvlog else None
    for records in _records(part, part.layout, stream):
        table = csvlog.read(records) if csvlog else from_export(records, part.layout)
        yield table.to_batch(part.file.name)


def _failure_batches(part: FileSlice, stream: SliceStream) -> Iterator[pa.RecordBatch]:
    if part.layout is None:
        return
    scan = FailureScan(part.layout)
    for lines, last in _line_blocks(part.layout, stream):
        if rows := scan.feed(lines, last):
            sessions, statements = zip(*rows, strict=True)
            arrays = [pa.array(sessions, pa.string()), pa.array(statements, pa.binary())]
            yield pa.RecordBatch.from_arrays(arrays, schema=_FAILURE_SCHEMA)


def _records(part: FileSlice, layout: Layout, stream: SliceStream) -> Iterator[Records]:
    """The records of a slice, in blocks; its header is none, and where the stream breaks off is a malformed one."""
    reader = RecordReader(layout, part.line)
    line, header = part.line, layout.header if part.start == 0 else None
    for lines, last in _line_blocks(layout, stream):
        records = reader.feed(lines, last)
        line += len(lines)
        if header is not None and records.rows and tuple(records.rows[0]) == header:
            del records.rows[0], records.lines[0]
        header = None
        yield records
    if stream.problem:
        yield Records(malformed=[Malformed(line, stream.problem)])


def _line_blocks(layout: Layout, stream: SliceStream) -> Iterator[tuple[list[str], bool]]:
    """The stream's lines with their ends, in blocks; with each whether it is the last."""
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    errors = "surrogateescape" if layout.encoding == "utf-8" else "surrogatepass"
    text = io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), encoding, errors, newline="\n")
    lines = text.readlines(_BLOCK_CHARS)
    while lines:
        following = text.readlines(_BLOCK_CHARS)
        yield lines, not following
        lines = following
