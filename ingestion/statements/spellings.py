"""A statement as every tier takes it: what one of the parsers misreads is spelled as all of them read it."""

from __future__ import annotations

import re
from itertools import islice

from ingestion.dialects import Dialect
from ingestion.errors import Templated
from ingestion.lexing import NUMBER, STRING, WORD, lexicon_of, tokens

_REDEFINES = re.compile(r"\s*+alter\b", re.IGNORECASE)
_AS_QUERY = re.compile(r"\bas\b[\s(]*+(?:select|with|sel|values|table|from)\b", re.IGNORECASE)
_HEAD = 16
"""As many tokens may stand before the VIEW of ALTER ALGORITHM = … DEFINER = … SQL SECURITY … VIEW."""


_IDENTIFIER = re.compile(r"\bidentifier\s*+\(", re.IGNORECASE)
_NAME = re.compile(r"""'((?:[\w$]++|"[^"'\\]++"|`[^`'\\]++`)(?:\.(?:[\w$]++|"[^"'\\]++"|`[^`'\\]++`))*+)'""")
_BEFORE_RELATION = re.compile(
    "clone|exists|from|into|join|like|only|overwrite|table|to|update|using|view|with", re.IGNORECASE
)


def plainly_spelled(text: str, dialect: Dialect) -> str:
    """The text with a new definition of a view as a CREATE, and amounts of money as the numbers that they are.

    IDENTIFIER('s.t') is s.t. Raises Templated where a relation has no other name than IDENTIFIER(:x).
    """
    if _REDEFINES.match(text):
        text = _redefinition(text, dialect)
    if dialect.identifier_clause and _IDENTIFIER.search(text):
        text = _replace_names(text, dialect)
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


def _replace_names(text: str, dialect: Dialect) -> str:
    """The text with the names that IDENTIFIER(…) has as constants, where relations stand."""
    pieces: list[str] = []
    done = 0
    found = list(tokens(text, dialect))
    words = [token.text.upper() if token.kind == WORD else "" for token in found]
    for index, word in enumerate(words):
        opens = word == "IDENTIFIER" and index > 0 and [token.text for token in found[index + 1 : index + 2]] == ["("]
        before = words[index - 1] if opens else ""
        if _BEFORE_RELATION.fullmatch(before) is None:
            continue
        inside = found[index + 2 : index + 4]
        name = _NAME.fullmatch(inside[0].text) if len(inside) == 2 and inside[1].text == ")" else None
        if name is not None:
            pieces += (text[done : found[index].start], name[1])
            done = inside[1].start + 1
        elif before != "LIKE" and (not inside or inside[0].kind != STRING):
            raise Templated(Templated.code)
    return "".join(pieces) + text[done:]


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
