"""The tiers on several threads, each driving a parser process of its own, some of which stay warm between calls."""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from queue import LifoQueue
from typing import Self

from ingestion.chunks import chunks_within
from ingestion.cores import cores
from ingestion.errors import ConfigError
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.tiers import MODULES, TIERS, ParseOutcome, Parser, ParseRequest, parse_chunk

_CHUNK_STATEMENTS = 200
_CHUNK_CHARACTERS = 10_000_000
_CHUNKS_PER_THREAD = 2
"""How far reading goes ahead of parsing, so that no thread waits and memory stays bounded."""


_Parsing = Future[list[ParseOutcome]]

_MOST_WARM = 4
_MOST_WARM_PROCESSES = 4
"""Of one time limit: each takes some 80 MB for as long as whoever asked may ask again."""


class ThreadedParser:
    """Parses streams of requests on `threads` threads; leaves no thread and no process behind when it is closed.

    The parser processes stay warm from one stream to the next. `names`: whether they tell the names of statements too.
    """

    def __init__(self, threads: int, limits: Limits, parser: Parser = Parser.AUTO, *, names: bool = True) -> None:
        self._parser = parser
        self._ahead = threads * _CHUNKS_PER_THREAD
        self._sandboxes = [Sandbox(limits, names=names) for _ in range(threads)]
        self._free: LifoQueue[Sandbox] = LifoQueue()
        for sandbox in self._sandboxes:
            self._free.put(sandbox)
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="parser")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts the parser process that is used first; it loads the first tier while the caller does something else.

        Raises ParserUnavailable when it cannot be started.
        """
        self._sandboxes[-1].start(MODULES[TIERS[self._parser][0]])

    def parse(self, requests: Iterable[ParseRequest]) -> Iterator[ParseOutcome]:
        """One outcome for each request, as they come: in order within a chunk of 200, not between chunks.

        Raises ParserUnavailable when no parser process can be started.
        """
        running: set[_Parsing] = set()
        for chunk in self._submit_chunks(requests):
            running.add(chunk)
            if len(running) >= self._ahead:
                running = yield from _finish(running)
        while running:
            running = yield from _finish(running)

    def parse_in_order(self, requests: Iterable[ParseRequest]) -> Iterator[ParseOutcome]:
        """The same in the order of the requests: what follows a chunk that takes long waits for it."""
        running: deque[_Parsing] = deque()
        for chunk in self._submit_chunks(requests):
            running.append(chunk)
            if len(running) >= self._ahead:
                yield from running.popleft().result()
        for one in running:
            yield from one.result()

    def _submit_chunks(self, requests: Iterable[ParseRequest]) -> Iterator[_Parsing]:
        chunks = _chunks(requests)
        first = list(islice(chunks, 2))
        # To hand a chunk to a thread and wait for that takes as long as to parse a short statement. But a parser
        # process ends with the thread that started it, and any but the main one may end before the parser is closed.
        if len(first) == 1 and threading.current_thread() is threading.main_thread():
            done: _Parsing = Future()
            done.set_result(self._parse_chunk(first[0]))
            yield done
            return
        for chunk in chain(first, chunks):
            yield self._executor.submit(self._parse_chunk, chunk)

    def _parse_chunk(self, chunk: list[ParseRequest]) -> list[ParseOutcome]:
        sandbox = self._free.get()
        outcomes = None
        try:
            outcomes = parse_chunk(chunk, sandbox, self._parser)
        finally:
            if outcomes is None:  # a signal, say, while an answer was on its way: the next would take it for its own
                sandbox.close()
            self._free.put(sandbox)
        return outcomes

    def close(self) -> None:
        """Gives up what is still being parsed and ends every process and thread."""
        for sandbox in self._sandboxes:
            sandbox.cancel()
        self._executor.shutdown(wait=True, cancel_futures=True)
        ended = [self._free.get() for _ in self._sandboxes]  # a caller's own thread may still be parsing
        for sandbox in ended:
            sandbox.close()
            self._free.put(sandbox)

    def close_with_its_last_user(self) -> None:
        """Closes the parser once nobody holds it any more, or the interpreter ends; not in a process forked off."""
        weakref.finalize(self, _close_in, os.getpid(), self._sandboxes, self._executor)


def _close_in(process: int, sandboxes: list[Sandbox], executor: ThreadPoolExecutor) -> None:
    if os.getpid() != process:
        return
    for sandbox in sandboxes:
        sandbox.cancel()
    # the last to let go may be a thread of the executor itself: it cannot be waited for
    executor.shutdown(wait=False, cancel_futures=True)
    for sandbox in sandboxes:
        sandbox.close()


def _finish(running: set[_Parsing]) -> Generator[ParseOutcome, None, set[_Parsing]]:
    """Yields what the chunks that have ended gave; returns the others."""
    done, others = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield from future.result()
    return others


def _chunks(requests: Iterable[ParseRequest]) -> Iterator[list[ParseRequest]]:
    return chunks_within(requests, lambda one: (1, len(one.text)), (_CHUNK_STATEMENTS, _CHUNK_CHARACTERS))


# Parser processes that stay warm between calls: starting one takes longer than most parses.


def warm_parser(timeout_seconds: float) -> ThreadedParser:
    """The parser of this time limit, which all threads share; those used last stay warm.

    A forked process has parsers of its own: it has neither the threads nor the pipes of the one that it was forked
    from, and must not end them. Raises ConfigError where the limit is no positive, finite number.
    """
    if not (math.isfinite(timeout_seconds) and timeout_seconds > 0):
        raise ConfigError(f"timeout_seconds must be a positive number, not {timeout_seconds}")
    return _start(Limits(seconds=timeout_seconds), os.getpid())


@contextmanager
def kept_parser(threads: int, limits: Limits, parser: Parser) -> Iterator[ThreadedParser]:
    """A parser that tells names, for the block, and for the next block like it in this process as well.

    One is kept, as long as the process lives and asks for no other; it is closed where the block did not come to its
    end, since it may still be parsing what nobody waits for.
    """
    kept = _keep(threads, limits, parser, os.getpid())
    try:
        yield kept
    except BaseException:
        _keep.cache_clear()
        kept.close()
        raise


def close_warm_parsers() -> None:
    """Ends every parser that nobody uses now."""
    _start.cache_clear()
    _keep.cache_clear()


@lru_cache(maxsize=1)
def _keep(threads: int, limits: Limits, parser: Parser, _process: int) -> ThreadedParser:
    kept = ThreadedParser(threads, limits, parser)
    kept.close_with_its_last_user()
    return kept


@lru_cache(maxsize=_MOST_WARM)
def _start(limits: Limits, _process: int) -> ThreadedParser:
    parser = ThreadedParser(min(cores(), _MOST_WARM_PROCESSES), limits, names=False)
    parser.close_with_its_last_user()
    return parser
