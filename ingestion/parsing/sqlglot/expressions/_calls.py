"""Calls of functions, aggregates and windows: what their arguments are to the result, and what keys only order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ingestion.analysis.form import Expression, Projection, QuerySlot, RelationSource, Select, Slot, Star, TypeRule
from ingestion.analysis.roles import (
    AGGREGATED,
    ARGUMENT_ROLES,
    ATOM,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    SORT,
    TRANSFORMED,
    WINDOW,
)
from ingestion.dialects.functions import (
    FIRST_ELEMENTS,
    REFERENCES_TO_ROWS,
    SORTED_WITHIN,
    TYPE_FIRST_IN_DIALECT,
    ArgumentUse,
    argument_uses,
    unit_positions,
)
from ingestion.dialects.keywords import DATE_PARTS
from ingestion.parsing.sqlglot.expressions._functions import behaviours_of, write_in_dialect
from ingestion.parsing.sqlglot.expressions._operators import write_decode
from ingestion.parsing.sqlglot.expressions._terms import called_name, element_at
from ingestion.parsing.sqlglot.expressions.names import named_table, parameter_named_by
from ingestion.parsing.sqlglot.expressions.types import has_constant_length
from ingestion.parsing.sqlglot.expressions.writer import ExpressionWriter, Handler

# ClickHouse's lookups of values in relations that they name: dictGet(…), joinGet(…).

_VALUES = re.compile(r"DICTGET(?!HIERARCHY|CHILDREN|DESCENDANTS)[A-Z0-9]*|JOINGET(?:ORNULL)?")
_ROWS = re.compile(r"DICT(?:HAS|ISIN|GETHIERARCHY|GETCHILDREN|GETDESCENDANTS)")

_TRUNCATIONS = (exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc)


def _write_lookup(w: ExpressionWriter, node: exp.Expr, name: str, role: int) -> bool:
    """Append what dictGet, joinGet and their kin give: columns of the relation named first, chosen by the keys.

    False, with nothing written, where the function is none of them or its relation's name is not constant.
    """
    if not w.names.dialect.relations_in_functions or not (_VALUES.fullmatch(name) or _ROWS.fullmatch(name)):
        return False
    arguments = node.expressions
    table = named_table(arguments[0], w.names) if arguments else None
    if table is None:
        return False
    relation = (RelationSource(w.names.table(table)),)
    w.parts.append(name + "(")
    if _ROWS.fullmatch(name):
        w.slots.append(QuerySlot(Select((), relation), COMPOSED[role][FILTER], 0, exists=True))
        w.parts.append(f"{relation[0].source}, ")
        w.join(arguments[1:], TRANSFORMED[role])
    else:
        number = len(w.slots)
        w.slots.append(QuerySlot(Select(_attributes(arguments[1:2]), relation), TRANSFORMED[role]))
        w.parts.extend((number, ", "))
        w.join(arguments[2:3], COMPOSED[role][FILTER])
        if len(arguments) > 3:
            w.parts.append(", ")
            w.join(arguments[3:], TRANSFORMED[role] if "ORDEFAULT" in name else COMPOSED[role][FILTER])
    w.parts.append(")")
    return True


def _attributes(nodes: list[exp.Expr]) -> tuple[Projection | Star, ...]:
    """The columns that a text or a tuple of texts names; any of them where they are not constant."""
    items = nodes[0].expressions if nodes and type(nodes[0]) is exp.Tuple else nodes
    if not items or any(type(item) is not exp.Literal or not item.args.get("is_string") for item in items):
        return (Star(),)
    return tuple(Projection(item.name, Expression((0,), (Slot((item.name,), IDENTITY),), ATOM, 0)) for item in items)


# The calls that sqlglot has a node for.


def _window(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """sum(a) OVER (PARTITION BY b ORDER BY c): a is the value, b and c decide over which rows."""
    rule = w.write(node.args["this"], role)
    w.parts.append(" OVER (")
    _window_keys(w, node, COMPOSED[role][WINDOW])
    w.parts.append(")")
    return rule


def _window_keys(w: ExpressionWriter, node: exp.Expr, role: int) -> None:
    args = node.args
    alias = args.get("alias")
    base = w.windows.get(alias.name.lower()) if alias is not None else None
    if base is not None and base is not node:
        _window_keys(w, base, role)
    keys = args.get("partition_by")
    if keys:
        w.parts.append("PARTITION BY ")
        w.join(keys, role)
    order = args.get("order")
    if order is not None:
        w.parts.append(" ORDER BY " if keys else "ORDER BY ")
        w.join(order.args["expressions"], role)
    frame = args.get("spec")
    ends = [frame.args.get(end) for end in ("start", "end")] if frame is not None else []
    bounds = [end for end in ends if isinstance(end, exp.Expr) and end.find(exp.Column, exp.Query) is not None]
    if bounds:
        w.parts.append(" BETWEEN ")
        w.join(bounds, role)


def _ordered_aggregate(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`a DESC` among the arguments or keys."""
    rule = w.write(node.args["this"], role)
    if node.args.get("desc"):
        w.parts.append(" DESC")
    return rule


