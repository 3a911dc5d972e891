"""The sandbox against a parser that misbehaves on demand, in real processes."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ingestion.dialects import DIALECTS
from ingestion.errors import ParserUnavailable
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.sandbox.protocol import ParseReply
from tests.support.own_descriptors import own_descriptors
from tests.support.parser_processes import parser_processes

PARSERS = Path(__file__).parents[3] / "support" / "parsers"
PARSER = "misbehaving_parser"
SECONDS = 0.5
PATIENT_SECONDS = 20.0
"""Where it is not time that ends a statement."""

MARGIN = 5.0
"""For killing and replacing a process, on a machine that has other work too."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.syspath_prepend(str(PARSERS))
    with Sandbox(Limits(seconds=SECONDS)) as opened:
        yield opened


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.syspath_prepend(str(PARSERS))
    with Sandbox(Limits(seconds=PATIENT_SECONDS)) as opened:
        yield opened


def parse(sandbox: Sandbox, *texts: str) -> list[ParseReply]:
    return sandbox.parse(PARSER, [(text, "ansi") for text in texts])


def value(answer: ParseReply) -> object:
    assert answer.symbolic is not None
    return pickle.loads(answer.symbolic)


def ended(pid: int, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_answers_come_in_order_from_one_warm_process(sandbox: Sandbox) -> None:
    first = parse(sandbox, *(f"statement {number}" for number in range(50)))
    pid = sandbox.pid
    second = parse(sandbox, "again")
    assert [value(answer) for answer in first] == [f"statement {number}" for number in range(50)]
    assert value(second[0]) == "again"
    assert sandbox.pid == pid


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("spin", "timeout"),
        ("hold", "timeout"),
        ("stop", "timeout"),
        ("hog 100000", "memory"),
        ("swallow", "memory"),
        ("abort", "memory"),
        ("segfault", "crash"),
        ("exit 3", "crash"),
    ],
)
def test_only_the_culprit_pays(request: pytest.FixtureRequest, text: str, reason: str) -> None:
    sandbox = request.getfixturevalue("sandbox" if reason == "timeout" else "patient")
    parse(sandbox, "warm")
    begun = time.monotonic()
    answers = parse(sandbox, "before", text, "after", "later")
    assert [answer.reason for answer in answers] == ["", reason, "", ""]
    assert [value(answers[index]) for index in (0, 2, 3)] == ["before", "after", "later"]
    assert time.monotonic() - begun < SECONDS + 2 * MARGIN


def test_a_timeout_is_kept_to_within_a_quarter_of_a_second(sandbox: Sandbox) -> None:
    spent = [parse(sandbox, "spin")[0].seconds for _ in range(4)]
    assert min(spent) >= SECONDS
    assert min(spent) < SECONDS + 0.25  # other work on the machine may delay some of them


def test_each_statement_of_a_batch_has_the_whole_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PARSERS))
    with Sandbox(Limits(seconds=1.5)) as opened:
        answers = parse(opened, *["sleep 0.4"] * 5)
    assert [answer.reason for answer in answers] == [""] * 5


def test_an_exception_is_an_answer_that_names_its_place_and_no_text(sandbox: Sandbox) -> None:
    refused, broken, fine = parse(sandbox, "refuse", "bug secret", "fine")
    assert (refused.reason, refused.detail) == ("unparsable", "")
    assert broken.reason == "crash"
    assert broken.detail.startswith("KeyError at misbehaving_parser.py:")
    assert "secret" not in repr((refused, broken))
    assert value(fine) == "fine"


def test_text_that_is_ill_formed_reaches_no_parser(sandbox: Sandbox) -> None:
    answers = parse(sandbox, "spin '", "spin (", "fine")
    assert answers[0].reason.startswith("ill_formed:unterminated")
    assert answers[1].reason.startswith("ill_formed:unbalanced")
    assert value(answers[2]) == "fine"


def test_what_a_parser_prints_does_not_get_between_the_answers(sandbox: Sandbox) -> None:
    assert [value(answer) for answer in parse(sandbox, "print", "fine")] == ["printed", "fine"]


def test_the_memory_that_others_left_behind_is_not_held_against_a_statement(patient: Sandbox) -> None:
    parse(patient, "keep 30")
    answers = parse(patient, "hog 80", "fine")
    assert [answer.reason for answer in answers] == ["", ""]


def test_what_waits_for_the_collector_is_less_than_what_a_statement_may_take(patient: Sandbox) -> None:
    parse(patient, "warm")
    pid = patient.pid
    answers = parse(patient, *["litter " + 100_000 * "x"] * 20)  # ten megabytes each
    assert [answer.reason for answer in answers] == [""] * 20
    assert patient.pid == pid


def test_what_waits_for_the_collector_is_not_kept_with_the_grammars_of_the_next_dialect(patient: Sandbox) -> None:
    pids = set()
    for dialect in sorted(DIALECTS)[:20]:
        (answer,) = patient.parse(PARSER, [("litter " + 30_000 * "x", dialect)])  # three megabytes each
        assert answer.reason == ""
        pids.add(patient.pid)
    assert len(pids) == 1


