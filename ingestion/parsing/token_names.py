"""Names as tokens have them: of relations, columns, aliases, common tables.

`"Mart"."t" AS x (a)` is the name ("Mart", "t"), quoted both, and the alias x.
"""

from __future__ import annotations

from typing import NamedTuple

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.cursor import Code
from ingestion.dialects.keywords import AFTER_RELATION, QUERY_STARTS
from ingestion.dialects.lexing import PLACEHOLDER
from ingestion.dialects.unfilled_templates import refuse_bound_name
from ingestion.errors import Templated
from ingestion.model.lineage import TableName
from ingestion.model.storage_paths import location, name_without_secrets


class NamePart(NamedTuple):
    """A part of a name without its quotes, and whether it had any."""

    text: str
    quoted: bool


class NamedAt(NamedTuple):
    """A name that was read, and the position behind it."""

    parts: tuple[NamePart, ...]
    end: int


class CommonTableAt(NamedTuple):
    """A WITH item: its name, the span of its body (both parentheses), and whether it may read itself."""

    name: str
    opens: int
    closes: int
    recursive: bool


def name_at(code: Code, position: int, stop: int | None = None) -> NamedAt | None:
    """The dotted name that begins at a position and ends before `stop`, None when there is none."""
    parts: list[NamePart] = []
    while True:
        part = _part_at(code, position)
        if part is None:
            return None
        named, position = part
        parts.append(named)
        if position == stop:
            return NamedAt(tuple(parts), position)
        dots = 0
        while code.word(position) == ".":
            position, dots = position + 1, dots + 1
        if dots == 0:
            return NamedAt(tuple(parts), position)
        if dots > 1 and code.dialect.default_schema:  # T-SQL and Snowflake: db..t
            parts.append(NamePart(code.dialect.default_schema, quoted=True))


def relation_at(code: Code, position: int) -> NamedAt | None:
    """The name of a relation that begins at a position, None when there is none.

    Raises Templated where a part of it is bound when the statement runs.
    """
    named = name_at(code, position)
    if code.word(position) == "identifier" and code.word(position + 1) == "(":
        if not code.is_string(position + 2):
            raise Templated(Templated.code)
    elif named is None:
        last = position
        while code.word(last + 1) == "." and last + 2 < len(code):
            last += 2
        tokens = code.tokens[position : last + 1 : 2]
        refuse_bound_name((token.text if token.kind == PLACEHOLDER else "" for token in tokens), code.dialect)
    return named


def relation_name(code: Code, position: int) -> tuple[TableName | None, int]:
    """The relation that a name at a position means, None without one, and the position behind it."""
    named = name_at(code, position)
    return (None, position) if named is None else (table_name(named.parts, code.dialect), named.end)


def _part_at(code: Code, position: int) -> tuple[NamePart, int] | None:
    if code.is_quoted(position):
        return NamePart(name_without_secrets(code.without_quotes(position)), quoted=True), position + 1
    if code.word(position) in ("#", "##") and code.is_word(position + 1):  # a lexer that does not know T-SQL's #t
        return NamePart(code.word(position) + code.without_quotes(position + 1), quoted=False), position + 2
    if not code.is_word(position):
        return None
    text = code.without_quotes(position)
    position += 1
    if code.dialect.dashed_names:  # project names have dashes, bare ones too
        while code.word(position) == "-" and position + 1 < len(code):
            text += f"-{code.without_quotes(position + 1)}"
            position += 2
    return NamePart(text, quoted=False), position


def table_name(parts: tuple[NamePart, ...], dialect: Dialect) -> TableName:
    """The relation's name, folded as the dialect folds it; a path where a file stands for a table."""
    if dialect.dotted_quotes:  # `project.dataset.table` in one pair of quotes
        parts = tuple(
            part._replace(text=text)
            for part in parts
            for text in (part.text.split(".") if part.quoted else [part.text])
        )
    if parts[-1].quoted and "/" in parts[-1].text:  # parquet.`/data/x`
        return location(parts[-1].text)
    return TableName(qualifier(parts, dialect), ".".join(part.text for part in parts))


def qualifier(parts: tuple[NamePart, ...], dialect: Dialect) -> tuple[str, ...]:
    """The parts of what stands before a column's name: it folds as relations do."""
    return tuple(fold(part.text, dialect, quoted=part.quoted) for part in parts)


def column_parts(parts: tuple[NamePart, ...], dialect: Dialect) -> tuple[str, ...]:
    """The parts of a column's name."""
    column = parts[-1]
    return *qualifier(parts[:-1], dialect), fold_column(column.text, dialect, quoted=column.quoted)


def alias_at(code: Code, position: int) -> tuple[str, int]:
    """The alias of a relation that ends before a position ("" when it has none), and the position behind it."""
    if code.word(position) == "as":
        position += 1
    elif code.word(position) in AFTER_RELATION:
        return "", position
    name = code.name(position)
    return (name, position + 1) if name else ("", position)


def common_tables(code: Code) -> list[CommonTableAt]:
    """Every WITH item of the statement, nested ones too."""
    found: list[CommonTableAt] = []
    for position in range(len(code)):
        if code.word(position) != "with" or code.word(position - 1) == ".":
            continue
        recursive = code.word(position + 1) == "recursive"
        following = position + 1 + recursive
        while (item := common_table_at(code, following, recursive=recursive)) is not None:
            found.append(item)
            following = item.closes + 1
            if code.word(following) != ",":
                break
            following += 1
    return found


def common_table_at(code: Code, position: int, *, recursive: bool = False) -> CommonTableAt | None:
    """What has the shape of a WITH item at a position, None when nothing there has it."""
    name = code.name(position)
    if not name:
        return None
    opens = position = position + 1
    if code.word(position) == "(":
        position = code.after(position)
    if code.word(position) == "as":
        position += 1
    elif code.word(opens + 1) not in QUERY_STARTS:
        return None
    else:  # Spark takes WITH a (SELECT ...) too
        position = opens
    while code.word(position) in ("not", "materialized"):
        position += 1
    if code.word(position) != "(":
        return None
    reads_itself = recursive or code.dialect.recursion_without_keyword
    return CommonTableAt(name, position, code.closing(position), reads_itself)
