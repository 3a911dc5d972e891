"""From records to statements, inside a Spark task: what records have in common by columns, what they say one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from operator import attrgetter
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

from connectors.records import MALFORMED_EDGES, RECORD_SCHEMA, UNSUPPORTED, RecordWork
from ingestion.analysis.symbolic import Symbolic, loads
from ingestion.dialects import dialect_of, fold
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import tokens
from ingestion.dialects.unfilled_templates import template_in_code
from ingestion.errors import Templated, TooLarge, Unparsable
from ingestion.model.lineage import StatementKind, StatementLineage, TableName
from ingestion.model.namespaces import may_be_temporary, unreadable
from ingestion.model.outcomes import Outcome
from ingestion.model.table_commits import commit_beginning, commit_format
from ingestion.parsing.targets import written_tables
from ingestion.parsing.templates import LISTED, REPORTED
from ingestion.plans.rendering import plan_fingerprint
from ingestion.statements import Classification, StatementText, classify, holds_sql, split
from ingestion.statements.classification import BLOCKS
from ingestion.statements.emptied_tables import emptied_table, is_straight
from ingestion.statements.fingerprints import FingerprintCache, SeenQueries
from ingestion.statements.inner_queries import HOLD_QUERIES, inner_query
from ingestion.statements.masking import fingerprint
from ingestion.statements.routines.bodies import block_steps, template_in_schedule
from ingestion.statements.routines.inline_functions import function_as_view
from ingestion.statements.routines.session_variables import with_variables
from ingestion.statements.routines.steps import RoutineStep, called_routine, may_move_rows
from ingestion.statements.sessions import change_of
from workflows.state.segments import (
    EMPTIES,
    LOCAL,
    OF_TRANSACTION,
    Digests,
    KnownRecords,
    record_digests,
    sessions_of,
    times_of,
)

_EMPTYING = (Outcome.TRUNCATE, Outcome.DELETE)
_TAKEN_APART = BLOCKS | {Outcome.ROUTINE_DEFINITION}
"""Skipped as a whole, and read by their parts."""
_LOADS = frozenset(
    {
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.INSERT,
        StatementKind.MERGE,
        StatementKind.COPY,
        StatementKind.OTHER,
    }
)
"""Of statements that are not skipped: of these a run that did not fail is known, and so whether a failure lasted.