def test_memory_below_the_limit_is_allowed(patient: Sandbox) -> None:
    assert [answer.reason for answer in parse(patient, "hog 70", "hog 130")] == ["", "memory"]


def test_a_kill_from_outside_costs_no_statement(sandbox: Sandbox) -> None:
    parse(sandbox, "warm")
    assert sandbox.pid is not None
    os.kill(sandbox.pid, signal.SIGKILL)
    assert value(parse(sandbox, "fine")[0]) == "fine"


def test_a_kill_in_the_middle_of_a_statement_gives_it_a_second_try(patient: Sandbox) -> None:
    parse(patient, "warm")
    assert patient.pid is not None
    threading.Timer(0.2, os.kill, (patient.pid, signal.SIGKILL)).start()
    assert [answer.reason for answer in parse(patient, "sleep 0.4", "fine")] == ["", ""]


def test_the_process_inherits_no_socket_and_no_file(sandbox: Sandbox, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, (tmp_path / "open").open("w") as file:
        os.set_inheritable(server.fileno(), True)
        os.set_inheritable(file.fileno(), True)
        descriptors = value(parse(sandbox, "descriptors")[0])
    assert isinstance(descriptors, list)
    assert not [link for link in descriptors if link.startswith("socket:") or str(tmp_path) in link]


def test_nothing_is_left_when_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PARSERS))
    others, descriptors, threads = parser_processes(), own_descriptors(), threading.enumerate()
    for _ in range(3):
        with Sandbox(Limits(seconds=SECONDS)) as opened:
            parse(opened, "fine", "segfault", "fine")
    assert not own_descriptors() - descriptors
    assert set(threading.enumerate()) <= set(threads)
    assert set(parser_processes()) <= set(others)


def test_cancelling_from_another_thread_ends_the_statement_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PARSERS))
    with Sandbox(Limits(seconds=30)) as opened:
        parse(opened, "warm")
        begun = time.monotonic()
        threading.Timer(0.2, opened.cancel).start()
        with pytest.raises(ParserUnavailable):
            parse(opened, "spin")
        assert time.monotonic() - begun < MARGIN


def test_a_process_that_does_not_come_up_is_no_statements_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Sandbox(Limits()) as opened, pytest.raises(ParserUnavailable, match=r"exit code 1.*sandbox.child"):
        parse(opened, "fine")


def test_a_parser_that_cannot_be_imported_is_no_statements_fault() -> None:
    with Sandbox(Limits()) as opened, pytest.raises(ParserUnavailable):
        opened.parse("no_such_parser", [("fine", "ansi")])


def test_a_process_that_was_started_before_loads_its_parser_and_is_the_one_that_is_asked(sandbox: Sandbox) -> None:
    sandbox.start(PARSER)
    pid = sandbox.pid
    assert pid is not None
    sandbox.start(PARSER)
    assert value(parse(sandbox, "fine")[0]) == "fine"
    assert sandbox.pid == pid


def test_a_process_that_was_started_and_never_asked_goes_when_it_is_closed() -> None:
    with Sandbox(Limits()) as opened:
        opened.start(PARSER)
        pid = opened.pid
    assert pid is not None
    assert ended(pid)


def test_a_parser_that_cannot_be_loaded_beforehand_is_told_when_it_is_asked() -> None:
    with Sandbox(Limits()) as opened:
        opened.start("no_such_parser")
        with pytest.raises(ParserUnavailable, match=r"exit code 1.*sandbox.child no_such_parser`"):
            parse(opened, "fine")


def test_what_did_not_come_up_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PARSERS))
    with Sandbox(Limits()) as opened:
        opened.start("no_such_parser")
        with pytest.raises(ParserUnavailable):
            parse(opened, "fine")
        assert value(parse(opened, "fine")[0]) == "fine"


OWNER = f"""
import sys
sys.path.insert(0, {str(PARSERS)!r})
from ingestion.parsing.sandbox.process import Limits, Sandbox
sandbox = Sandbox(Limits(seconds=60))
sandbox.parse({PARSER!r}, [("warm", "ansi")])
print(sandbox.pid, flush=True)
sandbox.parse({PARSER!r}, [(sys.argv[1], "ansi")])
"""


@pytest.mark.parametrize("statement", ["spin", "hold"])
def test_the_process_dies_with_its_owner(statement: str) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, statement], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        time.sleep(0.2)
        assert psutil.pid_exists(pid)
        owner.kill()
    assert ended(pid)


DAEMON = f"""
import multiprocessing, sys
sys.path.insert(0, {str(PARSERS)!r})
from ingestion.parsing.sandbox.process import Limits, Sandbox

def work():
    with Sandbox(Limits(seconds=0.5)) as sandbox:
        answers = sandbox.parse({PARSER!r}, [("fine", "ansi"), ("spin", "ansi"), ("fine", "ansi")])
    print([answer.reason for answer in answers], flush=True)

worker = multiprocessing.get_context("fork").Process(target=work, daemon=True)
worker.start()
worker.join()
"""


def test_it_works_in_a_daemonic_process_as_sparks_workers_are() -> None:
    done = subprocess.run([sys.executable, "-c", DAEMON], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "['', 'timeout', '']"
