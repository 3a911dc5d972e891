"""What each literal of a statement is for: a value like any other, part of the statement's shape, or a name of data.

A statement is given as words, as `scan` makes them: its words and single characters in order, with a mark for each
quoted name, string and number. The rules err on the side of "a name": two statements taken for one give a wrong
edge, one taken for two costs a second parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ingestion.dialects import Dialect
from ingestion.lexing import COMMENT, DOLLAR, HINT, NAME, NUMBER, OPEN, STRING, Lexicon, unterminated_error
from ingestion.masking.literal_roles import (
    MARKS,
    NAME_MARK,
    NAMING,
    NUMBER_MARK,
    PREFIXED_MARK,
    RUNS_TEXT,
    STRING_MARK,
    Role,
    closing,
    list_positions,
    number_role,
    opens_names,
    string_role,
)

_CONTROL = str.maketrans(dict.fromkeys(MARKS, " "))
_BLANKS = {
    COMMENT: " ",
    HINT: " ",
    STRING: STRING_MARK,
    DOLLAR: STRING_MARK,
    NAME: NAME_MARK,
    NUMBER: NUMBER_MARK,
}
_LONGEST_LENGTH = 10
_PREFIX = re.compile(r"(?<![\w$])(?:[enbxrq]|nq|br|rb|_\w+)\Z", re.IGNORECASE)
_WATCHED = MARKS | {"by"} | RUNS_TEXT | NAMING


class UnchangedLiteral(NamedTuple):
    """A quoted name, or a literal that is no mere value: its mark's place among the words, and its own place."""

    place: int
    literal: int
    role: Role


class Scan(NamedTuple):
    """A text with a space for each comment and a mark for each literal and quoted name, and those in order."""

    blanked: str
    literals: list[str]


def prefix_before(text: str, start: int) -> re.Match[str] | None:
    """The prefix (E, N, X, r, _utf8...) that the string at `start` has."""
    before = text[start - 1 : start]
    if not (before.isalnum() or before == "_"):
        return None
    return _PREFIX.search(text, max(0, start - 20), start)


def scan(text: str, lexicon: Lexicon) -> Scan:
    """Takes the comments, literals and quoted names out of `text`; raises Unparsable where one never ends."""
    literals: list[str] = []
    keep = literals.append

    def mark(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == OPEN:
            raise unterminated_error(match)
        sign = _BLANKS[kind]  # type: ignore[index]
        if sign == " ":
            return sign
        keep(match.group())
        start = match.start()
        if sign == STRING_MARK and start and match.string[start - 1].isalpha() and prefix_before(match.string, start):
            return PREFIXED_MARK
        return sign

    for control in MARKS:
        if control in text:
            text = text.translate(_CONTROL)
    return Scan(lexicon.marks.sub(mark, text), literals)


def is_structure(literal: str) -> bool:
    """Whether a number is one that a type's length or a list's position can be."""
    return literal.isdigit() and len(literal) <= _LONGEST_LENGTH


def kept_literals(words: Sequence[str], dialect: Dialect) -> list[UnchangedLiteral]:
    """The quoted names and the literals that are no mere values, in order, given a statement's words in lower case."""
    kept: list[UnchangedLiteral] = []
    literal = -1
    names_until = 0
    positions: set[int] = set()
    by_seen = False
    for place, word in enumerate(words):
        if word not in _WATCHED:
            continue
        if word in MARKS:
            literal += 1
            role: Role | None = Role.NAME
            if word == NAME_MARK:
                role = Role.IDENTIFIER
            elif place >= names_until:
                is_number = word == NUMBER_MARK
                role = number_role(words, place, positions) if is_number else string_role(words, place, dialect)
            if role is not None:
                kept.append(UnchangedLiteral(place, literal, role))
        elif word == "by":
            if not by_seen:
                positions.update(list_positions(words, place))
            by_seen = True
        elif word in RUNS_TEXT:
            names_until = len(words)
        elif place >= names_until and opens_names(words, place):
            names_until = closing(words, place + 1)
    return kept
