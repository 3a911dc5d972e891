"""One parser process as its owner sees it: start, send, receive within a deadline, kill."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from ingestion.errors import ParseCrash, ParseMemory, ParserUnavailable, ParseTimeout
from ingestion.parsing.sandbox.protocol import OUT_OF_MEMORY_EXIT, frame, take_frame

CHILD_MODULE = "ingestion.parsing.sandbox.child"
START_SECONDS = 60.0
MEMORY_WATCH_SECONDS = 0.05
READ_BYTES = 1 << 18


class Process:
    """A running parser process. After any error raised here it is dead and reaped, its pipes closed."""

    def __init__(self) -> None:
        """Starts the process and waits until it is ready. Raises ParserUnavailable when it does not come up."""
        self._buffer = bytearray()
        self._popen = _popen()
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._requests = self._popen.stdin.fileno()
        self._answers = self._popen.stdout.fileno()
        os.set_blocking(self._requests, False)
        os.set_blocking(self._answers, False)
        try:
            self.receive(START_SECONDS)
        except (ParseTimeout, ParseCrash, ParseMemory) as error:
            raise self.unavailable() from error

    @property
    def pid(self) -> int:
        return self._popen.pid

    def unavailable(self) -> ParserUnavailable:
        """The error that says what to try when the process does not come up."""
        return ParserUnavailable(
            f"the parser process did not start (exit code {self._popen.returncode}); "
            f"see what `{sys.executable} -m {CHILD_MODULE}` says"
        )

    @property
    def exit_code(self) -> int | None:
        """The process's exit code, negative for a signal; None while it runs."""
        return self._popen.returncode

    def resident(self) -> int:
        """Bytes of memory that the process holds now; 0 where the system does not say."""
        try:
            statm = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii")
        except OSError:
            return 0
        return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")

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
            try:
                arrived = os.read(self._answers, READ_BYTES)
            except BlockingIOError:
                self._wait(poll, deadline, resident_limit)
                continue
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
            turn = min(left, MEMORY_WATCH_SECONDS) if resident_limit else left
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
        if self.exit_code == OUT_OF_MEMORY_EXIT:
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


def _popen() -> subprocess.Popen[bytes]:
    """Own session: a Ctrl-C in the terminal is for the owner. Standard error goes nowhere: it may quote a query."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "MALLOC_ARENA_MAX": "1",  # an arena per thread reserves address space, which is what is limited
    }
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", CHILD_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            env=environment,
        )
    except OSError as error:
        raise ParserUnavailable(f"no parser process can be started: {error.strerror}") from error
