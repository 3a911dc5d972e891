"""The circuit breaker: after enough failures in a row, over enough time, nobody calls the target any more."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ingestion.errors import TargetDown


class Breaker:
    """Shared by the threads of one client. It stays open: the run ends, and the next run starts with a new one.

    Both bounds must be met, so that many threads meeting one hiccup at the same moment do not open it.
    """

    def __init__(self, clock: Callable[[], float], failures: int = 12, seconds: float = 30.0) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._streak = 0
        self._since = 0.0
        self._reason: str | None = None
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._reason is not None

    def check(self) -> None:
        """Raises TargetDown when the breaker is open."""
        with self._lock:
            reason = self._reason
        if reason is not None:
            raise TargetDown(reason)

    def record_success(self) -> None:
        """The target answered, be it with a refusal."""
        with self._lock:
            self._streak = 0

    def record_failure(self, reason: str) -> None:
        """One attempt failed; `reason` is told when this was one too many."""
        with self._lock:
            now = self._clock()
            if self._streak == 0:
                self._since = now
            self._streak += 1
            if self._streak >= self._failures and now - self._since >= self._seconds:
                self._reason = self._reason or reason

    def trip(self, reason: str) -> None:
        """Opens at once: a call was given up on for a reason that every call would meet."""
        with self._lock:
            self._reason = self._reason or reason
