"""From records to statements, row by row inside a Spark task: split, clean, classify, fingerprint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame
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

from connectors.base import CUT, MALFORMED_EDGES, UNSUPPORTED
from ingestion.dialects import dialect_of, fold
from ingestion.errors import Templated, TooLarge, Unparsable
from ingestion.lexing.templates import template_in_code
from ingestion.masking import fingerprint
from ingestion.masking.fingerprint_cache import FingerprintCache
from ingestion.model import StatementKind
from ingestion.plans.rendering import plan_fingerprint
from ingestion.routines import RoutineStep, block_steps, called_routine
from ingestion.routines.inline_functions import function_as_view
from ingestion.statements import Classification, SkipReason, StatementText, classify, holds_sql, split
from ingestion.statements.skip_reasons import BLOCKS
from workflows.reading.cut_texts import without_lost_end
from workflows.state.record_digests import Digests, digest_of, session_of, time_of, unread_of
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
        StructField("skipped", StringType()),  # the reason
        StructField("dead", StringType()),  # the reason
        StructField("user", StringType()),
        StructField("duration", DoubleType()),
        StructField("job", StringType()),  # what ran it, by a name that is the same in every run
        # of session, time and text: what makes a record the same record; null: it was not seen to run
        StructField("digest", LongType()),
    ]
)
"""A row for every statement, and one for each record without any."""

Row = dict[str, object]

READ_BEFORE = "read_before"
"""Why records are skipped that an earlier run has read; `line` of such a row is their number."""
NOT_SQL = "not_sql"
"""Why a statement is dead that has no word of SQL: most often the wrong column was taken for the text."""
STEP_STRIDE = 10_000
"""Between two steps of a block there is room for what a call runs."""
_BATCH = 2000
_CALLS_ALONE = re.compile(r"\s*+select\s++(?:\*\s*+from\s++)?[\w$.\"]++\s*+\(", re.IGNORECASE)
_NO_SESSION_CHANGE: Row = {"sets": False, "set_database": None, "set_path": None}
_USES = re.compile(r"use\b", re.IGNORECASE)
_UNKNOWN_SCHEMA = ""
_OWN_SCHEMA = "$user"
"""PostgreSQL's schema of the session's own user: rarely there, and never known from a log."""


@dataclass(slots=True)
class TaskState:
    """What one task has seen: a template's text leaves it once."""

    dialect: str
    seen: set[tuple[str, str]] = field(default_factory=set)
    shapes: dict[str, FingerprintCache] = field(default_factory=dict)


def to_statements(records: DataFrame, dialect: str, known: Digests) -> DataFrame:
    """The statements of `records` (RECORD_SCHEMA), with STATEMENT_SCHEMA; `dialect` where a record names none.

    Records whose digest is `known` are not read again: a row that is skipped as READ_BEFORE stands for many.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = TaskState(dialect)
        schema = _ARROW_SCHEMA
        rows: list[dict[str, object]] = []
        for batch in batches:
            unread = unread_of(batch, known)
            if unread.num_rows < batch.num_rows:
                rows.append(_read_before(batch.num_rows - unread.num_rows, dialect))
            for record in unread.to_pylist():
                rows.extend(_rows_of_record(record, state))
                if len(rows) >= _BATCH:
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)
                    rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return records.mapInArrow(run, STATEMENT_SCHEMA)


def rows_of(records: Iterable[Row], dialect: str) -> list[Row]:
    """The statements of records that are at hand: definitions, which are few beside a log."""
    state = TaskState(dialect)
    return [row for record in records for row in _rows_of_record(record, state)]


def _read_before(records: int, dialect: str) -> Row:
    place = {"source_id": "", "time": 0.0, "file": "", "line": records, "position": 0, "step": 0, "session": ""}
    return {**place, "sets": False, "standing": False, "dialect": dialect, "skipped": READ_BEFORE}


def _rows_of_record(record: Row, state: TaskState) -> list[Row]:
    """The record boundary: whatever goes wrong inside one record costs that record and no other."""
    try:
        return _statements_of(record, state)
    except Exception as error:  # noqa: BLE001 the one place where a record may fail in a way nobody foresaw
        row = _record_row({**record, "text": None, "symbolic": None}, str(record["dialect"] or state.dialect))
        return [{**row, "dead": f"internal_error:{type(error).__name__}"}]


def _statements_of(record: Row, state: TaskState) -> list[Row]:
    """The statements of one record, or the one row that accounts for a record without any."""
    dialect = str(record["dialect"] or state.dialect)
    row = _record_row(record, dialect)
    if record["problem"]:
        too_large = str(record["problem"]).startswith(TooLarge.code)
        return [{**row, "dead": TooLarge.code if too_large else "malformed_record"}]
    if record["status"] == CUT:
        read = _of_text(str(record["text"]), dialect, TaskState(state.dialect))  # a whole one brings its own text
        return [{**row, **own} for own in without_lost_end(read, str(record["text"]), dialect)]
    if record["status"]:
        return [{**row, "dead" if str(record["status"]).startswith(UNSUPPORTED) else "skipped": record["status"]}]
    if record["symbolic"] is not None:
        return [_plan_row(row, record)]
    edges = record.get("edges")
    if edges is None:
        return [{**row, **found} for found in _of_text(str(record["text"] or ""), dialect, state)]
    found = [{**row, **own} for own in _of_text(str(record["text"]), dialect, state)] if record["text"] else []
    return [*found, {**row, "position": len(found), **_edges_row(edges)}]


def _of_text(text: str, dialect: str, state: TaskState) -> list[Row]:
    """What the rows of a text's statements have of their own."""
    shapes = state.shapes.get(dialect) or state.shapes.setdefault(dialect, FingerprintCache(dialect))
    shape = shapes.shape_of(text)
    known = shapes.fingerprint(shape) if shape is not None else None
    if known is not None:
        return [{"fingerprint": known}]
    found = [
        {"position": position, **own}
        for position, statement in enumerate(split(text, dialect))
        for own in _with_steps(statement, dialect, state)
    ]
    fingerprints = [str(own["fingerprint"]) for own in found if own.get("fingerprint")]
    if shape is not None and len(found) == 1 and fingerprints:
        shapes.learn(shape, fingerprints[0])
    return found or [{"skipped": "empty"}]


