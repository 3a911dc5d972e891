"""How deep a text nests, by its parentheses alone: cheap enough to look at before any parser is asked."""

from __future__ import annotations

import re

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
