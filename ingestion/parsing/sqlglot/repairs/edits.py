"""Edits of a text by its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

REFUSALS = (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, IndexError, KeyError)
"""What sqlglot raises on text that it cannot read: not all of it is its own error."""

Edit: TypeAlias = tuple[int, int, str]
"""What a stretch of the text is replaced by."""
Repair: TypeAlias = Callable[[str, list[Token]], Iterator[Edit]]


def at_depth_zero(tokens: list[Token], start: int) -> Iterator[int]:
    """The positions from `start` on that no bracket is around."""
    depth = 0
    for number in range(start, len(tokens)):
        kind = tokens[number].token_type
        if kind is TokenType.R_PAREN:
            depth -= 1
        if depth == 0:
            yield number
        if kind is TokenType.L_PAREN:
            depth += 1


def matching(tokens: list[Token], opening: int) -> int:
    """Where the bracket at `opening` closes."""
    depth = 0
    for number in range(opening, len(tokens)):
        if tokens[number].token_type is TokenType.L_PAREN:
            depth += 1
        elif tokens[number].token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return number
    return len(tokens) - 1


def words(tokens: list[Token], number: int, *words: str) -> bool:
    """Whether so many tokens from a position on are these words."""
    return [token.text.upper() for token in tokens[number : number + len(words)]] == list(words)


def span(tokens: list[Token], first: int, last: int, replacement: str = " ") -> Edit:
    """The edit that puts `replacement` where the tokens from first to last are."""
    return tokens[first].start, tokens[last].end + 1, replacement
