"""Logs that are text: cut into ranges that begin with a record, streamed by tasks, read to batches of records."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StringType, StructField, StructType

from connectors.query_log._columns import ReadingHints
from connectors.query_log._csv_records import RecordReader, split_lines
from connectors.query_log._inner_fields import with_inner_fields
from connectors.query_log._interpreter import (
    ARROW_SCHEMA,
    Columns,
    Malformed,
    Records,
    Table,
    interpret,
    unescape_tabbed,
)
from connectors.query_log._json_records import (
    DOCUMENT_TOO_LARGE,
    LARGEST_DOCUMENT,
    document_records,
    is_cut,
    line_records,
)
from connectors.query_log._layout import Form, Layout, names_delimiter, sniff
from connectors.query_log._server_log import Failures, FailureScan, ServerLogReader, failed_statements
from connectors.query_log._streams import FileStream, is_compressed
from connectors.query_log._text_logs import text_log_records
from connectors.query_log.files import QueryLogFile
from connectors.records import RecordReading
from ingestion.errors import ConfigError

SMALLEST_RANGE, LARGEST_RANGE = 4 << 20, 32 << 20
# SQL decompresses to about this many times its size; only the balance of tasks depends on it
_EXPANSION = 6
# how far into a range a record's start is looked for; a range without one is read with the range before it
_SEARCH_BYTES, _OTHER_PARITY_BYTES = 8 << 20, 256 << 10
# how many lines may be taken for it: of a statement with very many none is, and each costs some microseconds
_SEARCH_LINES = 20_000

# stands for the quote where there are none: a line that was cut has it, and no other
_NEVER = b"\x00\xff\xfe\x00"

AT_ONCE_BYTES = 256 << 20
"""As much is looked through in a second: sooner than Spark begins with it."""

_CUT_COLUMNS = ("file", "start", "quotes", "newlines", "even_cut", "even_newlines", "odd_cut", "odd_newlines")
_CUT_SCHEMA = StructType([StructField(name, LongType()) for name in _CUT_COLUMNS])

_BLOCK_CHARS = 1 << 20
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?")
_PREFIX = 200

FAILURE_SCHEMA = StructType([StructField("session", StringType()), StructField("statement", StringType())])
"""A failed statement's key, and its session."""

_FAILURE_ARROW_SCHEMA = to_arrow_schema(FAILURE_SCHEMA)

HEAD_BYTES = 1 << 20
"""As much of a file is looked at to tell what it is."""

# what Spark's binaryFile can hold in one row
_LARGEST_REMOTE = (1 << 31) - 1
# a byte that is a line end or a quote is nothing else in these
_SPLITTABLE = frozenset({Form.DELIMITED, Form.JSON_LINES})
_BYTEWISE = frozenset({"utf-8", "latin-1", "cp1252"})


# The parts of log files that tasks read: whole files, and big plain ones cut where a record starts.


@dataclass(frozen=True, slots=True)
class FileRange:
    """Bytes `start` to `end` of a file (end None: compressed, to its end), and the number of its first line.

    A file without a layout cannot be read; `problem` tells why.
    """

    file: QueryLogFile
    layout: Layout | None
    start: int = 0
    end: int | None = None
    line: int = 1
    problem: str | None = None

    @property
    def weight(self) -> int:
        return self.file.size * _EXPANSION if self.end is None else self.end - self.start


@dataclass(frozen=True, slots=True)
class Cut:
    """What a task finds out about one range, for either number of quotes before it: even or odd."""

    file: int
    start: int
    quotes: int
    newlines: int
    even: tuple[int, int] | None  # offset of the first record's start, newlines of the range before it
    odd: tuple[int, int] | None


def _cut(spark: SparkSession, files: Sequence[FileRange], splittable: Sequence[bool]) -> list[FileRange]:
    """Ranges that tile the files: where `splittable`, in ranges that start with a record.

    Whether a line starts a record depends on the quotes before it, so that a first pass counts them (and the lines)
    in all ranges at once.
    """
    range_bytes = _range_bytes(spark, files)
    ranges = [
        (index, start, min(start + range_bytes, part.file.size))
        for index, (part, may_split) in enumerate(zip(files, splittable, strict=True))
        if may_split and part.file.size > range_bytes * 3 // 2
        for start in range(0, part.file.size, range_bytes)
    ]
    if not ranges:
        return list(files)
    cuts = _examine_ranges(spark, files, ranges)
    by_file: dict[int, list[Cut]] = {}
    for found in cuts:
        by_file.setdefault(found.file, []).append(found)
    return [
        one for index, part in enumerate(files) for one in (tile(part, by_file[index]) if index in by_file else [part])
    ]


