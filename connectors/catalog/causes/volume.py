"""Loads of other sizes than those before them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from connectors.catalog.causes.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.load_history import StoredLoad

_LEAST_LOADS = 3
"""Loads from which a usual size can be told."""
_FEWER, _MORE = 0.7, 1.5
"""Of the smallest and of the largest load before it."""
_Load = tuple[int, int]
"""When it was (milliseconds), and its rows."""


def unusual_sizes(table: str, loads: Iterable[StoredLoad]) -> Iterator[Incident]:
    """The loads of one table, which are given oldest first, that have other numbers of rows than those before them."""
    for series in _series(loads):
        low, high = _range(series[:_LEAST_LOADS])
        for at, rows in series[_LEAST_LOADS:]:
            usual = f"{rows} rows, before it {low} to {high}"
            if rows < low * _FEWER:
                yield Incident(at, table, IncidentKind.FEWER_ROWS, (), usual)
            elif rows > high * _MORE:
                yield Incident(at, table, IncidentKind.MORE_ROWS, (), usual)
            low, high = min(low, rows), max(high, rows)


def has_usual_size(loads: Iterable[StoredLoad], within: TimeRange) -> bool:
    """Whether the last loads of one table came `within` a time, and with as many rows as those before them."""
    found = []
    for series in _series(one for one in loads if one.at <= within.end):
        *before, (at, rows) = series
        if len(before) >= _LEAST_LOADS and within.holds(at):
            low, high = _range(before)
            found.append(low * _FEWER <= rows <= high * _MORE)
    return bool(found) and all(found)


def by_table(loads: Iterable[StoredLoad]) -> dict[str, list[StoredLoad]]:
    """Loads by the id of the table that they write."""
    found: dict[str, list[StoredLoad]] = defaultdict(list)
    for one in loads:
        found[one.entity_id].append(one)
    return found


def _series(loads: Iterable[StoredLoad]) -> list[list[_Load]]:
    """The loads with a number of rows that are compared with each other: those of a statement, those of all jobs."""
    found: dict[str, list[_Load]] = defaultdict(list)
    for one in loads:
        if one.rows is not None and not one.failed:
            found[one.producer if one.is_statement else ""].append((one.at, one.rows))
    return list(found.values())


def _range(loads: Sequence[_Load]) -> tuple[int, int]:
    sizes = [rows for _at, rows in loads]
    return min(sizes), max(sizes)
