"""The cascade on several threads, each driving a parser process of its own: requests in, outcomes out."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import LifoQueue
from types import TracebackType
from typing import Self

from ingestion.parsing.chunk import Attempt, ParseOutcome, Parser, ParseRequest, Tier, parse_chunk
from ingestion.parsing.sandbox import Limits, Sandbox

__all__ = [
    "Attempt",
    "Limits",
    "ParseOutcome",
    "ParseRequest",
    "Parser",
    "Sandbox",
    "ThreadedParser",
    "Tier",
    "parse_chunk",
]

CHUNK_STATEMENTS = 200
CHUNK_CHARACTERS = 10_000_000
CHUNKS_PER_THREAD = 2
"""How far reading goes ahead of parsing, so that no thread waits and memory stays bounded."""


_Parsing = Future[list[ParseOutcome]]


class ThreadedParser:
    """Parses streams of requests on `threads` threads; leaves no thread and no process behind when it is closed.

    The parser processes stay warm from one stream to the next.
    """

    def __init__(self, threads: int, limits: Limits, parser: Parser = Parser.AUTO) -> None:
        self._parser = parser
        self._ahead = threads * CHUNKS_PER_THREAD
        self._sandboxes = [Sandbox(limits) for _ in range(threads)]
        self._free: LifoQueue[Sandbox] = LifoQueue()
        for sandbox in self._sandboxes:
            self._free.put(sandbox)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="parser")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def parse(self, requests: Iterable[ParseRequest]) -> Iterator[ParseOutcome]:
        """One outcome for each request, as they come: in order within a chunk of 200, not between chunks.

        Raises ParserUnavailable when no parser process can be started.
        """
        running: set[_Parsing] = set()
        for chunk in _chunks(requests):
            running.add(self._executor.submit(self._parse_chunk, chunk))
            if len(running) >= self._ahead:
                running = yield from _finished(running)
        while running:
            running = yield from _finished(running)

    def _parse_chunk(self, chunk: list[ParseRequest]) -> list[ParseOutcome]:
        sandbox = self._free.get()
        try:
            return parse_chunk(chunk, sandbox, self._parser)
        finally:
            self._free.put(sandbox)

    def close(self) -> None:
        """Gives up what is still being parsed and ends every process and thread."""
        for sandbox in self._sandboxes:
            sandbox.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes:
            sandbox.close()


def _finished(running: set[_Parsing]) -> Generator[ParseOutcome, None, set[_Parsing]]:
    """Yields what the chunks that have ended gave; returns the others."""
    done, others = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield from future.result()
    return others


def _chunks(requests: Iterable[ParseRequest]) -> Iterator[list[ParseRequest]]:
    chunk: list[ParseRequest] = []
    characters = 0
    for request in requests:
        if chunk and (len(chunk) == CHUNK_STATEMENTS or characters + len(request.text) > CHUNK_CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(request)
        characters += len(request.text)
    if chunk:
        yield chunk
