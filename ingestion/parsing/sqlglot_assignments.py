"""The assignments of UPDATE SET in sqlglot's tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.parsing.relational import Expression, Projection, Query, QuerySlot, Select, Star
from ingestion.parsing.roles import IDENTITY
from ingestion.parsing.sqlglot_expressions import ATOM
from ingestion.parsing.sqlglot_queries import QueryTranslator


def column_name(queries: QueryTranslator, node: exp.Expr) -> str:
    """The folded name of a column in a column list or on the left of an assignment."""
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    inner = node.this if type(node) is exp.ColumnDef else node
    if type(inner) is exp.Identifier:
        return queries.names.column(inner)
    return queries.names.column_parts(inner)[-1] if type(inner) is exp.Column else str(inner.name)


def assignments(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[Projection]:
    """The assignments of UPDATE SET, one projection for each column."""
    for node in nodes:
        if not isinstance(node, exp.EQ | exp.PropertyEQ):
            continue
        left, right = node.this, node.expression
        if type(left) in (exp.Tuple, exp.Paren):
            yield from _multiple(queries, left, right)
        elif type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default":
            continue
        else:
            yield Projection(column_name(queries, left), queries.expression(right))


def _multiple(queries: QueryTranslator, left: exp.Expr, right: exp.Expr) -> Iterator[Projection]:
    """(a, b) = (SELECT c, d …), and (a, b) = [ROW] (c, d)."""
    items = left.expressions if type(left) is exp.Tuple else [left.this]
    names = [column_name(queries, item) for item in items]
    while type(right) is exp.Paren:
        right = right.this
    if type(right) is exp.Tuple or (type(right) is exp.Anonymous and str(right.this).upper() == "ROW"):
        for name, value in zip(names, right.expressions, strict=False):
            yield Projection(name, queries.expression(value))
        return
    if not isinstance(right, exp.Query):
        yield from (Projection(name, queries.expression(right)) for name in names[: len(names) == 1])
        return
    query = queries.query(right)
    for number, name in enumerate(names):
        yield Projection(name, Expression((0,), (QuerySlot(_nth(query, number), IDENTITY),), ATOM, 0))


def _nth(query: Query, number: int) -> Query:
    """The query with its nth column only."""
    if not isinstance(query, Select) or number >= len(query.projections):
        return query
    if any(isinstance(item, Star) for item in query.projections):
        return query
    return replace(query, projections=(query.projections[number],))
