"""Columns that hold others: JSON or XML in the cell of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from connectors.platforms.profile import FieldsInText
from connectors.query_log._columns import ColumnReading
from connectors.query_log._interpreter import Columns
from connectors.query_log._json_records import values_of


def with_inner_fields(columns: Columns, reading: ColumnReading) -> Columns:
    """The columns, and those of the reading that stand in one of them; what is there already stays."""
    inside = [(one, at) for one in reading.profile.inside if (at := reading.position(one.column)) is not None]
    if not inside:
        return columns
    given: dict[int, Sequence[str]] = dict(columns.items() if isinstance(columns, Mapping) else enumerate(columns))
    nothing = [""] * len(given[inside[0][1]])
    found = dict.fromkeys(range(len(reading.names)), nothing) | given
    for one, at in inside:
        names = [name for name in reading.names if name.startswith(one.prefix) and name != one.column]
        rows = [_fields_of(text, one, names) for text in found[at]]
        for name, values in zip(names, zip(*rows, strict=True), strict=True) if rows else ():
            position = reading.names.index(name)
            found[position] = [there or inner for there, inner in zip(found[position], values, strict=True)]
    return found


def _fields_of(text: str, inside: FieldsInText, names: Sequence[str]) -> list[str]:
    """Nothing of each where the text cannot be read: its record has no statement then."""
    try:
        record = inside.read(text) if text.strip() else {}
    except (ValueError, RecursionError):
        record = {}
    if not isinstance(record, dict):
        record = {}
    return values_of(record, [name.removeprefix(inside.prefix) for name in names])
