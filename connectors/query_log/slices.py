"""The parts of log files that tasks read: whole files, and big plain ones cut where a record starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from connectors.query_log.files import QueryLogFile
from connectors.query_log.layout import Form, Layout
from connectors.query_log.records import RecordReader, split_lines

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


@dataclass(frozen=True, slots=True)
class FileSlice:
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


def cut(spark: SparkSession, files: Sequence[FileSlice], splittable: Sequence[bool]) -> list[FileSlice]:
    """Slices that tile the files: where `splittable`, in ranges that start with a record.

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
    cuts = _survey(spark, files, ranges)
    by_file: dict[int, list[Cut]] = {}
    for found in cuts:
        by_file.setdefault(found.file, []).append(found)
    return [
        piece
        for index, part in enumerate(files)
        for piece in (tile(part, by_file[index]) if index in by_file else [part])
    ]


def pack(spark: SparkSession, slices: Sequence[FileSlice]) -> list[list[FileSlice]]:
    """Slices in groups of about one range's bytes, a group for a task, in the order of the log."""
    limit = _range_bytes(spark, slices)
    groups: list[list[FileSlice]] = []
    filled = limit * 2
    for piece in slices:
        if filled + piece.weight > limit * 3 // 2:
            groups.append([])
            filled = 0
        groups[-1].append(piece)
        filled += piece.weight
    return groups


def _range_bytes(spark: SparkSession, slices: Sequence[FileSlice]) -> int:
    total = sum(piece.weight for piece in slices)
    return min(max(total // (2 * spark.sparkContext.defaultParallelism), SMALLEST_RANGE), LARGEST_RANGE)


def _survey(spark: SparkSession, files: Sequence[FileSlice], ranges: list[tuple[int, int, int]]) -> list[Cut]:
    jobs = [(index, files[index], start, end) for index, start, end in ranges]
    if sum(end - start for _index, start, end in ranges) <= AT_ONCE_BYTES:
        found = [_examine(part, index, start, end) for index, part, start, end in jobs]
    else:
        found = _surveyed_by_tasks(spark, jobs)
    return sorted(found, key=lambda one: (one.file, one.start))


def _surveyed_by_tasks(spark: SparkSession, jobs: list[tuple[int, FileSlice, int, int]]) -> list[Cut]:
    def survey(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for job in batch.column(0).to_pylist():
                index, part, start, end = jobs[job]
                yield _as_batch(_examine(part, index, start, end))

    rows = spark.range(0, len(jobs), 1, len(jobs)).mapInArrow(survey, _CUT_SCHEMA).collect()
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


def _examine(part: FileSlice, index: int, start: int, end: int) -> Cut:
    try:
        with Path(part.file.path).open("rb") as raw:
            return examine_range(raw, part, index, (start, end))
    except OSError:
        # the file went away: its one slice will say so when it is read
        return Cut(index, start, 0, 0, None, None)


def examine_range(raw: BinaryIO, part: FileSlice, index: int, span: tuple[int, int]) -> Cut:
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


def tile(part: FileSlice, cuts: list[Cut]) -> list[FileSlice]:
    """The file in slices that start with a record each, given its ranges in order."""
    slices: list[FileSlice] = []
    start, line = 0, 1
    quotes = newlines = 0
    for found in cuts:
        # a malformed record can turn the parity of all that follows: then the other reading has a plausible record
        first = (found.odd or found.even) if quotes % 2 else (found.even or found.odd)
        if first is not None:
            slices.append(replace(part, start=start, end=first[0], line=line))
            start, line = first[0], 1 + newlines + first[1]
        quotes += found.quotes
        newlines += found.newlines
    slices.append(replace(part, start=start, end=part.file.size, line=line))
    return slices
