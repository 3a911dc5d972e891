"""Which loads are missing, and that those which are not due are not."""

from __future__ import annotations

import pytest

from connectors.catalog.questions.why._incidents import late_loads, missing_loads
from connectors.catalog.questions.why.facts import Incident, TimeRange
from connectors.catalog.store.evidence.loads import Span, WrittenVersion, load_rhythm
from tests.support.load_times import MINUTE, at, one_by_one


def missing_of(spans: list[Span], seen_until: int, earliest: int = 0) -> list[Incident]:
    rhythm = load_rhythm([WrittenVersion("s", "t", "query", "q", (), tuple(spans))])
    assert rhythm is not None
    return missing_loads({"t": rhythm}, seen_until, TimeRange(earliest, at(500)))


LOOP = [at(day, 1, minute) for day in range(10) for minute in (0, 1, 2)]
LOOPS = {
    "each run told by itself": one_by_one(*LOOP),
    "told once a day": [Span(at(day, 1), at(day, 1, 2), 3) for day in range(10)],
    "told at once": [Span(LOOP[0], LOOP[-1], 30)],
    "told at once, then daily": [Span(LOOP[0], LOOP[23], 24), *[Span(at(d, 1), at(d, 1, 2), 3) for d in (8, 9)]],
}


@pytest.mark.parametrize("spans", LOOPS.values(), ids=LOOPS)
def test_a_loop_over_parts_is_missing_only_when_its_day_passed_without_it(spans: list[Span]) -> None:
    assert missing_of(spans, at(9, 23)) == []
    (missing,) = missing_of(spans, at(11))
    assert missing.detail.endswith("one is due every 24 hours")
    assert missing.at == pytest.approx(at(10, 1, 2), abs=MINUTE)


def test_a_silence_that_is_usual_is_no_missing_load() -> None:
    workdays = [at(day, 1) for day in range(26) if day % 7 < 5]
    assert missing_of(one_by_one(*workdays), at(27, 23)) == []
    assert len(missing_of(one_by_one(*workdays), at(29))) == 1


def test_what_was_due_before_the_time_that_is_looked_at_is_no_missing_load() -> None:
    daily = one_by_one(*(at(day) for day in range(10)))
    assert missing_of(daily, at(400), earliest=at(370)) == []
    assert len(missing_of(daily, at(400), earliest=at(9))) == 1


@pytest.mark.parametrize(
    ("behind", "told"),
    [
        ((0, 1), "1 minute after r was made"),
        ((0, 59), "59 minutes after r was made"),
        ((1, 0), "1 hour after r was made"),
        ((1, 30), "1.5 hours after r was made"),
    ],
)
def test_a_load_after_what_reads_it_is_late(behind: tuple[int, int], told: str) -> None:
    first = [at(day, 1) for day in range(4)]
    source, reader = (
        load_rhythm([WrittenVersion("s", "t", "query", "q", (), tuple(one_by_one(*first, last)))])
        for last in (at(4, 2 + behind[0], behind[1]), at(4, 2))
    )
    assert source is not None
    assert reader is not None
    (late,) = late_loads({"t": source, "r": reader}, {"t": ["r"]}, TimeRange(at(4), at(5)))
    assert (late.table, late.detail) == ("t", told)