Rows of values are those of a client, one by one; so are, often, those that an UPDATE or a DELETE changes.
"""
_CREATING_KINDS = frozenset({StatementKind.CREATE_TABLE_AS, StatementKind.CREATE_VIEW})
_TAKEN_NAME = keywords("42P07 42S01 42710 1050 2714 955 2002 3803 601 57 ALREADY_EXISTS duplicate")
"""Codes of a CREATE that failed since what it makes is there, numbers without a sign: the standard's and ODBC's states,
MySQL, SQL Server, Oracle, Snowflake, Teradata, Db2, ClickHouse; Trino and BigQuery."""
_UNDOING = keywords("rollback abort")
_NEXT = keywords("insert update delete merge truncate drop create declare begin commit rollback")
"""What begins a statement, and is no name, in a dialect whose statements may stand side by side."""
_MOST_WRITES = 20_000
"""Templates that are kept at most; a log with more begins anew."""
Row = dict[str, object]
"""A whole row of RECORD_SCHEMA or STATEMENT_SCHEMA, as Spark takes it."""
Names = tuple[tuple[str, ...], ...]
"""Names of tables, by their parts."""
STEP_STRIDE = 10_000
"""Between two steps of a block there is room for what a call runs."""
_CALLS_ALONE = re.compile(r"\s*+select\s++(?:\*\s*+from\s++)?[\w$.\"]++\s*+\(", re.IGNORECASE)
"""What may be a call of a routine though it begins as a query: `SELECT refresh()`, `SELECT * FROM refresh()`."""
_USES = re.compile(r"use\b", re.IGNORECASE)
"""PostgreSQL's schema of the session's own user: rarely there, and never known from a log."""
_MOST_TEXTS, _MOST_CHARACTERS = 20_000, 8 << 20
"""Texts that are kept at most, and characters in them; a log with more begins anew."""
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
        # LOCAL, a step OF_TRANSACTION, which changes no name, or where names are looked for instead unless what is set
        # is so already (`SessionChange.elsewhere`); EMPTIES of what empties a table
        StructField("set_how", StringType()),
        StructField("path", ArrayType(StringType())),  # where a routine looks for names, whatever its caller does
        StructField("called", ArrayType(StringType())),  # the routine that it runs, as it names it
        StructField("routine", StringType()),  # the routine that it is part of
        StructField(
            "already_published", BooleanType(), False
        ),  # a definition whose lineage was published before (in journals)
        StructField("fingerprint", StringType()),  # null: bears no lineage
        StructField("dialect", StringType(), False),
        StructField("text", StringType()),  # of a routine's definition, and the first of a template in a task
        StructField("symbolic", BinaryType()),
        # of a SELECT that is taken apart: its fingerprint, and a digest of its literals; without these it is what an
        # engine recorded of one
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
        # of rows of values or of a client: the tables that they go to, by the parts of their names
        StructField("filled", ArrayType(ArrayType(StringType()))),
        StructField("error_code", StringType()),
        StructField("rows", LongType()),  # that it wrote
        StructField("bytes", LongType()),  # that its record read
        StructField("credits", DoubleType()),
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
_NOT_GIVEN: Row = {"already_published": False}
"""What rows have beside their own and their record's; null in all other columns."""
_AS_IN_RECORDS = ("source_id", "user", "job", "error_code", "rows", "bytes", "credits")
_MOST_DIGITS = 18
"""Of a line's number that surely is one of 64 bits."""
_ARROW_SCHEMA = to_arrow_schema(STATEMENT_SCHEMA)
_RECORD_ARROW_SCHEMA = to_arrow_schema(RECORD_SCHEMA)
RECORD_ORDER = ("time", "file", "line")
ORDER = (*RECORD_ORDER, "position", "step")
FEW = 20_000
"""Statements that are cheaper to work on in one partition than to be shuffled."""


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """What a text that failed was to write: its fingerprint and the tables, by the parts of their names."""

    template: str
    targets: Names


@dataclass(frozen=True, slots=True)
class StatementRow:
    """What the row of one statement has of its own, by the columns of STATEMENT_SCHEMA; the rest is its record's."""

    position: int = 0
    step: int = 0
    sets: bool = False
    set_database: str | None = None
    set_path: tuple[str, ...] | None = None
    set_how: str | None = None
    called: tuple[str, ...] | None = None
    fingerprint: str | None = None
    text: str | None = None
    symbolic: bytes | None = None
    query: str | None = None
    literals: str | None = None
    skipped: str | None = None
    dead: str | None = None
    failure: FailedWrite | None = None
    filled: Names | None = None


_OWN_COLUMNS = tuple(column.name for column in fields(StatementRow))
_own_values = attrgetter(*_OWN_COLUMNS)


# Texts whose end the source has cut: the last statement in them says nothing, unless it is plain what it was.


def _without_lost_end(read: Sequence[StatementRow], text: str, dialect: str) -> list[StatementRow]:
    """The rows that were `read` of a cut text, those of its last statement dead where its end may have told more."""
    last = max(own.position for own in read)
    return [_without_end(own, text, dialect) if own.position == last else own for own in read]


