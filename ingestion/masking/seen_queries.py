"""What the row of a SELECT has of its own where queries are taken apart: which one it is, and its text once."""

from __future__ import annotations

from hashlib import blake2b

from ingestion.errors import Unparsable
from ingestion.lexing import lexicon_of
from ingestion.masking import fingerprint
from ingestion.masking.literals import scan

MOST_LITERALS = 20
"""Queries that differ in literals alone and are told apart; of more, the literals are values that are passed to it."""


class SeenQueries:
    """The SELECTs that one task has met; `key` is the secret under which literals are compared."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._literals: dict[tuple[str, str], set[str]] = {}

    def row(self, text: str, dialect: str) -> dict[str, object]:
        """The row of a SELECT, with its text where no other with these literals had it; {} where it cannot be read."""
        try:
            query = fingerprint(text, dialect)
            values = scan(text, lexicon_of(dialect)).literals
        except Unparsable:
            return {}
        joined = "\0".join(values).encode("utf-8", "surrogatepass")
        literals = blake2b(joined, key=self._key, digest_size=16).hexdigest()
        row: dict[str, object] = {"query": query, "literals": literals}
        seen = self._literals.setdefault((dialect, query), set())
        if literals not in seen and len(seen) <= MOST_LITERALS:
            seen.add(literals)
            row["text"] = text
        return row
