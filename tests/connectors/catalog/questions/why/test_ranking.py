"""The ranking as a function: what order, what passes and what other tables may change of it, and what not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from connectors.catalog.questions.why.facts import (
    Incident,
    IncidentKind,
    LookBack,
    TableKnowledge,
    TestOutcomeAt,
    TestRecord,
    UpstreamFacts,
    symptom_of,
)
from connectors.catalog.questions.why.ranking import Suspect, UpstreamPaths, rank_suspects
from connectors.catalog.store.lineage.reads import ColumnDependency

COLUMNS = ("a", "b", "c")
LAST_PASS, FIRST_FAILURE = 1_000, 2_000
DAY = 86_400_000


def made_facts(seed: int) -> UpstreamFacts:
    """Tables t0 (asked about) to t7 with random edges towards t0, incidents and tests; x0 and x1 lie apart."""
    chance = random.Random(seed)
    tables = [f"t{number}" for number in range(8)]
    edges = [
        ColumnDependency(
            (tables[low + 1 + chance.randrange(7 - low)], chance.choice(COLUMNS)), (tables[low], column), kind
        )
        for low in range(7)
        for column in (*COLUMNS, None)
        if (kind := "INDIRECT" if column is None else "DIRECT") and chance.random() < 0.7
    ]
    edges += [
        ColumnDependency(("x0", "a"), ("x1", "a"), "DIRECT"),
        ColumnDependency(("t3", "a"), ("x1", "b"), "DIRECT"),
    ]
    every = [*tables, "x0", "x1"]
    incidents = [
        Incident(chance.choice((500, 1_500, 2_500)), chance.choice(every), chance.choice(list(IncidentKind)), columns)
        for columns in [chance.choice(((), ("a",), ("b", "c"))) for _ in range(8)]
    ]
    tests = [
        made_test(chance.choice(every), chance.choice((*COLUMNS, None)), passed=chance.random() < 0.5, kind=kind)
        for kind in (f"k{number}" for number in range(10))
    ]
    tests.append(made_test("t0", "a", passed=False, kind="k0"))
    return UpstreamFacts(tuple(edges), tuple(incidents), tuple(tests), {t: TableKnowledge(True, 1) for t in every}, 0)


def made_test(table: str, column: str | None, *, passed: bool, kind: str) -> TestRecord:
    outcomes = (TestOutcomeAt(LAST_PASS, passed=True), TestOutcomeAt(FIRST_FAILURE, passed=passed))
    return TestRecord((table, column), f"{kind} of {table}", kind, outcomes)


def ranked(facts: UpstreamFacts) -> tuple[Suspect, ...]:
    return rank_suspects(symptom_of(("t0", "a"), 3_000, LookBack(0, 0), facts.tests), facts)


@pytest.mark.parametrize("seed", range(30))
def test_the_order_in_which_facts_are_told_changes_nothing(seed: int) -> None:
    facts = made_facts(seed)
    chance = random.Random(seed)
    edges, incidents, tests = (chance.sample(part, len(part)) for part in (facts.edges, facts.incidents, facts.tests))
    other = replace(facts, edges=tuple(edges), incidents=tuple(incidents), tests=tuple(tests))
    assert ranked(other) == ranked(facts)


@pytest.mark.parametrize("seed", range(30))
def test_only_what_is_upstream_is_suspected(seed: int) -> None:
    facts = made_facts(seed)
    upstream = set(UpstreamPaths(facts.edges).tables_upstream_of(("t0", None)))
    found = {one.table for one in ranked(facts)}
    assert "t0" in found
    assert found <= upstream
    assert not found & {"x0", "x1"}


@pytest.mark.parametrize("seed", range(30))
def test_a_passed_test_downstream_never_raises_a_suspect(seed: int) -> None:
    facts = made_facts(seed)
    before = {one.table: one.score for one in ranked(facts)}
    paths = UpstreamPaths(facts.edges)
    for table in ("t0", "t1", "t2", "x1"):
        for column in COLUMNS:
            passed = made_test(table, column, passed=True, kind="k0")
            after = {one.table: one.score for one in ranked(replace(facts, tests=(*facts.tests, passed)))}
            upstream = paths.tables_upstream_of(passed.node)
            assert [name for name in upstream if after.get(name, 0) > before.get(name, 0)] == []


@pytest.mark.parametrize("seed", range(30))
def test_what_happened_after_the_first_failure_speaks_against_nothing(seed: int) -> None:
    facts = made_facts(seed)
    later = [Incident(FIRST_FAILURE + 1, f"t{number}", IncidentKind.DEFINITION) for number in range(8)]
    assert ranked(replace(facts, incidents=(*facts.incidents, *later))) == ranked(facts)


def test_a_change_of_a_column_off_the_path_counts_less_than_one_on_it() -> None:
    edges = (
        ColumnDependency(("s", "a"), ("t0", "a"), "DIRECT"),
        ColumnDependency(("r", "a"), ("t0", "a"), "DIRECT"),
        ColumnDependency(("r", "b"), ("t0", "b"), "DIRECT"),
    )
    incidents = (
        Incident(1_500, "s", IncidentKind.TYPE, ("a",)),
        Incident(1_500, "r", IncidentKind.TYPE, ("b",)),
    )
    facts = UpstreamFacts(edges, incidents, (made_test("t0", "a", passed=False, kind="k"),), {}, 0)
    assert ranked(facts)[0].table == "s"
    assert {one.table: one.score for one in ranked(facts)}["r"] < ranked(facts)[0].score / 2


def test_a_change_before_the_last_pass_counts_less_than_one_after_it() -> None:
    edges = tuple(ColumnDependency((source, "a"), ("t0", "a"), "DIRECT") for source in ("r", "s"))
    incidents = (Incident(500, "r", IncidentKind.DEFINITION), Incident(1_500, "s", IncidentKind.DEFINITION))
    facts = UpstreamFacts(edges, incidents, (made_test("t0", "a", passed=False, kind="k"),), {}, 0)
    scores = {one.table: one.score for one in ranked(facts)}
    assert scores["s"] > 3 * scores["r"] > 0


CHAIN = (
    ColumnDependency(("src", "a"), ("t0", "a"), "DIRECT"),
    ColumnDependency(("src", "a"), ("other", "a"), "DIRECT"),
    ColumnDependency(("rival", "a"), ("t0", "a"), "DIRECT"),
)


def told(table: str, *outcomes: tuple[int, bool]) -> TestRecord:
    return TestRecord((table, "a"), f"k of {table}", "k", tuple(TestOutcomeAt(at, passed=ok) for at, ok in outcomes))


@pytest.mark.parametrize(
    ("passed_at", "cleared"),
    [(2, False), (6, False), (7, True), (9, True), (10, False)],
    ids=["before it happened", "as it happened", "after it", "with the first failure", "after the mend"],
)
def test_a_test_clears_only_of_what_happened_before_it_passed(passed_at: int, cleared: bool) -> None:
    symptom = told("t0", (0, True), (9, False))
    incidents = (Incident(6, "src", IncidentKind.TYPE, ("a",)), Incident(6, "rival", IncidentKind.DEFINITION))
    facts = UpstreamFacts(CHAIN, incidents, (symptom, told("other", (-24, True), (passed_at, True))), {}, -100)
    suspects = rank_suspects(symptom_of(("t0", "a"), 12, LookBack(-100, 0), facts.tests), facts)
    assert {one.table: bool(one.cleared_by) for one in suspects}["src"] is cleared
    assert (suspects[0].table == "src") is not cleared


def test_a_pass_clears_of_each_incident_by_its_own_time() -> None:
    tests = told("t0", (0, True), (9, False)), told("other", (5, True))
    symptom = symptom_of(("t0", "a"), 12, LookBack(-100, 0), tests)
    scores = {}
    for times in ((4,), (6,), (4, 6)):
        incidents = tuple(Incident(at, "src", IncidentKind.DEFINITION) for at in times)
        found = {one.table: one for one in rank_suspects(symptom, UpstreamFacts(CHAIN, incidents, tests, {}, -100))}
        scores[times] = found["src"].score
    assert scores[4,] < scores[6,] < scores[4, 6]


@pytest.mark.parametrize(
    ("outcomes", "accuses"),
    {
        "in a later hour of the same round": (((-15, True), (11, False)), True),
        "mended since": (((-15, True), (8, False), (30, True)), True),
        "before the last pass": (((-24, True), (-15, False)), False),
        "passed after the window": (((8, True), (11, True), (35, False)), False),
        "never told before": (((11, False),), False),
    }.values(),
)
def test_a_test_upstream_accuses_by_the_first_result_after_it_passed(
    outcomes: tuple[tuple[int, bool], ...], accuses: bool
) -> None:
    symptom = told("t0", (0, True), (9, False))
    facts = UpstreamFacts(CHAIN, (), (symptom, told("src", *outcomes)), {}, -100)
    found = {
        one.table: one for one in rank_suspects(symptom_of(("t0", "a"), 40, LookBack(-100, 0), facts.tests), facts)
    }
    assert bool(found["src"].evidence) is accuses


@pytest.mark.parametrize(
    ("begun", "days", "last_pass", "window"),
    [
        (0, 30, 10, (10, 20)),
        (0, 5, 10, (15, 20)),
        (0, 0, 10, (10, 20)),
        (0, 30, None, (-1 / DAY, 20)),
        (50, 30, 10, (10, 20)),
        (50, 0, None, (20 - 1 / DAY, 20)),
    ],
)
def test_days_count_back_from_the_first_failure(
    begun: int, days: int, last_pass: int | None, window: tuple[float, float]
) -> None:
    passes = [] if last_pass is None else [(last_pass * DAY, True)]
    test = told("t0", *passes, (20 * DAY, False), (99 * DAY, False))
    found = symptom_of(("t0", "a"), 100 * DAY, LookBack(begun * DAY, days), (test,)).window
    assert (found.start, found.end) == tuple(round(one * DAY) for one in window)


LINE = (
    ColumnDependency(("raw", "a"), ("stg", "a"), "DIRECT"),
    ColumnDependency(("stg", "a"), ("mid", "a"), "DIRECT"),
    ColumnDependency(("mid", "a"), ("t0", "a"), "DIRECT"),
)
NOW_AND_THEN = 1_500


def scores_in_chain(
    *incidents: Incident, tests: tuple[TestRecord, ...] = (), sized: tuple[str, ...] = ()
) -> dict[str, float]:
    """The scores, the highest first, of raw -> stg -> mid -> t0, where a test of t0.a fails."""
    names = ("raw", "stg", "mid", "t0")
    tables = {name: TableKnowledge(True, 1, usual_size=name in sized) for name in names}
    failing = made_test("t0", "a", passed=False, kind="k0")
    return {one.table: one.score for one in ranked(UpstreamFacts(LINE, incidents, (failing, *tests), tables, 0))}


def test_what_a_table_shows_speaks_against_what_it_is_made_of() -> None:
    shown = made_test("mid", "a", passed=False, kind="k0")
    unexplained = scores_in_chain(tests=(shown,))
    assert list(unexplained) == ["mid", "stg", "raw", "t0"]
    changed = Incident(NOW_AND_THEN, "mid", IncidentKind.DEFINITION, ("a",))
    explained = scores_in_chain(changed, tests=(shown,))
    assert next(iter(explained)) == "mid"
    assert explained["stg"] < unexplained["stg"] / 2


def test_who_had_as_many_rows_as_ever_lost_none() -> None:
    fewer = Incident(NOW_AND_THEN, "mid", IncidentKind.FEWER_ROWS)
    assert list(scores_in_chain(fewer)) == ["mid", "stg", "raw", "t0"]
    assert list(scores_in_chain(fewer, sized=("stg",))) == ["mid", "raw", "stg", "t0"]


def test_a_load_that_another_shape_of_what_it_reads_broke_is_a_consequence() -> None:
    failed = Incident(NOW_AND_THEN + 1, "stg", IncidentKind.LOAD_FAILED)
    retyped = Incident(NOW_AND_THEN, "raw", IncidentKind.TYPE, ("a",))
    alone = scores_in_chain(failed)
    assert next(iter(alone)) == "stg"
    broken = scores_in_chain(failed, retyped)
    assert next(iter(broken)) == "raw"
    assert broken["stg"] < alone["stg"] / 2
    later = replace(retyped, at=failed.at + 1)
    assert scores_in_chain(failed, later)["stg"] == alone["stg"]
