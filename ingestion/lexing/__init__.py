"""Where strings, names and comments begin and end in each dialect: one compiled regex per dialect and use.

Every repeat is possessive and every opening that never closes takes the rest of the text, so that no input,
however broken, costs more than a constant number of passes over it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import Unparsable
from ingestion.lexing.patterns import COMMENT, DIGITS, DOLLAR, HINT, NAME, NUMBER, OPEN, QUOTED, STRING, one_of

__all__ = [
    "COMMENT",
    "DOLLAR",
    "HINT",
    "NAME",
    "NUMBER",
    "OPEN",
    "PUNCTUATION",
    "STRING",
    "WORD",
    "Lexicon",
    "Token",
    "ill_formed",
    "keywords",
    "lexicon_of",
    "tokens",
    "unbalanced",
    "unterminated",
]

WORD, PUNCTUATION = "word", "punctuation"


class Token(NamedTuple):
    """A piece of a statement: its kind (the group names above), its text as written, and where it starts."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A dialect's compiled patterns.

    `quoted` matches comments, strings and quoted names, and an opening that never closes; `literals` numbers too;
    `marks` the same literals, only faster: of `.5` just the digits; `tokens` every token; `words` the words and
    single characters of a text from which the rest is gone.
    """

    dialect: Dialect
    quoted: re.Pattern[str]
    literals: re.Pattern[str]
    marks: re.Pattern[str]
    tokens: re.Pattern[str]
    words: re.Pattern[str]


def lexicon_of(dialect: Dialect | str) -> Lexicon:
    """The patterns of a dialect; raises ConfigError when there is no such dialect."""
    return _lexicon(dialect if isinstance(dialect, str) else dialect.name)


def tokens(text: str, dialect: Dialect | str, start: int = 0, end: int = sys.maxsize) -> Iterator[Token]:
    """The tokens of `text` between `start` and `end`, without whitespace and comments (hints are comments here)."""
    for match in lexicon_of(dialect).tokens.finditer(text, start, end):
        kind = match.lastgroup
        if kind is not None and kind != COMMENT and kind != HINT:
            yield Token(kind, match.group(), match.start())


def _blank(text: str, dialect: Dialect | str) -> str:
    """`text` with a space for each comment, string and quoted name; raises Unparsable where one never ends."""

    def replacement(match: re.Match[str]) -> str:
        if match.lastgroup == OPEN:
            raise unterminated_error(match)
        return " "

    return lexicon_of(dialect).quoted.sub(replacement, text)


def unterminated_error(match: re.Match[str]) -> Unparsable:
    """The error that names what was opened at `match` and never closed, and its line."""
    opening = match.group()[:2]
    what = "comment" if opening == "/*" else "dollar-quoted string" if opening[0] == "$" else f"quote {opening[0]}"
    return Unparsable(f"unterminated {what} opened in line {match.string.count(chr(10), 0, match.start()) + 1}")


def ill_formed(text: str, dialect: Dialect | str) -> str | None:
    """Why no parser should be given `text`: a quote or comment that never ends, unbalanced parentheses; or None."""
    try:
        return unbalanced_parentheses(_blank(text, dialect))
    except Unparsable as problem:
        return str(problem)


def unbalanced_parentheses(blanked: str) -> str | None:
    """Says so when the parentheses of a text without strings, names and comments do not pair."""
    opened, closed = blanked.count("("), blanked.count(")")
    if opened != closed:
        return f"unbalanced parentheses: {opened} opened, {closed} closed"
    if opened and blanked.find(")") < blanked.find("("):
        return "unbalanced parentheses: closed before opened"
    depth = 0
    for piece in blanked.split(")")[:-1] if opened else ():
        depth += piece.count("(") - 1
        if depth < 0:
            return "unbalanced parentheses: closed before opened"
    return None


@cache
def _lexicon(name: str) -> Lexicon:
    dialect = dialect_of(name)
    characters = rf"\w{re.escape(dialect.name_characters)}"
    literals = one_of(dialect, (*QUOTED, NUMBER))
    return Lexicon(
        dialect,
        quoted=re.compile(one_of(dialect, QUOTED)),
        literals=re.compile(literals),
        marks=re.compile(one_of(dialect, (*QUOTED, DIGITS))),
        tokens=re.compile(rf"\s++|{literals}|(?P<{WORD}>[{characters}]++)|(?P<{PUNCTUATION}>[\s\S])"),
        words=re.compile(rf"[{characters}]+|[^\s{characters}]"),
    )


_PARENTHESIS = re.compile(r"[()]")


def deeper_than(limit: int, text: str) -> bool:
    """Whether parentheses stand open more than `limit` deep. Those in strings and comments count too."""
    if text.count("(") <= limit:
        return False
    depth = 0
    for found in _PARENTHESIS.finditer(text):
        depth += 1 if found.group() == "(" else -1
        if depth > limit:
            return True
    return False
