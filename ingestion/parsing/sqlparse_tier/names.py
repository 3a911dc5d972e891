"""Names in a token stream: of relations, columns, aliases, common tables."""

from __future__ import annotations

from typing import NamedTuple

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.errors import Templated
from ingestion.lexing.templates import refuse_bound_name
from ingestion.model import TableName
from ingestion.names.storage_paths import location
from ingestion.parsing.sqlparse_tier.stream import SqlparseToken, TokenKind, TokenStream
from ingestion.parsing.sqlparse_tier.words import AFTER_RELATION, QUERY_STARTS


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
