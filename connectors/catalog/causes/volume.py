"""Loads that failed, and loads of other sizes than those before them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from connectors.catalog.causes.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.load_history import StoredLoad

_LEAST_LOADS = 3
"""Loads from which a usual size can be told."""
_FEWER, _MORE = 0.7, 1.5
"""Of the smallest and of the largest load before it."""


def load_incidents(table: str, loads: Iterable[StoredLoad]) -> Iterator[Incident]:
    """What is unusual among the loads of one table, which are given oldest first."""
    sizes: list[int] = []
    for one in loads:
        if one.failed:
            yield Incident(one.at, table, IncidentKind.LOAD_FAILED, (), one.job)
            continue
        if one.rows is None:
            continue
        if len(sizes) >= _LEAST_LOADS:
            low, high = min(sizes), max(sizes)
            usual = f"{one.rows} rows, before it {low} to {high}"
            if one.rows < low * _FEWER:
                yield Incident(one.at, table, IncidentKind.FEWER_ROWS, (), usual)
            elif one.rows > high * _MORE:
                yield Incident(one.at, table, IncidentKind.MORE_ROWS, (), usual)
        sizes.append(one.rows)


def has_usual_size(loads: Iterable[StoredLoad], within: TimeRange) -> bool:
    """Whether the last load of one table came `within` a time, and with as many rows as those before it."""
    counts = [one for one in loads if one.rows is not None and one.at <= within.end]
    sizes = [one.rows for one in counts[:-1] if one.rows is not None]
    if len(sizes) < _LEAST_LOADS or not within.holds(counts[-1].at):
        return False
    return min(sizes) * _FEWER <= (counts[-1].rows or 0) <= max(sizes) * _MORE


def by_table(loads: Iterable[StoredLoad]) -> dict[str, list[StoredLoad]]:
    """Loads by the id of the table that they write."""
    found: dict[str, list[StoredLoad]] = defaultdict(list)
    for one in loads:
        found[one.entity_id].append(one)
    return found