def _pack(spark: SparkSession, ranges: Sequence[FileRange]) -> list[list[FileRange]]:
    """Ranges in groups of about one range's bytes, a group for a task, in the order of the log."""
    limit = _range_bytes(spark, ranges)
    groups: list[list[FileRange]] = []
    filled = limit * 2
    for part in ranges:
        if filled + part.weight > limit * 3 // 2:
            groups.append([])
            filled = 0
        groups[-1].append(part)
        filled += part.weight
    return groups


def _range_bytes(spark: SparkSession, ranges: Sequence[FileRange]) -> int:
    total = sum(part.weight for part in ranges)
    return min(max(total // (2 * spark.sparkContext.defaultParallelism), SMALLEST_RANGE), LARGEST_RANGE)


def _examine_ranges(spark: SparkSession, files: Sequence[FileRange], ranges: list[tuple[int, int, int]]) -> list[Cut]:
    jobs = [(index, files[index], start, end) for index, start, end in ranges]
    if sum(end - start for _index, start, end in ranges) <= AT_ONCE_BYTES:
        found = [_examine(part, index, start, end) for index, part, start, end in jobs]
    else:
        found = _examined_by_tasks(spark, jobs)
    return sorted(found, key=lambda one: (one.file, one.start))


def _examined_by_tasks(spark: SparkSession, jobs: list[tuple[int, FileRange, int, int]]) -> list[Cut]:
    def examine(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for job in batch.column(0).to_pylist():
                index, part, start, end = jobs[job]
                yield _as_batch(_examine(part, index, start, end))

    rows = spark.range(0, len(jobs), 1, len(jobs)).mapInArrow(examine, _CUT_SCHEMA).collect()
    return [
        Cut(
            row.file,
            row.start,
            row.quotes,
            row.newlines,
            _first_record(row.even_cut, row.even_newlines),
            _first_record(row.odd_cut, row.odd_newlines),
        )
        for row in rows
    ]


def _first_record(offset: int | None, newlines: int) -> tuple[int, int] | None:
    return None if offset is None else (offset, newlines)


def _as_batch(found: Cut) -> pa.RecordBatch:
    even, odd = found.even or (None, None), found.odd or (None, None)
    row = (found.file, found.start, found.quotes, found.newlines, *even, *odd)
    return pa.RecordBatch.from_pylist([dict(zip(_CUT_COLUMNS, row, strict=True))], to_arrow_schema(_CUT_SCHEMA))


def _examine(part: FileRange, index: int, start: int, end: int) -> Cut:
    try:
        with Path(part.file.path).open("rb") as raw:
            return examine_range(raw, part, index, (start, end))
    except OSError:
        # the file went away: its one range will say so when it is read
        return Cut(index, start, 0, 0, None, None)


def examine_range(raw: BinaryIO, part: FileRange, index: int, span: tuple[int, int]) -> Cut:
    """What `tile` needs to know of the bytes `span` of file number `index`."""
    start, end = span
    raw.seek(start)
    data = raw.read(end - start)
    cuts: dict[int, tuple[int, int]] = {}
    if start and part.layout is not None:
        cuts = _first_records(data[:_SEARCH_BYTES], part.layout)
    even, odd = ((start + cuts[parity][0], cuts[parity][1]) if parity in cuts else None for parity in (0, 1))
    return Cut(index, start, _quotes(data, part.layout), data.count(b"\n"), even, odd)


def _first_records(window: bytes, layout: Layout) -> dict[int, tuple[int, int]]:
    """By parity of the quotes before the window: where its first record starts, and the newlines before that."""
    if layout.form is Form.JSON_LINES:
        line_end = window.find(b"\n") + 1
        return dict.fromkeys((0, 1), (line_end, 1)) if line_end else {}
    found: dict[int, tuple[int, int]] = {}
    quote = layout.quote.encode() or _NEVER
    offset = newlines = parity = tried = 0
    end = len(window)
    while len(found) < 2 and tried < _SEARCH_LINES and 0 <= (line_end := window.find(b"\n", offset)) < end:
        parity ^= window.count(quote, offset, line_end) & 1
        offset, newlines = line_end + 1, newlines + 1
        if parity in found:
            continue
        tried += 1
        if _is_record(window[offset : _end_of_record(window, offset, quote)], layout):
            found[parity] = offset, newlines
            # the other parity is right only after a malformed record: no need to look far
            end = min(end, offset + _OTHER_PARITY_BYTES)
    return found


def _quotes(data: bytes, layout: Layout | None) -> int:
    return data.count(layout.quote.encode() or _NEVER) if layout is not None else 0


def _end_of_record(window: bytes, offset: int, quote: bytes) -> int:
    """Where the line ends in which the quotes of a record at `offset` add up; `offset` where none does."""
    end, quotes = offset, 0
    while line_end := window.find(b"\n", end) + 1:
        quotes += window.count(quote, end, line_end)
        end = line_end
        if quotes % 2 == 0:
            return end
    return offset


def _is_record(record: bytes, layout: Layout) -> bool:
    if record.count(layout.delimiter.encode()) < min(layout.widths) - 1:
        return False
    lines = split_lines(record.decode(layout.encoding, "surrogateescape"))
    found = RecordReader(layout).feed(lines, last=True)
    return len(found.rows) == 1 and not found.malformed and layout.plausible(found.rows[0])


def tile(part: FileRange, cuts: list[Cut]) -> list[FileRange]:
    """The file in parts that start with a record each, given its ranges in order."""
    ranges: list[FileRange] = []
    start, line = 0, 1
    quotes = newlines = 0
    for found in cuts:
        # a malformed record can turn the parity of all that follows: then the other reading has a plausible record
        first = (found.odd or found.even) if quotes % 2 else (found.even or found.odd)
        if first is not None:
            ranges.append(replace(part, start=start, end=first[0], line=line))
            start, line = first[0], 1 + newlines + first[1]
        quotes += found.quotes
        newlines += found.newlines
    ranges.append(replace(part, start=start, end=part.file.size, line=line))
    return ranges


# From the bytes of a part of a log to batches of records, inside a Spark task or anywhere else.


def record_batches(
    part: FileRange, stream: FileStream, failures: Failures, schema: pa.Schema = ARROW_SCHEMA
) -> Iterator[pa.RecordBatch]:
    """The records of a range, whose bytes `stream` gives; `failures` are those of the whole log."""
    if part.layout is None:
        yield Table([], {}, [Malformed(1, part.problem or "")]).to_batch(part.file.name, schema)
        return
    log = part.layout.server_log
    server_log = ServerLogReader(part.layout, log, failures) if log is not None else None
    for records in _records(part, part.layout, stream):
        table = server_log.read(records) if server_log else _interpret(records, part.layout)
        yield table.to_batch(part.file.name, schema)


def _interpret(records: Records, layout: Layout) -> Table:
    if layout.reading is None or not records.rows:
        return Table([], {}, records.malformed)
    columns: Columns = list(zip(*records.rows, strict=True))
    if not layout.quote:
        plain = partial(unescape_tabbed, quotes=layout.escaped_apostrophes)
        columns = [tuple(map(plain, column)) for column in zip(*records.rows, strict=True)]
    columns = with_inner_fields(columns, layout.reading)
    return interpret(columns, records.lines, records.malformed, layout.reading)


def failure_batches(part: FileRange, stream: FileStream) -> Iterator[pa.RecordBatch]:
    """The failed statements of a range of a server's own log, with FAILURE_SCHEMA."""
    if part.layout is None or (log := part.layout.server_log) is None:
        return
    if part.layout.form is not Form.DELIMITED or part.layout.text_log is not None:
        for records in _records(part, part.layout, stream):
            if rows := failed_statements(records.rows, part.layout, log):
                yield _failure_batch(rows)
        return
    scan = FailureScan(part.layout, log)
    for lines, last in _line_blocks(part.layout, stream):
        if rows := scan.feed(lines, last=last):
            yield _failure_batch(rows)


def _failure_batch(rows: list[tuple[str, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(zip(*rows, strict=True)), schema=_FAILURE_ARROW_SCHEMA)


def _delimited_records(part: FileRange, layout: Layout, stream: FileStream) -> Iterator[Records]:
    """The records of a range, in blocks; its header is none, and where the stream breaks off is a malformed one."""
    reader = RecordReader(layout, part.line)
    line, header = part.line, layout.header if part.start == 0 else None
    for lines, last in _line_blocks(layout, stream):
        if header is not None and lines and names_delimiter(lines[0]):
            lines[0] = "\n"
        records = reader.feed(lines, last=last)
        line += len(lines)
        if header is not None and records.rows and tuple(records.rows[0]) == header:
            del records.rows[0], records.lines[0]
            if records.rows and layout.types is not None and tuple(records.rows[0]) == layout.types:
                del records.rows[0], records.lines[0]
        header = None
        yield records
    if stream.problem:
        yield Records(malformed=[Malformed(line, stream.problem)])


def _json_records(part: FileRange, layout: Layout, stream: FileStream) -> Iterator[Records]:
    line = part.line
    for lines, _last in _line_blocks(layout, stream):
        yield line_records(lines, line, layout.json_names)
        line += len(lines)
    if stream.problem:
        yield Records(malformed=[Malformed(line, stream.problem)])


def _document_records(_part: FileRange, layout: Layout, stream: FileStream) -> Iterator[Records]:
    lines: list[str] = []
    size = 0
    for block, _last in _line_blocks(layout, stream):
        lines += block
        size += sum(map(len, block))
        if size > LARGEST_DOCUMENT or is_cut(block):
            yield Records(malformed=[Malformed(1, DOCUMENT_TOO_LARGE)])
            return
    records = document_records("".join(lines), layout.json_names)
    if stream.problem:
        records.malformed.append(Malformed(len(records.rows) + 1, stream.problem))
    yield records


_RECORDS = {
    Form.DELIMITED: _delimited_records,
    Form.JSON_LINES: _json_records,
    Form.JSON_DOCUMENT: _document_records,
}


def _records(part: FileRange, layout: Layout, stream: FileStream) -> Iterator[Records]:
    if layout.text_log is None:
        yield from _RECORDS[layout.form](part, layout, stream)
        return
    bad: list[Malformed] = []
    lines = _numbered_lines(part, layout, stream, bad)
    yield from text_log_records(layout.text_log, lines, bad, lambda: stream.problem is not None)
    if layout.form is Form.TEXT and stream.problem:
        bad.append(Malformed(1, stream.problem))
    yield Records(malformed=bad)


def _numbered_lines(
    part: FileRange, layout: Layout, stream: FileStream, bad: list[Malformed]
) -> Iterator[tuple[int, str]]:
    """The lines of a text, or those that are handed on in JSON, each with the number of its line or object."""
    if layout.form is Form.TEXT:
        number = part.line
        for lines, _last in _line_blocks(layout, stream):
            yield from enumerate(lines, number)
            number += len(lines)
        return
    outer = layout.outer or layout
    at = outer.fields["text"] if layout.outer is not None else 0
    timed = layout.outer is None and len(layout.json_names) > 1
    rows: list[tuple[int, str]] = []
    for records in _RECORDS[layout.form](part, outer, stream):
        bad += records.malformed
        rows += zip(records.lines, (_with_time(row, layout) if timed else row[at] for row in records.rows), strict=True)
        if layout.form is Form.JSON_LINES:
            yield from _lines_of(rows)
            rows = []
    if _is_newest_first([text for _number, text in rows]):
        rows.reverse()
    yield from _lines_of(rows)


def _with_time(row: list[str], layout: Layout) -> str:
    """The line that a service hands on, behind the time that it has beside it where it has none of its own."""
    line, time = row
    begins = layout.text_log.begins if layout.text_log is not None else _MOMENT
    begin, whole = begins.match(line), f"{time} {line}"
    untimed = begin is not None and _MOMENT.search(begin.group()) is None
    return whole if untimed and _MOMENT.match(time) and begins.match(whole) else line


def _lines_of(texts: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, text in texts:
        yield from ((number, f"{line}\n") for line in text.rstrip("\n").split("\n"))


def _is_newest_first(texts: Sequence[str]) -> bool:
    """As services answer what is asked of their logs, if nothing else was asked."""
    times = [time[0] for text in texts if (time := _MOMENT.search(text[:_PREFIX])) is not None]
    return len(times) > 1 and times[0] > times[-1]


def _line_blocks(layout: Layout, stream: FileStream) -> Iterator[tuple[list[str], bool]]:
    """The stream's lines with their ends, in blocks; with each whether it is the last."""
    encoding = "utf-8-sig" if layout.encoding == "utf-8" else layout.encoding
    errors = "surrogateescape" if layout.encoding in _BYTEWISE else "surrogatepass"
    text = io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), encoding, errors, newline="\n")
    lines = text.readlines(_BLOCK_CHARS)
    while lines:
        following = text.readlines(_BLOCK_CHARS)
        if not following and stream.problem and not lines[-1].endswith("\n"):
            # half a line may be a whole statement, of another table: `INSERT INTO t SELECT a FROM orders_20`
            lines.pop()
        yield lines, not following
        lines = following


# Logs that are text: files streamed in the tasks that read them, big ones in parts.


def text_records(spark: SparkSession, files: Sequence[FileRange], reading: RecordReading) -> DataFrame:
    """What comes of the records of files with layouts."""
    ranges = _cut(spark, files, [_splittable(part) for part in files])
    failures: Failures = _failures(
        spark, [part for part in ranges if part.layout and part.layout.server_log is not None]
    )
    return _run(spark, ranges, partial(record_batches, failures=failures, schema=reading.arrow_schema), reading)


def with_layout(file: QueryLogFile, head: bytes, hints: ReadingHints) -> FileRange:
    """A file that begins (as it is stored) with `head`, and its layout, or the reason why it has none.

    Raises ConfigError for a file that is too large to be read from where it is.
    """
    if not file.local and file.size > _LARGEST_REMOTE:
        raise ConfigError(f"{file.name} has more than 2 GiB: split or compress it, or read it from a local disk")
    end = None if is_compressed(head) else file.size
    try:
        return FileRange(file, sniff(_decompressed_head(file, head), file.name, hints), end=end)
    except ConfigError as error:
        return FileRange(file, None, end=end, problem=str(error))


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
    stream = FileStream(partial(io.BytesIO, head))
    content = io.BufferedReader(stream).read(HEAD_BYTES)
    if not content and stream.problem:
        raise ConfigError(f"{file.name} cannot be decompressed: it is damaged or no CSV file")
    return content


def _splittable(part: FileRange) -> bool:
    layout = part.layout
    in_lines = layout is not None and layout.encoding in _BYTEWISE and layout.form in _SPLITTABLE
    # an entry of a log of text may say of those before it how they ended
    in_lines = in_lines and layout is not None and layout.text_log is None
    return part.file.local and part.end is not None and in_lines


def _failures(spark: SparkSession, ranges: Sequence[FileRange]) -> Failures:
    """The failed statements of the log, by session: keys alone, a few bytes for each error in the log."""
    if not ranges:
        return {}
    by_session: dict[str, set[str]] = {}
    for row in _run(spark, ranges, failure_batches, RecordReading(FAILURE_SCHEMA, FAILURE_SCHEMA)).collect():
        by_session.setdefault(row.session, set()).add(row.statement)
    return {session: frozenset(statements) for session, statements in by_session.items()}


def _run(spark: SparkSession, ranges: Sequence[FileRange], work: Any, reading: RecordReading) -> DataFrame:
    """What comes of the batches that `work(range, stream)` yields for each range."""
    local = _pack(spark, [part for part in ranges if part.file.local])
    frame = reading.apply(spark.range(0, len(local), 1, max(len(local), 1)), partial(_local, local, work))
    remote = {part.file.path: part for part in ranges if not part.file.local}
    if not remote:
        return frame
    contents = spark.read.format("binaryFile").load(list(remote)).select("path", "content")
    return reading.apply(contents, partial(_remote, remote, work))


def _local(groups: list[list[FileRange]], work: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for group in batch.column(0).to_pylist():
            for part in groups[group]:
                with FileStream(partial(_on_disk, part.file.path), part.start, part.end, _encoding(part)) as stream:
                    yield from work(part, stream)


def _remote(parts: dict[str, FileRange], work: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for path, content in zip(batch.column(0), batch.column(1), strict=True):
            part = parts[path.as_py()]
            with FileStream(partial(_in_memory, content), encoding=_encoding(part)) as stream:
                yield from work(part, stream)


def _encoding(part: FileRange) -> str:
    return "utf-8" if part.layout is None else part.layout.encoding


def _on_disk(path: str) -> BinaryIO:
    return Path(path).open("rb")


def _in_memory(content: pa.BinaryScalar) -> BinaryIO:
    return io.BytesIO(memoryview(content.as_buffer()))
