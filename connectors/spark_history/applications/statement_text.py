"""The lineage that a statement's text tells, parsed in a process that can be killed."""

from __future__ import annotations

from typing import Self

from cachetools import LRUCache

from ingestion.analysis.analyzer import analyze
from ingestion.errors import ParserUnavailable, Unparsable
from ingestion.model import StatementLineage
from ingestion.parsing.sandbox.sandbox import Limits, Sandbox
from ingestion.symbolic import loads

PARSER = "ingestion.parsing.sqlglot_tier.tier"
LIMITS = Limits(seconds=5.0, max_bytes=200_000)
"""A text is only compared with its plan: what takes longer is not worth it."""

REMEMBERED = 500


class TextReader:
    """Parses the texts of statements for comparison; one process, from the first text until it is closed."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._sandbox: Sandbox | None = None
        self._known: LRUCache[str, StatementLineage | None] = LRUCache(REMEMBERED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def lineage(self, text: str) -> StatementLineage | None:
        """What the text says without any schema; None where it cannot be parsed within the limits."""
        if text not in self._known:
            self._known[text] = self._parse(text)
        return self._known[text]

    def close(self) -> None:
        """End the process."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def _parse(self, text: str) -> StatementLineage | None:
        if len(text) > LIMITS.max_bytes:
            return None
        if self._sandbox is None:
            self._sandbox = Sandbox(LIMITS)
        try:
            (answer,) = self._sandbox.parse(PARSER, [(text, self._dialect)])
            if answer.symbolic is None:
                return None
            return analyze(loads(answer.symbolic), lambda _name: None)
        except (Unparsable, ParserUnavailable):
            return None
