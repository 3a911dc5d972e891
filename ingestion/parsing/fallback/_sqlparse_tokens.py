"""sqlparse's tokens of one statement, and the names in them: of relations, columns, aliases, common tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import sqlparse.lexer
import sqlparse.tokens as sql

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.keywords import AFTER_RELATION, QUERY_STARTS
from ingestion.dialects.unfilled_templates import refuse_bound_name
from ingestion.errors import Templated, Unparsable
from ingestion.model.lineage import TableName
from ingestion.model.storage_paths import location

# sqlparse's tokens of one statement, ungrouped: words, names, symbols, with each parenthesis' partner.

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


# Names in a token stream: of relations, columns, aliases, common tables.


class NamedAt(NamedTuple):
    """A name that was read, and the position behind it."""

    parts: tuple[SqlparseToken, ...]
    end: int


class CommonTableAt(NamedTuple):
    """A WITH item: its name, the span of its body (both parentheses), and whether it may read itself."""

    name: str
    opens: int
    closes: int
    recursive: bool


def name_at(stream: TokenStream, position: int, dialect: Dialect, stop: int | None = None) -> NamedAt | None:
    """The dotted name that begins at a position and ends before `stop`, None when there is none."""
    parts: list[SqlparseToken] = []
    while True:
        part = _part_at(stream, position, dialect)
        if part is None:
            return None
        token, position = part
        parts.append(token)
        if position == stop:
            return NamedAt(tuple(parts), position)
        dots = 0
        while stream.word(position) == ".":
            position, dots = position + 1, dots + 1
        if dots == 0:
            return NamedAt(tuple(parts), position)


def relation_at(stream: TokenStream, position: int, dialect: Dialect) -> NamedAt | None:
    """The name of a relation that begins at a position, None when there is none.

    Raises Templated where a part of it is bound when the statement runs.
    """
    named = name_at(stream, position, dialect)
    if stream.word(position) == "IDENTIFIER" and stream.word(position + 1) == "(":
        if stream.tokens[position + 2].kind is not TokenKind.STRING:
            raise Templated(Templated.code)
    elif named is None:
        last = position
        while stream.word(last + 1) == "." and last + 2 < len(stream):
            last += 2
        tokens = stream.tokens[position : last + 1 : 2]
        refuse_bound_name((token.text if token.kind is TokenKind.PLACEHOLDER else "" for token in tokens), dialect)
    return named


def _part_at(stream: TokenStream, position: int, dialect: Dialect) -> tuple[SqlparseToken, int] | None:
    if position >= len(stream):
        return None
    token = stream.tokens[position]
    if token.word in ("#", "##") and position + 1 < len(stream):
        following = stream.tokens[position + 1]
        text = token.text + following.text
        return (
            (SqlparseToken(TokenKind.WORD, text, text.upper()), position + 2)
            if following.kind is TokenKind.WORD
            else None
        )
    if token.kind is TokenKind.QUOTED:
        return token, position + 1
    if token.kind is not TokenKind.WORD:
        return None
    position += 1
    if dialect.dashed_names:  # project names have dashes, bare ones too
        while stream.word(position) == "-" and position + 1 < len(stream):
            token = SqlparseToken(TokenKind.WORD, f"{token.text}-{stream.tokens[position + 1].text}")
            position += 2
    return token, position


def table_name(parts: tuple[SqlparseToken, ...], dialect: Dialect) -> TableName:
    """The relation's name, folded as the dialect folds it; a path where a file stands for a table."""
    if dialect.dotted_quotes:  # `project.dataset.table` in one pair of quotes
        parts = tuple(
            token._replace(text=text)
            for token in parts
            for text in (token.text.split(".") if token.kind is TokenKind.QUOTED else [token.text])
        )
    if parts[-1].kind is TokenKind.QUOTED and "/" in parts[-1].text:  # parquet.`/data/x`
        return location(parts[-1].text)
    folded = tuple(fold(token.text, dialect, quoted=token.kind is TokenKind.QUOTED) for token in parts)
    return TableName(folded, ".".join(token.text for token in parts))


def qualifier(parts: tuple[SqlparseToken, ...], dialect: Dialect) -> tuple[str, ...]:
    """The parts of what stands before a column's name: it folds as relations do."""
    return tuple(fold(token.text, dialect, quoted=token.kind is TokenKind.QUOTED) for token in parts)


def column_parts(parts: tuple[SqlparseToken, ...], dialect: Dialect) -> tuple[str, ...]:
    """The parts of a column's name."""
    column = parts[-1]
    return (
        *qualifier(parts[:-1], dialect),
        fold_column(column.text, dialect, quoted=column.kind is TokenKind.QUOTED),
    )


def alias_at(stream: TokenStream, position: int, dialect: Dialect) -> tuple[str, int]:
    """The alias of a relation that ends before a position ("" when it has none), and the position behind it."""
    if stream.word(position) == "AS":
        position += 1
    elif stream.word(position) in AFTER_RELATION:
        return "", position
    if position < len(stream) and stream.tokens[position].kind in (TokenKind.WORD, TokenKind.QUOTED):
        token = stream.tokens[position]
        return fold(token.text, dialect, quoted=token.kind is TokenKind.QUOTED), position + 1
    return "", position


def common_tables(stream: TokenStream, dialect: Dialect) -> list[CommonTableAt]:
    """Every WITH item of the statement, nested ones too."""
    found: list[CommonTableAt] = []
    for position in range(len(stream)):
        if stream.word(position) != "WITH" or stream.word(position - 1) == ".":
            continue
        recursive = stream.word(position + 1) == "RECURSIVE"
        following = position + 1 + recursive
        while (item := _common_table_at(stream, following, dialect, recursive=recursive)) is not None:
            found.append(item)
            following = item.closes + 1
            if stream.word(following) != ",":
                break
            following += 1
    return found


def _common_table_at(stream: TokenStream, position: int, dialect: Dialect, *, recursive: bool) -> CommonTableAt | None:
    if position >= len(stream) or stream.tokens[position].kind not in (TokenKind.WORD, TokenKind.QUOTED):
        return None
    token = stream.tokens[position]
    opens = position = position + 1
    if stream.word(position) == "(":
        position = stream.after(position)
    if stream.word(position) == "AS":
        position += 1
    elif stream.word(opens + 1) not in QUERY_STARTS:
        return None
    else:  # Spark takes WITH a (SELECT ...) too
        position = opens
    while stream.word(position) in ("NOT", "MATERIALIZED"):
        position += 1
    if stream.word(position) != "(":
        return None
    name = fold(token.text, dialect, quoted=token.kind is TokenKind.QUOTED)
    reads_itself = recursive or dialect.recursion_without_keyword
    return CommonTableAt(name, position, stream.partner[position], reads_itself)
