"""The clauses of sqlglot's SELECT that act on all outputs: WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY and their kin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.relational.form import Clause, OutputNames
from ingestion.relational.roles import FILTER, GROUP_BY, JOIN, SORT

_CONDITIONS = (
    ("where", OutputNames.LATERAL),
    ("prewhere", OutputNames.LATERAL),
    ("having", OutputNames.AFTER_COLUMNS),
    ("qualify", OutputNames.AFTER_COLUMNS),
)


def conditions(
    queries: QueryContext, node: exp.Expr | None, role: int, aliases: OutputNames = OutputNames.HIDDEN
) -> Iterator[Clause]:
    """A condition, one clause for each of the parts that AND joins: `WHERE a > 0 AND b > 0` is two, `role` FILTER."""
    stack = [node] if node is not None else []
    while stack:
        part = stack.pop()
        while type(part) is exp.Paren:
            part = part.args["this"]
        if type(part) is exp.And:
            stack.append(part.args["expression"])
            stack.append(part.args["this"])
        elif type(part) not in (exp.Boolean, exp.Literal):
            expression = queries.expression(part, role)
            if expression.slots:
                yield Clause(role, expression, 0, aliases)


def select_clauses(queries: QueryContext, node: exp.Expr) -> Iterator[Clause]:
    """The clauses of a SELECT in the order in which a name in them is looked up."""
    args = node.args
    for key, aliases in _CONDITIONS:
        clause = args.get(key)
        if clause is not None:
            yield from conditions(queries, clause.this, FILTER, aliases)
    connect = args.get("connect")
    if connect is not None:
        yield from conditions(queries, connect.args.get("start"), FILTER)
        yield from conditions(queries, connect.args.get("connect"), JOIN)
    group = args.get("group")
    if group is not None:
        yield from _keys(queries, _grouping_keys(group), GROUP_BY, OutputNames.AFTER_COLUMNS)
        if group.args.get("all") and not group.expressions:
            for number, item in enumerate(args["expressions"]):
                if not item.find(exp.AggFunc):
                    yield Clause(GROUP_BY, None, number + 1)
    distinct = args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        yield from _keys(queries, _flat([distinct.args["on"]]), GROUP_BY, OutputNames.BEFORE_COLUMNS)
    limit_by = args.get("limit")
    if limit_by is not None and limit_by.args.get("expressions"):  # ClickHouse: LIMIT n BY keys
        yield from _keys(queries, limit_by.args["expressions"], GROUP_BY, OutputNames.AFTER_COLUMNS)
    yield from order_clauses(queries, node)


def order_clauses(queries: QueryContext, node: exp.Expr) -> Iterator[Clause]:
    """ORDER BY and Hive's kin of it."""
    args = node.args
    for key in ("order", "sort", "cluster"):
        order = args.get(key)
        if order is not None:
            yield from _keys(queries, order.expressions, SORT, OutputNames.BEFORE_COLUMNS)


def _keys(queries: QueryContext, nodes: Iterable[exp.Expr], role: int, aliases: OutputNames) -> Iterator[Clause]:
    for node in nodes:
        key = node.this if type(node) is exp.Ordered else node
        if type(key) is exp.Literal:
            if not key.args.get("is_string") and key.name.isdigit():
                yield Clause(role, None, int(key.name))
            continue
        expression = queries.expression(key, role)
        if expression.slots:
            yield Clause(role, expression, 0, aliases)


def _grouping_keys(group: exp.Expr) -> Iterator[exp.Expr]:
    yield from _flat(group.expressions)
    for key in ("grouping_sets", "cube", "rollup"):
        found = group.args.get(key)
        if isinstance(found, list):
            for item in found:
                yield from _flat(item.expressions if isinstance(item, exp.Expr) else [])


def _flat(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
            yield from _flat(node.expressions)
        elif type(node) is exp.Paren:
            yield from _flat([node.this])
        else:
            yield node
