"""PIVOT and UNPIVOT of sqlglot's tree."""

from __future__ import annotations

from sqlglot import exp

from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.parsing.sqlglot_tier.queries.projections import translate_columns
from ingestion.relational.form import Expression, Pivot, Projection
from ingestion.relational.roles import ATOM, CONDITIONAL


def translate_pivots(queries: QueryContext, node: exp.Expr) -> tuple[Pivot, ...]:
    """The pivots of a FROM item, in order."""
    nodes = [node] if type(node) is exp.Pivot else node.args.get("pivots") or []
    return tuple(_unpivot(queries, item) if item.args.get("unpivot") else _pivot(queries, item) for item in nodes)


def _pivot(queries: QueryContext, node: exp.Expr) -> Pivot:
    args = node.args
    simplified = args.get("using")  # DuckDB: PIVOT t ON a USING sum(b) GROUP BY c
    aggregates = simplified or args.get("expressions") or []
    keys = args.get("expressions") if simplified else [f.this for f in args.get("fields") or []]
    expressions = [(queries.expression(a.this if type(a) is exp.Alias else a), a) for a in aggregates]
    chosen = tuple(queries.expression(key, CONDITIONAL) for key in keys or [] if isinstance(key, exp.Expr))
    consumed = [*chosen, *(expression for expression, _ in expressions)]
    names = [queries.names.column(c) if type(c) is exp.Identifier else c.name for c in args.get("columns") or []]
    if simplified:
        names = _simplified_names(args.get("expressions") or [], aggregates)
    if any(isinstance(item, exp.Query | exp.PivotAny) for key in args.get("fields") or [] for item in key.expressions):
        names = []
    if not names:
        queries.note_unsupported("PIVOT without a list of values")
    columns = (
        tuple(Projection(name, expressions[number % len(expressions)][0]) for number, name in enumerate(names))
        if expressions
        else ()
    )
    group = args.get("group")
    kept = (
        tuple(Projection(_name(queries, key), queries.expression(key)) for key in group.expressions)
        if group is not None
        else None
    )
    name, listed = _alias(queries, args.get("alias"))
    unnamed = () if names else tuple(expression for expression, _ in expressions)
    return Pivot(tuple(consumed), columns, name, chosen, kept, listed, unnamed=unnamed)


def _simplified_names(keys: list[exp.Expr], aggregates: list[exp.Expr]) -> list[str]:
    """DuckDB: the columns of PIVOT … ON key IN (values); none where the values or a name are not said."""
    named = all(type(aggregate) is exp.Alias for aggregate in aggregates)
    if len(keys) != 1 or type(keys[0]) is not exp.In or not (named or len(aggregates) == 1):
        return []
    endings = [f"_{aggregate.alias}" for aggregate in aggregates] if named else [""]
    return [f"{value.alias_or_name}{ending}" for value in keys[0].expressions for ending in endings]


def _unpivot(queries: QueryContext, node: exp.Expr) -> Pivot:
    args = node.args
    into = args.get("into")
    if into is not None:  # DuckDB: UNPIVOT t ON a, b INTO NAME n VALUE v
        items = args.get("expressions") or []
        inputs = [[item] for item in items if type(item) is not exp.Columns]
        names = [into.this]
        values = list(into.expressions)
    else:
        fields = args.get("fields") or []
        names = [field.this for field in fields]
        values = [v for e in args.get("expressions") or [] for v in (e.expressions if type(e) is exp.Tuple else [e])]
        items = [item for field in fields for item in field.args.get("expressions") or []]
        inputs = [_inputs(item) for item in items if type(item) is not exp.Columns]
    star = next((translate_columns(queries, item) for item in items if type(item) is exp.Columns), None)
    consumed = [queries.expression(column) for group in inputs for column in group]
    columns = [Projection(_name(queries, item), Expression(("?",), (), ATOM, "STRING")) for item in names]
    for number, value in enumerate(values):
        parts = [queries.expression(group[number]) for group in inputs if number < len(group)]
        columns.append(Projection(_name(queries, value), _one_of(parts)))
    name, listed = _alias(queries, args.get("alias"))
    return Pivot(tuple(consumed), tuple(columns), name, (), None, listed, star)


def _inputs(node: exp.Expr) -> list[exp.Expr]:
    inner = node.this if isinstance(node, exp.Alias) else node
    return list(inner.expressions) if type(inner) is exp.Tuple else [inner]


def _one_of(expressions: list[Expression]) -> Expression:
    """A value that comes from one of several columns, taken as it is."""
    slots = tuple(slot for expression in expressions for slot in expression.slots)
    parts: list[str | int] = []
    for number in range(len(slots)):
        if number:
            parts.append(" | ")
        parts.append(number)
    return Expression(tuple(parts), slots, 0 if len(slots) > 1 else ATOM, ("widest", *range(len(slots))))


def _name(queries: QueryContext, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    return queries.names.column(node) if type(node) is exp.Identifier else str(node.name)


def _alias(queries: QueryContext, alias: exp.Expr | None) -> tuple[str, tuple[str, ...]]:
    if alias is None:
        return "", ()
    name = queries.names.relation(alias.this) if type(alias.this) is exp.Identifier else ""
    columns = tuple(
        queries.names.column(column) for column in alias.args.get("columns") or () if type(column) is exp.Identifier
    )
    return name, columns
