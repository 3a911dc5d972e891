"""From records to statements, row by row inside a Spark task: split, clean, classify, fingerprint."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from ingestion.masking import fingerprint
from pyspark.sql import DataFrame
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

from ingestion.errors import Unparsable
from ingestion.statements import Classification, StatementText, classify, split

STATEMENT_SCHEMA = StructType(
    [
        StructField("source_id", StringType(), False),
        StructField("time", DoubleType(), False),  # seconds since the epoch; 0 where the log has no times
        StructField("file", StringType(), False),
        StructField("line", LongType(), False),
        StructField("position", IntegerType(), False),  # in its record
        StructField("session", StringType(), False),
        StructField("database", StringType()),
        StructField("schema", StringType()),
        StructField("sets", BooleanType(), False),  # whether it changes the session's defaults
        StructField("set_database", StringType()),
        StructField("set_path", ArrayType(StringType())),
        StructField("fingerprint", StringType()),  # null: bears no lineage
        StructField("dialect", StringType(), False),
        StructField("text", StringType()),  # of the first statement of its template in a task
        StructField("symbolic", BinaryType()),
        StructField("skipped", StringType()),  # the reason
        StructField("dead", StringType()),  # the reason
        StructField("user", StringType()),
        StructField("duration", DoubleType()),
        StructField("digest", LongType(), False),  # of session, time and text: what makes a record the same record
    ]
)
"""A row for every statement, and one for each record without any."""

_BATCH = 2000
_OWN_SCHEMA = "$user"
"""PostgreSQL's schema of the session's own user: rarely there, and never known from a log."""
Row = dict[str, object]


@dataclass(slots=True)
class _TaskState:
    """What one task has seen: a template's text leaves it once."""

    dialect: str
    seen: set[tuple[str, str]] = field(default_factory=set)


def to_statements(records: DataFrame, dialect: str) -> DataFrame:
    """The statements of `records` (RECORD_SCHEMA), with STATEMENT_SCHEMA; `dialect` where a record names none."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = _TaskState(dialect)
        schema = _ARROW_SCHEMA
        rows: list[dict[str, object]] = []
        for batch in batches:
            for record in batch.to_pylist():
                rows.extend(_accounted(record, state))
                if len(rows) >= _BATCH:
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)
                    rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return records.mapInArrow(run, STATEMENT_SCHEMA)


def _accounted(record: Row, state: _TaskState) -> list[Row]:
    """The record boundary: whatever goes wrong inside one record costs that record and no other."""
    try:
        return _statements_of(record, state)
    except Exception as error:  # noqa: BLE001 the one place where a record may fail in a way nobody foresaw
        row = _record_row({**record, "text": None, "symbolic": None}, str(record["dialect"] or state.dialect))
        return [{**row, "dead": f"internal_error:{type(error).__name__}"}]


def _statements_of(record: Row, state: _TaskState) -> list[Row]:
    """The statements of one record, or the one row that accounts for a record without any."""
    dialect = str(record["dialect"] or state.dialect)
    row = _record_row(record, dialect)
    if record["problem"]:
        return [{**row, "dead": "malformed_record"}]
    if record["status"]:
        return [{**row, "skipped": record["status"]}]
    if record["symbolic"] is not None:
        return [_planned(row, record)]
    text = record["text"]
    statements = split(str(text), dialect) if text else ()
    if not statements:
        return [{**row, "skipped": "empty"}]
    return [
        {**row, "position": position, **_statement(statement, dialect, state)}
        for position, statement in enumerate(statements)
    ]


def _record_row(record: Row, dialect: str) -> Row:
    file, _colon, line = str(record["source_id"]).rpartition(":")
    time = record["start_time"] if record["start_time"] is not None else record["end_time"]
    session = record["session"] or f"{record['user'] or ''}@{record['database'] or ''}"
    return {
        "source_id": record["source_id"],
        "time": time or 0.0,
        "file": file,
        "line": int(line) if line.isdigit() else 0,
        "position": 0,
        "session": session,
        "database": record["database"] or None,
        "schema": record["schema"] or None,
        "sets": False,
        "dialect": dialect,
        "user": record["user"],
        "duration": record["duration"],
        "digest": _digest(str(session), time, record["text"] or record["symbolic"] or ""),
    }


def _statement(statement: StatementText, dialect: str, state: _TaskState) -> Row:
    try:
        found = classify(statement.text, dialect)
        if found.skip_reason is not None:
            return {"skipped": found.skip_reason, **_session_change(found)}
        key = fingerprint(statement.text, dialect)
    except Unparsable:
        return {"dead": "ill_formed"}
    if (dialect, key) in state.seen:
        return {"fingerprint": key}
    state.seen.add((dialect, key))
    return {"fingerprint": key, "text": statement.text}


def _session_change(found: Classification) -> Row:
    change = found.session
    if change is None:
        return {}
    path = [schema for schema in change.schemas if schema != _OWN_SCHEMA] if change.schemas is not None else None
    return {"sets": True, "set_database": change.database, "set_path": [] if change.reset else path}


def _planned(row: Row, record: Row) -> Row:
    symbolic = record["symbolic"]
    if not isinstance(symbolic, bytes):
        msg = "symbolic lineage is bytes"
        raise TypeError(msg)
    key = hashlib.blake2b(symbolic, digest_size=16).hexdigest()
    return {**row, "fingerprint": key, "symbolic": symbolic, "text": record["text"]}


def _digest(session: str, time: object, content: object) -> int:
    hashed = hashlib.blake2b(digest_size=8)
    hashed.update(f"{session}\0{time}\0".encode("utf-8", "surrogatepass"))
    hashed.update(content if isinstance(content, bytes) else str(content).encode("utf-8", "surrogatepass"))
    return int(struct.unpack("<q", hashed.digest())[0])


_ARROW_TYPES = {
    "double": pa.float64(),
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "array<string>": pa.list_(pa.string()),
}
_ARROW_SCHEMA = pa.schema([(f.name, _ARROW_TYPES[f.dataType.simpleString()]) for f in STATEMENT_SCHEMA.fields])
