"""sqlparse's tokens of one statement, ungrouped: words, names, symbols, with each parenthesis' partner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import sqlparse.lexer
import sqlparse.tokens as sql

from ingestion.dialects import Dialect
from ingestion.errors import Unparsable

_tokenize: Callable[[str], Iterable[tuple[sql._TokenType, str]]] = sqlparse.lexer.tokenize


class TokenKind(Enum):
    """What a token is."""

    WORD = 1  # a keyword or a bare name: which, its place decides
    QUOTED = 2
    STRING = 3
    NUMBER = 4
    PLACEHOLDER = 5
    SYMBOL = 6


class SqlparseToken(NamedTuple):
    """A token: `text` as written, quotes removed; `word` is a WORD's upper case or a symbol's text, else ""."""

    kind: TokenKind
    text: str
    word: str = ""


@dataclass(frozen=True, slots=True)
class TokenStream:
    """The tokens of one statement; `partner` maps each parenthesis' position to the other's."""

    tokens: tuple[SqlparseToken, ...]
    partner: dict[int, int]

    def __len__(self) -> int:
        return len(self.tokens)

    def word(self, position: int) -> str:
        """The upper-case word or the symbol at a position, "" for other tokens and beyond the end."""
        return self.tokens[position].word if 0 <= position < len(self.tokens) else ""

    def after(self, position: int) -> int:
        """The position behind a token, or behind the group that it opens."""
        return self.partner.get(position, position) + 1


def read_tokens(text: str, dialect: Dialect) -> TokenStream:
    """The tokens of one statement.

    Raises Unparsable when sqlparse, which knows one dialect only, may have seen other strings and comments than the
    text has: nothing that follows from such tokens would be sure.
    """
    tokens: list[SqlparseToken] = []
    for kind, value in _tokenize(text):
        if kind in sql.Whitespace:
            continue
        if kind in sql.Comment:
            if value.startswith("#") and not dialect.hash_comments:
                raise Unparsable("what sqlparse takes for a comment is none in this dialect")
            continue
        tokens.extend(_tokens(kind, value, dialect))
    while tokens and tokens[-1].word == ";":
        tokens.pop()
    return TokenStream(tuple(tokens), _partners(tokens))


def _tokens(kind: sql._TokenType, value: str, dialect: Dialect) -> list[SqlparseToken]:
    if kind in sql.Error:
        raise Unparsable("the text has characters that sqlparse does not know")
    if kind in sql.String or kind is sql.Literal:
        return [_string(value, dialect)]
    if kind in sql.Number:
        return [SqlparseToken(TokenKind.NUMBER, value)]
    if kind in sql.Name.Placeholder or value.startswith("@"):
        return [SqlparseToken(TokenKind.PLACEHOLDER, value)]
    if value[0] in "`[" and len(value) > 1:
        return [_quoted_token(value)]
    if kind in sql.Keyword or kind in sql.Name:
        return [SqlparseToken(TokenKind.WORD, word, word.upper()) for word in value.split()]
    return [SqlparseToken(TokenKind.SYMBOL, value, value)]


def _string(value: str, dialect: Dialect) -> SqlparseToken:
    quote = value[0]
    if quote in "'\"" and "\\" in value and not dialect.backslash_escapes:
        raise Unparsable("sqlparse takes a backslash for an escape, which it is not in this dialect")
    if quote == '"' and not dialect.double_quotes_are_strings:
        return _quoted_token(value)
    return SqlparseToken(TokenKind.STRING, value)


def _quoted_token(value: str) -> SqlparseToken:
    closing = "]" if value[0] == "[" else value[0]
    return SqlparseToken(TokenKind.QUOTED, value[1:-1].replace(closing * 2, closing))


def _partners(tokens: list[SqlparseToken]) -> dict[int, int]:
    partner: dict[int, int] = {}
    open_: list[int] = []
    for position, token in enumerate(tokens):
        if token.word == "(":
            open_.append(position)
        elif token.word == ")":
            if not open_:
                raise Unparsable("a parenthesis closes nothing")
            partner[position] = open_.pop()
            partner[partner[position]] = position
        elif token.word == ";":
            raise Unparsable("the text holds several statements")
    if open_:
        raise Unparsable("a parenthesis stays open")
    return partner
