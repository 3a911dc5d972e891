"""When a table is loaded, round by round: told from when statements were seen to run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from connectors.catalog.store.evidence.writes import Span, WrittenVersion

_DAY = 86_400_000
_LEAST_ROUNDS = 3
"""Rounds from which a rhythm can be told."""
_OVERDUE = 1.5
"""Periods without a run after which one is missing."""
_LONGER = 1.25
"""By how much a silence must be longer than those that are usual, such as weekends."""
_USUAL = 0.125
"""Of all silences: one that so many are as long as is usual."""
_SAME_ROUND = 0.5
"""Of the usual gap: runs that lie closer together are one round."""
_OTHER_TIME = 0.75
"""Of the whole history: before a gap so long it was another rhythm, or none."""
_PER_DAY = (2, 3, 4, 6, 8, 12, 24, 48, 96)
"""Rounds a day of which schedules are made."""
_LEFT_OUT, _RUN_AGAIN = 0.9, 1.1
"""How few and how many runs, beside its rounds, a schedule may have."""
_OUT_OF_STEP = 0.125
"""By how much of its period the last run of a schedule may be early or late."""


@dataclass(frozen=True, slots=True)
class LoadRhythm:
    """The rounds in which a table is written, in milliseconds: first, last run, how far apart two are.

    `patience` is how long nothing may come before a round is missing.
    """

    first: int
    last: int
    period: float
    patience: float

    @property
    def due(self) -> int:
        """When the next round is to come."""
        return round(self.last + self.period)


def load_rhythm(writes: Iterable[WrittenVersion]) -> LoadRhythm | None:
    """The rhythm of what writes one table; None where there is none.

    It has to have held for two periods and for a day: a table that is filled again in a loop has none.
    """
    spans = {span for one in writes if one.observed for span in one.spans}
    times = _since_the_longest_gap(sorted({time for span in spans for time in _times(span)}))
    rounds = _rounds(times)
    if len(rounds) < _LEAST_ROUNDS or times[-1] - times[0] < _DAY:
        return None
    gaps = sorted(other - one for one, other in pairwise(rounds))
    usual = gaps[min(len(gaps) - 1, int((1 - _USUAL) * len(gaps)))]
    period = median(gaps)
    return LoadRhythm(rounds[0], times[-1], period, max(_OVERDUE * period, _LONGER * usual))


def _since_the_longest_gap(times: list[int]) -> list[int]:
    """The times after a gap beside which all that came before is of another time."""
    while len(times) >= _LEAST_ROUNDS:
        gap, end = max((other - one, number) for number, (one, other) in enumerate(pairwise(times), 1))
        if gap <= _OTHER_TIME * (times[-1] - times[0]):
            break
        times = times[end:]
    return times


def _rounds(times: list[int]) -> list[int]:
    """The first run of each round. The usual gap is the shortest of the long ones that fill half of the time."""
    gaps = sorted((other - one for one, other in pairwise(times)), reverse=True)
    passed, usual = 0, 0
    for gap in gaps:
        usual, passed = gap, passed + gap
        if 2 * passed >= sum(gaps):
            break
    later = [other for one, other in pairwise(times) if other - one > _SAME_ROUND * usual]
    return [*times[:1], *later]


def _times(span: Span) -> list[int]:
    """When the rounds of a span came: at equal distances where its runs fit a schedule, else at its two ends."""
    length = span.last - span.first
    rounds = _scheduled_rounds(span.count, length) if span.count > 2 else 2
    return [span.first + round(length * number / (rounds - 1)) for number in range(rounds)]


def _scheduled_rounds(runs: int, length: int) -> int:
    """How many rounds of a schedule `runs` over a time are; 2 where they fit none.

    As many in each of the rounds of whole days are a loop, unless the last run is at another time of the day than the
    first and fits a schedule of several times a day. What comes several times a day is never told too often.
    """
    whole = max(1, round(length / (runs - 1) / _DAY)) * _DAY
    besides = abs(length - round(length / whole) * whole)
    for number in _PER_DAY:
        if runs == _rounds_between(length, _DAY / number) and 2 * besides > _DAY / number:
            return runs
    rounds = _rounds_between(length, whole)
    if rounds and (runs % rounds == 0 or _LEFT_OUT * rounds <= runs <= _RUN_AGAIN * rounds):
        return rounds
    for number in _PER_DAY:
        rounds = _rounds_between(length, _DAY / number)
        if _LEFT_OUT * rounds <= runs <= rounds:
            return rounds
    return 2


def _rounds_between(length: int, period: float) -> int:
    """How many rounds of a period there are from the first to the last; 0 where these do not keep to it."""
    number = round(length / period)
    kept = abs(length - number * period) <= _OUT_OF_STEP * period
    return number + 1 if kept and number + 1 >= _LEAST_ROUNDS else 0
