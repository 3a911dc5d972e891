"""From records to statements, inside a Spark task: what records have in common by columns, what they say one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from connectors.base import CUT, MALFORMED_EDGES, RECORD_SCHEMA, UNSUPPORTED, BatchWork
from connectors.query_log.profiles.export_profile import FAILED
from ingestion.dialects import dialect_of, fold
from ingestion.errors import TooLarge
from ingestion.masking.seen_queries import SeenQueries
from ingestion.plans.rendering import plan_fingerprint
from workflows.journal.known_records import KnownRecords
from workflows.journal.record_digests import Digests, record_digests, sessions_of, times_of
from workflows.reading.cut_texts import without_lost_end
from workflows.reading.statement_rows import Row, TaskState, text_rows
from workflows.templates.tiers import REPORTED

STATEMENT_SCHEMA = StructType(
    [
        StructField("source_id", StringType(), False),
        StructField("time", DoubleType(), False),  # seconds since the epoch; 0 where the log has no times
        StructField("file", StringType(), False),
        StructField("line", LongType(), False),
        StructField("position", IntegerType(), False),  # in its record
        StructField("step", IntegerType(), False),  # in its block or routine; 0 is the statement itself
        StructField("session", StringType(), False),
        StructField("database", StringType()),
        StructField("schema", StringType()),
        StructField("sets", BooleanType(), False),  # whether it changes the session's defaults
        StructField("set_database", StringType()),
        StructField("set_path", ArrayType(StringType())),
        StructField("path", ArrayType(StringType())),  # where a routine looks for names, whatever its caller does
        StructField("called", ArrayType(StringType())),  # the routine that it runs, as it names it
        StructField("routine", StringType()),  # the routine that it is part of
        StructField("standing", BooleanType(), False),  # a definition whose lineage was published before (in journals)
        StructField("fingerprint", StringType()),  # null: bears no lineage
        StructField("dialect", StringType(), False),
        StructField("text", StringType()),  # of a routine's definition, and the first of a template in a task
        StructField("symbolic", BinaryType()),
        # of a SELECT that is taken apart: its fingerprint, and a digest of its literals
        StructField("query", StringType()),
        StructField("literals", StringType()),
        StructField("skipped", StringType()),  # the reason
        StructField("dead", StringType()),  # the reason
        StructField("user", StringType()),
        StructField("duration", DoubleType()),
        StructField("job", StringType()),  # what ran it, by a name that is the same in every run
        # of what failed and would have written: its fingerprint, and the tables by the parts of their names
        StructField(
            "failure",
            StructType(
                [StructField("template", StringType()), StructField("targets", ArrayType(ArrayType(StringType())))]
            ),
        ),
        StructField("error_code", StringType()),
        StructField("rows", LongType()),  # that it wrote
        # of session, time and text: what makes a record the same record; null: it was not seen to run
        StructField("digest", LongType()),
    ]
)
"""A row for every statement, and one for each record without any."""

READ_BEFORE = "read_before"
"""Why records are skipped that an earlier run has read; `line` of such a row is their number."""
SEGMENT_WRITTEN = "segment_written"
"""Why a row is skipped that is of no record: it names the `file` that statements were written into."""
NO_RECORD = (READ_BEFORE, SEGMENT_WRITTEN)
"""Why rows are skipped that stand for nothing that this run has read."""
_BATCH = 10_000
_NOT_GIVEN: Row = {"position": 0, "step": 0, "sets": False, "standing": False}
"""What rows have that do not say otherwise; null in all other columns."""
_AS_IN_RECORDS = ("source_id", "user", "duration", "job", "error_code", "rows")
_MOST_DIGITS = 18
"""Of a line's number that surely is one of 64 bits."""


class _Content(NamedTuple):
    """What a record says, beside who ran it where and when."""

    text: str | None
    status: str | None
    problem: str | None
    symbolic: bytes | None
    edges: bytes | None
    error_code: str | None
    dialect: str


