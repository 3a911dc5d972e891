"""Rounds of loads told from spans of time."""

from __future__ import annotations

import pytest

from connectors.catalog.store.evidence.loads import Span, WrittenVersion, load_rhythm
from tests.support.load_times import DAY, HOUR, at, one_by_one


def written(*spans: Span, key: str = "q") -> WrittenVersion:
    return WrittenVersion("s", "t", "query", key, (), spans)


LOOP = [at(day, 1, minute) for day in range(10) for minute in (0, 1, 2)]
LOOPS = {
    "each run told by itself": one_by_one(*LOOP),
    "told once a day": [Span(at(day, 1), at(day, 1, 2), 3) for day in range(10)],
    "told at once": [Span(LOOP[0], LOOP[-1], 30)],
    "told at once, then daily": [Span(LOOP[0], LOOP[23], 24), *[Span(at(d, 1), at(d, 1, 2), 3) for d in (8, 9)]],
}
HOURLY = [at(day, hour) for day in range(3) for hour in range(24)]
PERIODS = {
    **{f"a loop, {name}": (spans, 24.0) for name, spans in LOOPS.items()},
    "hourly": (one_by_one(*HOURLY), 1.0),
    "hourly at once": ([Span(HOURLY[0], HOURLY[-1], 72)], 1.0),
    "hourly, told once a day": ([Span(at(day), at(day, 23), 24) for day in range(3)], 1.0),
    "each eight hours": ([Span(at(0, 1), at(9, 17), 30)], 8.0),
    "weekly at once": ([Span(at(0), at(28), 5)], 168.0),
    "twice a day": (one_by_one(*(at(day, hour) for day in range(5) for hour in (1, 7))), 24.0),
    "one left out": ([Span(at(0), at(29), 29)], 24.0),
    "one run again": ([Span(at(0), at(29), 31)], 24.0),
    "filled long before": ([Span(at(0), at(0, 0, 2), 3), *one_by_one(*(at(day) for day in range(365, 375)))], 24.0),
}


@pytest.mark.parametrize(("spans", "hours"), PERIODS.values(), ids=PERIODS)
def test_the_period_is_that_of_the_rounds(spans: list[Span], hours: float) -> None:
    rhythm = load_rhythm([written(*spans)])
    assert rhythm is not None
    assert rhythm.period / HOUR == pytest.approx(hours, abs=0.05)


NO_RHYTHM = {
    "filled by three runs": one_by_one(at(0), at(0, 0, 1), at(0, 0, 2)),
    "filled by three runs, told at once": [Span(at(0), at(0, 0, 2), 3)],
    "filled in a loop of hours": one_by_one(*(at(0, 0, 20 * number) for number in range(30))),
    "a daily load, then nothing for a year, then filled": one_by_one(*(at(d) for d in range(9)), *LOOP[-3:], at(400)),
    "two rounds": one_by_one(at(0), at(0, 0, 1), at(1), at(1, 0, 1)),
    "fits no schedule": [Span(at(0), at(63), 200)],
}


@pytest.mark.parametrize("spans", NO_RHYTHM.values(), ids=NO_RHYTHM)
def test_what_held_over_no_periods_is_no_rhythm(spans: list[Span]) -> None:
    assert load_rhythm([written(*spans)]) is None


def test_statements_that_took_each_others_place_are_one_rhythm() -> None:
    rhythm = load_rhythm([written(Span(at(0), at(3), 4)), written(Span(at(4), at(6), 3), key="r")])
    assert rhythm is not None
    assert (rhythm.period, rhythm.due) == (DAY, at(7))
