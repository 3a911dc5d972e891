"""Parsing in a process that can be killed: it is started, sent statements, heard within a deadline, and killed.

Not a ready-made pool: each thread owns one warm process, sees every answer as it comes, and so knows the culprit
without parsing a chunk again; and it works inside Spark's workers, which may not have multiprocessing children.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from ingestion.errors import ParseCrash, ParseMemory, ParserUnavailable, ParseTimeout, RecordError
from ingestion.parsing.sandbox.protocol import OUT_OF_MEMORY_EXIT, ParseCall, ParseReply, WarmUp, frame, take_frame

CHILD_MODULE = "ingestion.parsing.sandbox.child"
_START_SECONDS = 60.0
_MEMORY_WATCH_SECONDS = 0.05
_READ_AT_ONCE = 1 << 18
_STATM_BYTES = 256
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_STATEMENTS_AT_ONCE = 20
_CHARACTERS_AT_ONCE = 1 << 18

SandboxStatement = tuple[str, str]
"""A statement's text and its dialect."""


class _Process:
    """A running parser process. After any error raised here it is dead and reaped, its pipes closed."""

    def __init__(self, *modules: str) -> None:
        """Starts the process, which loads the `modules` first. Raises ParserUnavailable where none can be started."""
        self._buffer = bytearray()
        self._modules = modules
        self._popen = _popen(modules)
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._requests = self._popen.stdin.fileno()
        self._answers = self._popen.stdout.fileno()
        self._memory = _memory_file(self._popen.pid)
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)

    def await_ready(self) -> None:
        """Waits until the process takes calls. Raises ParserUnavailable when it does not come up."""
        try:
            self.receive(_START_SECONDS)
        except (ParseTimeout, ParseCrash, ParseMemory) as error:
            raise self.unavailable() from error

    @property
    def pid(self) -> int:
        return self._popen.pid

    def unavailable(self) -> ParserUnavailable:
        """The error that says what to try when the process does not come up."""
        return ParserUnavailable(
            f"the parser process did not start (exit code {self._popen.returncode}); "
            f"see what `{' '.join((sys.executable, '-m', CHILD_MODULE, *self._modules))}` says"
        )

    @property
    def exit_code(self) -> int | None:
        """The process's exit code, negative for a signal; None while it runs."""
        return self._popen.returncode

    def resident(self) -> int:
        """Bytes of memory that the process holds now; 0 where the system does not say."""
        if self._memory is None:
            return 0
        try:
            return int(os.pread(self._memory, _STATM_BYTES, 0).split()[1]) * _PAGE_BYTES
        except (OSError, IndexError):  # the process is gone
            return 0

    def send(self, message: object, seconds: float) -> None:
        """Sends one message.

        Raises ParseTimeout when the process does not take it within `seconds`, ParseCrash when it is gone.
        """
        deadline = time.monotonic() + seconds
        rest = memoryview(frame(message))
        poll = select.poll()
        poll.register(self._requests, select.POLLOUT)
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:
                self._wait(poll, deadline)
            except BrokenPipeError:
                raise self._death() from None

    def receive(self, seconds: float, resident_limit: int = 0) -> object:
        """The next message.

        Raises ParseTimeout after `seconds`, ParseMemory when the process holds more than `resident_limit` bytes
        (0: unwatched) or was refused memory, ParseCrash when it dies of anything else.
        """
        deadline = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        while (message := take_frame(self._buffer)) is None:
            self._wait(poll, deadline, resident_limit)
            arrived = os.read(self._answers, _READ_AT_ONCE)
            if not arrived:
                raise self._death()
            self._buffer += arrived
        return message

    def _wait(self, poll: select.poll, deadline: float, resident_limit: int = 0) -> None:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                raise ParseTimeout("the parser overran its time")
            turn = min(left, _MEMORY_WATCH_SECONDS) if resident_limit else left
            if poll.poll(turn * 1000):
                return
            if resident_limit and self.resident() > resident_limit:
                self.kill()
                raise ParseMemory("the parser overran its memory")

    def _death(self) -> ParseTimeout | ParseMemory | ParseCrash:
        """What a process died of that closed its pipes by itself."""
        try:
            self._popen.wait(1.0)
        except subprocess.TimeoutExpired:
            self._popen.kill()
        self.kill()
        # Rust aborts where it is refused memory, and has no exception for that.
        if self.exit_code in (OUT_OF_MEMORY_EXIT, -signal.SIGABRT):
            return ParseMemory("the parser was refused memory")
        if self.exit_code == -signal.SIGALRM:
            return ParseTimeout("the parser overran its time")
        return ParseCrash(f"the parser's process ended with code {self.exit_code}")

    def signal_end(self) -> None:
        """Kills the process from another thread than the one that reads its answers and will reap it."""
        self._popen.kill()

    def kill(self) -> None:
        """Ends the process at once, reaps it and closes the pipes; does nothing the second time."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                pipe.close()
        if self._memory is not None:
            os.close(self._memory)
            self._memory = None


def _memory_file(process: int) -> int | None:
    """Where the system says what memory a process holds; it stays open, as it is read at each statement."""
    try:
        return os.open(f"/proc/{process}/statm", os.O_RDONLY)
    except OSError:
        return None


def _popen(modules: Iterable[str]) -> subprocess.Popen[bytes]:
    """Own session: a Ctrl-C in the terminal is for the owner. Standard error goes nowhere: it may quote a query."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "MALLOC_ARENA_MAX": "1",  # an arena per thread reserves address space, which is what is limited
    }
    try:
        return subprocess.Popen(
            # -P: a file of the user's that is called like a module of ours or of Python's is not imported in its stead.
            [sys.executable, "-P", "-m", CHILD_MODULE, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A buffer would hold back answers that `poll` was told of.
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            env=environment,
        )
    except OSError as error:
        raise ParserUnavailable(f"no parser process can be started: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Limits:
    """What one statement may cost one parser: seconds, megabytes above the warm process, bytes of text.

    No parser reads ten million bytes within the default memory: sqlglot needs about a hundred bytes for each.
    """

    seconds: float = 30.0
    memory_mb: int = 100
    max_bytes: int = 10_000_000

    @property
    def memory(self) -> int:
        """Bytes of memory above the warm process."""
        return self.memory_mb << 20


class Sandbox:
    """A warm parser process, killed when a statement overruns its limits and replaced for the next one.

    Driven by one thread at a time. When it is closed nothing of it is left. `names` False: nobody needs the names of
    statements without their lineage.
    """

    def __init__(self, limits: Limits, *, names: bool = True) -> None:
        self.limits = limits
        self._names = names
        self._process: _Process | None = None
        self._ready = False
        self._warm: set[tuple[str, str]] = set()
        self._baseline = 0
        self._parsed = 0
        self._retained = 0
        self._cancelled = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that is warm now, None while there is none."""
        return self._process.pid if self._process else None

    def start(self, module: str) -> None:
        """Starts the process where there is none; it loads `module` while its owner does something else.

        Raises ParserUnavailable when no process can be started, or when the sandbox was cancelled.
        """
        with self._lock:
            self._start_once(module)

    def parse(self, module: str, statements: Sequence[SandboxStatement]) -> list[ParseReply]:
        """One answer for each statement, in order, from `module.parse(text, dialect)`.

        "timeout", "memory" and "crash" cost a statement its process, and the others nothing. Where the process may
        have died of what it had parsed before, the statement has a second try in a new one.

        Raises ParserUnavailable when no process can be started, or when the sandbox was cancelled.
        """
        answers: list[ParseReply] = []
        while len(answers) < len(statements):
            self._parse_next(module, _next_statements(statements, len(answers)), answers)
        return answers

    def _parse_next(self, module: str, asked: tuple[SandboxStatement, ...], answers: list[ParseReply]) -> None:
        begun = time.perf_counter()
        try:
            process = self._running()
            self._warm_up(process, module, asked)
            process.send(ParseCall(module, self.limits.seconds, asked), _START_SECONDS)
            for _ in asked:
                begun = time.perf_counter()
                answer = process.receive(self.limits.seconds, self._baseline + self.limits.memory)
                assert isinstance(answer, ParseReply)
                answers.append(answer)
                self._parsed += 1
        except (ParseTimeout, ParseMemory, ParseCrash) as error:
            innocent = self._may_be_innocent(error)
            self.close()
            if not innocent:
                answers.append(ParseReply(None, error.code, time.perf_counter() - begun))
            return
        except ParserUnavailable:
            self.close()  # or the next one would go to a dead process, whose pipes may be others' files by then
            raise
        self._retained = process.resident() - self._baseline
        # What a parser keeps of one statement is not the next one's fault: a new process begins at nothing.
        if self._retained > self.limits.memory // 2:
            self.close()

    def _may_be_innocent(self, error: RecordError) -> bool:
        """Whether the process may have died of what it parsed before, or of a kill from outside."""
        if isinstance(error, ParseMemory):
            # Where the process had grown before, the statement may have been within its own limit.
            return self._retained > self.limits.memory // 8
        return isinstance(error, ParseCrash) and self._parsed > 0

    def _running(self) -> _Process:
        with self._lock:
            process = self._start_once()
            if not self._ready:
                process.await_ready()
                self._baseline = process.resident()
                self._ready = True
            return process

    def _start_once(self, *modules: str) -> _Process:
        if self._cancelled:
            raise ParserUnavailable("the parser was closed")
        if self._process is None:
            self._process = _Process(*modules)
        return self._process

    def _warm_up(self, process: _Process, module: str, asked: tuple[SandboxStatement, ...]) -> None:
        for dialect in dict.fromkeys(dialect for _, dialect in asked):
            if (module, dialect) in self._warm:
                continue
            before = process.resident()
            process.send(WarmUp(module, dialect, self.limits.memory, self._names), _START_SECONDS)
            try:
                process.receive(_START_SECONDS)
            except ParseCrash:
                if process.exit_code == 1:  # an exception outside any parse: a broken installation
                    raise process.unavailable() from None
                raise
            self._baseline += max(0, process.resident() - before)
            self._warm.add((module, dialect))

    def cancel(self) -> None:
        """Ends the statement that another thread is parsing, and all parsing in this sandbox."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.signal_end()

    def close(self) -> None:
        """Ends the process. Parsing again starts another."""
        if self._process is not None:
            self._process.kill()
        self._process = None
        self._ready = False
        self._warm.clear()
        self._parsed = self._retained = 0


def _next_statements(statements: Sequence[SandboxStatement], first: int) -> tuple[SandboxStatement, ...]:
    """The next statements to send at once: few, and small, so that none pays for its neighbours' memory."""
    last, characters = first + 1, len(statements[first][0])
    while last < len(statements) and last - first < _STATEMENTS_AT_ONCE:
        characters += len(statements[last][0])
        if characters > _CHARACTERS_AT_ONCE:
            break
        last += 1
    return tuple(statements[first:last])
