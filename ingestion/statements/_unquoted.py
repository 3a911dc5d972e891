"""What a pattern finds in a SQL text outside its strings, quoted names and comments."""

from __future__ import annotations

import re
from functools import lru_cache

from ingestion.dialects.lexing import Lexicon


def without_unquoted(pattern: str, text: str, lexicon: Lexicon, instead: str = "") -> str:
    """`text` without what `pattern` matches outside strings, names and comments; `instead` stands in its place."""
    return quoted_or(pattern, lexicon).sub(lambda match: match.group() if match.lastgroup else instead, text)


@lru_cache(maxsize=256)
def quoted_or(pattern: str, lexicon: Lexicon, first: str = "(?!)") -> re.Pattern[str]:
    """Matches `first` and what is quoted as named groups, and `pattern` outside them as none."""
    return re.compile(f"(?P<first>{first})|{lexicon.quoted.pattern}|(?m:{pattern.removeprefix('(?m)')})")
