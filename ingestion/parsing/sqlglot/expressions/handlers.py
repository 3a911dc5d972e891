"""The translation of expressions: the table of what writes each type of node, put together of all its parts."""

from __future__ import annotations

from sqlglot import exp

from ingestion.analysis.form import Expression
from ingestion.analysis.roles import ATOM, IDENTITY, TRANSFORMATION
from ingestion.parsing.sqlglot.expressions._calls import CALLS, write_function
from ingestion.parsing.sqlglot.expressions._operators import OPERATORS, PRECEDENCE
from ingestion.parsing.sqlglot.expressions._terms import ACCESSES, TERMS, fields_of_node
from ingestion.parsing.sqlglot.expressions.writer import ExpressionWriter, Handlers, QueryContext, column_expression


def translate_expression(
    queries: QueryContext,
    node: exp.Expr,
    role: int,
    windows: dict[str, exp.Expr],
    shadows: frozenset[str] = frozenset(),
) -> Expression:
    """The expression of a node, its columns playing `role`."""
    while type(node) is exp.Paren:
        node = node.args["this"]
    if type(node) is exp.Column and not shadows:
        return column_expression(queries.names, node, queries.names.column_parts(node), role)
    writer = ExpressionWriter(queries, windows, _HANDLERS)
    writer.shadows = shadows
    rule = writer.write(node, role)
    fields = fields_of_node(writer, node) if role in (IDENTITY, TRANSFORMATION) else None
    return Expression(tuple(writer.parts), tuple(writer.slots), PRECEDENCE.get(type(node), ATOM), rule, fields)


_HANDLERS = Handlers(
    {**TERMS, **ACCESSES, **OPERATORS, **CALLS},
    write_function,
    translate_expression,
)
