"""The first signal ends the run in order, the second one at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ingestion.errors import Interrupted

_ENDING = (signal.SIGINT, signal.SIGTERM)


class GracefulShutdown:
    """Lets what was begun come to its end: a signal that arrives in a `hold` block ends the run after the block."""

    def __init__(self) -> None:
        self._held = 0
        self._came: int | None = None

    @property
    def interruption(self) -> Interrupted | None:
        """The signal that has come, for who finds something broken off: not everybody lets an Interrupted through."""
        return None if self._came is None else Interrupted(128 + self._came)

    def receive(self, number: int) -> None:
        """The first signal has come. Raises Interrupted, at once or at the end of the block that holds it."""
        self._came = number
        if not self._held:
            raise Interrupted(128 + number)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Work that is short and had better not be left half done. Only in the main thread."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._came is not None and not self._held:
            raise Interrupted(128 + self._came)


@contextmanager
def interrupted_by_signals(drain: GracefulShutdown | None = None) -> Iterator[None]:
    """SIGINT and SIGTERM raise Interrupted (exit 130, 143) in the block, so that it can clean up; once.

    Only in the main thread, where Python lets handlers be set.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    draining = drain or GracefulShutdown()

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_DFL)
        draining.receive(number)

    for number in _ENDING:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
