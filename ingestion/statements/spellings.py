"""A statement as every tier takes it: what one of the parsers misreads is spelled as all of them read it."""

from __future__ import annotations

import re
from itertools import islice

from ingestion.dialects import Dialect
from ingestion.lexing import NUMBER, WORD, lexicon_of, tokens

_REDEFINES = re.compile(r"\s*+alter\b", re.IGNORECASE)
_AS_QUERY = re.compile(r"\bas\b[\s(]*+(?:select|with|sel|values|table|from)\b", re.IGNORECASE)
_HEAD = 16
"""As many tokens may stand before the VIEW of ALTER ALGORITHM = … DEFINER = … SQL SECURITY … VIEW."""


def plainly_spelled(text: str, dialect: Dialect) -> str:
    """The text with a new definition of a view as a CREATE, and amounts of money as the numbers that they are."""
    if _REDEFINES.match(text):
        text = _redefinition(text, dialect)
    return _without_currency(text, dialect) if dialect.dollar_amounts else text


def redefined_view(text: str, dialect: Dialect) -> int | None:
    """Where the ALTER of ALTER [MATERIALIZED] VIEW v … AS query ends; None where the text is something else."""
    end = 0
    for token in islice(tokens(text, dialect), _HEAD):
        word = token.text.lower() if token.kind == WORD else token.text
        if not end:
            if word != "alter":
                return None
            end = token.start + len(word)
        elif word == "view":
            return end if _AS_QUERY.search(lexicon_of(dialect).quoted.sub(" ", text[end:])) else None
        elif word in ("table", "as", "("):
            return None
    return None


def _redefinition(text: str, dialect: Dialect) -> str:
    end = redefined_view(text, dialect)
    return text if end is None else f"CREATE{text[end:]}"


def _without_currency(text: str, dialect: Dialect) -> str:
    if text.isascii() and "$" not in text:
        return text
    return lexicon_of(dialect).literals.sub(_amount, text)


def _amount(match: re.Match[str]) -> str:
    found = match.group()
    if match.lastgroup != NUMBER or found[0] in ".0123456789":
        return found
    return f" {found[1:].strip() or '0'}"
