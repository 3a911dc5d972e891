"""The second tier: what sqlglot refuses, through sqlfluff's tree.

Fifty to three hundred times slower than sqlglot. Columns are followed through the shapes of queries that are known;
where a statement has others, its tables are kept and a Problem marks that its columns were not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlfluff.core.parser import BaseSegment

from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import Unparsable
from ingestion.model import StatementKind, TableName, Target
from ingestion.parsing.sqlfluff_tier.expressions import NotFollowed
from ingestion.parsing.sqlfluff_tier.queries import QueryReader, replace_common
from ingestion.parsing.sqlfluff_tier.targets import Shape, shape_of
from ingestion.parsing.sqlfluff_tier.tree import code, read_statement, relation_alias, table_name
from ingestion.parsing.sqlparse_tier.words import METADATA_QUERIES
from ingestion.relational.form import Query, RelationalStatement, RelationSource, WriteForm
from ingestion.relational.partial import COLUMNS_NOT_FOLLOWED, tables_only_select
from ingestion.statements.spellings import plainly_spelled


@dataclass(frozen=True, slots=True)
class _Reads:
    """The tables that a statement reads, wherever they stand, and their aliases."""

    tables: tuple[TableName, ...]
    aliases: dict[str, TableName]


_Referenced: TypeAlias = tuple[BaseSegment, BaseSegment | None]


def parse(text: str, dialect: str) -> RelationalStatement:
    """The lineage of one statement.

    Raises Unparsable when sqlfluff understands the text only in part, or the statement reads no table.
    """
    known_dialect = dialect_of(dialect)
    statement = read_statement(plainly_spelled(text, known_dialect), known_dialect)
    shape = shape_of(statement, known_dialect)
    read = _reads(statement, shape, known_dialect)
    if not read.tables:
        raise Unparsable("no table is read")
    try:
        reader, query = _query(shape, known_dialect)
    except NotFollowed:
        return _loose(shape, read, known_dialect)
    write = WriteForm(shape.target, query)
    return RelationalStatement(
        shape.kind,
        known_dialect.name,
        (write,),
        aliases=tuple(reader.aliases),
        problems=tuple(dict.fromkeys(reader.problems)),
    )


def _query(shape: Shape, dialect: Dialect) -> tuple[QueryReader, Query]:
    if shape.query is None:
        raise NotFollowed(shape.kind)
    reader = QueryReader(dialect)
    common = reader.common_tables(shape.outer) if shape.outer is not None else ()
    return reader, replace_common(reader.query(shape.query), common)


def _loose(shape: Shape, read: _Reads, dialect: Dialect) -> RelationalStatement:
    target, tables = shape.target, read.tables
    if shape.kind is StatementKind.UPDATE and target is not None:
        target, tables = _updated_target(target, read)
    query = tables_only_select((), [RelationSource(name) for name in tables], ())
    aliases = tuple((alias, str(name)) for alias, name in read.aliases.items())
    problems = (COLUMNS_NOT_FOLLOWED,)
    return RelationalStatement(shape.kind, dialect.name, (WriteForm(target, query),), (), aliases, problems)


def _updated_target(target: Target, read: _Reads) -> tuple[Target, tuple[TableName, ...]]:
    """T-SQL may update a table by the alias that its FROM gives it."""
    meant = read.aliases.get(target.name.dotted, target.name)
    return replace(target, name=meant), tuple(name for name in read.tables if name not in (meant, target.name))


def _reads(statement: BaseSegment, shape: Shape, dialect: Dialect) -> _Reads:
    common = {relation_alias(code(item)[0], dialect) for item in statement.recursive_crawl("common_table_expression")}
    aliases: dict[str, TableName] = {}
    tables: list[TableName] = []
    for reference, alias in _references(statement, shape, dialect):
        name = table_name(reference, dialect)
        if len(name.parts) == 1 and name.table in common:
            continue
        tables.append(name)
        if alias is not None:
            aliases[relation_alias(alias, dialect)] = name
    return _Reads(tuple(dict.fromkeys(tables)), aliases)


def _references(statement: BaseSegment, shape: Shape, dialect: Dialect) -> Iterator[_Referenced]:
    """The references to tables in FROM, JOIN and MERGE's USING, each with the identifier that is its alias."""
    if shape.source is not None:
        yield shape.source, None
    for element in statement.recursive_crawl("from_expression_element"):
        alias = element.get_child("alias_expression")
        name = alias.get_child("identifier") if alias is not None else None
        expression = element.get_child("table_expression")
        inner = expression.get_child("table_reference", "file_reference") if expression is not None else None
        if inner is not None:
            if dialect.described_relations and name is not None and inner.raw.upper() in METADATA_QUERIES:
                raise Unparsable("what is told of a table stands for a relation")  # (DESCRIBE t)
            yield inner, name
    for bracketed in statement.recursive_crawl("bracketed"):
        direct = bracketed.get_child("table_expression")
        inner = direct.get_child("table_reference", "file_reference") if direct is not None else None
        if inner is not None:
            yield inner, None
