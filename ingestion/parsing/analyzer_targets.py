"""Which column of the target each output goes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ingestion.model import WriteMode
from ingestion.parsing.analyzer_rows import Entry, SchemaLookup
from ingestion.parsing.analyzer_runs import StarRun
from ingestion.parsing.relational import Write


class Place(NamedTuple):
    """The target's name for an output (None: its own), whether that is a guess, and whether it goes nowhere."""

    name: str | None
    assumed: bool = False
    surplus: bool = False


def places_of(entries: Sequence[Entry], write: Write, schema_of: SchemaLookup) -> tuple[list[Place], bool]:
    """The place of each output, and whether there are more or fewer outputs than columns.

    Columns are met by position, never by name, unless the statement says BY NAME. With a run of unknown columns, what
    stands after it is counted from the end.
    """
    target = write.target
    assert target is not None
    if target.by_name:
        return [Place(None) for _ in entries], False
    columns = target.columns
    if columns is None:
        if target.mode is WriteMode.CREATE:
            return [Place(None) for _ in entries], False
        columns = _known_columns(write, schema_of)
        if columns is None:
            return [Place(None, True) for _ in entries], False
    stars = [number for number, entry in enumerate(entries) if isinstance(entry, StarRun)]
    if not stars:
        places = [Place(columns[n]) if n < len(columns) else Place(None, True, True) for n in range(len(entries))]
        return places, len(entries) != len(columns) and not (target.columns is None and len(entries) < len(columns))
    places = []
    after = len(entries) - stars[-1] - 1
    for number in range(len(entries)):
        if number < stars[0] and number < len(columns):
            places.append(Place(columns[number]))
        elif number > stars[-1] and len(entries) - number <= len(columns) and len(columns) >= after + stars[0]:
            places.append(Place(columns[number - len(entries)]))
        else:
            places.append(Place(None, True))
    return places, False


def target_spelling(write: Write, schema_of: SchemaLookup) -> Callable[[str], str]:
    """How the target itself spells a column's name: another case of it is the same column."""
    schema = (schema_of(write.target.name) if write.target is not None else None) or ()
    exact = {column.name for column in schema}
    folded: dict[str, str | None] = {}
    for name in exact:
        folded[name.lower()] = None if name.lower() in folded else name
    return lambda name: name if name in exact else folded.get(name.lower()) or name


def _known_columns(write: Write, schema_of: SchemaLookup) -> tuple[str, ...] | None:
    """The target's columns that positions mean: a static partition sets its own."""
    assert write.target is not None
    schema = schema_of(write.target.name)
    if not schema:
        return None
    fixed = {name.lower() for name in write.fixed}
    return tuple(column.name for column in schema if column.name.lower() not in fixed)
