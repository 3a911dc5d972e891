"""Moments, which are seconds since the epoch everywhere inside, as they are told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

LAST_DATE = 253_402_300_799_999
"""The end of the year 9999, in milliseconds since the epoch: later moments have no date."""


def iso_time(moment: float) -> str:
    """A moment as people and programs read it, in UTC and to the millisecond: `2026-01-01T00:00:00.000+00:00`."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, order=True)
class Unseen:
    """Something was seen last at `since`, and what came at `newer` was seen later (milliseconds since the epoch)."""

    since: int
    newer: int

    def __str__(self) -> str:
        return f"not seen since {minute_text(self.since)}: a newer one came {minute_text(self.newer)}"

    def to_json(self) -> dict[str, int]:
        """The same as JSON."""
        return {"since": self.since, "newer": self.newer}


def latest_unseen(several: Iterable[Unseen | None]) -> Unseen | None:
    """What holds of something that several say: it is unseen where all of them are, since the last of them was seen."""
    found = list(several)
    unseen = [one for one in found if one is not None]
    return max(unseen, default=None) if len(unseen) == len(found) else None


def earliest_unseen(several: Iterable[Unseen | None]) -> Unseen | None:
    """What holds of a way over several: it is unseen where one of them is, since the first of those was seen."""
    return min((one for one in several if one is not None), default=None)


def minute_text(at: int) -> str:
    """A moment (milliseconds since the epoch) to the minute, in UTC; beyond what a calendar writes the number."""
    if not 0 <= at <= LAST_DATE:
        return f"{at} ms"
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
