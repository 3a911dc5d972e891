"""Statements known by their shape: a log repeats few of them, with other values each time."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects.lexing import lexicon_of
from ingestion.errors import Unparsable
from ingestion.model.digests import digest
from ingestion.statements import is_single
from ingestion.statements._literals import MARKS, Scan, kept_literals, scan
from ingestion.statements.cleaning import EDGE
from ingestion.statements.masking import fingerprint

_MOST, _MOST_CHARACTERS = 20_000, 32 << 20
"""Shapes that are kept at most, and characters in them; a log with more begins anew."""
_NOT_IN_SHAPES = ("{{", *MARKS)
"""What opens a template, and the marks themselves: where a text has one, its shape cannot tell it from a literal."""
_NOT_BY_SHAPE = ("function", "set_config", "grants", "sp_rename")
"""Words of statements that are told apart by more: a function's body, what is set, a comment within COPY GRANTS, what
T-SQL renames.
"""

MOST_LITERALS = 20
"""Queries that differ in literals alone and are told apart; of more, the literals are values that are passed to it."""


class FingerprintCache:
    """The fingerprints of the statements of one dialect that were met before, by shape.

    A shape is a text with a mark for each literal, and those literals that are no mere values. What splitting,
    classifying and fingerprinting look at is all in there.
    """

    def __init__(self, dialect: str) -> None:
        """Raises ConfigError when there is no such dialect."""
        self._lexicon = lexicon_of(dialect)
        self._kept: dict[str, tuple[int, ...]] = {}
        self._fingerprints: dict[tuple[str, ...], str] = {}
        self._characters = 0

    def shape_of(self, text: str) -> Scan | None:
        """The shape of a text; None where it may be a script, or what it says depends on more than its shape."""
        if not is_single(text, self._lexicon.dialect):
            return None
        for sign in _NOT_IN_SHAPES:
            if sign in text:
                return None
        try:
            return scan(text, self._lexicon)
        except Unparsable:
            return None

    def fingerprint(self, shape: Scan) -> str | None:
        """The fingerprint that was learned of this shape."""
        kept = self._kept.get(shape.blanked)
        return None if kept is None else self._fingerprints.get(_key(shape, kept))

    def learn(self, shape: Scan, fingerprint: str) -> None:
        """Keeps the fingerprint of a statement that bears lineage, unless its literals say whether it does."""
        lowered = shape.blanked.lower()
        if any(word in lowered for word in _NOT_BY_SHAPE):
            return
        if len(self._fingerprints) >= _MOST or self._characters >= _MOST_CHARACTERS:
            self._kept.clear()
            self._fingerprints.clear()
            self._characters = 0
        words = self._lexicon.words.findall(lowered.strip(EDGE))
        kept = tuple(found.literal for found in kept_literals(words, self._lexicon.dialect))
        key = _key(shape, kept)
        self._kept[shape.blanked] = kept
        self._fingerprints[key] = fingerprint
        self._characters += sum(map(len, key))


def _key(shape: Scan, kept: tuple[int, ...]) -> tuple[str, ...]:
    return (shape.blanked, *(shape.literals[literal] for literal in kept))


@dataclass(frozen=True, slots=True)
class SeenQuery:
    """A SELECT by its fingerprint and a digest of its literals; `first`: none was met before that has both."""

    fingerprint: str
    literals: str
    first: bool


class SeenQueries:
    """The SELECTs that one task has met; `key` is the secret under which literals are compared."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._literals: dict[tuple[str, str], set[str]] = {}

    def look_up(self, text: str, dialect: str) -> SeenQuery | None:
        """What is known of a SELECT, which is met now; None where it cannot be read."""
        try:
            query = fingerprint(text, dialect)
            values = scan(text, lexicon_of(dialect)).literals
        except Unparsable:
            return None
        literals = digest(*values, key=self._key)
        seen = self._literals.setdefault((dialect, query), set())
        first = literals not in seen and len(seen) <= MOST_LITERALS
        if first:
            seen.add(literals)
        return SeenQuery(query, literals, first)
