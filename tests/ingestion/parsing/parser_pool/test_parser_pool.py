"""The cascade over the real tiers, on threads that drive real parser processes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.analysis.analyzer import analyze
from ingestion.analysis.symbolic import loads
from ingestion.parsing.parser_pool import ThreadedParser
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.tiers import ParseOutcome, Parser, ParseRequest, Tier, parse_chunk
from tests.support.own_descriptors import own_descriptors
from tests.support.parser_processes import parser_processes

PLAIN = "INSERT INTO sales SELECT o.id, o.total FROM orders o"
ONLY_SQLFLUFF = "INSERT INTO sales SELECT id FROM orders TIMESERIES t AS '1 hour' OVER (ORDER BY x)"  # Vertica's
HOPELESS = "INSERT INTO ~~~ ???"
ONLY_TOKENS = "INSERT INTO sales SELECT id ~~~ FROM orders ??? WHERE"
WORDS = """SELECT FROM INSERT INTO t u , ( ) a b.c * WITH AS JOIN ON UPDATE SET = MERGE USING ; ' -- 1""".split()  # noqa: SIM905
SECONDS = 2.0
"""Too few for sqlfluff to read UNIONS, and enough for sqlparse's tokens, on a machine with other work too."""
UNIONS = "CREATE TABLE x AS " + " UNION ALL ".join(f"SELECT a, b FROM t{number}" for number in range(1500))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=20)) as opened:
        yield opened


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadedParser]:
    with ThreadedParser(2, Limits(seconds=5)) as opened:
        yield opened


def outcome(sandbox: Sandbox, text: str, dialect: str = "postgres", parser: Parser = Parser.AUTO) -> ParseOutcome:
    return parse_chunk([ParseRequest("k", text, dialect)], sandbox, parser)[0]


def names(parsed: ParseOutcome) -> tuple[list[str], list[str]]:
    assert parsed.symbolic is not None
    lineage = analyze(loads(parsed.symbolic), lambda _name: None)
    return [str(name) for name in lineage.sources], [str(name) for name in lineage.targets]


def test_the_first_tier_that_gives_lineage_is_the_last_one_asked(sandbox: Sandbox) -> None:
    parsed = outcome(sandbox, PLAIN)
    assert (parsed.tier, parsed.attempts, parsed.dead_reason) == (Tier.SQLGLOT, (), None)
    assert names(parsed) == (["orders"], ["sales"])


def test_sqlfluff_is_asked_for_what_sqlglot_refuses(sandbox: Sandbox) -> None:
    parsed = outcome(sandbox, ONLY_SQLFLUFF, "vertica")
    assert parsed.tier is Tier.SQLFLUFF
    assert [(attempt.tier, attempt.reason) for attempt in parsed.attempts] == [(Tier.SQLGLOT, "unparsable")]
    assert names(parsed) == (["orders"], ["sales"])


def test_the_tokens_are_asked_for_what_no_tree_gives(sandbox: Sandbox) -> None:
    parsed = outcome(sandbox, ONLY_TOKENS)
    assert parsed.tier is Tier.SQLPARSE
    assert [attempt.tier for attempt in parsed.attempts] == [Tier.SQLGLOT, Tier.SQLFLUFF]
    assert names(parsed) == (["orders"], ["sales"])


@pytest.mark.parametrize(
    ("parser", "tiers"),
    [
        (Parser.AUTO, [Tier.SQLGLOT, Tier.SQLFLUFF, Tier.SQLPARSE]),
        (Parser.SQLGLOT, [Tier.SQLGLOT, Tier.SQLPARSE]),
        (Parser.SQLFLUFF, [Tier.SQLFLUFF, Tier.SQLPARSE]),
    ],
)
def test_the_configured_parser_says_which_tiers_are_asked(sandbox: Sandbox, parser: Parser, tiers: list[Tier]) -> None:
    dead = outcome(sandbox, HOPELESS, parser=parser)
    assert [attempt.tier for attempt in dead.attempts] == tiers
    assert (dead.tier, dead.symbolic, dead.dead_reason) == (None, None, "unparsable")


def test_the_cascade_goes_on_outside_the_process_that_was_killed() -> None:
    with Sandbox(Limits(seconds=SECONDS)) as opened:
        parsed, following = parse_chunk(
            [ParseRequest("slow", UNIONS, "postgres"), ParseRequest("next", PLAIN, "postgres")],
            opened,
            Parser.SQLFLUFF,
        )
    assert parsed.tier is Tier.SQLPARSE
    assert [(attempt.tier, attempt.reason) for attempt in parsed.attempts] == [(Tier.SQLFLUFF, "timeout")]
    assert len(names(parsed)[0]) == 1500
    assert following.tier is Tier.SQLFLUFF


def test_of_several_reasons_the_limit_is_told() -> None:
    with Sandbox(Limits(seconds=SECONDS)) as opened:
        dead = outcome(opened, f"{UNIONS}; SELECT 1", parser=Parser.SQLFLUFF)
    assert [attempt.reason for attempt in dead.attempts] == ["timeout", "unparsable"]
    assert dead.dead_reason == "timeout"


