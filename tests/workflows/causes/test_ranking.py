"""The ranking as a function: what order, what passes and what other tables may change of it, and what not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from connectors.catalog.local_tables import ColumnDependency
from workflows.causes.column_paths import UpstreamPaths
from workflows.causes.facts import (
    Incident,
    IncidentKind,
    TableKnowledge,
    TestOutcomeAt,
    TestRecord,
    UpstreamFacts,
)
from workflows.causes.question import symptom_of
from workflows.causes.ranking import Suspect, rank_suspects

COLUMNS = ("a", "b", "c")
LAST_PASS, FIRST_FAILURE = 1_000, 2_000


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
    return rank_suspects(symptom_of(("t0", "a"), 3_000, 0, facts.tests), facts)


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
