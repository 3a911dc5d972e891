"""Operators, and the conditionals whose conditions are no values: CASE, IF, COALESCE, NULLIF, DECODE."""

from __future__ import annotations

from sqlglot import exp

from ingestion.analysis.form import QuerySlot, RelationSource, Select, Star, TypeRule
from ingestion.analysis.roles import ATOM, COMPOSED, CONDITIONAL, TRANSFORMED
from ingestion.parsing.sqlglot.expressions.names import named_table
from ingestion.parsing.sqlglot.expressions.types import type_name
from ingestion.parsing.sqlglot.expressions.writer import ExpressionWriter, Handler

_BINARY: dict[type[exp.Expr], tuple[str, int]] = {
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

PRECEDENCE = {kind: precedence for kind, (_, precedence) in _BINARY.items()} | {
    exp.Not: 3,
    exp.Between: 4,
    exp.In: 4,
    exp.Neg: 8,
}
"""The precedence of every kind of node that is no atom."""

_LOGICAL = frozenset(kind for kind, (_, precedence) in _BINARY.items() if precedence <= 4)


def _binary(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """An operator; a chain to the left (a AND b AND …) is walked by a loop, however long it is."""
    chain: list[exp.Expr] = []
    table = _BINARY
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
    bracketed = precedence < outer_precedence
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
    return ("divided" if kind is exp.Div else "subtracted" if kind is exp.Sub else "computed", *rules)


def _not(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """NOT a = b needs no brackets, but (NOT a) = b does."""
    bracketed = outer_precedence > 3
    w.parts.append("(NOT " if bracketed else "NOT ")
    w.write(node.args["this"], TRANSFORMED[role], 3)
    if bracketed:
        w.parts.append(")")
    return "BOOLEAN"


def _negative(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("-")
    return w.write(node.args["this"], TRANSFORMED[role], 8)


def _between(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    inner = TRANSFORMED[role]
    parts = w.parts
    if outer_precedence > 4:
        parts.append("(")
    w.write(node.args["this"], inner, 5)
    parts.append(" BETWEEN ")
    w.write(node.args["low"], inner, 5)
    parts.append(" AND ")
    w.write(node.args["high"], inner, 5)
    if outer_precedence > 4:
        parts.append(")")
    return "BOOLEAN"


def _in(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """a IN (1, 2), a IN (SELECT b …): all that is compared makes the result."""
    inner = TRANSFORMED[role]
    args = node.args
    parts = w.parts
    if outer_precedence > 4:
        parts.append("(")
    w.write(args["this"], inner, 5)
    parts.append(" IN ")
    query = args.get("query") or args.get("unnest")
    if query is not None:
        w.write(query, inner, ATOM)
    elif (relation := _rows_of_relation(w, node, inner)) is not None:
        parts.append(len(w.slots))
        w.slots.append(relation)
    # DuckDB: a IN b, without brackets.
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
    if outer_precedence > 4:
        parts.append(")")
    return "BOOLEAN"


def _rows_of_relation(w: ExpressionWriter, node: exp.Expr, role: int) -> QuerySlot | None:
    """SQLite, ClickHouse: what t holds in `a IN t`; in ClickHouse t may be an array, too. None where t is no name."""
    field, dialect = node.args.get("field"), w.names.dialect
    if not dialect.relations_behind_in or not isinstance(field, exp.Column):
        return None
    table = named_table(field, w.names)
    if table is None:
        return None
    rows = Select((Star(),), (RelationSource(w.names.table(table)),))
    return QuerySlot(rows, role, ATOM, unless=w.names.column_parts(field) if dialect.arrays_behind_in else ())


def _cast(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """CAST(a AS t), with the type's name in the standard set: two engines' spellings of one are no difference."""
    w.parts.append("TRY_CAST(" if type(node) is exp.TryCast else "CAST(")
    w.write(node.args["this"], TRANSFORMED[role])
    to = type_name(node.args["to"])
    w.parts.append(f" AS {to})")
    return to


def _case(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """CASE a WHEN b THEN c ELSE d END: c and d are values of it, a and b only decide which."""
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


def _if(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """IF(a, b, c) and NVL2(a, b, c): a decides between b and c."""
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


def _coalesce(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """COALESCE(a, b): a is tested, and is the value where it is known; so is b."""
    start = len(w.slots)
    w.parts.append("COALESCE(")
    rules = w.join([node.args["this"], *(node.args.get("expressions") or [])], TRANSFORMED[role])
    w.parts.append(")")
    w.also(start, COMPOSED[role][CONDITIONAL])
    return ("widest", *rules)


def _nullif(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """NULLIF(a, b): a is the value, and compared with b."""
    start = len(w.slots)
    w.parts.append("NULLIF(")
    rule = w.write(node.args["this"], TRANSFORMED[role])
    w.also(start, COMPOSED[role][CONDITIONAL])
    w.parts.append(", ")
    w.write(node.args["expression"], COMPOSED[role][CONDITIONAL])
    w.parts.append(")")
    return rule


def write_decode(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """DECODE(value, search, result, …, default) and multiIf(condition, result, …, default).

    What is compared plays a condition's part of `role`: DECODE(a, 1, b, c) is made of b and c, and a chooses.
    """
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


OPERATORS: dict[type[exp.Expr], Handler] = {
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
    exp.DecodeCase: write_decode,
    **dict.fromkeys(_BINARY, _binary),
}
