"""Times at which tables are loaded, told from one midnight on, in milliseconds."""

from __future__ import annotations

from connectors.catalog.store.evidence.loads import Span

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
START = 1_700_006_400_000
"""A midnight."""


def at(day: float, hour: float = 0, minute: float = 0) -> int:
    return START + round(day * DAY + hour * HOUR + minute * MINUTE)


def one_by_one(*times: int) -> list[Span]:
    return [Span(time, time, 1) for time in times]
