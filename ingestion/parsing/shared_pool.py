"""Parser processes that stay warm between calls: starting one takes longer than most parses."""

from __future__ import annotations

import math
import os
from functools import lru_cache

from ingestion.errors import ConfigError
from ingestion.parsing.parser_pool import Limits, ThreadedParser

_MOST = 4


def warm_parser(timeout_seconds: float) -> ThreadedParser:
    """The parser of this time limit, which all threads share; those used last stay warm.

    A forked process has parsers of its own: it has neither the threads nor the pipes of the one that it was forked
    from, and must not end them. Raises ConfigError where the limit is no positive, finite number.
    """
    if not (math.isfinite(timeout_seconds) and timeout_seconds > 0):
        raise ConfigError(f"timeout_seconds must be a positive number, not {timeout_seconds}")
    return _start(Limits(seconds=timeout_seconds), os.getpid())


def close_warm_parsers() -> None:
    """Ends every parser that nobody uses now."""
    _start.cache_clear()


@lru_cache(maxsize=_MOST)
def _start(limits: Limits, _process: int) -> ThreadedParser:
    parser = ThreadedParser(1, limits, names=False)
    parser.close_with_its_last_user()
    return parser