def to_statements(dialect: str, known: KnownRecords, literal_key: bytes | None = None) -> BatchWork:
    """What makes statements (STATEMENT_SCHEMA) of records (RECORD_SCHEMA); `dialect` where a record names none.

    Records that are `known` are not read again: a row that is skipped as READ_BEFORE stands for many. Under the
    `literal_key` SELECTs are told apart by their literals; without one they are not told apart.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = TaskState(dialect, None if literal_key is None else SeenQueries(literal_key))
        for batch in batches:
            digests = record_digests(batch)
            before = known.among(digests, pc.coalesce(times_of(batch), 0.0).to_numpy(zero_copy_only=False))
            if before.any():
                yield _read_before(int(before.sum()), dialect)
                batch, digests = batch.filter(pa.array(~before)), digests[~before]
            yield from _statement_batches(batch, digests, state)

    return run


def rows_of(records: Iterable[Row], dialect: str) -> list[Row]:
    """The statements of records that are at hand: definitions, which are few beside a log."""
    batch = pa.RecordBatch.from_pylist(list(records), schema=_RECORD_ARROW_SCHEMA)
    found = _statement_batches(batch, record_digests(batch), TaskState(dialect))
    return [row for statements in found for row in statements.to_pylist()]


def _read_before(records: int, dialect: str) -> pa.RecordBatch:
    return _no_record({"line": records, "dialect": dialect, "skipped": READ_BEFORE})


def segment_row(file: str) -> pa.RecordBatch:
    """The row that names a file of statements."""
    return _no_record({"file": file, "skipped": SEGMENT_WRITTEN})


def _no_record(row: Row) -> pa.RecordBatch:
    place = {"source_id": "", "time": 0.0, "file": "", "line": 0, "session": "", "dialect": ""}
    return pa.RecordBatch.from_pylist([{**_NOT_GIVEN, **place, **row}], schema=_ARROW_SCHEMA)


def _statement_batches(records: pa.RecordBatch, digests: Digests, state: TaskState) -> Iterator[pa.RecordBatch]:
    if not records.num_rows:
        return
    dialects = [dialect or state.dialect for dialect in records.column("dialect").to_pylist()]
    common = _record_columns(records, dialects, digests)
    contents = (records.column(name).to_pylist() for name in _Content._fields if name != "dialect")
    of_record: list[int] = []
    own: list[Row] = []
    for number, content in enumerate(map(_Content, *contents, dialects)):
        found = _rows_of_record(content, state)
        own += found
        of_record += [number] * len(found)
        if len(own) >= _BATCH:
            yield _statement_batch(common, of_record, own)
            of_record, own = [], []
    if own:
        yield _statement_batch(common, of_record, own)


def _statement_batch(common: Mapping[str, pa.Array], of_record: list[int], own: list[Row]) -> pa.RecordBatch:
    """Rows that are of these records by their numbers, and say of themselves what is in `own`.

    Most say what others say too, and are the same object then.
    """
    distinct = {id(row): row for row in own}
    place = {key: number for number, key in enumerate(distinct)}
    records, alike = pa.array(of_record, pa.int32()), pa.array([place[id(row)] for row in own], pa.int32())
    given = {name for row in distinct.values() for name in row}
    columns = []
    for column in _ARROW_SCHEMA:
        default = _NOT_GIVEN.get(column.name)
        if column.name == "rows":
            columns.append(_rows_of_single_statements(common["rows"], of_record, own))
        elif column.name in common:
            columns.append(common[column.name].take(records))
        elif column.name in given:
            values = pa.array([row.get(column.name, default) for row in distinct.values()], column.type)
            columns.append(values.take(alike))
        else:
            columns.append(pa.repeat(pa.scalar(default, column.type), len(own)))
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)


def _rows_of_single_statements(rows: pa.Array, of_record: list[int], own: list[Row]) -> pa.Array:
    """The rows that records wrote, for their statements: of several in one record it is not told which wrote them."""
    taken = rows.take(pa.array(of_record, pa.int32()))
    if taken.null_count == len(taken):
        return taken
    own_statements = (
        number
        for number, row in zip(of_record, own, strict=True)
        if not str(row.get("fingerprint") or "").startswith(REPORTED)
    )
    counts = Counter(own_statements)
    return pc.if_else(pa.array([counts[number] <= 1 for number in of_record]), taken, None)


def _rows_of_record(record: _Content, state: TaskState) -> list[Row]:
    """The record boundary: whatever goes wrong inside one record costs that record and no other."""
    try:
        return _statements_of(record, state)
    except Exception as error:  # noqa: BLE001 the one place where a record may fail in a way nobody foresaw
        return [{"dead": f"internal_error:{type(error).__name__}"}]


def _statements_of(record: _Content, state: TaskState) -> list[Row]:
    """What the rows of a record's statements have of their own; one row where it has no statement."""
    text, dialect = record.text or "", record.dialect
    if record.problem:
        return [{"dead": TooLarge.code if record.problem.startswith(TooLarge.code) else "malformed_record"}]
    if record.status == CUT:
        read = text_rows(text, dialect, TaskState(state.dialect))  # a whole one brings its own text
        return without_lost_end(read, text, dialect)
    if record.status == FAILED:
        return [state.failed.row(record.text, dialect, record.error_code)]
    if record.status:
        return [{"dead" if record.status.startswith(UNSUPPORTED) else "skipped": record.status}]
    if record.symbolic is not None:
        fingerprinted = plan_fingerprint(record.symbolic)
        return [{"fingerprint": fingerprinted, "symbolic": record.symbolic, "text": record.text}]
    if record.edges is None:
        return text_rows(text, dialect, state)
    found = text_rows(text, dialect, state) if text else []
    return [*found, {"position": len(found), **_edges_row(record.edges)}]


