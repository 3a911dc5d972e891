"""Columns, literals, fields and the other terms of expressions."""

from __future__ import annotations

from sqlglot import exp

from ingestion.dialects.methods import is_method
from ingestion.parsing.sqlglot_tier.expressions.functions import is_count
from ingestion.parsing.sqlglot_tier.expressions.types import literal_type
from ingestion.parsing.sqlglot_tier.expressions.writer import ExpressionWriter, Handler
from ingestion.relational.form import POSITION, QuerySlot, TypeRule
from ingestion.relational.roles import ATOM, COMPOSED, FILTER, TRANSFORMED


def _column(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    if w.names.quotes_are_text and node.args["this"].args.get("quoted"):
        w.parts.append("?")
        return "STRING"
    parts = w.names.column_parts(node)
    if (w.shadows and parts[0] in w.shadows) or w.names.is_niladic(node, parts):
        w.parts.append(".".join(parts))
        return None
    return w.slot(parts, role, outer_precedence)


def _dot(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
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
            return w.slot((*outer, *reversed(path)), role, outer_precedence)
        w.parts.append(".".join((*outer, *reversed(path))))
        return None
    if path and "*" not in path and type(base) not in (exp.Dot, exp.Identifier):
        return w.field(base, tuple(reversed(path)), role, outer_precedence, shown=True)
    if type(base) is exp.Dot and type(base.expression) is exp.Literal:
        rule = w.field(base.this, (POSITION,), TRANSFORMED[role], ATOM, shown=False)
        w.parts.append(".?")
        return rule
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
    """`column.method()`, or `schema.function()`: only in few dialects may the name before the dot be a column's."""
    base = node.this
    qualifier = _identifiers(base)
    if qualifier and not is_method(w.names.dialect, node.expression):
        w.parts.append(".".join(qualifier) + ".")
        w.write(node.expression, role)
        return
    if type(base) is exp.Identifier:
        w.slot((w.names.column(base),), TRANSFORMED[role], ATOM)
    else:
        w.write(base, TRANSFORMED[role], ATOM)
    w.parts.append(".")
    w.write(node.expression, role)


def called_name(node: exp.Expr) -> str:
    """The name of a function of the user's as it is called, with what qualifies it."""
    around, name = node.parent, str(node.args["this"])
    if type(around) is exp.Dot and around.expression is node:
        return ".".join((*_identifiers(around.this), name))
    return name


def _identifiers(node: exp.Expr) -> tuple[str, ...]:
    """The names of `a.b.c`, none where something else is in it."""
    if type(node) is exp.Identifier:
        return (str(node.name),)
    if type(node) is exp.Dot and type(node.expression) is exp.Identifier:
        inner = _identifiers(node.this)
        return (*inner, str(node.expression.name)) if inner else ()
    return ()


def _literal(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("?")
    return literal_type(node)


def _masked_value(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("?")
    return None


def _null(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("NULL")
    return None


def _boolean(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("TRUE" if node.args["this"] else "FALSE")
    return "BOOLEAN"


def _word(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append(node.name)
    return None


def _star(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """HASH(*), STRUCT(*): every column; COUNT(*) uses none."""
    around = node.parent.parent if type(node.parent) is exp.Distinct else node.parent
    if any(node.args.values()) or is_count(around):
        w.parts.append("*")
        return None
    return w.slot(("*",), role, ATOM)


def _paren(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    return w.write(node.args["this"], role, outer_precedence)


def _parameter(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    this = node.args.get("this")
    if type(this) is exp.Literal and w.names.dialect.stage_names:
        return w.slot(("$" + this.name,), role, outer_precedence)  # a column of a stage, by position
    w.parts.append("?")
    return None


def _query(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    number = len(w.slots)
    w.slots.append(QuerySlot(w.queries.query(node), role, outer_precedence, struct=_gives_structs(node)))
    w.parts.append(number)
    return number


def _gives_structs(node: exp.Expr) -> bool:
    """Whether a query is SELECT AS STRUCT, or SELECT AS VALUE of a struct."""
    while isinstance(node, exp.Subquery | exp.SetOperation | exp.Paren):
        node = node.this
    kind = node.args.get("kind")
    return kind == "STRUCT" or (kind == "VALUE" and [type(item) for item in node.expressions] == [exp.Struct])


def _exists(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    if not isinstance(node.args["this"], exp.Query):  # EXISTS(array, x -> …)
        w.parts.append("EXISTS(")
        w.join([part for part in node.args.values() if isinstance(part, exp.Expr)], TRANSFORMED[role])
        w.parts.append(")")
        return "BOOLEAN"
    number = len(w.slots)
    w.parts.append("EXISTS ")
    w.slots.append(QuerySlot(w.queries.query(node.args["this"]), role, outer_precedence, exists=True))
    w.parts.append(number)
    return "BOOLEAN"


def _lambda(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    outer = w.shadows
    parameters = [w.names.column(p) for p in node.args["expressions"] if type(p) is exp.Identifier]
    w.shadows = outer | frozenset(parameters)
    w.parts.append(f"({', '.join(parameters)}) -> ")
    w.write(node.args["this"], role)
    w.shadows = outer
    return None


def _comprehension(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
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


def _interval(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("INTERVAL ")
    if node.args.get("this") is not None:
        w.write(node.args["this"], TRANSFORMED[role], ATOM)
    return "INTERVAL"


def _tuple(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    expressions = node.args.get("expressions") or []
    w.parts.append("(")
    w.join(expressions, TRANSFORMED[role] if len(expressions) > 1 else role)
    w.parts.append(")")
    return None


def _aliased_value(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    return w.write(node.args["this"], role, outer_precedence)


def _named_value(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`name => value`: the name is no column."""
    w.parts.append(f"{node.args['this'].name} => ")
    return w.write(node.args["expression"], role)


def _field(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """A field of a struct that is made here: its name may stand in a string, and strings are masked."""
    w.parts.append("? => ")
    return w.write(node.args["expression"], role)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Dot: _dot,
    exp.Literal: _literal,
    exp.RawString: _literal,
    exp.National: _masked_value,
    exp.ByteString: _masked_value,
    exp.HexString: _masked_value,
    exp.BitString: _masked_value,
    exp.UnicodeString: _masked_value,
    exp.Heredoc: _masked_value,
    exp.Introducer: _masked_value,
    exp.Placeholder: _masked_value,
    exp.SessionParameter: _masked_value,
    exp.Parameter: _parameter,
    exp.JSONPath: _masked_value,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Identifier: _word,
    exp.Var: _word,
    exp.DataType: _word,
    exp.Table: _word,
    exp.Star: _star,
    exp.Paren: _paren,
    exp.Select: _query,
    exp.Subquery: _query,
    exp.Union: _query,
    exp.Intersect: _query,
    exp.Except: _query,
    exp.Exists: _exists,
    exp.Lambda: _lambda,
    exp.Comprehension: _comprehension,
    exp.Interval: _interval,
    exp.Tuple: _tuple,
    exp.Alias: _aliased_value,
    exp.PropertyEQ: _field,
    exp.Kwarg: _named_value,
}
