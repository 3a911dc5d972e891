"""Columns, literals, fields, elements and the other terms of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from ingestion.analysis.form import POSITION, Fields, ParameterSlot, Projection, QuerySlot, Star, StarSlot, TypeRule
from ingestion.analysis.roles import (
    AGGREGATION,
    ATOM,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    SORT,
    TRANSFORMATION,
    TRANSFORMED,
    WINDOW,
)
from ingestion.dialects.functions import OBJECT_BUILDERS, OBJECT_CHANGES, TO_JSON
from ingestion.dialects.methods import is_method
from ingestion.model.function_parameters import parameter_of
from ingestion.parsing.sqlglot.expressions._functions import behaviours_of, may_be_text
from ingestion.parsing.sqlglot.expressions.stars import star_of, translate_columns
from ingestion.parsing.sqlglot.expressions.types import literal_type
from ingestion.parsing.sqlglot.expressions.writer import ExpressionWriter, Handler

_UNKNOWN_FIELD = ""
"""The name of a field of which only the place is known, or not even that."""
_AGGREGATES = (
    *(exp.ArrayAgg, exp.ArrayUniqueAgg, exp.ArrayConcatAgg, exp.AnyValue, exp.First, exp.Last, exp.Max, exp.Min),
    *(exp.ArgMax, exp.ArgMin),
)
_CHOICES = (exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead)
_AS_THEY_ARE = (
    exp.ParseJSON,
    exp.JSONFormat,
    exp.ToVariant,
    exp.Explode,
    exp.Nullif,
    exp.ArrayReverse,
    exp.Cast,
)
_QUALIFIERS = ("catalog", "db", "table")
_AROUND = (exp.Paren, exp.IgnoreNulls, exp.RespectNulls, exp.Limit)
_TAKEN_AS_THEY_ARE = (exp.Column, exp.Query, exp.Literal, exp.Null, exp.Boolean)
_ACCESS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.StructExtract, exp.GetExtract)
_TAKEN = Fields()
_WITH_FIELDS = (
    *(exp.Struct, exp.Tuple, exp.JSONObject, exp.ObjectInsert, exp.StarMap, exp.Anonymous),
    *(exp.Array, exp.ArrayConcat, exp.Coalesce, exp.If, exp.Case, exp.Bracket, exp.Window, exp.Filter),
    *(exp.WithinGroup, *_AGGREGATES, *_CHOICES, *_AS_THEY_ARE, *_AROUND, *_ACCESS),
)
"""The nodes of which fields are told; most expressions are none of them, and are asked nothing more."""

_Own: TypeAlias = "tuple[tuple[str, exp.Expr], ...]"


def _column(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """A column, `t.a`; a parameter of a lambda around it, and a word like CURRENT_DATE, are none."""
    if isinstance(node.this, exp.Func):  # AGG(ns.fn(c) IGNORE NULLS): sqlglot takes what is called for a column
        w.parts.append("".join(f"{node.args[part].name}." for part in _QUALIFIERS if node.args.get(part) is not None))
        return w.write(node.this, TRANSFORMED[role], outer_precedence)
    if w.names.quotes_are_text and node.args["this"].args.get("quoted"):
        w.parts.append("?")
        return "STRING"
    parts = w.names.column_parts(node)
    if (w.shadows and parts[0] in w.shadows) or w.names.is_niladic(node, parts):
        w.parts.append(".".join(parts))
        return None
    if parts[-1] == "*" and any(node.this.args.values()):
        return _changed_star(w, star_of(w.queries, node.this, parts[:-1]), role)
    return w.slot(parts, role, outer_precedence)


_TAKING = (
    *(exp.Func, exp.Binary, exp.Unary, exp.Between, exp.In),
    *(exp.Alias, exp.Bracket, exp.Distinct, exp.Order, exp.Ordered, exp.Window, exp.WithinGroup),
)
_NAMED_IN: Mapping[type[exp.Expr], tuple[str, ...]] = {
    exp.Alias: ("alias",),
    exp.Dot: ("this", "expression"),
    exp.ScopeResolution: ("this", "expression"),
    exp.Window: ("alias",),
    exp.XMLElement: ("this",),
}
"""Where an identifier is the name of something else than a column: an element's tag, what an attribute is called."""