def _edges_row(edges: bytes) -> Row:
    """What the row of an engine's own lineage has of its own: a statement beside those of the text."""
    if edges == MALFORMED_EDGES:
        return {"dead": "malformed_lineage"}
    return {"fingerprint": f"{REPORTED}{plan_fingerprint(edges)}", "symbolic": edges}


def _record_columns(records: pa.RecordBatch, dialects: Sequence[str], digests: Digests) -> dict[str, pa.Array]:
    """By column of a statement, a value for each record; there is at least one record."""
    files, lines = _files_and_lines(records.column("source_id"))
    databases, schemas = _own_places(records, dialects)
    return {
        **{name: records.column(name) for name in _AS_IN_RECORDS},
        "time": pc.coalesce(times_of(records), 0.0),
        "file": files,
        "line": lines,
        "session": sessions_of(records),
        "database": databases,
        "schema": schemas,
        "dialect": pa.array(dialects, pa.string()),
        "digest": pa.array(digests, pa.int64()),
    }


def _files_and_lines(source_ids: pa.Array) -> tuple[pa.Array, pa.Array]:
    """At once where all are lines of one file, as those are that are read together."""
    file, mark, _line = source_ids[0].as_py().rpartition(":")
    numbers = pc.utf8_slice_codeunits(source_ids, len(file) + len(mark))
    are_lines = pc.and_(pc.ascii_is_decimal(numbers), pc.less_equal(pc.binary_length(numbers), _MOST_DIGITS))
    if mark and pc.all(pc.and_(pc.starts_with(source_ids, file + mark), are_lines)).as_py():
        return pa.repeat(pa.scalar(file, pa.string()), len(source_ids)), numbers.cast(pa.int64())
    files, lines = zip(*map(_file_and_line, source_ids.to_pylist()), strict=True)
    return pa.array(files, pa.string()), pa.array(lines, pa.int64())


def _file_and_line(source_id: str) -> tuple[str, int]:
    # "<file>:<line>", and "<log>#<execution>" for what a history has no line for.
    file, _mark, line = source_id.rpartition(":")
    if not line.isdecimal():
        file, _mark, line = source_id.rpartition("#")
    return file, int(line) if line.isdecimal() else 0


def _own_places(records: pa.RecordBatch, dialects: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """The databases and schemas that the records name."""
    given = (records.column(name).to_pylist() for name in ("database", "schema"))
    databases, schemas = zip(*map(_own_place, *given, dialects), strict=True)
    return pa.array(databases, pa.string()), pa.array(schemas, pa.string())


@lru_cache(10_000)
def _own_place(database: str | None, schema: str | None, dialect: str) -> tuple[str | None, str | None]:
    """The database and schema that a record names, folded; without schemas below databases its database is both."""
    own, below = (fold(place or "", dialect, quoted=True) or None for place in (database, schema))
    return own, below or (own if dialect_of(dialect).two_level else None)


_ARROW_SCHEMA = to_arrow_schema(STATEMENT_SCHEMA)
_RECORD_ARROW_SCHEMA = to_arrow_schema(RECORD_SCHEMA)