def _without_end(own: StatementRow, text: str, dialect: str) -> StatementRow:
    reason = own.skipped
    where = StatementRow(own.position, own.step)
    if (reason == Outcome.SELECT or own.dead) and _only_reads(text, dialect):
        return replace(where, skipped=Outcome.SELECT)
    # The last name that a cut statement sets may have been longer: it is none that is known.
    elsewhere = unreadable(text)
    set_database, set_path = own.set_database and elsewhere, own.set_path and (elsewhere,)
    if reason is None or reason == Outcome.SELECT or reason in _TAKEN_APART:
        set_here = replace(where, sets=own.sets, set_database=set_database, set_path=set_path, set_how=own.set_how)
        return replace(set_here, dead=Outcome.CUT)
    return replace(own, query=None, literals=None, text=None, set_database=set_database, set_path=set_path)


def _only_reads(text: str, dialect: str) -> bool:
    """Whether the last statement is a query that can write nothing any more: an INTO stands before its FROM.

    `SELECT a FROM t WHERE b IN (1, 2` does; of `WITH x AS (SELECT 1` an INSERT may have followed.
    """
    depth, first, words = 0, "", set[str]()
    for token in tokens(text, dialect):
        word = token.text.lower()
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word == ";":
            first, words = "", set()
        else:
            first = first or word
            words.add(word)
    return first in ("select", "sel", "with") and "from" in words and "into" not in words


# The writes among the statements that failed: which tables they would have filled, and which template they are of.


@dataclass(frozen=True, slots=True)
class _FailedText:
    """The row of a text that failed. `creates`: it was to make what it fills."""

    row: StatementRow
    creates: bool

    @property
    def template(self) -> str:
        """The fingerprint of what it was to write, "" where that is nothing."""
        return self.row.failure.template if self.row.failure is not None else ""


_WRITES_NOTHING = _FailedText(StatementRow(skipped=Outcome.FAILED), creates=False)


class FailedWrites:
    """What one task has seen of them."""

    def __init__(self) -> None:
        self._shapes: dict[str, FingerprintCache] = {}
        self._known: dict[tuple[str, str], _FailedText] = {}

    def row(self, text: str | None, dialect: str, code: str | None = None) -> StatementRow:
        """The row of a record that failed, with its `failure` where it was to write a table.

        `code`: of its error, where one is known.
        """
        found = self._look_up(text, dialect) if text else _WRITES_NOTHING
        return _WRITES_NOTHING.row if found.creates and _says_that_the_name_is_taken(code) else found.row

    def _look_up(self, text: str, dialect: str) -> _FailedText:
        shapes = self._shapes.get(dialect) or self._shapes.setdefault(dialect, FingerprintCache(dialect))
        shape = shapes.shape_of(text)
        known = shapes.fingerprint(shape) if shape is not None else None
        if known is not None and (dialect, known) in self._known:
            return self._known[dialect, known]
        found = _read_failed_text(text, dialect)
        if shape is not None and found.template:
            if len(self._known) >= _MOST_WRITES:
                self._known.clear()
            shapes.learn(shape, found.template)
            self._known[dialect, found.template] = found
        return found


def _read_failed_text(text: str, dialect: str) -> _FailedText:
    try:
        load = _failed_load(text, dialect)
        tables = written_tables(load[0], dialect_of(dialect)) if load is not None else ()
        template = fingerprint(load[0], dialect) if load is not None and tables else ""
    except Unparsable:
        return _WRITES_NOTHING
    if load is None or not template:
        return _WRITES_NOTHING
    failure = FailedWrite(template, tuple(name.parts for name in tables))
    return _FailedText(StatementRow(skipped=Outcome.FAILED, failure=failure), load[1] in _CREATING_KINDS)


def _says_that_the_name_is_taken(code: str | None) -> bool:
    return code is not None and (code in _TAKEN_NAME or code.lstrip("-0") in _TAKEN_NAME)


