"""Loads that did not come, or came after what reads them: told from when statements were seen to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from connectors.catalog.store.evidence.writes import Span, WrittenVersion
from workflows.causes.facts import Incident, IncidentKind, TimeRange

_LEAST_RUNS = 3
"""Runs from which a rhythm can be told."""
_OVERDUE = 1.5
"""Periods without a run after which one is missing."""
_SAME_RHYTHM = 0.5
_ALIKE = 0.1
"""By how much of itself the period of loads of one round may differ."""


@dataclass(frozen=True, slots=True)
class LoadRhythm:
    """When a table was written: first, last (milliseconds), how often, and how far apart two loads are."""

    first: int
    last: int
    runs: int

    @property
    def period(self) -> float | None:
        """Milliseconds from one load to the next; None where there are too few to tell."""
        return (self.last - self.first) / (self.runs - 1) if self.runs >= _LEAST_RUNS else None

    @property
    def due(self) -> int | None:
        """When the next load is to come."""
        return round(self.last + self.period) if self.period is not None else None


def load_rhythm(writes: Iterable[WrittenVersion]) -> LoadRhythm | None:
    """The rhythm of what writes one table; None where nothing is seen to run. A statement counts once a run."""
    by_key: dict[tuple[str, str], set[Span]] = {}
    for one in writes:
        if one.observed:
            by_key.setdefault((one.kind, one.key), set()).update(one.spans)
    if not by_key:
        return None
    spans = [span for found in by_key.values() for span in found]
    loads = max(_runs(found) for found in by_key.values())
    replaced = [found for found in by_key.values() if max(span.last for span in found) < max(s.last for s in spans)]
    total = loads if len(by_key) == 1 else max(loads, _sum_of_successive(by_key.values(), len(replaced)))
    return LoadRhythm(min(span.first for span in spans), max(span.last for span in spans), total)


def _runs(spans: Iterable[Span]) -> int:
    return sum(span.count for span in spans)


def _sum_of_successive(statements: Iterable[set[Span]], replaced: int) -> int:
    """The runs of statements that took each other's place: none of them began before the one before it had ended."""
    ordered = sorted(statements, key=lambda spans: min(span.first for span in spans))
    ends = [(min(s.first for s in spans), max(s.last for s in spans)) for spans in ordered]
    successive = replaced and all(one[1] < other[0] for one, other in pairwise(ends))
    return sum(map(_runs, ordered)) if successive else 0


def missing_loads(rhythms: Mapping[str, LoadRhythm], seen_until: int, within: TimeRange) -> list[Incident]:
    """The loads that should have come by `seen_until`, the last moment of which the log tells.

    One is missing after one and a half periods, and before that where a table that comes after it in each round (of
    the same period) has come in this one.
    """
    found = []
    for table, rhythm in sorted(rhythms.items()):
        period, due = rhythm.period, rhythm.due
        if period is None or due is None:
            continue
        overdue = seen_until - rhythm.last > _OVERDUE * period
        if due <= within.end and (overdue or any(_came_after(rhythm, other) for other in rhythms.values())):
            detail = f"the last was at {_moment(rhythm.last)}, one is due every {_duration(period)}"
            found.append(Incident(due, table, IncidentKind.LOAD_MISSING, (), detail))
    return found


def _came_after(rhythm: LoadRhythm, other: LoadRhythm) -> bool:
    """Whether the other load follows this one in each round, and has done so without it."""
    period, others = rhythm.period, other.period
    if period is None or others is None or abs(period - others) > _ALIKE * period:
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
        if period is None or not within.holds(rhythm.last):
            continue
        for reader in sorted(readers.get(source, ())):
            other = rhythms.get(reader)
            other_period = other.period if other is not None else None
            if other is None or other_period is None or other_period * _SAME_RHYTHM > period:
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
    if minutes < 60:
        return f"{minutes} minutes"
    hours = round(minutes / 60, 1)
    return f"{hours:g} hours" if hours < 48 else f"{round(hours / 24, 1):g} days"
