"""sqlfluff's tree of one statement, and the names in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sqlfluff.core import FluffConfig
from sqlfluff.core.errors import SQLFluffUserError, SQLParseError
from sqlfluff.core.parser import BaseSegment, Lexer, Parser

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.errors import Unparsable
from ingestion.lexing.templates import refuse_bound_name
from ingestion.model import TableName
from ingestion.names.storage_paths import location

_CLOSING = {'"': '"', "`": "`", "[": "]", "'": "'"}


@cache
def _config(dialect: str) -> FluffConfig:
    return FluffConfig(overrides={"dialect": dialect, "large_file_skip_byte_limit": 0})


def read_statement(text: str, dialect: Dialect) -> BaseSegment:
    """The tree of the text's one statement.

    Raises Unparsable when sqlfluff has no such dialect, understands the text only in part, or finds several statements.
    """
    if dialect.sqlfluff is None:
        raise Unparsable("sqlfluff does not know the dialect")
    config = _config(dialect.sqlfluff)
    try:
        tokens, errors = Lexer(config=config).lex(text)
        tree = None if errors else Parser(config=config).parse(tokens)
    except (SQLParseError, SQLFluffUserError) as error:
        raise Unparsable("sqlfluff refuses the text") from error
    if tree is None or next(tree.recursive_crawl("unparsable"), None) is not None:
        raise Unparsable("sqlfluff understands the text only in part")
    statements = list(tree.recursive_crawl("statement", recurse_into=False))
    if len(statements) != 1:
        raise Unparsable("the text is not one statement")
    return code(statements[0])[0]


def code(segment: BaseSegment) -> list[BaseSegment]:
    """The segment's children without white space, comments and marks of indentation."""
    return [child for child in segment.segments if child.is_code and not child.is_meta]


def only_code(segment: BaseSegment) -> BaseSegment | None:
    """The one child between a segment's brackets, if it is one."""
    inner = [child for child in code(segment) if not child.is_type("start_bracket", "end_bracket")]
    return inner[0] if len(inner) == 1 else None


def keywords(segment: BaseSegment) -> list[str]:
    """The upper-case keywords that are the segment's own children."""
    return [child.raw.upper() for child in segment.segments if child.is_type("keyword")]


def _identifier(segment: BaseSegment) -> tuple[str, bool]:
    """A name without its quotes, and whether it had some."""
    raw = segment.raw
    closing = _CLOSING.get(raw[0])
    if closing is None or len(raw) == 1 or raw[-1] != closing:
        return raw, False
    return raw[1:-1].replace(closing * 2, closing), True


def _dotted_parts(reference: BaseSegment) -> Iterator[tuple[str, bool]]:
    """The parts of a dotted name; what stands between two dots is one part (BigQuery's dashes)."""
    part: list[BaseSegment] = []
    for child in [*code(reference), None]:
        if child is not None and not child.is_type("dot"):
            part.append(child)
            continue
        if len(part) == 1:
            yield _identifier(part[0])
        elif part:
            yield "".join(piece.raw for piece in part), False
        part = []


def table_name(reference: BaseSegment, dialect: Dialect) -> TableName:
    """The name of a relation, folded as the dialect folds it; a path where a file stands for a table."""
    parts = list(_dotted_parts(reference))
    text, quoted = parts[-1]
    if "(" in text and not quoted:
        raise Unparsable("a function stands for a relation")
    refuse_bound_name((text for text, quoted in parts if not quoted), dialect)
    if quoted and ("/" in text or reference.is_type("file_reference")):
        return location(text)
    if dialect.table_variables and text.startswith("@") and not quoted:  # a temporary table, as it is in routines
        parts = [(f"#{text[1:]}", False)]
    if dialect.dotted_quotes:
        parts = [(piece, quoted) for text, quoted in parts for piece in (text.split(".") if quoted else [text])]
    return TableName(
        tuple(fold(text, dialect, quoted=quoted) for text, quoted in parts), ".".join(text for text, _ in parts)
    )


def qualifier(reference: BaseSegment, dialect: Dialect) -> tuple[str, ...]:
    """The parts of a name that stands before a star."""
    return tuple(fold(text, dialect, quoted=quoted) for text, quoted in _dotted_parts(reference) if text != "*")


def column_parts(reference: BaseSegment, dialect: Dialect) -> tuple[str, ...]:
    """The parts of a column's name: its qualifiers fold as relations do."""
    *before, (text, quoted) = _dotted_parts(reference)
    return (
        *(fold(part, dialect, quoted=marked) for part, marked in before),
        fold_column(text, dialect, quoted=quoted),
    )


def column_name(name: BaseSegment, dialect: Dialect) -> str:
    """A column's or an output's single name."""
    text, quoted = _identifier(name)
    return fold_column(text, dialect, quoted=quoted)


def relation_alias(name: BaseSegment, dialect: Dialect) -> str:
    """The alias of a relation or the name of a common table."""
    text, quoted = _identifier(name)
    return fold(text, dialect, quoted=quoted)
