"""Which word of a job is its newest: the days on which a statement ran, and the rule by which a newer one supersedes.

A slot is what one job, or one user at one hour of the day, does to one target in one way (inserts into it, makes it
anew). A job that was rewritten has another statement in the slot from then on:

    INSERT INTO sales (revenue) SELECT total FROM orders     -- its runs until the 5th
    INSERT INTO sales (revenue) SELECT net FROM orders       -- its runs since the 6th

The older one is superseded since the newer came, where in each of its slots
- it ran on two days at least, so that it was no load that is made once;
- a newer one ran, on two days at least, that nobody had run there before the older one ran last;
- since then it has been missing for longer than ever before between two of its days.
A job with two statements runs both, a branch for Mondays is back on Monday, and a backfill that runs the old one again
is its last run: none of them is superseded. All is told from sets of days, which are joined in any order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeVar

from ingestion.model.lineage import Json

UNKNOWN = ""
"""The slot of who cannot be told: what such a one ran is not superseded."""
SLOTS_KEPT = 48
"""Of one statement: two users each hour of the day. Of one that runs in more nothing is told but that."""

DAYS_KEPT = 50
"""Up to the last one; what is whole in a JSON number, and has a month's rhythm in it."""

_DAY = 86_400
_KEPT = (1 << DAYS_KEPT) - 1
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, order=True)
class RunDays:
    """When something ran: `first` and `last` (seconds since the epoch), and on which days.

    Bit n of `days` is the day (UTC) n days before the last one. Joining is commutative, associative and idempotent.
    """

    first: float
    last: float
    days: int = 1

    def join(self, other: RunDays) -> RunDays:
        """When either ran."""
        last = max(self.last, other.last)
        days = self._days_before(last) | other._days_before(last)
        return RunDays(min(self.first, other.first), last, days)

    def _days_before(self, last: float) -> int:
        shift = _day(last) - _day(self.last)
        return (self.days << shift) & _KEPT if shift < DAYS_KEPT else 0

    @property
    def recurs(self) -> bool:
        """Whether it ran on more than one day."""
        return _day(self.first) != _day(self.last)

    @property
    def longest_gap(self) -> int:
        """Days from one day on which it ran to the next one, at most."""
        known = [number for number in range(DAYS_KEPT) if self.days >> number & 1]
        if len(known) == 1:
            return _day(self.last) - _day(self.first)
        return max(earlier - later for later, earlier in pairwise(known))

    def silence_until(self, moment: float) -> int:
        """Days from the last one to that of a later moment."""
        return _day(moment) - _day(self.last)


@dataclass(frozen=True, slots=True, order=True)
class JobSlot:
    """What a statement is a part of, by a digest of who runs it and how it writes, and when it ran there."""

    key: str
    ran: RunDays

    def to_json(self) -> Json:
        """The same as JSON, with times in milliseconds."""
        return {
            "key": self.key,
            "first": int(self.ran.first * 1000),
            "last": int(self.ran.last * 1000),
            "days": self.ran.days,
        }


_NOBODY_KNOWS = (JobSlot(UNKNOWN, RunDays(0, 0)),)


def join_slots(slots: Iterable[JobSlot]) -> tuple[JobSlot, ...]:
    """Each slot once, in order; the unknown one alone where it is among them or there are more than are kept."""
    found: dict[str, RunDays] = {}
    for slot in slots:
        known = found.get(slot.key)
        found[slot.key] = slot.ran if known is None else known.join(slot.ran)
    if UNKNOWN in found or len(found) > SLOTS_KEPT:
        return _NOBODY_KNOWS
    return tuple(JobSlot(key, found[key]) for key in sorted(found))


def superseding_moments(words: Mapping[K, Sequence[JobSlot]]) -> dict[K, float]:
    """Which of the words on one target are superseded, and since when (seconds since the epoch)."""
    by_slot: dict[str, list[RunDays]] = {}
    for slots in words.values():
        for slot in slots:
            by_slot.setdefault(slot.key, []).append(slot.ran)
    runs = {key: _SlotTimeline(ran) for key, ran in by_slot.items() if key != UNKNOWN and len(ran) > 1}
    found: dict[K, float] = {}
    for word, slots in words.items():
        since = [runs[slot.key].superseded_since(slot.ran) if slot.key in runs else None for slot in slots]
        known = [moment for moment in since if moment is not None]
        if known and len(known) == len(since):
            found[word] = max(known)
    return found


class _SlotTimeline:
    """When the words of one slot ran, in the order in which they came."""

    def __init__(self, ran: Iterable[RunDays]) -> None:
        ordered = sorted(ran)
        self._first = [one.first for one in ordered]
        self._last = list(accumulate((one.last for one in reversed(ordered)), max))[::-1]

    def superseded_since(self, older: RunDays) -> float | None:
        """Since when newer words stand in the place of this one; None where none does."""
        came = bisect_right(self._first, older.last)
        if came == len(self._first) or not older.recurs:
            return None
        newer = RunDays(self._first[came], self._last[came])
        return newer.first if newer.recurs and older.silence_until(newer.last) > older.longest_gap else None


def _day(moment: float) -> int:
    return int(moment // _DAY)
