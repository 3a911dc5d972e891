"""A server's own log: which of its rows are executed statements, and which of those failed.

What is the server's own of it, its platform tells.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from connectors.platforms.error_codes import error_code
from connectors.platforms.job_names import job_of
from connectors.platforms.profile import LoggedStatement, ServerLog
from connectors.query_log._csv_records import MAX_RECORD_CHARS, ReadingLimit
from connectors.query_log._interpreter import Malformed, Records, Table
from connectors.query_log._layout import Layout
from connectors.query_log._values import parse_times
from ingestion.model.digests import digest
from ingestion.model.outcomes import Outcome

_REMEMBERED_SESSIONS = 10_000
_REMEMBERED_STATEMENTS = 8
"""Of a session: a statement, and those of the routines in it, whose rows may stand between two of its own."""

Failures = Mapping[str, frozenset[str]]
"""By session: the statements (`_statement_key`) that a row says failed."""


def _statement_key(transaction: str, text: str) -> str:
    """One statement of a session, by its transaction and its text."""
    return digest(transaction, text, size=8)


class FailureScan:
    """Finds the rows of failures alone, without reading the other records: a line with their mark starts a record."""

    def __init__(self, layout: Layout, log: ServerLog) -> None:
        self._layout = layout
        self._log = log
        self._carry: list[str] = []

    def feed(self, lines: list[str], *, last: bool) -> list[tuple[str, str]]:
        """Session and `_statement_key` of each failed statement whose row ends in these lines."""
        lines = self._carry + lines
        self._carry = []
        limit = ReadingLimit.of(lines)
        found = []
        for index, line in enumerate(lines):
            if not any(mark in line for mark in self._log.failure_marks):
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

    def _failure(self, row: list[str]) -> list[tuple[str, str]]:
        return failed_statements([row], self._layout, self._log) if self._layout.plausible(row) else []


def failed_statements(rows: Iterable[list[str]], layout: Layout, log: ServerLog) -> list[tuple[str, str]]:
    """Session and `_statement_key` of the statements that rows among these say failed."""
    at = layout.fields
    session, transaction = at[log.fields["session"]], at[log.transaction]
    return [(row[session], _statement_key(row[transaction], text)) for row in rows if (text := log.failure(row, at))]


@dataclass(slots=True)
class _Begun:
    """A statement of which a row has told: its text's hash, its number, and whether its plan was logged."""

    text: int
    number: int | None = None
    planned: bool = False

    def is_again(self, statement: LoggedStatement) -> bool:
        """Whether a row with the same text is one more of it, and no other execution."""
        if statement.number is not None:
            return self.number == statement.number or (self.number is None and not self.planned)
        return not (statement.planned and self.planned)


class ServerLogReader:
    """Turns rows into records: one for each executed statement, and one without text for each other message.

    A failed statement may stand in two rows, as it was sent and as it failed: the latter is its record. A statement
    that is logged once more when it ended is one record too. `failures` comes from the whole log, since the rows of
    one statement may be far apart.
    """

    def __init__(self, layout: Layout, log: ServerLog, failures: Failures) -> None:
        self._layout = layout
        self._log = log
        self._failures = failures
        self._begun: dict[str, list[_Begun]] = {}

    def read(self, records: Records) -> Table:
        at = self._layout.fields
        rows: list[list[str]] = []
        lines: list[int] = []
        statements: list[LoggedStatement | None] = []
        for row, line in zip(records.rows, records.lines, strict=True):
            statement = self._log.statement(row, at)
            if statement is not None and not statement.failed and self._stands_elsewhere(row, statement):
                continue
            rows.append(row)
            lines.append(line)
            statements.append(statement)
        return self._table(rows, lines, statements, records.malformed)

    def _stands_elsewhere(self, row: list[str], statement: LoggedStatement) -> bool:
        at = self._layout.fields
        session = row[at[self._log.fields["session"]]]
        begun = self._begun.get(session, [])
        again = next((one for one in reversed(begun) if one.text == hash(statement.text)), None)
        if statement.duration is not None and not statement.planned:
            # it ended well; its transaction is over, so that only the text tells whether its begin was logged
            self._begun.pop(session, None)
            return again is not None
        if session in self._failures:
            key = _statement_key(row[at[self._log.transaction]], statement.text)
            if key in self._failures[session]:
                return True
        if (statement.planned or statement.number is not None) and again is not None and again.is_again(statement):
            again.planned = again.planned or statement.planned
            again.number = statement.number if again.number is None else again.number
            return True
        self._remember(session, statement)
        return False

    def _remember(self, session: str, statement: LoggedStatement) -> None:
        if len(self._begun) >= _REMEMBERED_SESSIONS and session not in self._begun:
            del self._begun[next(iter(self._begun))]
        begun = self._begun.setdefault(session, [])
        begun.append(_Begun(hash(statement.text), statement.number, statement.planned))
        del begun[:-_REMEMBERED_STATEMENTS]

    def _table(
        self, rows: list[list[str]], lines: list[int], statements: list[LoggedStatement | None], bad: list[Malformed]
    ) -> Table:
        at, log = self._layout.fields, self._log
        times, wrong = parse_times([row[at[log.written_at[0]]] for row in rows], self._layout.zone)
        of_field = {name: at[column] for name, column in log.fields.items() if column in at}
        columns: dict[str, list[Any]] = {
            "text": [one.text if one else None for one in statements],
            "start_time": [_start(time, one) for time, one in zip(times, statements, strict=True)],
            "end_time": [_end(time, one) for time, one in zip(times, statements, strict=True)],
            "duration": [one.duration if one else None for one in statements],
            **{name: [row[of_field[name]] or None for row in rows] for name in ("user", "session", "database")},
            "query_type": [_query_type(row[of_field["query_type"]], log) for row in rows],
            "status": [_status(one) for one in statements],
            "error_code": [
                error_code(row[of_field["error_code"]]) if one and one.failed and "error_code" in of_field else None
                for row, one in zip(rows, statements, strict=True)
            ],
            "job": [
                job_of(row[of_field["job"]] if "job" in of_field else None, one.text) if one else None
                for row, one in zip(rows, statements, strict=True)
            ],
        }
        return Table(lines, columns, bad).drop(dict.fromkeys(wrong, f"{log.written_at[0]} is no time"))


def _start(time: float | None, statement: LoggedStatement | None) -> float | None:
    if time is None or statement is None or statement.duration is None:
        return time
    return time - statement.duration


def _end(time: float | None, statement: LoggedStatement | None) -> float | None:
    return time if statement is not None and (statement.failed or statement.duration is not None) else None


def _query_type(value: str, log: ServerLog) -> str | None:
    return None if not value or log.states.fullmatch(value) else value


def _status(statement: LoggedStatement | None) -> str | None:
    if statement is None:
        return Outcome.NOT_A_STATEMENT
    if statement.failed:
        return Outcome.FAILED
    return Outcome.CUT if statement.cut else None
