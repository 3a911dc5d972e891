"""Hostile SQL through the real tiers: answered or dead within its limit, the next statement unharmed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from ingestion.analysis.analyzer import analyze
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.tiers import ParseOutcome, Parser, ParseRequest, Tier, parse_chunk
from tests.support.parser_processes import parser_processes

SECONDS = 3.0
PATIENT_SECONDS = 15.0
"""For what has to be answered: several times what it takes, as machines differ."""

HURRIED_SECONDS = 3.0
RESTART_SECONDS = 5.0
"""A killed process is replaced, and warmed up again, once for each tier."""

LATE_SECONDS = 2.0
"""By how much a limit may be passed on a machine that has other work too."""

NEXT = ParseRequest("next", "INSERT INTO sales SELECT id FROM orders", "postgres")


def nested(opening: str, middle: str, closing: str, depth: int) -> str:
    return opening * depth + middle + closing * depth


VALUES = ", ".join(f"({number}, 'abc', 1.5)" for number in range(45_000))
ANSWERED = {
    "2,000 UNION ALL": "CREATE TABLE x AS " + " UNION ALL ".join(f"SELECT a, b FROM s{n}" for n in range(2000)),
    "500 columns": "CREATE TABLE x AS SELECT "
    + ", ".join(f"CASE WHEN a{n} > 1 THEN coalesce(b{n}, c{n}) ELSE 0 END AS c{n}" for n in range(500))
    + " FROM s JOIN u USING (k)",
    "60 nested subqueries": "INSERT INTO x SELECT a FROM " + nested("(SELECT a FROM ", "s", ") q", 60),
    "5,000 nested subqueries": "INSERT INTO x SELECT a FROM " + nested("(SELECT a FROM ", "s", ") q", 5000),
    "12,000 nested subqueries": "INSERT INTO x SELECT a FROM " + nested("(SELECT a FROM ", "s", ") q", 12_000),
    "5,000 parentheses": "INSERT INTO x SELECT " + nested("(", "a", ")", 5000) + " AS a FROM s",
    "5,000 ANDs": "INSERT INTO x SELECT a FROM s WHERE " + " AND ".join(f"b{n} = 1" for n in range(5000)),
    "50,000 items of IN": "INSERT INTO x SELECT a FROM s WHERE b IN (" + ", ".join(map(str, range(50_000))) + ")",
    "a diamond of 2^17 paths": "INSERT INTO x WITH c0 AS (SELECT a FROM s), "
    + ", ".join(f"c{n} AS (SELECT l.a FROM c{n - 1} l JOIN c{n - 1} r ON l.a = r.a)" for n in range(1, 18))
    + " SELECT a FROM c17",
    "a string of 5 MB": "INSERT INTO x SELECT '" + "x" * 5_000_000 + "' AS b, a FROM s",
}
DEAD = {
    "1 MB of VALUES": (f"INSERT INTO x SELECT a ~~~ FROM (VALUES {VALUES}) v (a, b, c) ???", {"timeout", "memory"}),
    "200,000 nested subqueries": (
        "INSERT INTO x SELECT a FROM " + nested("(SELECT a FROM ", "s", ") q", 200_000),
        {"timeout", "memory"},
    ),
    "an unterminated string": ("INSERT INTO x SELECT 'a FROM s", {"ill_formed:unterminated quote ' opened in line 1"}),
    "an unterminated comment": (
        "INSERT INTO x SELECT a /* FROM s",
        {"ill_formed:unterminated comment opened in line 1"},
    ),
    "bytes that are no text": (bytes(range(1, 39)).decode("latin-1") * 50, {"unparsable"}),
    "null bytes": ("\0INSERT INTO x SELECT a FROM s\0" * 3, {"unparsable"}),
    "a half of a character": ("INSERT INTO x \ud800 SELECT a ~~~ FROM s ???", {"unparsable"}),
    "a 3,000-line procedure": (
        "CREATE PROCEDURE p AS BEGIN\n"
        + "\n".join(f"INSERT INTO a{n} SELECT x FROM b{n} WHERE y = {n}" for n in range(3000))
        + "\nEND",
        {"unparsable", "timeout", "memory"},
    ),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=SECONDS)) as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True)
def others() -> set[psutil.Process]:
    """The parser processes that were there before: kept warm for other tests."""
    return set(parser_processes())


@pytest.fixture(scope="module")
def patient() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=PATIENT_SECONDS)) as opened:
        yield opened


@pytest.fixture(scope="module")
def hurried() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=HURRIED_SECONDS)) as opened:
        yield opened


def run(sandbox: Sandbox, text: str, parser: Parser = Parser.AUTO, seconds: float = SECONDS) -> ParseOutcome:
    """The outcome of a hostile statement, after the checks that hold for each of them."""
    parse_chunk([NEXT], sandbox)
    begun = time.monotonic()
    outcome, following = parse_chunk([ParseRequest("hostile", text, "postgres"), NEXT], sandbox, parser)
    killed = sum(attempt.reason in ("timeout", "memory", "crash") for attempt in outcome.attempts)
    assert time.monotonic() - begun < (seconds + LATE_SECONDS) * 3 + RESTART_SECONDS * (killed + 1)
    assert all(attempt.seconds < seconds + LATE_SECONDS for attempt in outcome.attempts)
    assert following.tier is not None
    assert [str(name) for name in lineage(following).sources] == ["orders"]
    return outcome


def lineage(outcome: ParseOutcome) -> StatementLineage:
    """The lineage, analysed where the stack is the usual one."""
    assert outcome.symbolic is not None, outcome
    assert sys.getrecursionlimit() <= 1000
    return analyze(loads(outcome.symbolic), lambda _name: None)


@pytest.mark.parametrize("name", ANSWERED)
def test_what_can_be_answered_is_answered(patient: Sandbox, name: str) -> None:
    outcome = run(patient, ANSWERED[name], seconds=PATIENT_SECONDS)
    found = lineage(outcome)
    assert [str(target) for target in found.targets] == ["x"]
    assert {str(source)[0] for source in found.sources} <= {"s", "u"}
    assert found.sources


@pytest.mark.parametrize("name", DEAD)
def test_what_cannot_be_answered_is_dead_by_name(sandbox: Sandbox, name: str) -> None:
    text, reasons = DEAD[name]
    outcome = run(sandbox, text)
    assert outcome.symbolic is None
    assert outcome.dead_reason in reasons


@pytest.mark.parametrize("name", ["2,000 UNION ALL", "500 columns", "60 nested subqueries", "5,000 ANDs"])
def test_sqlfluff_is_stopped_and_the_tokens_answer(hurried: Sandbox, name: str) -> None:
    outcome = run(hurried, ANSWERED[name], Parser.SQLFLUFF)
    assert outcome.tier is Tier.SQLPARSE
    assert outcome.attempts[0].tier is Tier.SQLFLUFF
    assert {str(target) for target in lineage(outcome).targets} == {"x"}


@pytest.mark.parametrize(
    ("hostile", "seconds"),
    [
        pytest.param({name: text for name, (text, _) in DEAD.items() if "MB" not in name}, SECONDS, id="dead"),
        pytest.param(ANSWERED, PATIENT_SECONDS, id="answered"),
    ],
)
def test_hostile_statements_side_by_side_cost_the_others_nothing(hostile: dict[str, str], seconds: float) -> None:
    requests = [request for name, text in hostile.items() for request in (ParseRequest(name, text, "postgres"), NEXT)]
    with Sandbox(Limits(seconds=seconds)) as opened:
        outcomes = parse_chunk(requests, opened)
    assert [outcome.key for outcome in outcomes] == [request.key for request in requests]
    assert all(outcome.tier is Tier.SQLGLOT for outcome in outcomes if outcome.key == "next")
    assert {outcome.key for outcome in outcomes if outcome.dead_reason} <= set(DEAD)


def test_no_process_is_left(request: pytest.FixtureRequest, others: set[psutil.Process]) -> None:
    for name in ("sandbox", "patient", "hurried"):
        request.getfixturevalue(name).close()
    assert set(parser_processes()) <= others