def _dot(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`a.b.c`: fields of a column; `f(a).b` a field of what a function gives; `a.method()`."""
    if type(node.parent) is not exp.Dot and isinstance(node.expression, exp.Func):
        _restore_columns(node.this)
    path: list[str] = []
    base = node
    while type(base) is exp.Dot and isinstance(base.expression, exp.Identifier | exp.Star):
        path.append("*" if type(base.expression) is exp.Star else w.names.column(base.expression))
        base = base.this
    bracketed = type(base) is exp.Paren  # (a).b: a is a column, and no relation
    while type(base) is exp.Paren:
        base = base.this
    if type(base) in (exp.Column, exp.Identifier) and path and not (bracketed and _is_bare(w, base)):
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


def _restore_columns(chained: exp.Expr) -> None:
    """sqlglot makes names of the columns before a method: x of `f(x).method()`. Arguments and operands are columns."""
    for name in list(chained.find_all(exp.Identifier)):
        if isinstance(name.parent, _TAKING) and name.arg_key not in _NAMED_IN.get(type(name.parent), ()):
            name.replace(exp.Column(this=name.copy()))


def _is_bare(w: ExpressionWriter, node: exp.Expr) -> bool:
    return type(node) is exp.Column and len(parts := w.names.column_parts(node)) == 1 and parts[0] not in w.shadows


def _method(w: ExpressionWriter, node: exp.Expr, role: int) -> None:
    """`column.method()`, or `schema.function()`: only in few dialects may the name before the dot be a column's."""
    base = node.this
    qualifier = _identifiers(base)
    if qualifier and not is_method(w.names.dialect, node.expression):
        w.parts.append(".".join(qualifier) + ".")
        w.write(node.expression, role)
        return
    if type(base) is not exp.Identifier:
        w.write(base, TRANSFORMED[role], ATOM)
    elif (name := w.names.column(base)) in w.shadows:
        w.parts.append(name)
    else:
        w.slot((name,), TRANSFORMED[role], ATOM)
    w.parts.append(".")
    w.write(node.expression, role)


def _static_member(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """T-SQL: `d.type::method(a)` and `type::property`: what stands before the colons is a type, and no column."""
    owner, member = node.args.get("this"), node.args["expression"]
    names = owner.find_all(exp.Identifier, bfs=False) if isinstance(owner, exp.Expr) else ()
    w.parts.append(".".join(str(name.name) for name in names) + "::")
    return w.write(member, role)


def called_name(node: exp.Expr) -> str:
    """The name of a function of the user's as it is called, with what qualifies it."""
    around, name = node.parent, str(node.args["this"])
    if type(around) is exp.Dot and around.expression is node:
        return ".".join((*_identifiers(around.this), name))
    if type(around) is exp.Column:
        return ".".join((*(around.args[part].name for part in _QUALIFIERS if around.args.get(part) is not None), name))
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
    w.parts.append("?" if may_be_text(node) else node.name)
    return None


def _star(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """HASH(*), STRUCT(*), COUNT(DISTINCT *): every column; COUNT(*) uses none."""
    around = node.parent
    if isinstance(around, exp.HavingMax):
        around = around.parent
    if behaviours_of(w.names.dialect.name).counts(around):
        w.parts.append("*")
        return None
    if any(node.args.values()):
        return _changed_star(w, star_of(w.queries, node, ()), role)
    return w.slot(("*",), role, ATOM)


def _columns(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """DuckDB's `COALESCE(*COLUMNS(*))`, in which each of the columns is an argument; elsewhere a function."""
    if not node.args.get("unpack"):
        return w.handlers.function(w, node, role, outer_precedence)
    return _changed_star(w, translate_columns(w.queries, node), role)


def _changed_star(w: ExpressionWriter, star: Star, role: int) -> TypeRule:
    """STRUCT(t.* EXCEPT (a)): the columns that are left."""
    w.parts.append(len(w.slots))
    w.slots.append(StarSlot(star, role, ATOM))
    return None


def _wrapped_value(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """What parentheses or an alias are around."""
    return w.write(node.args["this"], role, outer_precedence)


def _parameter(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    this = node.args.get("this")
    if type(this) is exp.Literal and w.names.dialect.stage_names:
        return w.slot(("$" + this.name,), role, outer_precedence)  # a column of a stage, by position
    if (parameter := parameter_of(node.name)) is not None:
        w.slots.append(ParameterSlot(*parameter, role))
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
    """EXISTS (SELECT …) asks a query; Spark's EXISTS(array, x -> x > 1) is a function."""
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
    """x -> x + a: x is the function's own, a is a column."""
    outer = w.shadows
    parameters = [w.names.column(p) for p in node.args["expressions"] if type(p) is exp.Identifier]
    w.shadows = outer | frozenset(parameters)
    w.parts.append(f"({', '.join(parameters)}) -> ")
    w.write(node.args["this"], role)
    w.shadows = outer
    return None


def _comprehension(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """DuckDB: [x + 1 FOR x IN a IF x > b]: x is an element of a."""
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


def _collation(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`a COLLATE pg_catalog."C"`, DuckDB's `a COLLATE nocase.noaccent`: what a collation is called is no column."""
    collation = node.expression
    if type(collation) is exp.Column:
        collation.replace(exp.var(".".join(part.name for part in collation.parts)))
    return w.handlers.function(w, node, role, outer_precedence)


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


def _named_value(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """`name => value`: the name is no column."""
    w.parts.append(f"{node.args['this'].name} => ")
    return w.write(node.args["expression"], role)


def _field(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """A field of a struct that is made here: its name may stand in a string, and strings are masked."""
    w.parts.append("? => ")
    return w.write(node.args["expression"], role)


TERMS: dict[type[exp.Expr], Handler] = {
    exp.Column: _column,
    exp.Dot: _dot,
    exp.ScopeResolution: _static_member,
    exp.Literal: _literal,
    exp.RawString: _literal,
    exp.National: _masked_value,
    exp.ByteString: _masked_value,
    exp.HexString: _masked_value,
    exp.BitString: _masked_value,
    exp.UnicodeString: _masked_value,
    exp.Heredoc: _masked_value,
    exp.Introducer: _masked_value,
    exp.Placeholder: _parameter,
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
    exp.Columns: _columns,
    exp.Paren: _wrapped_value,
    exp.Select: _query,
    exp.Subquery: _query,
    exp.Union: _query,
    exp.Intersect: _query,
    exp.Except: _query,
    exp.Exists: _exists,
    exp.Lambda: _lambda,
    exp.Comprehension: _comprehension,
    exp.Collate: _collation,
    exp.Interval: _interval,
    exp.Tuple: _tuple,
    exp.Alias: _wrapped_value,
    exp.PropertyEQ: _field,
    exp.Kwarg: _named_value,
}


# Fields in sqlglot's tree: those of structs and objects that an expression builds, and those that it reads.


class _Value(NamedTuple):
    """A value that the expression's is taken from, with what acts on it: nodes and the roles that they play."""

    node: exp.Expr
    role: int
    acting: tuple[tuple[exp.Expr, int], ...] = ()


def fields_of_node(w: ExpressionWriter, node: exp.Expr) -> Fields | None:
    """The fields of the value that a node makes; None where the node says nothing of them."""
    if not _may_have_fields(type(node)):  # type: ignore[arg-type]  # mypy asks for the nodes' hash, not for the type's
        return None
    own = _built_fields(w, node)
    if own is not None:
        keyed = type(node) not in (exp.Struct, exp.Tuple) or w.names.dialect.keyed_braces
        return Fields(tuple(_projection(w, name, item) for name, item in own), keyed=keyed) if own else None
    if isinstance(node, _ACCESS) or (type(node) is exp.Bracket and _names_field(node)):
        return _TAKEN
    values = list(_values(node))
    named = _fields_of_type(node.args.get("to")) if isinstance(node, exp.Cast) else []
    if not values or not (named or any(_builds(value.node) for value in values)):
        return _TAKEN if values and all(_is_taken(value.node) for value in values) else None
    among = tuple((w.inner(value.node, IDENTITY), value.role) for value in values)
    acting = tuple((w.inner(item, IDENTITY), role) for value in values for item, role in value.acting)
    names = tuple(w.queries.field_name(w.names.column(item.this)) for item in named if type(item) is exp.ColumnDef)
    return Fields(among=among, acting=acting, names=names if len(names) == len(named) else ())


@cache
def _may_have_fields(kind: type[exp.Expr]) -> bool:
    return issubclass(kind, _WITH_FIELDS)


def _fields_of_type(to: exp.Expr | None) -> list[exp.Expr]:
    """The fields that a type names: those of a struct, or of an array of structs."""
    while isinstance(to, exp.DataType) and to.this == exp.DataType.Type.ARRAY and to.expressions:
        to = to.expressions[0]
    return to.expressions if isinstance(to, exp.DataType) and to.this == exp.DataType.Type.STRUCT else []


def _builds(node: exp.Expr) -> bool:
    """Whether a struct or an object is built among the values that a node's may be."""
    return _is_builder(node) or any(_builds(value.node) for value in _values(node))


def _is_taken(node: exp.Expr) -> bool:
    """Whether a value is taken as it is, however many others it may be: columns, queries, constants."""
    if isinstance(node, (*_TAKEN_AS_THEY_ARE, *_ACCESS)):
        return True
    values = list(_values(node))
    return bool(values) and all(_is_taken(value.node) for value in values)


def _projection(w: ExpressionWriter, name: str, node: exp.Expr) -> Projection | Star:
    if name == "*":
        qualifier = w.names.column_parts(node)[:-1] if type(node) is exp.Column else ()
        return star_of(w.queries, node.this if type(node) is exp.Column else node, qualifier)
    return Projection(name, w.inner(node, IDENTITY))


def _built_fields(w: ExpressionWriter, node: exp.Expr) -> _Own | None:
    """The fields of a struct or object that a node builds, None where it builds none."""
    kind = type(node)
    if kind is exp.Struct or kind is exp.Tuple:
        return tuple(_struct_fields(w, node.expressions))
    if isinstance(node, exp.JSONObject):
        return tuple(
            (_key(w, item.this), item.expression) for item in node.expressions if type(item) is exp.JSONKeyValue
        )
    if kind is exp.ObjectInsert:
        return _changed_fields(w, "OBJECT_INSERT", [node.this, node.args["key"], node.args["value"]])
    if kind is exp.StarMap:
        return (("*", node.this),)
    if kind is exp.Anonymous:
        name, given = str(node.this).upper(), node.expressions
        if name in OBJECT_BUILDERS and len(given) % 2 == 0:
            return tuple((_key(w, given[at]), given[at + 1]) for at in range(0, len(given), 2))
        if name == "ROW":
            return tuple((f"f{number + 1}", item) for number, item in enumerate(given))
        if name in OBJECT_CHANGES:
            return _changed_fields(w, name, given)
    return None


def _changed_fields(w: ExpressionWriter, name: str, given: list[exp.Expr]) -> _Own | None:
    """`STRUCT_INSERT({'p': a}, z := b)`, `OBJECT_INSERT(OBJECT_CONSTRUCT('p', a), 'z', b)`, `STRUCT_CONCAT(s, t)`."""
    first = _built_fields(w, given[0]) if given else None
    if first is None:
        return None
    if name == "OBJECT_INSERT":
        changes: _Own | None = ((_key(w, given[1]), given[2]),) if len(given) > 2 else None
    elif name == "STRUCT_CONCAT":
        others = [_built_fields(w, other) for other in given[1:]]
        changes = tuple(field for other in others for field in other or ()) if None not in others else None
    else:
        changes = tuple(_struct_fields(w, given[1:]))
    if changes is None or _UNKNOWN_FIELD in dict(changes):
        return None
    return tuple((dict(first) | dict(changes)).items())


def _is_builder(node: exp.Expr) -> bool:
    if type(node) is exp.ObjectInsert:
        return _is_builder(node.this)
    if type(node) is exp.Anonymous:
        name = str(node.this).upper()
        return name in OBJECT_BUILDERS | {"ROW"} or (
            name in OBJECT_CHANGES and bool(node.expressions) and _is_builder(node.expressions[0])
        )
    return isinstance(node, exp.Struct | exp.JSONObject | exp.StarMap | exp.Tuple)


def _names_field(node: exp.Expr) -> bool:
    inside = node.expressions
    return len(inside) == 1 and type(inside[0]) is exp.Literal and bool(inside[0].args.get("is_string"))


def _key(w: ExpressionWriter, node: exp.Expr) -> str:
    if type(node) is exp.Literal and node.args.get("is_string"):
        return w.queries.field_in_string(str(node.name))
    return _UNKNOWN_FIELD


def _struct_fields(w: ExpressionWriter, items: Iterable[exp.Expr]) -> Iterator[tuple[str, exp.Expr]]:
    objects = w.names.dialect.keyed_braces
    taking_names = not w.names.dialect.fields_of_values_unnamed
    for item in items:
        if isinstance(item, exp.PropertyEQ | exp.Alias):
            named = item.args["alias"] if type(item) is exp.Alias else item.this
            name = w.names.column(named) if type(named) is exp.Identifier else str(named.name)
            name = w.queries.field_in_string(name) if objects else w.queries.field_name(name)
            yield name, item.this if type(item) is exp.Alias else item.expression
        elif type(item) is exp.Column and taking_names:
            yield w.queries.field_name(w.names.column_parts(item)[-1]), item
        elif type(item) is exp.Star:
            yield "*", item
        elif type(item) is exp.Dot and type(item.expression) is exp.Identifier and taking_names:
            yield w.queries.field_name(w.names.column(item.expression)), item
        else:
            yield _UNKNOWN_FIELD, item


def _values(node: exp.Expr) -> Iterator[_Value]:
    """The values that a node's is one of, or an array of."""
    args = node.args
    this = args.get("this")
    if isinstance(node, exp.Array):
        yield from (_Value(item, TRANSFORMATION) for item in node.expressions)
    elif isinstance(node, exp.ArrayConcat | exp.Coalesce):
        yield from (_Value(item, TRANSFORMATION) for item in (this, *node.expressions) if item is not None)
    elif isinstance(node, exp.If):
        acting = ((args["this"], CONDITIONAL),)
        yield from (_Value(item, TRANSFORMATION, acting) for item in (args["true"], args.get("false")) if item)
    elif type(node) is exp.Case:
        yield from _cases(node)
    elif type(node) is exp.Anonymous and str(this).upper() in TO_JSON and len(node.expressions) == 1:
        yield _Value(node.expressions[0], TRANSFORMATION)
    elif isinstance(this, exp.Expr):
        yield from _taken_values(node, this)


def _cases(node: exp.Expr) -> Iterator[_Value]:
    acting = [(item.this, CONDITIONAL) for item in node.args["ifs"]]
    if node.args.get("this") is not None:
        acting.append((node.this, CONDITIONAL))
    values = [item.args["true"] for item in node.args["ifs"]]
    if node.args.get("default") is not None:
        values.append(node.args["default"])
    for number, value in enumerate(values):
        yield _Value(value, TRANSFORMATION, () if number else tuple(acting))


def _taken_values(node: exp.Expr, this: exp.Expr) -> Iterator[_Value]:
    """What takes one value, or gathers many into an array."""
    if isinstance(node, _AGGREGATES):
        inner = _arguments(this)
        if type(node) in (exp.ArgMax, exp.ArgMin):
            inner = inner._replace(acting=(*inner.acting, (node.expression, SORT)))
        yield inner._replace(role=AGGREGATION)
    elif isinstance(node, _CHOICES):
        yield _arguments(this)
    elif isinstance(node, _AS_THEY_ARE):
        yield _Value(this, TRANSFORMATION)
    elif type(node) is exp.Bracket or type(node) in _AROUND:
        yield _Value(this, IDENTITY)
    elif type(node) is exp.Window:
        keys = [*(node.args.get("partition_by") or ())]
        order = node.args.get("order")
        keys += order.expressions if order is not None else []
        yield from _values_after(this, tuple((key, WINDOW) for key in keys))
    elif type(node) is exp.Filter:
        yield from _values_after(this, ((node.expression.this, FILTER),))
    elif type(node) is exp.WithinGroup:
        yield from _values_after(this, tuple((key, SORT) for key in node.expression.expressions))


def _values_after(node: exp.Expr, acting: tuple[tuple[exp.Expr, int], ...]) -> Iterator[_Value]:
    yield _Value(node, IDENTITY, acting)


def _arguments(node: exp.Expr) -> _Value:
    """The value inside an aggregate's brackets, and what orders or limits the rows there."""
    acting: list[tuple[exp.Expr, int]] = []
    while True:
        if type(node) in (exp.Order, exp.HavingMax):
            keys = node.expressions if type(node) is exp.Order else [node.expression]
            acting += [(key, SORT) for key in keys]
            node = node.this
        elif type(node) is exp.Distinct and node.expressions:
            node = node.expressions[0]
        elif type(node) in _AROUND:
            node = node.this
        else:
            return _Value(node, TRANSFORMATION, tuple(acting))


# Parts of values in sqlglot's tree: elements of arrays, fields by a name in a string, paths into JSON.


def _bracket(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    this, inside = node.args["this"], node.args.get("expressions") or []
    chosen = _element_of(w, node)
    if chosen is not None:
        return w.write(chosen, TRANSFORMED[role], outer_precedence)
    _name_fields(w, this)
    path = _path_of(w, inside[0]) if len(inside) == 1 else ()
    if not path and isinstance(this, exp.Struct | exp.Tuple):
        path = (POSITION,)
    inner = TRANSFORMED[role]
    rule = w.field(this, path, inner, ATOM, shown=False) if path else w.write(this, inner, ATOM)
    w.parts.append("[")
    w.join(inside, TRANSFORMED[role])
    w.parts.append("]")
    return ("element", rule)


def _element_of(w: ExpressionWriter, node: exp.Expr) -> exp.Expr | None:
    """The element b of `[a, b][2]` and ELEMENT_AT([a, b], 2), as `element_at` tells.

    sqlglot has counted an index from 0 by its dialect, but where it says by `offset` that it left it as it is.
    """
    inside = node.args.get("expressions") or []
    left = node.args.get("offset")
    first = w.names.dialect.index_shift if left is None else int(left)
    return element_at(node.args["this"], inside[0], first, last=1 + (left is None)) if len(inside) == 1 else None


def element_at(array: exp.Expr, index: exp.Expr, first: int, last: int = 1) -> exp.Expr | None:
    """The element of an array by its number, of which `first` and -`last` mean the first and the last.

    None where the array or the number is not written out.
    """
    while type(array) is exp.Paren:
        array = array.this
    number = index.this if type(index) is exp.Neg else index
    if type(array) is not exp.Array or type(number) is not exp.Literal or not number.name.isdigit():
        return None
    elements: list[exp.Expr] = array.expressions
    given = int(number.name) if number is index else -int(number.name)
    found = given - first if given >= first else len(elements) + given + last - 1
    return elements[found] if 0 <= found < len(elements) else None


def _name_fields(w: ExpressionWriter, node: exp.Expr) -> None:
    """Have the fields of a struct that is built here named before a string may mean them: `{'p': a}['p']`."""
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Struct:
        tuple(_struct_fields(w, node.expressions))


def _path_of(w: ExpressionWriter, node: exp.Expr | None) -> tuple[str, ...]:
    """The names in a constant path, as far as it has them: elements of arrays go by the names of their arrays."""
    if type(node) is exp.Literal and node.args.get("is_string"):
        return (w.queries.field_in_string(str(node.name)),)
    path: list[str] = []
    for part in node.expressions if type(node) is exp.JSONPath else ():
        if isinstance(part, exp.JSONPathKey) and isinstance(part.this, str):
            path.append(w.queries.field_in_string(part.this))
        elif not isinstance(part, exp.JSONPathRoot | exp.JSONPathSubscript):
            break
    return tuple(path)


def _sub_object(w: ExpressionWriter, node: exp.Expr, role: int, _outer_precedence: int) -> TypeRule:
    """ClickHouse's json.^a.b, the object at a.b in json: a path, and no column."""
    w.write(node.args["this"], TRANSFORMED[role], ATOM)
    w.parts.append(".^" + ".".join(w.names.column_parts(node.args["expression"])))
    return None


def _extract(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    """STRUCT_EXTRACT(struct, 'field'), GET(object, 'field')."""
    key = node.args["expression"]
    chosen = element_at(node.args["this"], key, 0) if type(node) is exp.GetExtract else None
    if chosen is not None:
        return w.write(chosen, TRANSFORMED[role], outer_precedence)
    _name_fields(w, node.args["this"])
    path = _path_of(w, key)
    w.parts.append("GET(" if type(node) is exp.GetExtract else "STRUCT_EXTRACT(")
    if path:
        w.field(node.args["this"], path, TRANSFORMED[role], 0, shown=False)
    else:
        w.write(node.args["this"], TRANSFORMED[role])
    w.parts.append(", ")
    w.write(key, TRANSFORMED[role])
    w.parts.append(")")
    return None


def _json_field(w: ExpressionWriter, node: exp.Expr, role: int, outer_precedence: int) -> TypeRule:
    w.parts.append("JSON_EXTRACT(")
    path = node.args.get("expression")
    names = _path_of(w, path)
    if names:
        w.field(node.args["this"], names, TRANSFORMED[role], 0, shown=False)
    else:
        w.write(node.args["this"], TRANSFORMED[role])
    w.parts.append(", ")
    if path is None or type(path) is exp.JSONPath:
        w.parts.append("?")
    else:
        w.write(path, TRANSFORMED[role])
    w.parts.append(")")
    return "STRING" if isinstance(node, exp.JSONExtractScalar | exp.JSONBExtractScalar) else "JSON"


ACCESSES: dict[type[exp.Expr], Handler] = {
    exp.Bracket: _bracket,
    exp.StructExtract: _extract,
    exp.GetExtract: _extract,
    exp.JSONExtract: _json_field,
    exp.NestedJSONSelect: _sub_object,
    exp.JSONExtractScalar: _json_field,
    exp.JSONBExtract: _json_field,
    exp.JSONBExtractScalar: _json_field,
}
