"""Warm parsers: shared by threads, none of another process, few, and gone when nobody needs them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ingestion import LineageParser
from ingestion.analysis.symbolic import names_in_bytes
from ingestion.cores import cores
from ingestion.errors import ConfigError
from ingestion.parsing.parser_pool import ThreadedParser, close_warm_parsers, kept_parser, warm_parser
from ingestion.parsing.sandbox.process import CHILD_MODULE, Limits
from ingestion.parsing.tiers import Parser, ParseRequest


@pytest.fixture(autouse=True)
def no_parser_left() -> Iterator[None]:
    close_warm_parsers()
    yield
    close_warm_parsers()


def edge(number: int) -> tuple[str, str]:
    (found,) = LineageParser(f"INSERT INTO t (x) SELECT a{number} FROM s{number}").edges
    return str(found.source), str(found.target)


def parser_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if CHILD_MODULE in child.cmdline()]


def _edge_of_a_fork(connection: multiprocessing.connection.Connection) -> None:
    connection.send(edge(2))


def test_nobody_asks_a_warm_parser_for_names() -> None:
    (outcome,) = warm_parser(30).parse([ParseRequest("", "INSERT INTO t SELECT a FROM s", "ansi")])
    assert outcome.symbolic is not None
    assert names_in_bytes(outcome.symbolic) is None


def test_a_parser_that_was_started_before_is_the_one_that_parses() -> None:
    warm_parser(30).start()
    started = parser_processes()
    assert len(started) == 1
    assert edge(1) == ("s1.a1", "t.x")
    assert parser_processes() == started


def test_a_forked_process_has_a_parser_of_its_own() -> None:
    assert edge(1) == ("s1.a1", "t.x")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe()
    child = context.Process(target=_edge_of_a_fork, args=(sender,))
    child.start()
    assert receiver.poll(60)
    assert receiver.recv() == ("s2.a2", "t.x")
    child.join(60)
    assert child.exitcode == 0
    assert len(parser_processes()) == 1
    assert edge(3) == ("s3.a3", "t.x")


def test_a_forked_process_that_ends_in_good_order_leaves_its_parents_parser_alone() -> None:
    script = (
        "import os, sys\nfrom ingestion import LineageParser\nLineageParser('select 1')\n"
        "child = os.fork()\nif not child:\n    sys.exit()\nos.waitpid(child, 0)\n"
        "print(LineageParser('select a from t').edges[0].source)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment)
    assert (ended.stdout, ended.stderr) == ("t.a\n", "")


def test_threads_share_few_processes_and_each_has_its_own_answer() -> None:
    wrong: list[int] = []

    def work(first: int) -> None:
        wrong.extend(n for n in range(first, first + 20) if edge(n) != (f"s{n}.a{n}", "t.x"))

    threads = [threading.Thread(target=work, args=(number * 20,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(parser_processes()) <= min(cores(), 4)


def test_many_texts_are_parsed_on_all_cores_and_few_in_one_process() -> None:
    for texts, processes in ((200, 1), (1000, min(cores(), 4))):
        found = LineageParser.of_each(f"INSERT INTO t (x) SELECT a{number} FROM s{number}" for number in range(texts))
        sources = [str(one.edges[0].source) for one in found if isinstance(one, LineageParser)]
        assert sources == [f"s{number}.a{number}" for number in range(texts)]
        assert len(parser_processes()) == processes


def test_a_killed_process_is_replaced() -> None:
    edge(1)
    for process in parser_processes():
        process.kill()
    assert edge(2) == ("s2.a2", "t.x")


def test_few_stay_however_many_limits_were_asked_for() -> None:
    for number in range(6):
        LineageParser("SELECT a FROM s", timeout_seconds=20 + number)
    assert len(parser_processes()) <= 4
    close_warm_parsers()
    assert parser_processes() == []


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="timeout_seconds"):
        warm_parser(seconds)


def test_the_process_outlives_the_thread_that_first_needed_it() -> None:
    first = threading.Thread(target=edge, args=(1,))
    first.start()
    first.join()
    (process,) = parser_processes()
    assert edge(2) == ("s2.a2", "t.x")
    assert parser_processes() == [process]


def test_who_is_interrupted_while_an_answer_is_on_its_way_is_not_given_it_later() -> None:
    edge(1)

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            LineageParser("CREATE TABLE x AS " + " UNION ALL ".join(f"SELECT a, b FROM t{n}" for n in range(20_000)))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert edge(2) == ("s2.a2", "t.x")


def _parse_with_names(parser: ThreadedParser) -> None:
    (outcome,) = parser.parse([ParseRequest("", "INSERT INTO t SELECT a FROM s", "ansi")])
    assert outcome.symbolic is not None
    assert names_in_bytes(outcome.symbolic) is not None


def test_a_parser_is_kept_for_the_next_block_like_it_and_for_no_other() -> None:
    found = []
    for seconds in (30, 30, 5):
        with kept_parser(1, Limits(seconds=seconds), Parser.AUTO) as parser:
            _parse_with_names(parser)
        del parser
        found += parser_processes()
    first, again, other = found
    assert first == again != other


def test_a_parser_is_not_kept_where_a_block_did_not_come_to_its_end() -> None:
    with pytest.raises(KeyboardInterrupt), kept_parser(1, Limits(), Parser.AUTO) as parser:
        _parse_with_names(parser)
        raise KeyboardInterrupt
    assert parser_processes() == []
