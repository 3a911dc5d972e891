"""Casts to types of PostgreSQL's that sqlglot does not know: they are written as casts to text."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, matching, span, words

_NAMES = (TokenType.VAR, TokenType.OBJECT_IDENTIFIER, TokenType.SCHEMA)


def unknown_types(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """`a::aclitem[]`, `a::pg_catalog.oid`, CAST(a AS aclitem)."""
    for number, token in enumerate(tokens):
        if token.token_type is TokenType.DCOLON:
            yield from _edit(tokens, number + 1)
        elif words(tokens, number, "CAST", "("):
            closing = matching(tokens, number + 1)
            begin = next((place for place in range(closing - 1, number, -1) if words(tokens, place, "AS")), None)
            if begin is not None:
                yield from _edit(tokens, begin + 1)


def _edit(tokens: list[Token], first: int) -> Iterator[Edit]:
    last = first
    while last < len(tokens) and tokens[last].token_type in _NAMES:
        if not words(tokens, last + 1, "."):
            yield span(tokens, first, last, "text")
            return
        last += 2
