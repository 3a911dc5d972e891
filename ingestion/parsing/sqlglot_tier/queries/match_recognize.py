"""MATCH_RECOGNIZE of sqlglot's tree: partition keys and measures are its columns, or all columns and the measures."""

from __future__ import annotations

from sqlglot import exp

from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.relational.form import (
    AnySlot,
    Clause,
    Expression,
    FieldSlot,
    Projection,
    RelationSource,
    Select,
    Slot,
    Star,
)
from ingestion.relational.roles import FILTER, WINDOW


def match_rows(
    queries: QueryContext, node: exp.Expr, relations: tuple[RelationSource, ...]
) -> tuple[RelationSource, ...]:
    """What MATCH_RECOGNIZE makes of the relations of FROM."""
    args = node.args
    variables = {queries.names.relation(item.args["alias"]) for item in args.get("define") or ()}
    named = {relation.alias for relation in relations}
    keys = [queries.expression(key) for key in args.get("partition_by") or ()]
    measures = [
        Projection(queries.names.column(item.this.args["alias"]), _without(queries.expression(item.this.this), named))
        for item in args.get("measures") or ()
        if isinstance(item.this, exp.Alias)
    ]
    rows = args.get("rows")
    everything = rows is not None and "ALL ROWS" in rows.name.upper()
    kept: list[Projection | Star] = [Star()]
    if not everything:
        kept = [Projection(_name(key), key) for key in keys]
    clauses = [Clause(WINDOW, key) for key in keys]
    order = args.get("order")
    clauses += [Clause(WINDOW, queries.expression(item.this)) for item in (order.expressions if order else ())]
    conditions = (queries.expression(item.this, FILTER) for item in args.get("define") or ())
    clauses += [Clause(FILTER, _without(condition, named)) for condition in conditions if variables]
    alias = args.get("alias")
    name = queries.names.relation(alias.this) if alias is not None and type(alias.this) is exp.Identifier else ""
    return (RelationSource(Select((*kept, *measures), relations, tuple(clauses)), name),)


def _name(expression: Expression) -> str:
    slot = expression.slots[0] if expression.slots else None
    return slot.parts[-1] if isinstance(slot, Slot) else ""


def _without(expression: Expression, named: set[str]) -> Expression:
    """The expression with pattern variables taken off its columns: a variable's row is one of the input's."""
    slots: list[AnySlot] = []
    for slot in expression.slots:
        if isinstance(slot, Slot) and len(slot.parts) == 2 and slot.parts[0] not in named:
            slots.append(slot._replace(parts=slot.parts[1:]))
        elif isinstance(slot, FieldSlot):
            slots.append(slot._replace(value=_without(slot.value, named)))
        else:
            slots.append(slot)
    return expression._replace(slots=tuple(slots))