def _ordered_argument(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """STRING_AGG(a ORDER BY b): the keys sort, they are not the value."""
    this = node.args.get("this")
    rule = w.write(this, role) if this is not None else None
    w.parts.append(" ORDER BY ")
    w.join(node.args["expressions"], COMPOSED[role][SORT])
    return rule


def _within_group(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """LISTAGG(a) WITHIN GROUP (ORDER BY b) sorts by b; of PERCENTILE_CONT(x) it is the value."""
    function = node.args["this"]
    rule = w.write(function, role)
    w.parts.append(" WITHIN GROUP (ORDER BY ")
    order = node.args["expression"]
    sorts = isinstance(function, exp.GroupConcat | exp.ArrayAgg | exp.ArrayUniqueAgg) or (
        type(function) is exp.Anonymous and str(function.this).upper() in SORTED_WITHIN
    )
    rules = w.join(order.args["expressions"], COMPOSED[role][SORT] if sorts else AGGREGATED[role])
    w.parts.append(")")
    return rule if sorts else rules[0]


def _filter(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """count(a) FILTER (WHERE b): b decides which rows count."""
    rule = w.write(node.args["this"], role)
    w.parts.append(" FILTER (WHERE ")
    w.write(node.args["expression"].args["this"], COMPOSED[role][FILTER])
    w.parts.append(")")
    return rule


def _ranked_aggregate(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """MAX_BY(a, b): a flows, b only says which."""
    ordering = node.args.get("expression")
    if ordering is None:  # no system takes it, but sqlglot does
        return write_function(w, node, role, outer_precedence)
    w.parts.append("MAX_BY(" if type(node) is exp.ArgMax else "MIN_BY(")
    rule = w.write(node.args["this"], AGGREGATED[role])
    w.parts.append(", ")
    w.write(ordering, COMPOSED[role][SORT])
    w.parts.append(")")
    return rule


def _having(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """ANY_VALUE(a HAVING MAX b): b only says which."""
    rule = w.write(node.args["this"], role)
    w.parts.append(" HAVING MAX " if node.args.get("max") else " HAVING MIN ")
    w.write(node.args["expression"], COMPOSED[role][SORT])
    return rule


def _distinct(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """count(DISTINCT a)."""
    w.parts.append("DISTINCT ")
    rules = w.join(node.args.get("expressions") or [], role)
    return rules[0] if rules else None


def _any(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`ANY(a)` is an aggregate, and so is Exasol's EVERY, which sqlglot takes for ALL; `b = ANY(a)` compares."""
    compares = isinstance(node.parent, exp.Predicate)
    name = "ANY" if type(node) is exp.Any else "ALL" if compares else "EVERY"
    w.parts.append(f"{name}(")
    rules = _arguments(w, node, role if compares else AGGREGATED[role])
    w.parts.append(")")
    return rules[0] if rules and not compares else None


def write_function(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """Any function, and any other node, by its arguments."""
    behaviours = behaviours_of(w.names.dialect.name)
    known = behaviours.of(type(node))
    name, by_kind = known.name, known
    if name is None:  # a function that is known by its written name only
        written = node.args["this"]
        name = written.upper() if isinstance(written, str) else written.sql()
        if name == "MULTIIF":
            return write_decode(w, node, role, outer_precedence)
        chosen = _element_called(node, name)
        if chosen is not None:
            return w.write(chosen, TRANSFORMED[role], outer_precedence)
        if _write_lookup(w, node, name, role):
            return None
        first = node.args["expressions"][:1] if name == "VALUES" else []
        if first and type(first[0]) is exp.Identifier:  # MySQL: VALUES(a) is the incoming row's a
            return w.slot(("excluded", w.names.column(first[0])), role, outer_precedence)
        qualified = called_name(node).upper() if type(node.parent) is exp.Dot else name
        known = behaviours.by_name(type(node), qualified, len(node.args["expressions"]))
        by_name = isinstance(node, exp.Anonymous | exp.AnonymousAggFunc)
        uses = argument_uses(name, len(node.args["expressions"])) if by_name else ()
        if uses:
            return _by_argument(w, node, role, known.inner[role], uses)
    if name in behaviours.multiplying:
        w.queries.generators += _row_deciding(w, node)
    worded = write_in_dialect(w, node, known.inner[role]) if known.name is not None and known is by_kind else None
    if worded is not None:
        return _result_type(known.type, worded)
    w.parts.append(name + "(")
    given: list[tuple[int, int, str]] = []
    rules = _arguments(w, node, known.inner[role], given)
    if known.last_filters and w.slots and type(w.slots[-1]) is Slot:
        w.slots[-1] = w.slots[-1]._replace(role=COMPOSED[role][FILTER])
    if type(node) is exp.Anonymous:
        w.call(called_name(node), TRANSFORMED[role], tuple(given))
    w.parts.append(")")
    return _result_type(known.type, rules)


def _element_called(node: exp.Expr, name: str) -> exp.Expr | None:
    """The element b of LIST_EXTRACT([a, b], 2)."""
    first, given = FIRST_ELEMENTS.get(name), node.args.get("expressions") or []
    return element_at(given[0], given[1], first) if first is not None and len(given) == 2 else None


def _row_deciding(w: ExpressionWriter, node: exp.Expr) -> Iterator[Expression]:
    """The arguments of a function in a select list that say how many rows it makes of one."""
    for item in node.iter_expressions():
        if not has_constant_length(item):
            yield w.inner(item, FILTER)


def _by_argument(w: ExpressionWriter, node: exp.Expr, role: int, inner: int, uses: tuple[ArgumentUse, ...]) -> TypeRule:
    """A function that does not do the same with all of its arguments, and has no node of its own: ZEROIFNULL(a).

    Its values play the role `inner`: of CSUM(a, b) a is aggregated.
    """
    w.parts.append(called_name(node) + "(")
    for number, (item, use) in enumerate(zip(node.args["expressions"], uses, strict=True)):
        if number:
            w.parts.append(", ")
        start = len(w.slots)
        is_value = use in (ArgumentUse.VALUE, ArgumentUse.BOTH)
        w.write(item, inner if is_value else COMPOSED[role][ARGUMENT_ROLES[use]])
        if use is ArgumentUse.BOTH:
            w.also(start, COMPOSED[role][CONDITIONAL])
    w.parts.append(")")
    return None


def _result_type(rule: TypeRule, rules: list[TypeRule]) -> TypeRule:
    if rule == "same":
        return rules[0] if rules else None
    if rule == "widest":
        return ("widest", *rules)
    if rule in ("summed", "averaged", "listed", "element"):
        return (rule, rules[0] if rules else None)
    return rule


def _arguments(
    w: ExpressionWriter, node: exp.Expr, role: int, given: list[tuple[int, int, str]] | None = None
) -> list[TypeRule]:
    """Write the arguments of a function, in order; returns their types.

    `given` takes the slots of each, from one number to another, and the parameter's name where the call says it.
    """
    parts = w.parts
    rules: list[TypeRule] = []
    first = True
    truncates = type(node) in _TRUNCATIONS and not w.names.dialect.bare_date_parts
    units = _bare_units(node, w.names.dialect.name) if type(node) is exp.Anonymous else ()
    for key, value in node.args.items():
        if value is None or value is False or (key == "this" and isinstance(value, str)):
            continue
        for item in value if type(value) is list else (value,):
            if not isinstance(item, exp.Expr):
                continue
            if not first:
                parts.append(", ")
            first, start = False, len(w.slots)
            if truncates and key == "unit":
                parts.append("?")  # a string in the text: DATE_TRUNC('month', a)
            elif any(item is unit for unit in units):
                parts.append(item.name.upper())
            else:
                rules.append(w.write(item, role))
            if given is not None and key == "expressions":
                given.append((start, len(w.slots), parameter_named_by(item)))
    return rules


def _bare_units(node: exp.Expr, dialect: str) -> tuple[exp.Expr, ...]:
    """The words among the arguments of a function that sqlglot has no node for, and so takes for columns.

    T-SQL's `DATE_BUCKET(week, 2, day)` has a unit and a column, Oracle's `MAKE_REF(v, id)` a view and a column.
    """
    arguments, name = node.expressions, str(node.this).upper()
    if name in REFERENCES_TO_ROWS or name in TYPE_FIRST_IN_DIALECT.get(dialect, ()):
        return tuple(arguments[:1])
    indices = unit_positions(name, len(arguments), dialect)
    return tuple(arguments[index] for index in indices if arguments[index].sql().lower() in DATE_PARTS)


CALLS: dict[type[exp.Expr], Handler] = {
    exp.Any: _any,
    exp.All: _any,
    exp.Window: _window,
    exp.Ordered: _ordered_aggregate,
    exp.Order: _ordered_argument,
    exp.WithinGroup: _within_group,
    exp.Filter: _filter,
    exp.ArgMax: _ranked_aggregate,
    exp.ArgMin: _ranked_aggregate,
    exp.Distinct: _distinct,
    exp.HavingMax: _having,
}
