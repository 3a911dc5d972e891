"""What a statement of sqlfluff's tree does: its kind, its target, and where its query stands."""

from __future__ import annotations

from dataclasses import dataclass

from sqlfluff.core.parser import BaseSegment

from ingestion.dialects import Dialect
from ingestion.errors import Unparsable
from ingestion.model import StatementKind, Target, WriteMode
from ingestion.parsing.sqlfluff_tier.expressions import QUERIES
from ingestion.parsing.sqlfluff_tier.tree import code, column_name, keywords, only_code, table_name
from ingestion.parsing.sqlparse_tier.words import TEMPORARY

_REFERENCES = ("table_reference", "object_reference", "file_reference")


@dataclass(frozen=True, slots=True)
class Shape:
    """One statement: `query` gives the target's columns (None where they are not followed), `outer` has its WITH.

    `source` is the table that MERGE names behind USING.
    """

    kind: StatementKind
    target: Target | None
    query: BaseSegment | None
    outer: BaseSegment | None = None
    source: BaseSegment | None = None


def shape_of(statement: BaseSegment, dialect: Dialect) -> Shape:
    """The statement's shape. Raises Unparsable when it has none that carries lineage."""
    outer, main = None, statement
    if statement.is_type("with_compound_statement") and not code(statement)[-1].is_type(*QUERIES, "bracketed"):
        outer, main = statement, code(statement)[-1]
    kind = main.get_type()
    if main.is_type(*QUERIES, "bracketed"):
        return _select(main, dialect)
    if main.is_type("insert_statement"):
        return _insert(main, outer, dialect)
    if kind.startswith("create_") and ("table" in kind or "view" in kind):
        return _create(main, dialect, view="view" in kind)
    if main.is_type("update_statement"):
        target = Target(table_name(_target(main), dialect), WriteMode.UPDATE)
        return Shape(StatementKind.UPDATE, target, None)
    if main.is_type("merge_statement"):
        return _merge(main, dialect)
    raise Unparsable("the statement has no shape that carries lineage")


def _target(segment: BaseSegment) -> BaseSegment:
    reference = segment.get_child(*_REFERENCES)
    if reference is None:
        raise Unparsable("the statement names no target")
    return reference


def _query_in(segment: BaseSegment) -> BaseSegment | None:
    """The query among a segment's children, in brackets or not."""
    for child in code(segment):
        if child.is_type(*QUERIES):
            return child
        inner = only_code(child) if child.is_type("bracketed") else None
        if inner is not None and inner.is_type(*QUERIES, "bracketed"):
            return inner
    return None


def _columns(segment: BaseSegment, behind: BaseSegment, dialect: Dialect) -> tuple[str, ...] | None:
    """The column list right behind a name, with or without types."""
    children = code(segment)
    position = next(number for number, child in enumerate(children) if child is behind) + 1
    if position >= len(children) or not children[position].is_type("bracketed"):
        return None
    names = []
    for child in code(children[position])[1:-1]:
        if child.is_type("column_definition"):
            names.append(column_name(code(child)[0], dialect))
        elif child.is_type("column_reference", "identifier"):
            names.append(column_name(code(child)[-1] if child.segments else child, dialect))
        elif not child.is_type("comma"):
            return None
    return tuple(names) or None


def _insert(segment: BaseSegment, outer: BaseSegment | None, dialect: Dialect) -> Shape:
    reference = _target(segment)
    words = keywords(segment)
    mode = WriteMode.OVERWRITE if "OVERWRITE" in words else WriteMode.APPEND
    columns = _columns(segment, reference, dialect)
    by_name = "NAME" in words
    target = Target(table_name(reference, dialect), mode, columns, by_name)
    partitioned = any("partition" in child.get_type() for child in code(segment)) or "PARTITION" in words
    query = None if partitioned else _query_in(segment)
    return Shape(StatementKind.INSERT, target, query, outer)


def _create(segment: BaseSegment, dialect: Dialect, *, view: bool) -> Shape:
    reference = _target(segment)
    query = _query_in(segment)
    if query is None:
        raise Unparsable("CREATE has no query")
    name = table_name(reference, dialect)
    temporary = bool(TEMPORARY & set(keywords(segment))) or name.table.startswith("#")
    columns = _columns(segment, reference, dialect)
    target = Target(name, WriteMode.CREATE, columns, temporary=temporary, view=view)
    kind = StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS
    return Shape(kind, target, query)


def _merge(segment: BaseSegment, dialect: Dialect) -> Shape:
    references = segment.get_children(*_REFERENCES)
    if not references:
        raise Unparsable("MERGE names no target")
    target = Target(table_name(references[0], dialect), WriteMode.UPDATE)
    source = references[1] if len(references) > 1 else None
    return Shape(StatementKind.MERGE, target, None, source=source)


def _select(segment: BaseSegment, dialect: Dialect) -> Shape:
    into = next(segment.recursive_crawl("into_clause", "into_table_clause"), None)
    if into is None:
        return Shape(StatementKind.SELECT, None, segment)
    reference = into.get_child(*_REFERENCES)
    if reference is None:
        raise Unparsable("SELECT INTO names no table")
    name = table_name(reference, dialect)
    temporary = bool(TEMPORARY & set(keywords(into))) or name.table.startswith("#")
    return Shape(StatementKind.CREATE_TABLE_AS, Target(name, WriteMode.CREATE, temporary=temporary), segment)