def _failed_load(text: str, dialect: str) -> tuple[str, StatementKind] | None:
    """The load that a text ends with, and its kind: whichever of its statements failed, this one did, or never ran.

    None where it may have come though the text failed, or is undone there on purpose. What stands before it may have
    come to its end.
    """
    definition, statements = dialect_of(dialect), split(text, dialect)
    if definition.goes_on_after_errors and (len(statements) > 1 or _holds_others(Code.of(text, definition))):
        return None
    for statement in reversed(statements):
        if Code.of(statement.text, definition).word(0) in _UNDOING:
            return None
        found = classify(statement.text, dialect)
        if found.skip_reason is None and found.kind in _LOADS:
            return statement.text, found.kind
        if found.skip_reason is not Outcome.TRANSACTION:
            return None
    return None


def _holds_others(code: Code) -> bool:
    """Whether another statement stands behind the first, with nothing between the two.

    As in T-SQL, which needs no semicolon: `INSERT INTO a SELECT 1 INSERT INTO b SELECT 2`. No other stands behind the
    first in `MERGE INTO a USING b ON … WHEN MATCHED THEN UPDATE SET …`.
    """
    index = code.find(2 if code.word(0) == "bulk" else 1, _NEXT)
    if code.word(0) == "with":
        index = code.find(index + 1, _NEXT)
    while index < len(code.tokens) and code.word(index - 1) == "then":  # of a MERGE
        index = code.find(index + 1, _NEXT)
    return index < len(code.tokens)


# Which tables get rows that come from no table: of values, or of a client. They have no lineage, and are filled.

_WITHOUT_SOURCE = frozenset({Outcome.INSERT_VALUES, Outcome.COPY_STDIO})
_VALUES = re.compile(r"\bvalues?\s*+\(", re.IGNORECASE)
_LONGEST_BEGINNING = 2_000
"""Characters in which the name of what is filled stands, before the first of the rows."""


class ValueRows:
    """What one task has seen of them: their texts are many, and what stands before the rows is mostly the same."""

    def __init__(self) -> None:
        self._filled: dict[tuple[str, str], Names | None] = {}

    def filled_tables(self, reason: Outcome, text: str, dialect: str) -> Names | None:
        """The tables that a statement fills which is skipped for the `reason`; None where that is none, or unknown."""
        if reason not in _WITHOUT_SOURCE:
            return None
        values = _VALUES.search(text, 0, _LONGEST_BEGINNING)
        beginning = text[: _LONGEST_BEGINNING if values is None else values.start()]
        if (beginning, dialect) not in self._filled:
            if len(self._filled) >= _MOST_WRITES:
                self._filled.clear()
            self._filled[beginning, dialect] = _tables_filled(beginning, dialect)
        return self._filled[beginning, dialect]


def _tables_filled(text: str, dialect: str) -> Names | None:
    try:
        tables = written_tables(text, dialect_of(dialect))
    except Unparsable:
        return None
    return tuple(name.parts for name in tables) or None


# What the rows of a text's statements have of their own: split, cleaned, classified, fingerprinted.


