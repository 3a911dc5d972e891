"""What the rows of a text's statements have of their own: split, cleaned, classified, fingerprinted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ingestion.errors import Templated, Unparsable
from ingestion.lexing.templates import template_in_code
from ingestion.masking import fingerprint
from ingestion.masking.fingerprint_cache import FingerprintCache
from ingestion.masking.seen_queries import SeenQueries
from ingestion.model import StatementKind
from ingestion.routines import RoutineStep, block_steps, called_routine
from ingestion.routines.inline_functions import function_as_view
from ingestion.statements import Classification, SkipReason, StatementText, classify, holds_sql, split
from ingestion.statements.skip_reasons import BLOCKS
from workflows.templates.failed_writes import FailedWrites

Row = dict[str, object]
"""A row of STATEMENT_SCHEMA, or what one has of its own."""

NOT_SQL = "not_sql"
"""Why a statement is dead that has no word of SQL: most often the wrong column was taken for the text."""
STEP_STRIDE = 10_000
"""Between two steps of a block there is room for what a call runs."""
_CALLS_ALONE = re.compile(r"\s*+select\s++(?:\*\s*+from\s++)?[\w$.\"]++\s*+\(", re.IGNORECASE)
_NO_SESSION_CHANGE: Row = {"sets": False, "set_database": None, "set_path": None}
_USES = re.compile(r"use\b", re.IGNORECASE)
_UNKNOWN_SCHEMA = ""
_OWN_SCHEMA = "$user"
"""PostgreSQL's schema of the session's own user: rarely there, and never known from a log."""
_MOST, _MOST_CHARACTERS = 20_000, 8 << 20
"""Texts that are kept at most, and characters in them; a log with more begins anew."""


class RepeatedTexts:
    """The rows of texts that were met before word for word, as those that open, set or end a session are."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._characters = 0

    def rows(self, text: str, dialect: str) -> list[Row] | None:
        """The rows of a text that was learned."""
        return self._rows.get((text, dialect))

    def learn(self, text: str, dialect: str, rows: list[Row]) -> None:
        """Keeps the rows of a text, save the texts of templates, which leave a task once."""
        if len(self._rows) >= _MOST or self._characters >= _MOST_CHARACTERS:
            self._rows.clear()
            self._characters = 0
        self._rows[text, dialect] = [
            _without_text(row) if row.get("fingerprint") or row.get("query") else row for row in rows
        ]
        self._characters += len(text)


def _without_text(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "text"}


@dataclass(slots=True)
class TaskState:
    """What one task has seen: a template's text leaves it once. Rows that say the same are one object, where known.

    `queries`: the SELECTs, where they are taken apart.
    """

    dialect: str
    queries: SeenQueries | None = None
    seen: set[tuple[str, str]] = field(default_factory=set)
    shapes: dict[str, FingerprintCache] = field(default_factory=dict)
    of_fingerprint: dict[str, list[Row]] = field(default_factory=dict)
    repeated: RepeatedTexts = field(default_factory=RepeatedTexts)
    failed: FailedWrites = field(default_factory=FailedWrites)


def text_rows(text: str, dialect: str, state: TaskState) -> list[Row]:
    """What the rows of a text's statements have of their own."""
    again = state.repeated.rows(text, dialect)
    if again is not None:
        return again
    shapes = state.shapes.get(dialect) or state.shapes.setdefault(dialect, FingerprintCache(dialect))
    shape = shapes.shape_of(text)
    known = shapes.fingerprint(shape) if shape is not None else None
    if known is not None:
        return state.of_fingerprint.get(known) or state.of_fingerprint.setdefault(known, [{"fingerprint": known}])
    found = [
        {"position": position, **own}
        for position, statement in enumerate(split(text, dialect))
        for own in _with_steps(statement, dialect, state)
    ]
    fingerprints = [str(own["fingerprint"]) for own in found if own.get("fingerprint")]
    if shape is not None and len(found) == 1 and fingerprints:
        shapes.learn(shape, fingerprints[0])
    found = found or [{"skipped": "empty"}]
    state.repeated.learn(text, dialect, found)
    return found


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
                **_of_query(found.skip_reason, text, dialect, state),
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


def _of_query(reason: SkipReason, text: str, dialect: str, state: TaskState) -> Row:
    """What a SELECT keeps so that it can be taken apart."""
    if state.queries is None or reason is not SkipReason.SELECT:
        return {}
    return state.queries.row(text, dialect)


def _session_change(found: Classification) -> Row:
    change = found.session
    if change is None:
        return {}
    path = [schema for schema in change.schemas if schema != _OWN_SCHEMA] if change.schemas is not None else None
    return {"sets": True, "set_database": change.database, "set_path": [] if change.reset else path}
