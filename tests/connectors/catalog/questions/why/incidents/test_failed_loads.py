"""Which failures left a table as it was, and which loads had other sizes than usual."""

from __future__ import annotations

import pytest

from connectors.catalog.questions.why._incidents import failed_loads, has_usual_size, unusual_sizes
from connectors.catalog.questions.why.facts import IncidentKind, TimeRange
from connectors.catalog.store.evidence.loads import Span, StoredLoad, WrittenVersion
from tests.support.load_times import HOUR, MINUTE, at

WINDOW = TimeRange(at(4, 6), at(5, 6))


def load(
    time: int, *, rows: int | None = None, failed: bool = False, producer: str = "q", error: str = ""
) -> StoredLoad:
    return StoredLoad("t", time, failed, rows, "", producer, is_statement=True, error=error)


def written(producer: str, *times: int) -> WrittenVersion:
    return WrittenVersion("s", "t", "query", producer, (), tuple(Span(time, time, 1) for time in times))


def kinds(loads: list[StoredLoad], *versions: WrittenVersion) -> list[tuple[IncidentKind, int, str]]:
    return [(one.kind, one.at, one.detail) for one in failed_loads("t", loads, versions, WINDOW)]


FAILED_AT = at(5, 1)
FAILED = load(FAILED_AT, failed=True, error="22012")


def test_a_load_that_failed_and_did_not_come_is_a_cause() -> None:
    before = written("q", at(0, 1), at(4, 1))
    assert kinds([FAILED], before) == [(IncidentKind.LOAD_FAILED, FAILED_AT, "error 22012")]


@pytest.mark.parametrize(
    ("loads", "versions"),
    [
        ([load(FAILED_AT + HOUR)], [written("q", at(4, 1)), written("other", at(4, 2))]),
        ([], [written("q", at(4, 1), FAILED_AT + HOUR), written("other", at(4, 2))]),
        ([], [written("the only one", at(4, 1), FAILED_AT + HOUR)]),
    ],
    ids=["told by itself", "seen to run", "known by another name"],
)
def test_a_load_that_came_when_it_was_run_again_is_none(
    loads: list[StoredLoad], versions: list[WrittenVersion]
) -> None:
    assert kinds([FAILED, *loads], *versions) == [(IncidentKind.LOAD_REPEATED, FAILED_AT, "error 22012")]


def test_a_new_statement_may_have_mended_it_or_not() -> None:
    versions = [written("q", at(4, 1)), written("other", at(4, 2)), written("new", FAILED_AT + HOUR)]
    assert kinds([FAILED], *versions) == [(IncidentKind.LOAD_REPLACED, FAILED_AT, "error 22012")]
    again = load(FAILED_AT + 2 * HOUR)
    assert kinds([FAILED, again], *versions)[0][0] is IncidentKind.LOAD_REPEATED


def test_another_statement_or_a_run_too_late_does_not_stand_in() -> None:
    others = written("q", at(4, 1)), written("other", at(4, 2), at(5, 2))
    assert kinds([FAILED, load(WINDOW.end + MINUTE)], *others)[0][0] is IncidentKind.LOAD_FAILED


def test_attempts_without_success_are_one_failure_before_the_last_pass_and_one_after() -> None:
    attempts = [load(at(4, hour), failed=True) for hour in (1, 2, 7, 8)]
    assert kinds(attempts) == [
        (IncidentKind.LOAD_FAILED, at(4, 1), "2 attempts"),
        (IncidentKind.LOAD_FAILED, at(4, 7), "2 attempts"),
    ]


def test_sizes_are_those_of_one_statement() -> None:
    loads = [
        load(at(day, hour), rows=rows, producer=f"q{hour}") for day in range(5) for hour, rows in ((1, 1000), (2, 3))
    ]
    assert list(unusual_sizes("t", loads)) == []
    assert has_usual_size(loads, TimeRange(at(3, 6), at(4, 6)))
    fewer = [*loads, load(at(5, 1), rows=12, producer="q1"), load(at(5, 2), rows=3, producer="q2")]
    (found,) = unusual_sizes("t", fewer)
    assert (found.at, found.kind, found.detail) == (
        at(5, 1),
        IncidentKind.FEWER_ROWS,
        "12 rows, before it 1000 to 1000",
    )
    assert not has_usual_size(fewer, WINDOW)