class RepeatedTexts:
    """The rows of texts that were met before word for word, as those that open, set or end a session are."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[StatementRow]] = {}
        self._characters = 0

    def rows(self, text: str, dialect: str) -> list[StatementRow] | None:
        """The rows of a text that was learned."""
        return self._rows.get((text, dialect))

    def learn(self, text: str, dialect: str, rows: list[StatementRow]) -> None:
        """Keeps the rows of a text, save the texts of templates, which leave a task once."""
        if len(self._rows) >= _MOST_TEXTS or self._characters >= _MOST_CHARACTERS:
            self._rows.clear()
            self._characters = 0
        self._rows[text, dialect] = [
            replace(row, text=None) if row.text and (row.fingerprint or row.query) else row for row in rows
        ]
        self._characters += len(text)


@dataclass(slots=True)
class TaskState:
    """What one task has seen: a template's text leaves it once. Rows that say the same are one object, where known.

    `queries`: the SELECTs, where they are taken apart.
    """

    dialect: str
    queries: SeenQueries | None = None
    seen: set[tuple[str, str]] = field(default_factory=set)
    shapes: dict[str, FingerprintCache] = field(default_factory=dict)
    of_fingerprint: dict[str, list[StatementRow]] = field(default_factory=dict)
    repeated: RepeatedTexts = field(default_factory=RepeatedTexts)
    failed: FailedWrites = field(default_factory=FailedWrites)
    value_rows: ValueRows = field(default_factory=ValueRows)


def _text_rows(text: str, dialect: str, state: TaskState) -> list[StatementRow]:
    """The rows of a text's statements."""
    again = state.repeated.rows(text, dialect)
    if again is not None:
        return again
    shapes = state.shapes.get(dialect) or state.shapes.setdefault(dialect, FingerprintCache(dialect))
    shape = shapes.shape_of(text)
    known = shapes.fingerprint(shape) if shape is not None else None
    if known is not None:
        return state.of_fingerprint.get(known) or state.of_fingerprint.setdefault(
            known, [StatementRow(fingerprint=known)]
        )
    statements = split(text, dialect)
    straight = len(statements) == 1 or is_straight(text)
    found = [
        replace(own, position=position) if position else own
        for position, statement in enumerate(with_variables(statements, dialect))
        for own in _with_steps(statement, dialect, state, straight=straight)
    ]
    fingerprints = [own.fingerprint for own in found if own.fingerprint]
    if shape is not None and len(found) == 1 and fingerprints and found[0].set_how is None:
        shapes.learn(shape, fingerprints[0])
    found = found or [StatementRow(skipped=Outcome.EMPTY)]
    state.repeated.learn(text, dialect, found)
    return found


def _with_steps(statement: StatementText, dialect: str, state: TaskState, *, straight: bool) -> list[StatementRow]:
    """A statement's row, and where it is a block one for each statement in it."""
    row = _statement(statement.text, dialect, state, straight=straight)
    if row.skipped not in BLOCKS:
        return [row]
    steps = block_steps(statement.text, dialect)
    rows = (replace(step_row(step, dialect, state), step=number * STEP_STRIDE) for number, step in enumerate(steps, 1))
    return [row, *rows]


def step_row(step: RoutineStep, dialect: str, state: TaskState) -> StatementRow:
    """The row of one step of a block or routine."""
    if step.problem:
        return StatementRow(skipped=step.problem)
    if step.calls:
        return StatementRow(skipped=Outcome.CALL, called=_followed_call(step.calls, dialect))
    row = _statement(step.text, dialect, state, straight=step.straight)
    how = EMPTIES if row.set_how == EMPTIES else None
    return replace(row, sets=False, set_database=None, set_path=None, set_how=how)


def _statement(text: str, dialect: str, state: TaskState, *, straight: bool = True) -> StatementRow:
    try:
        found = classify(text, dialect)
        if _picks_a_template(found, text, dialect):
            return _with_session_change(StatementRow(dead=Templated.code), found, text, dialect)
        if found.skip_reason is Outcome.ROUTINE_DEFINITION and template_in_schedule(text, dialect_of(dialect)):
            return StatementRow(dead=Templated.code)
        parsed = is_parsed(found, text, dialect, straight=straight) or _gives_rows(found, text, dialect)
        if found.skip_reason is not None and not parsed:
            return _row_without_lineage(found.skip_reason, found, text, dialect, state)
        if found.kind is StatementKind.OTHER and not holds_sql(text, dialect):
            return StatementRow(dead=Outcome.NOT_SQL)
        key = fingerprint(text, dialect)
    except Unparsable:
        return StatementRow(dead=Templated.code if template_in_code(text, dialect) is not None else Outcome.ILL_FORMED)
    how = EMPTIES if found.skip_reason in _EMPTYING else None
    if (dialect, key) in state.seen:
        return StatementRow(fingerprint=key, set_how=how)
    state.seen.add((dialect, key))
    return StatementRow(fingerprint=key, text=text, set_how=how)


