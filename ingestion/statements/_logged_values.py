"""The values that a client logs behind a statement of SQL, of which nothing may be read or kept."""

from __future__ import annotations

import re

from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import Lexicon
from ingestion.statements._unquoted import quoted_or

_BOUND = (
    r"(?:(?:bind(?:ing)?|bound|query|sql)\s+)?(?:param(?:eter)?s?|args|arguments|binds?|bindings|bind(?:ing)?\s+values)"
)
_LOGGED_VALUES = (
    rf"(?i:(?<=\s)\[\s*{_BOUND}\s*[:=]"  # [params: x], SQLAlchemy's [parameters: (…)]
    rf"|(?:(?:==>|->|with|DETAIL:)\s+)?\b{_BOUND}\s*:(?=[ \t]+(?!begin\b|loop\b|while\b|repeat\b|for\b)\S|[\[{{(])"
    rf"|\bwith\s+{_BOUND}\s*[\[{{]|(?<=;)\s*\b{_BOUND}\s*=>?\s*[\[{{(]"  # of Doctrine, of Django
    r"|(?:(?>^[^\n'\"]*?\b(?:TRACE|DEBUG|INFO)\b)[^\n'\"]*?)?\bbinding\s+parameter\s*[\[(]"  # of Hibernate
    r"|^[ \t]*\[(?:generated in|cached since|no key|raw sql|caching disabled)\b"  # of SQLAlchemy
    r"|(?<=\s)\[\[(?:\"[^\"\n]*\"|nil|null)\s*,"  # of ActiveRecord
    r"|(?<=\?)[ \t]+\[(?=(?>[^\n]*\])\s*\Z))"
    r"(?:(?!\n[ \t]*(?i:alter|begin|call|copy|create|delete|drop|exec|grant|insert|merge|replace|select|set|truncate"
    r"|update|upsert|use|with)\b)[\s\S])*+"
)
_OF_LOGGED_VALUES = (
    "param",
    "args",
    "arguments",
    "bind",
    "[[",
    "? [",
    "generated in",
    "cached since",
    "no key",
    "raw sql",
    "caching disabled",
)
"""One of them is in whatever the pattern finds."""
_NEVER_LAST = frozenset("([{,.=<>+-*/|&^~!:@%#")
_NEVER_LAST_WORDS = keywords(
    "all and as between by case distinct else from having in insert into is join like limit not offset on or return"
    " returning select set table then top update using values when where with"
)


def without_logged_values(text: str, lexicon: Lexicon) -> str:
    """A script without the values that a client logged behind its statements; lines stay where they were.

    `WHERE b = ? [params: x]`, MyBatis's `==> Parameters: x(String)`, ActiveRecord's `[["email", "x"]]`.
    """
    lowered = text.lower()
    if not any(word in lowered for word in _OF_LOGGED_VALUES):
        return text
    return quoted_or(_LOGGED_VALUES, lexicon).sub(_without_match, text)


def _without_match(match: re.Match[str]) -> str:
    """Nothing but line ends, where a statement may end before it: in `a[args = 1]` and `SET args: …` none does."""
    if match.lastgroup or not _may_end(match.string, match.start()):
        return match.group()
    return "\n" * match.group().count("\n")


def _may_end(text: str, end: int) -> bool:
    """Whether a statement may end there, by the word or sign before it; a long text has many such places."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    start = end
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end].lower() not in _NEVER_LAST_WORDS and (end == 0 or text[end - 1] not in _NEVER_LAST)
