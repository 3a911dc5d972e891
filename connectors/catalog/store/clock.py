"""The time, as the catalog keeps it."""

from __future__ import annotations

import time


def now_millis() -> int:
    """Now, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