def is_parsed(found: Classification, text: str, dialect: str, *, straight: bool) -> bool:
    """Whether a `text` that was `found` to be so may have lineage, or empties what may be a temporary table.

    After `TRUNCATE t` what is read of t was written since: where t is emptied for certain, among `straight` statements.
    """
    if found.skip_reason is None:
        return True
    if not straight or found.skip_reason not in _EMPTYING:
        return False
    name = emptied_table(text, dialect_of(dialect))
    return bool(name) and may_be_temporary(TableName(name))


def _row_without_lineage(
    reason: Outcome, found: Classification, text: str, dialect: str, state: TaskState
) -> StatementRow:
    """The row of a statement without lineage of its own: what else it tells others is kept."""
    row = StatementRow(
        skipped=reason,
        # a routine's definition and its calls keep what puts the one in the place of the other
        text=text if reason is Outcome.ROUTINE_DEFINITION else None,
        called=_call_in(reason, text, dialect),
        filled=state.value_rows.filled_tables(reason, text, dialect),
    )
    return _with_query(_with_session_change(row, found, text, dialect), reason, text, dialect, state)


def _picks_a_template(found: Classification, text: str, dialect: str) -> bool:
    """Whether a statement picks a schema for its session that a template was to name: nobody knows which.

    As `USE {{ schema }}` does, which a tool logged before it filled it in.
    """
    picks = found.skip_reason is Outcome.SESSION_STATE or _USES.match(text) is not None
    return picks and template_in_code(text, dialect) is not None


def _gives_rows(found: Classification, text: str, dialect: str) -> bool:
    """Whether a definition is that of a function with nothing but a query in it, which is read like a view."""
    is_definition = found.skip_reason is Outcome.ROUTINE_DEFINITION
    return is_definition and function_as_view(text, dialect) is not None


def _call_in(reason: Outcome, text: str, dialect: str) -> tuple[str, ...] | None:
    """The routine that a statement calls, where it has to be followed."""
    if reason is Outcome.CALL or (reason is Outcome.SELECT and _CALLS_ALONE.match(text)):
        return _followed_call(called_routine(text, dialect), dialect)
    return None


def _followed_call(name: Sequence[str], dialect: str) -> tuple[str, ...] | None:
    return tuple(name) if name and may_move_rows(name, dialect) else None


def _with_query(row: StatementRow, reason: Outcome, text: str, dialect: str, state: TaskState) -> StatementRow:
    """The row with what a SELECT keeps so that it can be taken apart, and what holds one of that."""
    if state.queries is None:
        return row
    held = inner_query(text, dialect) if reason in HOLD_QUERIES else None
    query = text if reason is Outcome.SELECT else held
    seen = None if query is None else state.queries.look_up(query, dialect)
    if seen is None:
        return row
    return replace(row, query=seen.fingerprint, literals=seen.literals, text=query if seen.first else row.text)


def _with_session_change(row: StatementRow, found: Classification, text: str, dialect: str) -> StatementRow:
    change = change_of(text, dialect_of(dialect), found)
    if change is None:
        return row
    if change.transaction is not None:
        return replace(row, set_how=f"{OF_TRANSACTION}{change.transaction}")
    how = LOCAL if change.local else change.elsewhere or None
    if change.reset:
        return replace(row, sets=True, set_database="", set_path=(), set_how=how)
    return replace(row, sets=True, set_database=change.database, set_path=change.search_path, set_how=how)


# The records of a batch as rows of statements.


class _Content(NamedTuple):
    """What a record says, beside who ran it where and when."""

    text: str | None
    status: str | None
    problem: str | None
    symbolic: bytes | None
    edges: bytes | None
    error_code: str | None
    dialect: str