@pytest.mark.parametrize("text", ["SELECT 'a FROM t", "SELECT (a FROM t", "SELECT a /* FROM t", 'SELECT "a FROM t'])
def test_ill_formed_text_is_refused_by_name_before_any_tier(sandbox: Sandbox, text: str) -> None:
    dead = outcome(sandbox, f"INSERT INTO x {text}")
    assert dead.attempts == ()
    assert dead.dead_reason is not None
    assert dead.dead_reason.startswith("ill_formed:")


def test_text_beyond_the_limit_reaches_no_parser() -> None:
    with Sandbox(Limits(max_bytes=1000)) as opened:
        assert outcome(opened, "SELECT '" + "ü" * 600 + "'").dead_reason == "too_large"
        assert opened.pid is None
        assert outcome(opened, "SELECT '" + "u" * 600 + "' FROM t").dead_reason is None


def test_outcomes_keep_the_order_of_a_chunk(sandbox: Sandbox) -> None:
    texts = [PLAIN, "SELECT 'a", ONLY_TOKENS, PLAIN, "", ONLY_SQLFLUFF]
    requests = [ParseRequest(str(number), text, "tsql") for number, text in enumerate(texts)]
    assert [parsed.key for parsed in parse_chunk(requests, sandbox)] == [request.key for request in requests]


def test_threads_answer_every_request_once(threads: ThreadedParser) -> None:
    bad = {7: "SELECT 'a", 450: "SELECT " + "(" * 20_000 + ")" * 20_000, 999: HOPELESS}
    requests = [
        ParseRequest(str(number), bad.get(number, f"INSERT INTO t SELECT a FROM s{number}"), "postgres")
        for number in range(1000)
    ]
    outcomes = list(threads.parse(requests))
    assert Counter(parsed.key for parsed in outcomes) == Counter(request.key for request in requests)
    dead = {parsed.key for parsed in outcomes if parsed.dead_reason}
    assert dead == {str(number) for number in bad}
    assert names(next(parsed for parsed in outcomes if parsed.key == "500")) == (["s500"], ["t"])


def test_in_order_is_the_order_of_the_requests_though_the_first_takes_longest(threads: ThreadedParser) -> None:
    texts = [UNIONS, *(PLAIN for _ in range(700))]
    requests = [ParseRequest(str(number), text, "postgres") for number, text in enumerate(texts)]
    outcomes = list(threads.parse_in_order(requests))
    assert [parsed.key for parsed in outcomes] == [request.key for request in requests]


@pytest.mark.parametrize("parse", [ThreadedParser.parse, ThreadedParser.parse_in_order])
def test_results_stream_and_reading_goes_no_further_ahead_than_it_must(
    threads: ThreadedParser, parse: Callable[[ThreadedParser, Iterable[ParseRequest]], Iterator[ParseOutcome]]
) -> None:
    read = 0

    def endless() -> Iterator[ParseRequest]:
        nonlocal read
        while True:
            read += 1
            yield ParseRequest(str(read), PLAIN, "postgres")

    stream = parse(threads, endless())
    for _ in range(500):
        next(stream)
    assert read <= 500 + 200 * 2 * 3


def test_closing_in_the_middle_leaves_no_thread_process_or_descriptor() -> None:
    processes, descriptors, threads = parser_processes(), own_descriptors(), threading.enumerate()
    slow = [ParseRequest(str(number), UNIONS, "postgres") for number in range(3)]
    begun = time.monotonic()
    with ThreadedParser(2, Limits(seconds=30), Parser.SQLFLUFF) as opened:
        requests = [ParseRequest("first", PLAIN, "postgres")] * 200 + slow
        assert next(opened.parse(requests)).key == "first"
        assert len(parser_processes()) > len(processes)
    assert time.monotonic() - begun < 20
    assert not own_descriptors() - descriptors
    assert set(threading.enumerate()) <= set(threads)
    assert set(parser_processes()) <= set(processes)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.one_of(
            st.text(max_size=60),
            st.binary(max_size=60).map(lambda data: data.decode("latin-1")),
            st.lists(
                st.sampled_from(WORDS),
                max_size=20,
            ).map(" ".join),
        ),
        max_size=5,
    ),
    dialect=st.sampled_from(["postgres", "mysql", "tsql", "bigquery", "spark", "db2"]),
)
def test_whatever_comes_in_comes_out_parsed_or_dead_but_never_crashed(
    threads: ThreadedParser, texts: list[str], dialect: str
) -> None:
    outcomes = list(threads.parse(ParseRequest(str(n), text, dialect) for n, text in enumerate(texts)))
    assert [parsed.key for parsed in outcomes] == [str(number) for number in range(len(texts))]
    for parsed in outcomes:
        assert (parsed.symbolic is None) == (parsed.tier is None) == (parsed.dead_reason is not None)
        assert parsed.dead_reason in (None, "unparsable", "templated") or parsed.dead_reason.startswith("ill_formed:")
        assert all(not attempt.detail or attempt.reason == "unparsable" for attempt in parsed.attempts), parsed.attempts
