"""Expressions over the columns of base tables: names resolved, nested queries put in the place of one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from ingestion.decomposition.folding.rows import WHOLE_QUERY, Leaf, Refusal
from ingestion.decomposition.folding.scopes import NameScope
from ingestion.dialects.functions import Effect, effect_of

_REFUSED: dict[type[exp.Expr], str] = {
    exp.Lambda: "a lambda function",
    exp.Unnest: "a table function",
    exp.Explode: "a table function",
    exp.PropertyEQ: "an assignment",
    exp.DML: "a write inside the query",
}
Nested = Callable[[exp.Expr, NameScope], Leaf]
"""What stands for a query inside an expression."""


def rewrite_expression(node: exp.Expr, scope: NameScope, nested: Nested) -> exp.Expr:
    """The expression of a `node` over base columns, without comments.

    Raises Refusal where a part of it is not certain.
    """

    def rewrite(found: object) -> object:
        if isinstance(found, list):
            return [rewrite(item) for item in found]
        if not isinstance(found, exp.Expr):
            return found
        kind = type(found)
        if kind is exp.Column:
            return _column(found, scope)
        if isinstance(found, exp.Query):
            return nested(found, scope).column(WHOLE_QUERY)
        if kind is exp.Paren:
            return rewrite(found.args["this"])
        if isinstance(found, exp.Placeholder | exp.Parameter) and not found.name.strip("?0123456789"):
            raise Refusal("a value that is given when it runs")
        refused = next((reason for one, reason in _REFUSED.items() if isinstance(found, one)), None)
        if refused is not None:
            raise Refusal(refused)
        made = kind()
        for key, value in found.args.items():
            if value is not None:
                made.set(key, rewrite(value))
        return made

    made = rewrite(node)
    assert isinstance(made, exp.Expr)
    return made


def _column(node: exp.Expr, scope: NameScope) -> exp.Expr:
    names = scope.names
    if names.quotes_are_text and node.args["this"].args.get("quoted"):
        return exp.Literal.string(node.name)
    parts = names.column_parts(node)
    if parts[-1] == "*":
        raise Refusal("a whole row as a value")
    if names.is_niladic(node, parts):
        return exp.Var(this=".".join(parts).upper())
    return scope.column(parts)


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND joins; a BETWEEN is two of them."""
    stack = [node]
    while stack:
        part = stack.pop()
        while type(part) is exp.Paren:
            part = part.args["this"]
        if type(part) is exp.And:
            stack += [part.args["expression"], part.args["this"]]
        elif type(part) is exp.Between and not part.args.get("symmetric"):
            value, low, high = (part.args[key] for key in ("this", "low", "high"))
            yield exp.LTE(this=low.copy(), expression=value.copy())
            yield exp.LTE(this=value.copy(), expression=high.copy())
        elif not _is_always_true(part):
            yield part


def _is_always_true(node: exp.Expr) -> bool:
    """`TRUE`, and what generators of SQL write for it: `1 = 1`."""
    if type(node) is exp.Boolean:
        return bool(node.this)
    return type(node) is exp.EQ and type(node.this) is exp.Literal and node.this == node.expression


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node makes one value of many rows."""
    if isinstance(node, exp.AggFunc):
        return True
    return type(node) is exp.Anonymous and effect_of(str(node.this).upper()) in (Effect.AGGREGATE, Effect.COUNT)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate is in the expression that is not the function of a window."""
    return any(is_aggregate(found) and type(found.parent) is not exp.Window for found in node.walk())


def has_window(node: exp.Expr) -> bool:
    """Whether a function over a window is in the expression."""
    return node.find(exp.Window) is not None
