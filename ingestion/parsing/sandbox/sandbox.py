"""Parsing in a process that can be killed: what a thread drives.

Not a ready-made pool: each thread owns one warm process, sees every answer as it comes, and so knows the culprit
without parsing a chunk again; and it works inside Spark's workers, which may not have multiprocessing children.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ingestion.errors import ParseCrash, ParseMemory, ParserUnavailable, ParseTimeout, RecordError
from ingestion.parsing.sandbox.process import START_SECONDS, Process
from ingestion.parsing.sandbox.protocol import Batch, ParseReply, WarmUp

BATCH_STATEMENTS = 20
BATCH_CHARACTERS = 1 << 18


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


SandboxStatement = tuple[str, str]
"""A statement's text and its dialect."""


class Sandbox:
    """A warm parser process, killed when a statement overruns its limits and replaced for the next one.

    Driven by one thread at a time. When it is closed nothing of it is left. `names` False: nobody needs the names of
    statements without their lineage.
    """

    def __init__(self, limits: Limits, *, names: bool = True) -> None:
        self.limits = limits
        self._names = names
        self._process: Process | None = None
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

    def parse(self, module: str, statements: Sequence[SandboxStatement]) -> list[ParseReply]:
        """One answer for each statement, in order, from `module.parse(text, dialect)`.

        "timeout", "memory" and "crash" cost a statement its process, and the others nothing. Where the process may
        have died of what it had parsed before, the statement has a second try in a new one.

        Raises ParserUnavailable when no process can be started, or when the sandbox was cancelled.
        """
        answers: list[ParseReply] = []
        while len(answers) < len(statements):
            self._parse_batch(module, _batch(statements, len(answers)), answers)
        return answers

    def _parse_batch(self, module: str, batch: tuple[SandboxStatement, ...], answers: list[ParseReply]) -> None:
        begun = time.perf_counter()
        try:
            process = self._running()
            self._warm_up(process, module, batch)
            process.send(Batch(module, self.limits.seconds, batch), START_SECONDS)
            for _ in batch:
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
        self._retained = process.resident() - self._baseline
        if self._retained > self.limits.memory // 2:
            self.close()

    def _may_be_innocent(self, error: RecordError) -> bool:
        """Whether the process may have died of what it parsed before, or of a kill from outside."""
        if isinstance(error, ParseMemory):
            return self._retained > self.limits.memory // 8
        return isinstance(error, ParseCrash) and self._parsed > 0

    def _running(self) -> Process:
        with self._lock:
            if self._cancelled:
                raise ParserUnavailable("the parser was closed")
            if self._process is None:
                self._process = Process()
                self._baseline = self._process.resident()
            return self._process

    def _warm_up(self, process: Process, module: str, batch: tuple[SandboxStatement, ...]) -> None:
        for dialect in dict.fromkeys(dialect for _, dialect in batch):
            if (module, dialect) in self._warm:
                continue
            before = process.resident()
            process.send(WarmUp(module, dialect, self.limits.memory, self._names), START_SECONDS)
            try:
                process.receive(START_SECONDS)
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
        self._warm.clear()
        self._parsed = self._retained = 0


def _batch(statements: Sequence[SandboxStatement], first: int) -> tuple[SandboxStatement, ...]:
    """The next statements to send at once: few, and small, so that none pays for its neighbours' memory."""
    last, characters = first + 1, len(statements[first][0])
    while last < len(statements) and last - first < BATCH_STATEMENTS:
        characters += len(statements[last][0])
        if characters > BATCH_CHARACTERS:
            break
        last += 1
    return tuple(statements[first:last])