def to_statements(dialect: str, known: KnownRecords, literal_key: bytes | None = None) -> RecordWork:
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
    empty = {"source_id": "", "time": 0.0, "file": "", "line": 0, "session": "", "dialect": ""}
    return pa.RecordBatch.from_pylist([{**asdict(StatementRow()), **_NOT_GIVEN, **empty, **row}], schema=_ARROW_SCHEMA)


def _statement_batches(records: pa.RecordBatch, digests: Digests, state: TaskState) -> Iterator[pa.RecordBatch]:
    if not records.num_rows:
        return
    dialects = [dialect or state.dialect for dialect in records.column("dialect").to_pylist()]
    common = _record_columns(records, dialects, digests)
    contents = (records.column(name).to_pylist() for name in _Content._fields if name != "dialect")
    of_record: list[int] = []
    own: list[StatementRow] = []
    for number, content in enumerate(map(_Content, *contents, dialects)):
        found = _rows_of_record(content, state)
        own += found
        of_record += [number] * len(found)
        if len(own) >= _BATCH:
            yield _statement_batch(common, of_record, own)
            of_record, own = [], []
    if own:
        yield _statement_batch(common, of_record, own)


def _statement_batch(common: Mapping[str, pa.Array], of_record: list[int], own: list[StatementRow]) -> pa.RecordBatch:
    """Rows that are of these records by their numbers, and say of themselves what is in `own`.

    Most say what others say too, and are the same object then.
    """
    distinct = {id(row): row for row in own}
    indexes = {key: number for number, key in enumerate(distinct)}
    records, alike = pa.array(of_record, pa.int32()), pa.array([indexes[id(row)] for row in own], pa.int32())
    values = dict(zip(_OWN_COLUMNS, zip(*map(_own_values, distinct.values()), strict=True), strict=True))
    values["failure"] = tuple(None if one is None else asdict(one) for one in values["failure"])
    columns = []
    for column in _ARROW_SCHEMA:
        if column.name == "rows":
            columns.append(_rows_of_single_statements(common["rows"], of_record, own))
        elif column.name in common:
            columns.append(common[column.name].take(records))
        elif column.name in values:
            columns.append(pa.array(values[column.name], column.type).take(alike))
        else:
            columns.append(pa.repeat(pa.scalar(_NOT_GIVEN.get(column.name), column.type), len(own)))
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)


def _rows_of_single_statements(rows: pa.Array, of_record: list[int], own: list[StatementRow]) -> pa.Array:
    """The rows that records wrote, for their statements: of several in one record it is not told which wrote them."""
    taken = rows.take(pa.array(of_record, pa.int32()))
    if taken.null_count == len(taken):
        return taken
    own_statements = (
        number for number, row in zip(of_record, own, strict=True) if not (row.fingerprint or "").startswith(REPORTED)
    )
    counts = Counter(own_statements)
    return pc.if_else(pa.array([counts[number] <= 1 for number in of_record]), taken, None)


def _rows_of_record(record: _Content, state: TaskState) -> list[StatementRow]:
    """The record boundary: whatever goes wrong inside one record costs that record and no other."""
    try:
        return _statements_of(record, state)
    except Exception as error:  # noqa: BLE001 the one place where a record may fail in a way nobody foresaw
        return [StatementRow(dead=f"{Outcome.INTERNAL_ERROR}:{type(error).__name__}")]


def _statements_of(record: _Content, state: TaskState) -> list[StatementRow]:
    """The rows of a record's statements; one row where it has no statement."""
    text, dialect = record.text or "", record.dialect
    if record.problem:
        too_large = record.problem.startswith(TooLarge.code)
        return [StatementRow(dead=TooLarge.code if too_large else f"{Outcome.MALFORMED_RECORD}:{record.problem}")]
    if record.status:
        return _rows_of_status(record.status, record, state)
    if record.symbolic is not None:
        fingerprinted = plan_fingerprint(record.symbolic)
        return [StatementRow(fingerprint=fingerprinted, symbolic=record.symbolic, text=record.text)]
    if record.edges is None:
        return _text_rows(text, dialect, state)
    found = _text_rows(text, dialect, state) if text else []
    return [*found, replace(_edges_row(record.edges), position=len(found))]


