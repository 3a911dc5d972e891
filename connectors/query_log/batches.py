"""From the bytes of a part of a log to batches of records, inside a Spark task or anywhere else."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from connectors.query_log.csvlog import CsvlogReader, Failures, FailureScan, failed_statements
from connectors.query_log.interpretation.interpreter import interpret, unescape
from connectors.query_log.interpretation.tables import ARROW_SCHEMA, Malformed, Records, Table
from connectors.query_log.json_records import (
    DOCUMENT_TOO_LARGE,
    LARGEST_DOCUMENT,
    document_records,
    is_cut,
    line_records,
)
from connectors.query_log.layout import Form, Layout
from connectors.query_log.records import RecordReader
from connectors.query_log.slices import FileSlice
from connectors.query_log.streams import SliceStream

_BLOCK_CHARS = 1 << 20

FAILURE_SCHEMA = StructType([StructField("session", StringType()), StructField("statement", BinaryType())])
"""A failed statement's key, and its session."""

_FAILURE_ARROW_SCHEMA = to_arrow_schema(FAILURE_SCHEMA)


def record_batches(
    part: FileSlice, stream: SliceStream, failures: Failures, schema: pa.Schema = ARROW_SCHEMA
) -> Iterator[pa.RecordBatch]:
    """The records of a slice, whose bytes `stream` gives; `failures` are those of the whole log."""
    if part.layout is None:
        yield Table([], {}, [Malformed(1, part.problem or "")]).to_batch(part.file.name, schema)
        return
    csvlog = CsvlogReader(part.layout, failures) if part.layout.csvlog else None
    for records in _RECORDS[part.layout.form](part, part.layout, stream):
        table = csvlog.read(records) if csvlog else _interpret(records, part.layout)
        yield table.to_batch(part.file.name, schema)


def _interpret(records: Records, layout: Layout) -> Table:
    if layout.reading is None or not records.rows:
        return Table([], {}, records.malformed)
    columns = list(zip(*records.rows, strict=True))
    if not layout.quote:
        columns = [tuple(map(unescape, column)) for column in columns]
    return interpret(columns, records.lines, records.malformed, layout.reading)


def failure_batches(part: FileSlice, stream: SliceStream) -> Iterator[pa.RecordBatch]:
    """The failed statements of a slice of a log of PostgreSQL's own, with FAILURE_SCHEMA."""
    if part.layout is None:
        return
    if part.layout.form is not Form.DELIMITED:
        for records in _RECORDS[part.layout.form](part, part.layout, stream):
            if rows := failed_statements(records.rows, part.layout):
                yield _failure_batch(rows)
        return
    scan = FailureScan(part.layout)
    for lines, last in _line_blocks(part.layout, stream):
        if rows := scan.feed(lines, last=last):
            yield _failure_batch(rows)


def _failure_batch(rows: list[tuple[str, bytes]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(zip(*rows, strict=True)), schema=_FAILURE_ARROW_SCHEMA)


def _delimited_records(part: FileSlice, layout: Layout, stream: SliceStream) -> Iterator[Records]:
    """The records of a slice, in blocks; its header is none, and where the stream breaks off is a malformed one."""
    reader = RecordReader(layout, part.line)
    line, header = part.line, layout.header if part.start == 0 else None
    for lines, last in _line_blocks(layout, stream):
        records = reader.feed(lines, last=last)
        line += len(lines)
        if header is not None and records.rows and tuple(records.rows[0]) == header:
            del records.rows[0], records.lines[0]
        header = None
        yield records
    if stream.problem:
        yield Records(malformed=[Malformed(line, stream.problem)])


def _json_records(part: FileSlice, layout: Layout, stream: SliceStream) -> Iterator[Records]:
    line = part.line
    for lines, _last in _line_blocks(layout, stream):
        yield line_records(lines, line, layout.json_names)
        line += len(lines)
    if stream.problem:
        yield Records(malformed=[Malformed(line, stream.problem)])


def _document_records(_part: FileSlice, layout: Layout, stream: SliceStream) -> Iterator[Records]:
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
