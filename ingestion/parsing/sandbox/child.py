"""The parser process: reads calls from its standard input, parses, answers; may be killed at any moment.

Started by `ingestion.parsing.sandbox.process` as `python -m ingestion.parsing.sandbox.child`, with the modules that it
loads before it reads its first call.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

from ingestion.analysis.analyzer import analyze, lineage_with_names
from ingestion.analysis.symbolic import Symbolic, dumps, lineage_bytes
from ingestion.dialects.lexing import ill_formed
from ingestion.dialects.unfilled_templates import template_in_code, template_in_names
from ingestion.errors import FinalRefusal, ParseCrash, RecordError, Templated, Unparsable
from ingestion.model.isolation import line_of_error
from ingestion.parsing.sandbox.protocol import (
    HEADER,
    ILL_FORMED,
    OUT_OF_MEMORY_EXIT,
    ParseCall,
    ParseReply,
    Ready,
    Warm,
    WarmUp,
    frame,
)

_STACK_BYTES = 256 << 20
"""Room for recursion: compiled sqlglot follows 20,000 nested subqueries in it; the usual 8 MB is a segfault."""

_RECURSION_LIMIT = 100_000
_PORTABLE_RECURSION_LIMIT = 1_000
"""What nests deeper to pickle would also be too deep for an analysis on an ordinary thread's stack."""

_WARM_UP_STATEMENT = "INSERT INTO a SELECT b.c, sum(d) AS d FROM b JOIN e ON b.c = e.c WHERE d > 1 GROUP BY b.c"
_ALARM_GRACE_SECONDS = 1.0

# A syntax tree refers to its own parts in circles: it stays until the collector finds it. Python's own threshold, of
# 700 containers, has it look through each tree while that is still in use, which takes a tenth of a parse. A container
# of a tree has 160 bytes with what is in it, a character of a text comes to 100, of one of short names to 260: what
# waits to be collected is a thirtieth, or a tenth, of what one statement may take. So it is for a parser that says so:
# sqlfluff leaves circles all along one parse, and ran out of memory where it had run out of time.
_OFTEN = gc.get_threshold()[0]
_LIMIT_FOR_A_CONTAINER = 5_000
_LIMIT_FOR_A_CHARACTER = 2_500
"""Bytes of the limit for each of those that wait."""
_PR_SET_PDEATHSIG = 1

Answer = Callable[[str, str], bytes]


def main() -> None:
    """Serves until standard input ends or the process is killed."""
    owner = os.getppid()
    answers = _private_output()
    _die_with(owner)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    threading.stack_size(_STACK_BYTES)
    ended = threading.Event()
    serving = threading.Thread(target=_serve_or_exit, args=(sys.stdin.buffer, answers, ended))
    serving.start()
    serving.join()
    os._exit(0 if ended.is_set() else 1)


def _private_output() -> int:
    """Keeps the pipe to the owner to ourselves: what a library prints must not end up between the answers."""
    answers = os.dup(1)
    # Standard error goes nowhere: what a library prints may quote a statement.
    os.dup2(2, 1)
    return answers


