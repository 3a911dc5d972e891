"""Loads that did not come, or came after what reads them: told from when statements were seen to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from connectors.catalog.causes.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.load_rhythm import LoadRhythm

_SAME_RHYTHM = 0.5
_ALIKE = 0.1
"""By how much of itself the period of loads of one round may differ."""


def missing_loads(rhythms: Mapping[str, LoadRhythm], seen_until: int, within: TimeRange) -> list[Incident]:
    """The loads that were due `within` a time and have not come by `seen_until`, the last moment the log tells of.

    One is missing when nothing came for longer than is usual, and before that where a table that comes after it in each
    round (of the same period) has come in this one.
    """
    found = []
    for table, rhythm in sorted(rhythms.items()):
        overdue = seen_until - rhythm.last > rhythm.patience
        if within.holds(rhythm.due) and (overdue or any(_came_after(rhythm, other) for other in rhythms.values())):
            detail = f"the last was at {_moment(rhythm.last)}, one is due every {_duration(rhythm.period)}"
            found.append(Incident(rhythm.due, table, IncidentKind.LOAD_MISSING, (), detail))
    return found


def _came_after(rhythm: LoadRhythm, other: LoadRhythm) -> bool:
    """Whether the other load follows this one in each round, and has done so without it."""
    period = rhythm.period
    if abs(period - other.period) > _ALIKE * period:
        return False
    behind = other.first - rhythm.first
    return 0 < behind < _SAME_RHYTHM * period and other.last - rhythm.last > period + behind / 2


def late_loads(
    rhythms: Mapping[str, LoadRhythm], readers: Mapping[str, Iterable[str]], within: TimeRange
) -> list[Incident]:
    """Loads that came only after a table that reads them (`readers`, by source) was made, in the same rhythm."""
    found = []
    for source, rhythm in sorted(rhythms.items()):
        period = rhythm.period
        if not within.holds(rhythm.last):
            continue
        for reader in sorted(readers.get(source, ())):
            other = rhythms.get(reader)
            if other is None or other.period * _SAME_RHYTHM > period:
                continue
            behind = rhythm.last - other.last
            if 0 < behind < _SAME_RHYTHM * period and rhythm.first <= other.first:
                detail = f"{_duration(behind)} after {reader} was made"
                found.append(Incident(rhythm.last, source, IncidentKind.LOAD_LATE, (), detail))
                break
    return found


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def _duration(millis: float) -> str:
    minutes = round(millis / 60_000)
    hours = round(minutes / 60, 1)
    days = round(hours / 24, 1)
    number, unit = (minutes, "minute") if minutes < 60 else (hours, "hour") if hours < 48 else (days, "day")
    return f"{number:g} {unit}{'' if number == 1 else 's'}"
