"""Functions that give several columns, each made of some of the arguments: STACK, INLINE, EXPLODE of a map."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ingestion.dialects import Dialect
from ingestion.dialects.functions import INLINES
from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.relational.form import AnySlot, Expression
from ingestion.relational.roles import ATOM, TRANSFORMATION

_TO_ROWS = (exp.Explode, exp.Posexplode)


@dataclass(frozen=True, slots=True)
class Generated:
    """The columns of a generator by the names it gives them, and what each is one of."""

    label: str
    names: tuple[str, ...]
    cells: tuple[tuple[exp.Expr, ...], ...]


def generated_columns(function: exp.Expr, dialect: Dialect) -> Generated | None:
    """The columns of a generator whose arguments tell which column each of them goes to."""
    if not dialect.row_generators:
        return None
    if type(function) is exp.Stack:
        return _stack(function)
    if isinstance(function, _TO_ROWS):
        return _map_items(function)
    label = str(function.sql_names()[0]) if isinstance(function, exp.Func) else ""
    name = str(function.this).upper() if type(function) is exp.Anonymous else label
    if name in INLINES:
        return _inline(function, name)
    return None


def generated_expressions(queries: QueryContext, made: Generated) -> tuple[Expression, ...]:
    """The expression of each column; one that only literals go to uses nothing."""
    return tuple(
        merge_expressions(made.label, [queries.expression(cell, TRANSFORMATION) for cell in column])
        for column in made.cells
    )


def merge_expressions(function: str, expressions: list[Expression]) -> Expression:
    """One function over several expressions."""
    parts: list[str | int] = [function + "("]
    slots: list[AnySlot] = []
    for number, expression in enumerate(expressions):
        if number:
            parts.append(", ")
        parts.extend(p + len(slots) if isinstance(p, int) else p for p in expression.parts)
        slots.extend(expression.slots)
    parts.append(")")
    return Expression(tuple(parts), tuple(slots), ATOM)


def _stack(function: exp.Expr) -> Generated | None:
    """STACK(n, …): the values row by row in n rows; keys among them are mostly literals."""
    rows = function.args["this"]
    values = function.expressions
    if type(rows) is not exp.Literal or not rows.name.isdigit() or not int(rows.name) or not values:
        return None
    width = -(-len(values) // int(rows.name))
    return Generated(
        "STACK",
        tuple(f"col{number}" for number in range(width)),
        tuple(tuple(values[number::width]) for number in range(width)),
    )


def _map_items(function: exp.Expr) -> Generated | None:
    """EXPLODE(MAP(k, v, …)): keys and values; POSEXPLODE has the position before them."""
    made = function.args["this"]
    keys, values = made.args.get("keys"), made.args.get("values")
    if not isinstance(keys, exp.Array) or not isinstance(values, exp.Array):
        return None
    cells = (tuple(keys.expressions), tuple(values.expressions))
    if isinstance(function, exp.Posexplode):
        return Generated("POSEXPLODE", ("pos", "key", "value"), ((), *cells))
    return Generated("EXPLODE", ("key", "value"), cells)


def _inline(function: exp.Expr, label: str) -> Generated | None:
    """INLINE(ARRAY(STRUCT(a, b), …)): a row for each struct, named as the first one's fields are."""
    made = function.args.get("this") if isinstance(function.args.get("this"), exp.Expr) else None
    if type(function) is exp.Anonymous:
        made = function.expressions[0] if len(function.expressions) == 1 else None
    rows = made.expressions if type(made) is exp.Array else []
    if not rows or any(type(row) is not exp.Struct for row in rows):
        return None
    first = rows[0].expressions
    if not first or any(len(row.expressions) != len(first) for row in rows):
        return None
    fields = [[item.expression if type(item) is exp.PropertyEQ else item for item in row.expressions] for row in rows]
    names = tuple(
        str(item.this.name) if type(item) is exp.PropertyEQ else (item.output_name or f"col{number}")
        for number, item in enumerate(first, 1)
    )
    return Generated(label, names, tuple(zip(*fields, strict=True)))
