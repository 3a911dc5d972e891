"""PostgreSQL's own log, as CSV or JSON: which of its lines are executed statements, and which of those failed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from connectors.platforms.error_codes import error_code
from connectors.platforms.job_names import job_of
from connectors.query_log._csv_records import MAX_RECORD_CHARS, ReadingLimit
from connectors.query_log._interpreter import Malformed, Records, Table
from connectors.query_log._layout import Layout
from connectors.query_log._values import parse_times
from ingestion.model.outcomes import Outcome

_DURATION = r"duration: (?P<ms>\d+(?:\.\d+)?) ms"
# a prepared statement's name may have colons (py:0x7f), and none before a blank
# "execute fetch from" goes on with a portal that was executed before; parse and bind execute nothing
_EXECUTION = re.compile(rf"(?:{_DURATION}  )?(?:statement|execute (?!fetch from )(?:[^:\n]|:(?! ))*+): ")
_ERRORS = frozenset({"ERROR", "FATAL", "PANIC"})
_REMEMBERED_SESSIONS = 10_000

Failures = Mapping[str, frozenset[bytes]]
"""By session: the statements (`_statement_key`) that an ERROR row says failed."""


@dataclass(frozen=True, slots=True)
class _CsvlogStatement:
    text: str
    duration: float | None = None  # seconds; known where the line was written after the execution
    failed: bool = False


def _statement_key(transaction: str, text: str) -> bytes:
    """One statement of a session: each has a new virtual transaction, except within a transaction block."""
    return blake2b(f"{transaction}\0{text}".encode("utf-8", "surrogateescape"), digest_size=8).digest()


class FailureScan:
    """Finds the ERROR rows alone, without reading the other records: a line with a severity starts a record."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._carry: list[str] = []

    def feed(self, lines: list[str], *, last: bool) -> list[tuple[str, bytes]]:
        """Session and `_statement_key` of each failed statement whose ERROR row ends in these lines."""
        lines = self._carry + lines
        self._carry = []
        limit = ReadingLimit.of(lines)
        found = []
        for index, line in enumerate(lines):
            if ",ERROR," not in line and ",FATAL," not in line and ",PANIC," not in line:
                continue
            reader = csv.reader(limit.lines_from(lines, index), delimiter=self._layout.delimiter, strict=True)
            try:
                row = next(reader)
            except csv.Error:
                unfinished = index + reader.line_num == len(lines) and not last
                if unfinished and sum(map(len, lines[index:])) < MAX_RECORD_CHARS:
                    self._carry = lines[index:]
                    break
                continue
            found += self._failure(row)
        return found

    def _failure(self, row: list[str]) -> list[tuple[str, bytes]]:
        return failed_statements([row], self._layout) if self._layout.plausible(row) else []


def failed_statements(rows: Iterable[list[str]], layout: Layout) -> list[tuple[str, bytes]]:
    """Session and `_statement_key` of the statements that ERROR rows among these tell."""
    at = layout.fields
    return [
        (row[at["session_id"]], _statement_key(row[at["virtual_transaction_id"]], row[at["query"]]))
        for row in rows
        if row[at["error_severity"]] in _ERRORS and row[at["query"]]
    ]


class CsvlogReader:
    """Turns rows into records: one for each executed statement, and one without text for each other message.

    A failed statement may stand in two rows, as it was sent and as it failed: the ERROR row is its record. A statement
    that is logged once more when it ended is one record too. `failures` comes from the whole log, since the rows of
    one statement may be far apart.
    """

    def __init__(self, layout: Layout, failures: Failures) -> None:
        self._layout = layout
        self._failures = failures
        self._begun: dict[str, int] = {}

    def read(self, records: Records) -> Table:
        at = self._layout.fields
        rows: list[list[str]] = []
        lines: list[int] = []
        statements: list[_CsvlogStatement | None] = []
        for row, line in zip(records.rows, records.lines, strict=True):
            statement = _statement(row, at)
            if statement is not None and not statement.failed and self._stands_elsewhere(row, statement):
                continue
            rows.append(row)
            lines.append(line)
            statements.append(statement)
        return self._table(rows, lines, statements, records.malformed)

    def _stands_elsewhere(self, row: list[str], statement: _CsvlogStatement) -> bool:
        at = self._layout.fields
        session = row[at["session_id"]]
        if statement.duration is not None:
            # it ended well; its transaction is over, so that only the text tells whether its begin was logged
            return self._begun.pop(session, None) == hash(statement.text)
        if session in self._failures:
            key = _statement_key(row[at["virtual_transaction_id"]], statement.text)
            if key in self._failures[session]:
                return True
        if len(self._begun) >= _REMEMBERED_SESSIONS and session not in self._begun:
            del self._begun[next(iter(self._begun))]
        self._begun[session] = hash(statement.text)
        return False

    def _table(
        self, rows: list[list[str]], lines: list[int], statements: list[_CsvlogStatement | None], bad: list[Malformed]
    ) -> Table:
        at = self._layout.fields
        times, wrong = parse_times([row[at["log_time"]] for row in rows], self._layout.zone)
        columns: dict[str, list[Any]] = {
            "text": [one.text if one else None for one in statements],
            "start_time": [_start(time, one) for time, one in zip(times, statements, strict=True)],
            "end_time": [_end(time, one) for time, one in zip(times, statements, strict=True)],
            "duration": [one.duration if one else None for one in statements],
            "user": [row[at["user_name"]] or None for row in rows],
            "session": [row[at["session_id"]] or None for row in rows],
            "database": [row[at["database_name"]] or None for row in rows],
            "query_type": [_query_type(row[at["command_tag"]]) for row in rows],
            "status": [_status(one) for one in statements],
            "error_code": [_error_code(row, one, at) for row, one in zip(rows, statements, strict=True)],
            "job": [
                job_of(row[at["application_name"]] if "application_name" in at else None, one.text) if one else None
                for row, one in zip(rows, statements, strict=True)
            ],
        }
        return Table(lines, columns, bad).drop(dict.fromkeys(wrong, "log_time is no time"))


def _statement(row: list[str], at: Mapping[str, int]) -> _CsvlogStatement | None:
    severity = row[at["error_severity"]]
    if severity in _ERRORS:
        text = row[at["query"]]
        return _CsvlogStatement(text, failed=True) if text.strip() else None
    message = row[at["message"]]
    match = _EXECUTION.match(message) if severity == "LOG" else None
    if match is None or not message[match.end() :].strip():
        return None
    duration = float(match["ms"]) / 1000 if match["ms"] else None
    return _CsvlogStatement(message[match.end() :], duration)


def _start(time: float | None, statement: _CsvlogStatement | None) -> float | None:
    if time is None or statement is None or statement.duration is None:
        return time
    return time - statement.duration


def _end(time: float | None, statement: _CsvlogStatement | None) -> float | None:
    return time if statement is not None and (statement.failed or statement.duration is not None) else None


def _query_type(tag: str) -> str | None:
    """The command's tag; a statement that is logged before it runs has its session's state there."""
    return None if not tag or tag.startswith("idle") or tag in {"PARSE", "BIND"} else tag


def _error_code(row: list[str], statement: _CsvlogStatement | None, at: Mapping[str, int]) -> str | None:
    failed = statement is not None and statement.failed and "sql_state_code" in at
    return error_code(row[at["sql_state_code"]]) if failed else None


def _status(statement: _CsvlogStatement | None) -> str | None:
    if statement is None:
        return Outcome.NOT_A_STATEMENT
    return Outcome.FAILED if statement.failed else None
