"""Select lists of sqlglot's tree: columns, stars, COLUMNS(…), and functions that give several columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from ingestion.parsing.output_names import output_name
from ingestion.parsing.relational import Expression, Projection, QuerySlot, Slot, Star
from ingestion.parsing.roles import IDENTITY, TRANSFORMATION
from ingestion.parsing.sqlglot_expressions import column_expression
from ingestion.parsing.sqlglot_names import Names
from ingestion.parsing.sqlglot_precedence import ATOM

if TYPE_CHECKING:
    from ingestion.parsing.sqlglot_queries import QueryTranslator

_COLUMNS_DIALECTS = frozenset({"duckdb", "clickhouse"})


def translate_projections(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[Projection | Star]:
    """The output columns of a select list."""
    names = queries.names
    for number, node in enumerate(nodes):
        kind = type(node)
        if kind is exp.Column:
            parts = names.column_parts(node)
            if parts[-1] == "*":
                yield _star(queries, node.this, parts[:-1])
            else:
                yield Projection(parts[-1], column_expression(names, node, parts, IDENTITY))
        elif kind is exp.Alias:
            name = names.column(node.args["alias"])
            inner = node.args["this"]
            if type(inner) is exp.Columns:
                yield _columns(queries, inner)
            else:
                yield Projection(name, queries.expression(inner))
        elif kind is exp.Star:
            yield _star(queries, node, ())
        else:
            yield from _unnamed(queries, node, number)


def _unnamed(queries: QueryTranslator, node: exp.Expr, number: int) -> Iterator[Projection | Star]:
    kind = type(node)
    if kind is exp.Aliases:  # one function that gives several columns
        expression = queries.expression(node.this)
        for alias in node.expressions:
            yield Projection(queries.names.column(alias), expression._replace(type=None))
    elif kind is exp.QueryTransform:
        expressions = [queries.expression(item, TRANSFORMATION) for item in node.expressions]
        merged = _merged("TRANSFORM", expressions)
        schema = node.args.get("schema")
        for column in schema.expressions if schema is not None else ():
            yield Projection(queries.names.column(column.this if type(column) is exp.ColumnDef else column), merged)
    elif kind is exp.Columns:
        yield _columns(queries, node)
    elif kind is exp.Dot and type(node.expression) is exp.Star:
        parts = _dotted(queries.names, node.this)
        yield _star(queries, node.expression, parts)
    elif kind is exp.Apply and type(node.this) is exp.Star:
        yield _star(queries, node.this, ())._replace(wrapped=True)
    elif kind is exp.PropertyEQ:  # T-SQL and MySQL variables: @x := value
        yield Projection(node.this.name, queries.expression(node.expression))
    else:
        has_columns = queries.names.dialect.name in _COLUMNS_DIALECTS and isinstance(node, exp.Func)
        columns = node.find(exp.Columns) if has_columns else None
        if columns is not None and type(columns.this) is not exp.Column:
            yield _columns(queries, columns)._replace(wrapped=True)
            return
        expression = queries.expression(node)
        yield Projection(output_name(queries.names, node, expression, number), expression)


def _columns(queries: QueryTranslator, node: exp.Expr) -> Star:
    inner = node.this
    if type(inner) is exp.Star:
        return _star(queries, inner, ())
    return Star(pattern=inner.name if type(inner) is exp.Literal else "")


def _star(queries: QueryTranslator, node: exp.Expr, qualifier: tuple[str, ...]) -> Star:
    args = node.args
    if not (args.get("except_") or args.get("replace") or args.get("rename")):
        return Star(qualifier)
    excluded = tuple(
        queries.names.column_parts(c)[-1] if type(c) is exp.Column else queries.names.column(c)
        for c in args.get("except_") or ()
    )
    replaced = tuple(
        Projection(queries.names.column(c.args["alias"]), queries.expression(c.this)) for c in args.get("replace") or ()
    )
    renamed = tuple(
        (queries.names.column_parts(c.this)[-1], queries.names.column(c.args["alias"]))
        for c in args.get("rename") or ()
    )
    return Star(qualifier, excluded, replaced, renamed)


def _merged(function: str, expressions: list[Expression]) -> Expression:
    """One function over several expressions."""
    parts: list[str | int] = [function + "("]
    slots: list[Slot | QuerySlot] = []
    for number, expression in enumerate(expressions):
        if number:
            parts.append(", ")
        parts.extend(p + len(slots) if isinstance(p, int) else p for p in expression.parts)
        slots.extend(expression.slots)
    parts.append(")")
    return Expression(tuple(parts), tuple(slots), ATOM)


def _dotted(names: Names, node: exp.Expr) -> tuple[str, ...]:
    if type(node) is exp.Column:
        return names.column_parts(node)
    if type(node) is exp.Dot:
        return (*_dotted(names, node.this), *_dotted(names, node.expression))
    if type(node) is exp.Paren:
        return _dotted(names, node.this)
    return (names.column(node),) if type(node) is exp.Identifier else (node.name,)
