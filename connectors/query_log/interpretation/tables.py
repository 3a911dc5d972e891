"""Columns of RECORD_SCHEMA for the rows of one input, and what of it could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.base import RECORD_SCHEMA

ARROW_SCHEMA = to_arrow_schema(RECORD_SCHEMA)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A record that cannot be read: its first line (1-based) and why, without its content."""

    line: int
    problem: str


@dataclass(slots=True)
class Records:
    """Rows, the line each starts on, and what could not be read."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)


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

    def to_batch(self, name: str, schema: pa.Schema = ARROW_SCHEMA) -> pa.RecordBatch:
        """An Arrow batch of `schema`; `name` is the file's. What is not valid UTF-8 turns malformed."""
        try:
            return self._to_batch(name, schema)
        except UnicodeEncodeError:
            return self.drop(self._undecodable())._to_batch(name, schema)

    def _to_batch(self, name: str, schema: pa.Schema) -> pa.RecordBatch:
        good, bad = len(self.lines), len(self.malformed)
        lines = [*self.lines, *(record.line for record in self.malformed)]
        numbers = pa.array(lines, pa.int64()).cast(pa.string())
        arrays = [pc.binary_join_element_wise(name, numbers, ":")]
        for column in list(schema)[1:]:
            values = self.columns.get(column.name)
            if column.name == "problem":
                values = [None] * good + [record.problem for record in self.malformed]
            elif values is not None and bad:
                values = values + [None] * bad
            arrays.append(pa.nulls(good + bad, column.type) if values is None else pa.array(values, column.type))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _undecodable(self) -> dict[int, str]:
        texts = [values for values in self.columns.values() if any(isinstance(value, str) for value in values)]
        return {
            position: "not valid UTF-8"
            for position in range(len(self.lines))
            if not all(_encodable(values[position]) for values in texts)
        }


def _encodable(value: Any) -> bool:
    if not isinstance(value, str):
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
