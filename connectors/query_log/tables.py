"""Rows of a log file as columns of RECORD_SCHEMA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from connectors.base import RECORD_SCHEMA
from connectors.query_log.layout import Layout
from connectors.query_log.records import Malformed, Records
from connectors.query_log.values import parse_duration, parse_flag, parse_state, parse_times

_ARROW_TYPES = {"string": pa.string(), "double": pa.float64(), "binary": pa.binary()}
ARROW_SCHEMA = pa.schema(
    [pa.field(column.name, _ARROW_TYPES[column.dataType.simpleString()], column.nullable) for column in RECORD_SCHEMA]
)
_NULLS = frozenset({"", "\\N", "NULL", "null"})

NOT_A_STATEMENT = "not_a_statement"
"""Status of a record that holds no executed statement: a server's message, an empty text."""


@dataclass(slots=True)
class Table:
    """Some columns of RECORD_SCHEMA (missing ones are null), the line of each row, and what could not be read."""

    lines: list[int]
    columns: dict[str, list[Any]]
    malformed: list[Malformed] = field(default_factory=list)

    def drop(self, problems: dict[int, str]) -> Table:
        """Without the rows at these positions, which are malformed for the reason given."""
        if not problems:
            return self
        keep = [position for position in range(len(self.lines)) if position not in problems]
        malformed = [Malformed(self.lines[position], problem) for position, problem in problems.items()]
        columns = {name: [values[position] for position in keep] for name, values in self.columns.items()}
        return Table([self.lines[position] for position in keep], columns, self.malformed + malformed)

    def to_batch(self, name: str) -> pa.RecordBatch:
        """An Arrow batch of ARROW_SCHEMA; `name` is the file's. What is not valid UTF-8 turns malformed."""
        try:
            return self._to_batch(name)
        except UnicodeEncodeError:
            return self.drop(self._undecodable())._to_batch(name)

    def _to_batch(self, name: str) -> pa.RecordBatch:
        good, bad = len(self.lines), len(self.malformed)
        lines = [*self.lines, *(record.line for record in self.malformed)]
        arrays = [pa.array([f"{name}:{line}" for line in lines], pa.string())]
        for column in list(ARROW_SCHEMA)[1:]:
            values = self.columns.get(column.name)
            if column.name == "problem":
                values = [None] * good + [record.problem for record in self.malformed]
            elif values is not None and bad:
                values = values + [None] * bad
            arrays.append(pa.nulls(good + bad, column.type) if values is None else pa.array(values, column.type))
        return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)

    def _undecodable(self) -> dict[int, str]:
        texts = [values for values in self.columns.values() if any(isinstance(value, str) for value in values)]
        return {
            position: "not valid UTF-8"
            for position in range(len(self.lines))
            if not all(_encodable(values[position]) for values in texts)
        }


def from_export(records: Records, layout: Layout) -> Table:
    """The rows of an export with a header."""
    rows, fields = _transposed(records.rows, layout), layout.fields
    count = len(records.rows)
    columns: dict[str, list[Any]] = {}
    problems: dict[int, str] = {}
    for name in ("start_time", "end_time"):
        if name in fields:
            columns[name], wrong = parse_times(rows[fields[name]], layout.zone)
            problems |= dict.fromkeys(wrong, f"{name} is no time")
    if "duration" in fields:
        columns["duration"] = [parse_duration(value, layout.duration_unit) for value in rows[fields["duration"]]]
    for name in ("user", "session", "database", "schema", "query_type"):
        if name in fields:
            columns[name] = [None if value in _NULLS else value for value in rows[fields[name]]]
    columns["text"] = [value if value.strip() else None for value in rows[fields["text"]]]
    columns["status"] = _statuses(rows, fields, count)
    if None in columns["text"]:
        columns["status"] = [
            status if text else NOT_A_STATEMENT for status, text in zip(columns["status"], columns["text"], strict=True)
        ]
    return Table(records.lines, columns, records.malformed).drop(problems)


def _transposed(rows: list[list[str]], layout: Layout) -> list[Sequence[str]]:
    return list(zip(*rows, strict=True)) if rows else [()] * max(layout.widths)


def _statuses(rows: list[Sequence[str]], fields: Any, count: int) -> list[str | None]:
    statuses: list[str | None] = [None] * count
    if "status" in fields:
        known = {value: parse_state(value) for value in set(rows[fields["status"]])}
        statuses = [known[value] for value in rows[fields["status"]]]
    if "failure" in fields:
        flags = [parse_flag(value) for value in rows[fields["failure"]]]
        statuses = [status or flag for status, flag in zip(statuses, flags, strict=True)]
    return statuses


def _encodable(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
