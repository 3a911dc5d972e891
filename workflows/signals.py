"""The first signal ends the run in order, the second one at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from ingestion.errors import Interrupted

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM raise Interrupted (exit 130, 143) in the block, so that it can clean up; once.

    Only in the main thread, where Python lets handlers be set.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_DFL)
        raise Interrupted(128 + number)

    for number in _ENDING:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
