"""Expressions of sqlglot's tree, in one walk: text with slots, the role of each column, and how the type follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from ingestion.parsing.relational import Expression, QuerySlot, Slot, TypeRule
from ingestion.parsing.roles import (
    AGGREGATED,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    MASKING,
    SORT,
    TRANSFORMED,
    WINDOW,
)
from ingestion.parsing.sqlglot_functions import FUNCTIONS, Behaviour, behaviour_of
from ingestion.parsing.sqlglot_types import literal_type, type_name

if TYPE_CHECKING:
    from ingestion.parsing.sqlglot_queries import QueryTranslator

ATOM = 10
_COLUMN_PARTS: tuple[str | int, ...] = (0,)

BINARY: dict[type[exp.Expr], tuple[str, int]] = {
    exp.Or: (" OR ", 1),
    exp.Xor: (" XOR ", 1),
    exp.And: (" AND ", 2),
    exp.EQ: (" = ", 4),
    exp.NEQ: (" <> ", 4),
    exp.GT: (" > ", 4),
    exp.GTE: (" >= ", 4),
    exp.LT: (" < ", 4),
    exp.LTE: (" <= ", 4),
    exp.NullSafeEQ: (" IS NOT DISTINCT FROM ", 4),
    exp.NullSafeNEQ: (" IS DISTINCT FROM ", 4),
    exp.Is: (" IS ", 4),
    exp.Like: (" LIKE ", 4),
    exp.ILike: (" ILIKE ", 4),
    exp.RegexpLike: (" RLIKE ", 4),
    exp.SimilarTo: (" SIMILAR TO ", 4),
    exp.Glob: (" GLOB ", 4),
    exp.Escape: (" ESCAPE ", 4),
    exp.BitwiseOr: (" | ", 5),
    exp.BitwiseXor: (" ^ ", 5),
    exp.BitwiseAnd: (" & ", 5),
    exp.BitwiseLeftShift: (" << ", 5),
    exp.BitwiseRightShift: (" >> ", 5),
    exp.DPipe: (" || ", 6),
    exp.Add: (" + ", 6),
    exp.Sub: (" - ", 6),
    exp.Mul: (" * ", 7),
    exp.Div: (" / ", 7),
    exp.IntDiv: (" DIV ", 7),
    exp.Mod: (" % ", 7),
}
"""The text and precedence of operators; operators of one precedence group to the left."""

_PRECEDENCE = {kind: precedence for kind, (_, precedence) in BINARY.items()} | {
    exp.Not: 3,
    exp.Between: 4,
    exp.In: 4,
    exp.Neg: 8,
}
_LOGICAL = frozenset(kind for kind, (_, precedence) in BINARY.items() if precedence <= 4)


class ExpressionWriter:
    """Writes one expression; `windows` are the WINDOW clause's, `shadows` the parameters of lambdas around."""

    __slots__ = ("names", "parts", "queries", "shadows", "slots", "windows")

    def __init__(self, queries: QueryTranslator, windows: dict[str, exp.Expr]) -> None:
        self.queries = queries
        self.names = queries.names
        self.windows = windows
        self.parts: list[str | int] = []
        self.slots: list[Slot | QuerySlot] = []
        self.shadows: frozenset[str] = frozenset()

    def write(self, node: exp.Expr, role: int, tight: int = 0) -> TypeRule:
        """Append the node's text and slots, the columns in it playing `role`; returns its type's rule."""
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node, role, tight)
        return _function(self, node, role, tight)

    def slot(self, parts: tuple[str, ...], role: int, tight: int) -> TypeRule:
        slots = self.slots
        number = len(slots)
        slots.append(Slot(parts, role, tight))
        self.parts.append(number)
        return number

    def join(self, nodes: list[exp.Expr], role: int) -> list[TypeRule]:
        """Write the nodes with commas between; returns their types."""
        rules: list[TypeRule] = []
        parts = self.parts
        for number, node in enumerate(nodes):
            if number:
                parts.append(", ")
            rules.append(self.write(node, role))
        return rules

    def also(self, start: int, role: int) -> None:
        """Let the columns used since slot `start` play `role` as well."""
        slots = self.slots
        for slot in slots[start:]:
            slots.append(slot._replace(role=COMPOSED[role][slot.role & MASKING]))


