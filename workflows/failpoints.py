"""Failpoints: places where a test can have a run die, off unless the environment names one.

`HEADWATER_FAILPOINT=publish:3:kill` kills the process when it passes `publish` for the third time; `term` sends it
SIGTERM instead.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

from ingestion.errors import ConfigError

VARIABLE = "HEADWATER_FAILPOINT"
_SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM}


class Failpoints:
    """Counts how often a run passes each place."""

    def __init__(self, armed: str | None = None) -> None:
        self._passed: Counter[str] = Counter()
        self._name, self._number, self._signal = _parsed(armed) if armed else ("", 0, signal.SIGTERM)

    @classmethod
    def from_environment(cls) -> Failpoints:
        """As the environment says. Raises ConfigError where that cannot be read."""
        return cls(os.environ.get(VARIABLE))

    def passed(self, name: str) -> None:
        """The run is at `name`."""
        self._passed[name] += 1
        if name == self._name and self._passed[name] == self._number:
            os.kill(os.getpid(), self._signal)


def _parsed(armed: str) -> tuple[str, int, signal.Signals]:
    name, _, rest = armed.partition(":")
    number, _, action = rest.partition(":")
    if not number.isdigit() or action not in _SIGNALS:
        raise ConfigError(f"{VARIABLE}: write place:number:kill or place:number:term, as in publish:3:kill")
    return name, int(number), _SIGNALS[action]