def _record_row(record: Row, dialect: str) -> Row:
    # "<file>:<line>", and "<log>#<execution>" for what a history has no line for.
    place = str(record["source_id"])
    file, _mark, line = place.rpartition(":" if place.rpartition(":")[2].isdigit() else "#")
    return {
        "source_id": record["source_id"],
        "time": time_of(record) or 0.0,
        "file": file,
        "line": int(line) if line.isdigit() else 0,
        "position": 0,
        "step": 0,
        "standing": False,
        "session": session_of(record),
        **_own_place(record, dialect),
        "sets": False,
        "dialect": dialect,
        "user": record["user"],
        "duration": record["duration"],
        "job": record.get("job"),
        "digest": digest_of(record),
    }


def _own_place(record: Row, dialect: str) -> Row:
    """The database and schema that a record names, folded; without schemas below databases its database is both."""
    places = (str(record[level] or "") for level in ("database", "schema"))
    database, schema = (fold(place, dialect, quoted=True) or None for place in places)
    return {"database": database, "schema": schema or (database if dialect_of(dialect).two_level else None)}


def _with_steps(statement: StatementText, dialect: str, state: TaskState) -> list[Row]:
    """A statement's row, and where it is a block one for each statement in it."""
    row = _statement(statement.text, dialect, state)
    if row.get("skipped") not in BLOCKS:
        return [row]
    steps = block_steps(statement.text, dialect)
    rows = ({"step": number * STEP_STRIDE, **step_row(step, dialect, state)} for number, step in enumerate(steps, 1))
    return [row, *rows]


def step_row(step: RoutineStep, dialect: str, state: TaskState) -> Row:
    """What the row of one step of a block or routine has of its own."""
    if step.problem:
        return {"skipped": step.problem}
    if step.calls:
        return {"skipped": SkipReason.CALL, "called": list(step.calls)}
    return {**_statement(step.text, dialect, state), **_NO_SESSION_CHANGE}


def _statement(text: str, dialect: str, state: TaskState) -> Row:
    try:
        found = classify(text, dialect)
        if _picks_a_template(found, text, dialect):
            return {"dead": Templated.code, "sets": True, "set_path": [_UNKNOWN_SCHEMA]}
        if found.skip_reason is not None and not _gives_rows(found, text, dialect):
            return {
                "skipped": found.skip_reason,
                **_session_change(found),
                **_of_routine(found.skip_reason, text, dialect),
            }
        if found.kind is StatementKind.OTHER and not holds_sql(text, dialect):
            return {"dead": NOT_SQL}
        key = fingerprint(text, dialect)
    except Unparsable:
        return {"dead": Templated.code if template_in_code(text, dialect) is not None else "ill_formed"}
    if (dialect, key) in state.seen:
        return {"fingerprint": key}
    state.seen.add((dialect, key))
    return {"fingerprint": key, "text": text}


def _picks_a_template(found: Classification, text: str, dialect: str) -> bool:
    """Whether a statement picks a schema for its session that a template was to name: nobody knows which."""
    picks = found.skip_reason is SkipReason.SESSION_STATE or _USES.match(text) is not None
    return picks and template_in_code(text, dialect) is not None


def _gives_rows(found: Classification, text: str, dialect: str) -> bool:
    """Whether a definition is that of a function with nothing but a query in it, which is read like a view."""
    is_definition = found.skip_reason is SkipReason.ROUTINE_DEFINITION
    return is_definition and function_as_view(text, dialect) is not None


def _of_routine(reason: SkipReason, text: str, dialect: str) -> Row:
    """What a routine's definition and its calls keep, so that the one can be put in the place of the other."""
    if reason is SkipReason.ROUTINE_DEFINITION:
        return {"text": text}
    if reason is SkipReason.CALL or (reason is SkipReason.SELECT and _CALLS_ALONE.match(text)):
        called = called_routine(text, dialect)
        return {"called": list(called)} if called else {}
    return {}


def _session_change(found: Classification) -> Row:
    change = found.session
    if change is None:
        return {}
    path = [schema for schema in change.schemas if schema != _OWN_SCHEMA] if change.schemas is not None else None
    return {"sets": True, "set_database": change.database, "set_path": [] if change.reset else path}


def _edges_row(edges: object) -> Row:
    """What the row of an engine's own lineage has of its own: a statement beside those of the text."""
    if not isinstance(edges, bytes) or edges == MALFORMED_EDGES:
        return {"dead": "malformed_lineage"}
    return {"fingerprint": f"{REPORTED}{plan_fingerprint(edges)}", "symbolic": edges}


def _plan_row(row: Row, record: Row) -> Row:
    symbolic = record["symbolic"]
    if not isinstance(symbolic, bytes):
        msg = "symbolic lineage is bytes"
        raise TypeError(msg)
    return {**row, "fingerprint": plan_fingerprint(symbolic), "symbolic": symbolic, "text": record["text"]}


_ARROW_SCHEMA = to_arrow_schema(STATEMENT_SCHEMA)