def _die_with(owner: int) -> None:
    """Ends this process with its owner, in the middle of a parse too; where there is no prctl, at the alarm."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != owner:
            os._exit(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})


def _serve_or_exit(requests: BinaryIO, answers: int, ended: threading.Event) -> None:
    try:
        _serve(requests, answers)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_EXIT)
    except BrokenPipeError:
        ended.set()
    else:
        ended.set()


def _serve(requests: BinaryIO, answers: int) -> None:
    for module in sys.argv[1:]:
        _load(module)
    parsers: dict[str, Answer] = {}
    baseline = _address_space()
    waiting = most_waiting = seldom = 0
    _send(answers, Ready())
    while (message := _receive(requests)) is not None:
        if isinstance(message, WarmUp):
            if waiting:  # or it would be kept for good, as the grammars are
                gc.collect()
                waiting = 0
            baseline += _warm_up(message, parsers)
            _allow(baseline + message.memory)
            seldom = max(1, message.memory // _LIMIT_FOR_A_CONTAINER)
            most_waiting = message.memory // _LIMIT_FOR_A_CHARACTER
            _send(answers, Warm())
        elif isinstance(message, ParseCall):
            parse = parsers[message.module]
            gc.set_threshold(seldom if hasattr(sys.modules[message.module], "COLLECT_SELDOM") else _OFTEN)
            for text, dialect in message.statements:
                if waiting and waiting + len(text) > most_waiting:
                    gc.collect()
                    waiting = 0
                waiting += len(text)
                # The owner keeps the time; the alarm, which compiled code cannot hold up, is for when it is gone.
                signal.setitimer(signal.ITIMER_REAL, message.seconds + _ALARM_GRACE_SECONDS)
                answer = _answer(parse, text, dialect)
                signal.setitimer(signal.ITIMER_REAL, 0)
                _send(answers, answer)


def _receive(requests: BinaryIO) -> object | None:
    header = requests.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    return cast(object, pickle.loads(requests.read(size)))


def _send(answers: int, message: object) -> None:
    rest = memoryview(frame(message))
    while rest:
        rest = rest[os.write(answers, rest) :]


def _load(module: str) -> ModuleType:
    """A module, loaded without a search for what nobody uses any more: all stays, and the search took a sixth of it.

    There is none from then on until a warm-up has ended.
    """
    gc.disable()
    return importlib.import_module(module)


def _warm_up(message: WarmUp, parsers: dict[str, Answer]) -> int:
    """How many bytes the parser and the dialect took for themselves."""
    before = _address_space()
    _allow(resource.RLIM_INFINITY)
    parse = parsers[message.module] = _answer_of(_load(message.module), names=message.names)
    _answer(parse, _WARM_UP_STATEMENT, message.dialect)
    # The grammars stay for good: the collector need not walk them.
    gc.freeze()
    gc.enable()
    return _address_space() - before


def _answer_of(module: ModuleType, *, names: bool) -> Answer:
    """What a module makes of a text: `answer` gives bytes; `parse`, of a parser tier, the lineage of what it reads."""
    if hasattr(module, "answer"):
        return cast(Answer, module.answer)
    parse = cast(Callable[[str, str], Symbolic], module.parse)

    def parse_to_bytes(text: str, dialect: str) -> bytes:
        if template_in_code(text, dialect) is not None:
            raise Templated(Templated.code)
        if wrong := ill_formed(text, dialect):
            raise _IllFormed(wrong)
        symbolic = _portable(parse(text, dialect), names=names)
        if template_in_names(text, dialect, lineage_bytes(symbolic)) is not None:
            raise Templated(Templated.code)
        return symbolic

    return parse_to_bytes


class _IllFormed(Exception):
    """What no parser should be given."""


def _allow(limit: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    bounded = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bounded, hard))


def _address_space() -> int:
    """Bytes of address space in use; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _answer(parse: Answer, text: str, dialect: str) -> ParseReply:
    """Parses one statement. The record's boundary: whatever a parser raises is its answer to this statement."""
    begun = time.perf_counter()
    try:
        symbolic = parse(text, dialect)
    except MemoryError:
        raise
    except _IllFormed as error:
        return ParseReply(None, f"{ILL_FORMED}{error}", time.perf_counter() - begun)
    except RecordError as error:
        reason, detail = error.code, error.words if isinstance(error, Unparsable) else ""
        failure: BaseException = error
    except Exception as error:  # noqa: BLE001
        reason, detail = ParseCrash.code, line_of_error(error)
        failure = error
    else:
        return ParseReply(symbolic, "", time.perf_counter() - begun)
    if _out_of_memory(failure):
        raise MemoryError
    if isinstance(failure, RecursionError):
        reason = Unparsable.code
    line, column = (failure.line, failure.column) if isinstance(failure, Unparsable) else (0, 0)
    seconds, final = time.perf_counter() - begun, isinstance(failure, FinalRefusal)
    return ParseReply(None, reason, seconds, detail, line, column, final)


def _portable(symbolic: Symbolic, *, names: bool) -> bytes:
    """The bytes of what the owner can analyse: the relational form, or its flat lineage where that nests too deep.

    The lineage is found here, where there is stack for it, and still binds to the schemas that the owner has.
    """
    sys.setrecursionlimit(_PORTABLE_RECURSION_LIMIT)
    try:
        return lineage_with_names(dumps(symbolic), symbolic) if names else dumps(symbolic)
    except RecursionError:
        sys.setrecursionlimit(_RECURSION_LIMIT)
        flat = analyze(symbolic, lambda _name: None)
        return lineage_with_names(dumps(flat), flat) if names else dumps(flat)
    finally:
        sys.setrecursionlimit(_RECURSION_LIMIT)


def _out_of_memory(error: BaseException | None) -> bool:
    """Whether memory ran out beneath: sqlglot's tokenizer turns a MemoryError into a TokenError."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    main()