def _rows_of_status(status: str, record: _Content, state: TaskState) -> list[StatementRow]:
    """The same of a record that the log says something of beside that it ran."""
    text, dialect = record.text or "", record.dialect
    if status == Outcome.CUT:
        read = _text_rows(text, dialect, TaskState(state.dialect))  # a whole one brings its own text
        return _without_lost_end(read, text, dialect)
    if status == Outcome.FAILED:
        return [state.failed.row(record.text, dialect, record.error_code)]
    if status == Outcome.NO_WRITE and record.edges and state.queries is not None:
        return [_reading(record.edges, dialect, state)]
    return [StatementRow(dead=status) if status.startswith(UNSUPPORTED) else StatementRow(skipped=status)]


def _reading(edges: bytes, dialect: str, state: TaskState) -> StatementRow:
    """What an engine recorded of a statement that only read, as the query that it was; like a text it leaves once."""
    query = f"{REPORTED}{plan_fingerprint(edges)}"
    if (dialect, query) in state.seen:
        return StatementRow(skipped=Outcome.NO_WRITE, query=query)
    state.seen.add((dialect, query))
    return StatementRow(skipped=Outcome.NO_WRITE, query=query, symbolic=edges)


def _edges_row(edges: bytes) -> StatementRow:
    """The row of an engine's own lineage: a statement beside those of the text."""
    if edges == MALFORMED_EDGES:
        return StatementRow(dead=Outcome.MALFORMED_LINEAGE)
    return StatementRow(fingerprint=f"{_beginning(loads(edges))}{plan_fingerprint(edges)}", symbolic=edges)


def _beginning(lineage: Symbolic) -> str:
    """How the fingerprint begins of what no text says: by who says it."""
    if not isinstance(lineage, StatementLineage) or not lineage.witness:
        return REPORTED
    committed = commit_format(lineage)
    return LISTED if committed is None else commit_beginning(committed)


def _record_columns(records: pa.RecordBatch, dialects: Sequence[str], digests: Digests) -> dict[str, pa.Array]:
    """By column of a statement, a value for each record; there is at least one record."""
    files, lines = _files_and_lines(records.column("source_id"))
    databases, schemas = _own_namespaces(records, dialects)
    return {
        **{name: records.column(name) for name in _AS_IN_RECORDS},
        "time": pc.coalesce(times_of(records), 0.0),
        "duration": _durations(records),
        "file": files,
        "line": lines,
        "session": sessions_of(records),
        "database": databases,
        "schema": schemas,
        "dialect": pa.array(dialects, pa.string()),
        "digest": pa.array(digests, pa.int64()),
    }


def _durations(records: pa.RecordBatch) -> pa.Array:
    """As the log counts them, else from start to end: a clock that was set back in between tells none."""
    elapsed = pc.subtract(records.column("end_time"), records.column("start_time"))
    possible = pc.if_else(pc.greater_equal(elapsed, 0.0), elapsed, pa.scalar(None, pa.float64()))
    return pc.coalesce(records.column("duration"), possible)


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


def _own_namespaces(records: pa.RecordBatch, dialects: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """The databases and schemas that the records name."""
    given = (records.column(name).to_pylist() for name in ("database", "schema"))
    databases, schemas = zip(*map(_own_namespace, *given, dialects), strict=True)
    return pa.array(databases, pa.string()), pa.array(schemas, pa.string())


@lru_cache(10_000)
def _own_namespace(database: str | None, schema: str | None, dialect: str) -> tuple[str | None, str | None]:
    """The database and schema that a record names, folded; without schemas below databases its database is both."""
    own, below = (fold(name or "", dialect, quoted=True) or None for name in (database, schema))
    return own, below or (own if dialect_of(dialect).two_level else None)