def translate_expression(
    queries: QueryTranslator, node: exp.Expr, role: int, windows: dict[str, exp.Expr]
) -> Expression:
    """The expression of a node, its columns playing `role`."""
    while type(node) is exp.Paren:
        node = node.args["this"]
    if type(node) is exp.Column:
        return Expression(_COLUMN_PARTS, (Slot(queries.names.column_parts(node), role),), ATOM, 0)
    writer = ExpressionWriter(queries, windows)
    rule = writer.write(node, role)
    return Expression(tuple(writer.parts), tuple(writer.slots), _PRECEDENCE.get(type(node), ATOM), rule)


def _column(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    parts = w.names.column_parts(node)
    if w.shadows and parts[0] in w.shadows:
        w.parts.append(".".join(parts))
        return None
    return w.slot(parts, role, tight)


def _dot(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    path: list[str] = []
    base = node
    while type(base) is exp.Dot and isinstance(base.expression, exp.Identifier | exp.Star):
        path.append("*" if type(base.expression) is exp.Star else w.names.column(base.expression))
        base = base.this
    while type(base) is exp.Paren:
        base = base.this
    if type(base) in (exp.Column, exp.Identifier) and path:
        outer = w.names.column_parts(base) if type(base) is exp.Column else (w.names.column(base),)
        if outer[0] not in w.shadows:
            return w.slot((*outer, *reversed(path)), role, tight)
        w.parts.append(".".join((*outer, *reversed(path))))
        return None
    if type(base) is exp.Dot:
        path.clear()
        _method(w, base, role)
    elif type(base) is exp.Identifier:
        w.parts.append(base.name)
    else:
        w.write(base, TRANSFORMED[role], ATOM)
    w.parts.extend("." + name for name in reversed(path))
    return None


def _method(w: ExpressionWriter, node: exp.Expr, role: int) -> None:
    base = node.this
    if type(base) is exp.Identifier:
        w.slot((w.names.column(base),), TRANSFORMED[role], ATOM)
    else:
        w.write(base, TRANSFORMED[role], ATOM)
    w.parts.append(".")
    w.write(node.expression, role)


def _literal(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("?")
    return literal_type(node)


def _masked(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("?")
    return None


def _null(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("NULL")
    return None


def _boolean(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("TRUE" if node.args["this"] else "FALSE")
    return "BOOLEAN"


def _word(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append(node.name)
    return None


def _star(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("*")
    return None


def _paren(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    return w.write(node.args["this"], role, tight)


def _parameter(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    this = node.args.get("this")
    if type(this) is exp.Literal and w.names.dialect.name == "snowflake":
        return w.slot(("$" + this.name,), role, tight)  # a column of a stage, by position
    w.parts.append("?")
    return None


def _binary(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """An operator; a chain to the left (a AND b AND …) is walked by a loop, however long it is."""
    chain: list[exp.Expr] = []
    table = BINARY
    precedence = table[type(node)][1]
    left = node
    while True:
        while type(left) is exp.Paren:
            left = left.args["this"]
        known = table.get(type(left))
        if known is None or known[1] != precedence:
            break
        chain.append(left)
        left = left.args["this"]
    parts = w.parts
    bracketed = precedence < tight
    if bracketed:
        parts.append("(")
    inner = TRANSFORMED[role]
    rules = [w.write(left, inner, precedence)]
    for operator in reversed(chain):
        parts.append(table[type(operator)][0])
        rules.append(w.write(operator.args["expression"], inner, precedence + 1))
    if bracketed:
        parts.append(")")
    kind = type(node)
    if kind in _LOGICAL:
        return "BOOLEAN"
    if kind is exp.DPipe:
        return "STRING"
    return ("divided" if kind is exp.Div else "widest", *rules)


def _not(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    bracketed = tight > 3
    w.parts.append("(NOT " if bracketed else "NOT ")
    w.write(node.args["this"], TRANSFORMED[role], 3)
    if bracketed:
        w.parts.append(")")
    return "BOOLEAN"


def _negative(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("-")
    return w.write(node.args["this"], TRANSFORMED[role], 8)


def _between(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    inner = TRANSFORMED[role]
    parts = w.parts
    if tight > 4:
        parts.append("(")
    w.write(node.args["this"], inner, 5)
    parts.append(" BETWEEN ")
    w.write(node.args["low"], inner, 5)
    parts.append(" AND ")
    w.write(node.args["high"], inner, 5)
    if tight > 4:
        parts.append(")")
    return "BOOLEAN"


def _in(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    inner = TRANSFORMED[role]
    args = node.args
    parts = w.parts
    if tight > 4:
        parts.append("(")
    w.write(args["this"], inner, 5)
    parts.append(" IN ")
    query = args.get("query") or args.get("unnest")
    if query is not None:
        w.write(query, inner, ATOM)
    elif args.get("field") is not None:
        w.write(args["field"], inner, ATOM)
    else:
        options = args.get("expressions") or []
        parts.append("(")
        if all(type(option) is exp.Literal for option in options):
            parts.append("?")  # one mask for a list of any length
        else:
            w.join(options, inner)
        parts.append(")")
    if tight > 4:
        parts.append(")")
    return "BOOLEAN"


def _cast(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("TRY_CAST(" if type(node) is exp.TryCast else "CAST(")
    w.write(node.args["this"], TRANSFORMED[role])
    to = type_name(node.args["to"])
    w.parts.append(f" AS {to})")
    return to


def _case(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    args = node.args
    parts = w.parts
    value, condition = TRANSFORMED[role], COMPOSED[role][CONDITIONAL]
    parts.append("CASE")
    if args.get("this") is not None:
        parts.append(" ")
        w.write(args["this"], condition)
    rules: list[TypeRule] = []
    for branch in args["ifs"]:
        parts.append(" WHEN ")
        w.write(branch.args["this"], condition)
        parts.append(" THEN ")
        rules.append(w.write(branch.args["true"], value))
    if args.get("default") is not None:
        parts.append(" ELSE ")
        rules.append(w.write(args["default"], value))
    parts.append(" END")
    return ("widest", *rules)


def _if(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    args = node.args
    w.parts.append("IF(" if type(node) is exp.If else "NVL2(")
    w.write(args["this"], COMPOSED[role][CONDITIONAL])
    w.parts.append(", ")
    rules = [w.write(args["true"], TRANSFORMED[role])]
    if args.get("false") is not None:
        w.parts.append(", ")
        rules.append(w.write(args["false"], TRANSFORMED[role]))
    w.parts.append(")")
    return ("widest", *rules)


def _coalesce(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    start = len(w.slots)
    w.parts.append("COALESCE(")
    rules = w.join([node.args["this"], *(node.args.get("expressions") or [])], TRANSFORMED[role])
    w.parts.append(")")
    w.also(start, COMPOSED[role][CONDITIONAL])
    return ("widest", *rules)


def _nullif(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    start = len(w.slots)
    w.parts.append("NULLIF(")
    rule = w.write(node.args["this"], TRANSFORMED[role])
    w.also(start, COMPOSED[role][CONDITIONAL])
    w.parts.append(", ")
    w.write(node.args["expression"], COMPOSED[role][CONDITIONAL])
    w.parts.append(")")
    return rule


def _decode(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """DECODE(value, search, result, …, default) and multiIf(condition, result, …, default)."""
    arguments = node.args["expressions"]
    value, condition = TRANSFORMED[role], COMPOSED[role][CONDITIONAL]
    decode = type(node) is exp.DecodeCase
    first = 1 if decode else 0
    w.parts.append("DECODE(" if decode else "MULTIIF(")
    rules: list[TypeRule] = []
    for number, argument in enumerate(arguments):
        if number:
            w.parts.append(", ")
        last = number == len(arguments) - 1
        is_result = number >= first and ((number - first) % 2 == 1 or last)
        rule = w.write(argument, value if is_result else condition)
        if is_result:
            rules.append(rule)
    w.parts.append(")")
    return ("widest", *rules)


def _window(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
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


def _ordered(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    rule = w.write(node.args["this"], role)
    if node.args.get("desc"):
        w.parts.append(" DESC")
    return rule


def _ordered_argument(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """STRING_AGG(a ORDER BY b): the keys sort, they are not the value."""
    this = node.args.get("this")
    rule = w.write(this, role) if this is not None else None
    w.parts.append(" ORDER BY ")
    w.join(node.args["expressions"], COMPOSED[role][SORT])
    return rule


def _within_group(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """LISTAGG(a) WITHIN GROUP (ORDER BY b) sorts by b; of PERCENTILE_CONT(x) it is the value."""
    function = node.args["this"]
    rule = w.write(function, role)
    w.parts.append(" WITHIN GROUP (ORDER BY ")
    order = node.args["expression"]
    sorts = isinstance(function, exp.GroupConcat | exp.ArrayAgg | exp.ArrayUniqueAgg)
    rules = w.join(order.args["expressions"], COMPOSED[role][SORT] if sorts else AGGREGATED[role])
    w.parts.append(")")
    return rule if sorts else rules[0]


def _filter(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    rule = w.write(node.args["this"], role)
    w.parts.append(" FILTER (WHERE ")
    w.write(node.args["expression"].args["this"], COMPOSED[role][FILTER])
    w.parts.append(")")
    return rule


def _query(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    number = len(w.slots)
    w.slots.append(QuerySlot(w.queries.query(node), role, tight))
    w.parts.append(number)
    return number


def _exists(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    number = len(w.slots)
    w.parts.append("EXISTS ")
    w.slots.append(QuerySlot(w.queries.query(node.args["this"]), role, tight, True))
    w.parts.append(number)
    return "BOOLEAN"


def _lambda(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    outer = w.shadows
    parameters = [w.names.column(p) for p in node.args["expressions"] if type(p) is exp.Identifier]
    w.shadows = outer | frozenset(parameters)
    w.parts.append(f"({', '.join(parameters)}) -> ")
    w.write(node.args["this"], role)
    w.shadows = outer
    return None


def _comprehension(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    outer = w.shadows
    args = node.args
    variable = args["expression"]
    w.shadows = outer | {w.names.column(variable)} if type(variable) is exp.Identifier else outer
    w.write(args["this"], TRANSFORMED[role])
    w.parts.append(f" FOR {variable.name} IN ")
    inside, w.shadows = w.shadows, outer
    w.write(args["iterator"], TRANSFORMED[role])
    w.shadows = inside
    if args.get("condition") is not None:
        w.parts.append(" IF ")
        w.write(args["condition"], COMPOSED[role][FILTER])
    w.shadows = outer
    return None


def _bracket(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    rule = w.write(node.args["this"], TRANSFORMED[role], ATOM)
    w.parts.append("[")
    w.join(node.args.get("expressions") or [], TRANSFORMED[role])
    w.parts.append("]")
    return ("element", rule)


def _json_field(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("JSON_EXTRACT(")
    w.write(node.args["this"], TRANSFORMED[role])
    path = node.args.get("expression")
    w.parts.append(", ")
    if path is None or type(path) is exp.JSONPath:
        w.parts.append("?")
    else:
        w.write(path, TRANSFORMED[role])
    w.parts.append(")")
    return "STRING" if isinstance(node, exp.JSONExtractScalar | exp.JSONBExtractScalar) else "JSON"


def _interval(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("INTERVAL ")
    if node.args.get("this") is not None:
        w.write(node.args["this"], TRANSFORMED[role], ATOM)
    return "INTERVAL"


def _ranked(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """MAX_BY(a, b): a flows, b only says which."""
    w.parts.append("MAX_BY(" if type(node) is exp.ArgMax else "MIN_BY(")
    rule = w.write(node.args["this"], AGGREGATED[role])
    w.parts.append(", ")
    w.write(node.args["expression"], COMPOSED[role][SORT])
    w.parts.append(")")
    return rule


def _tuple(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("(")
    w.join(node.args.get("expressions") or [], role)
    w.parts.append(")")
    return None


def _aliased(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    return w.write(node.args["this"], role, tight)


def _named_value(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """`name => value` and `name := value`: the name is no column."""
    w.parts.append(f"{node.args['this'].name} => ")
    return w.write(node.args["expression"], role)


def _distinct(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    w.parts.append("DISTINCT ")
    rules = w.join(node.args.get("expressions") or [], role)
    return rules[0] if rules else None


def _function(w: ExpressionWriter, node: exp.Expr, role: int, tight: int) -> TypeRule:
    """Any function, and any other node, by its arguments."""
    kind = type(node)
    known: Behaviour = FUNCTIONS.get(kind) or behaviour_of(node)
    inner = known.inner[role]
    args = node.args
    parts = w.parts
    name = known.name
    if name is None:  # a function that is known by its written name only
        written = args["this"]
        name = written.upper() if isinstance(written, str) else written.sql()
        if name == "MULTIIF":
            return _decode(w, node, role, tight)
        if name == "VALUES" and type(args["expressions"][0]) is exp.Identifier:
            parts.append(f"VALUES({args['expressions'][0].name})")
            return None
        known = behaviour_of(node, name)
        inner = known.inner[role]
    parts.append(name + "(")
    first = True
    rules: list[TypeRule] = []
    for key, value in args.items():
        if value is None or value is False or (key == "this" and isinstance(value, str)):
            continue
        for item in value if type(value) is list else (value,):
            if not isinstance(item, exp.Expr):
                continue
            if not first:
                parts.append(", ")
            first = False
            rules.append(w.write(item, inner))
    if known.last_filters and w.slots and type(w.slots[-1]) is Slot:
        w.slots[-1] = w.slots[-1]._replace(role=COMPOSED[role][FILTER])
    parts.append(")")
    rule = known.type
    if rule == "same":
        return rules[0] if rules else None
    if rule == "widest":
        return ("widest", *rules)
    if rule in ("summed", "averaged", "listed", "element"):
        return (rule, rules[0] if rules else None)
    return rule


Handler = Callable[[ExpressionWriter, exp.Expr, int, int], TypeRule]

_HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Dot: _dot,
    exp.Literal: _literal,
    exp.RawString: _literal,
    exp.National: _masked,
    exp.ByteString: _masked,
    exp.HexString: _masked,
    exp.BitString: _masked,
    exp.UnicodeString: _masked,
    exp.Heredoc: _masked,
    exp.Introducer: _masked,
    exp.Placeholder: _masked,
    exp.SessionParameter: _masked,
    exp.Parameter: _parameter,
    exp.JSONPath: _masked,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Identifier: _word,
    exp.Var: _word,
    exp.DataType: _word,
    exp.Table: _word,
    exp.Star: _star,
    exp.Paren: _paren,
    exp.Not: _not,
    exp.Neg: _negative,
    exp.Between: _between,
    exp.In: _in,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.JSONCast: _cast,
    exp.Case: _case,
    exp.If: _if,
    exp.Nvl2: _if,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.DecodeCase: _decode,
    exp.Window: _window,
    exp.Ordered: _ordered,
    exp.Order: _ordered_argument,
    exp.WithinGroup: _within_group,
    exp.Filter: _filter,
    exp.Select: _query,
    exp.Subquery: _query,
    exp.Union: _query,
    exp.Intersect: _query,
    exp.Except: _query,
    exp.Exists: _exists,
    exp.Lambda: _lambda,
    exp.Comprehension: _comprehension,
    exp.Bracket: _bracket,
    exp.JSONExtract: _json_field,
    exp.JSONExtractScalar: _json_field,
    exp.JSONBExtract: _json_field,
    exp.JSONBExtractScalar: _json_field,
    exp.Interval: _interval,
    exp.ArgMax: _ranked,
    exp.ArgMin: _ranked,
    exp.Tuple: _tuple,
    exp.Alias: _aliased,
    exp.PropertyEQ: _named_value,
    exp.Kwarg: _named_value,
    exp.Distinct: _distinct,
    **dict.fromkeys(BINARY, _binary),
}

__all__ = ["ATOM", "IDENTITY", "ExpressionWriter", "translate_expression"]
