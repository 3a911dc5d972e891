"""What is piped in, in place of a file."""

from __future__ import annotations

import sys

from ingestion.errors import ConfigError


def read_standard_input(limit: int) -> bytes:
    """At most `limit` + 1 bytes of it: one more says that there is more. Raises ConfigError where it is closed."""
    if sys.stdin is None or sys.stdin.closed:
        raise ConfigError("standard input is closed; name a file, or pipe the text in")
    return sys.stdin.buffer.read(limit + 1)
