"""Fields in sqlglot's tree: those of structs and objects that an expression builds, and those that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from ingestion.dialects.functions import OBJECT_BUILDERS, TO_JSON
from ingestion.parsing.sqlglot_tier.expressions.writer import ExpressionWriter
from ingestion.relational.form import Fields, Projection, Star
from ingestion.relational.roles import AGGREGATION, CONDITIONAL, FILTER, IDENTITY, SORT, TRANSFORMATION, WINDOW

_UNKNOWN = ""
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
_AROUND = (exp.Paren, exp.IgnoreNulls, exp.RespectNulls, exp.Limit)
_TAKEN_AS_THEY_ARE = (exp.Column, exp.Query, exp.Literal, exp.Null, exp.Boolean)
_ACCESS = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.StructExtract, exp.GetExtract)
_TAKEN = Fields()


class _Value(NamedTuple):
    """A value that the expression's is taken from, with what acts on it: nodes and the roles that they play."""

    node: exp.Expr
    role: int
    acting: tuple[tuple[exp.Expr, int], ...] = ()


_Own: TypeAlias = "tuple[tuple[str, exp.Expr], ...]"


def fields_of_node(w: ExpressionWriter, node: exp.Expr) -> Fields | None:
    """The fields of the value that a node makes; None where the node says nothing of them."""
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
        return Star(qualifier)
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
    if kind is exp.StarMap:
        return (("*", node.this),)
    if kind is exp.Anonymous:
        name, given = str(node.this).upper(), node.expressions
        if name in OBJECT_BUILDERS and len(given) % 2 == 0:
            return tuple((_key(w, given[at]), given[at + 1]) for at in range(0, len(given), 2))
        if name == "ROW":
            return tuple((f"f{number + 1}", item) for number, item in enumerate(given))
    return None


def _is_builder(node: exp.Expr) -> bool:
    if type(node) is exp.Anonymous:
        return str(node.this).upper() in OBJECT_BUILDERS | {"ROW"}
    return isinstance(node, exp.Struct | exp.JSONObject | exp.StarMap | exp.Tuple)


def _names_field(node: exp.Expr) -> bool:
    inside = node.expressions
    return len(inside) == 1 and type(inside[0]) is exp.Literal and bool(inside[0].args.get("is_string"))


def _key(w: ExpressionWriter, node: exp.Expr) -> str:
    if type(node) is exp.Literal and node.args.get("is_string"):
        return w.queries.field_in_string(str(node.name))
    return _UNKNOWN


def _struct_fields(w: ExpressionWriter, items: Iterable[exp.Expr]) -> Iterator[tuple[str, exp.Expr]]:
    objects = w.names.dialect.keyed_braces
    for item in items:
        if isinstance(item, exp.PropertyEQ | exp.Alias):
            named = item.args["alias"] if type(item) is exp.Alias else item.this
            name = w.names.column(named) if type(named) is exp.Identifier else str(named.name)
            name = w.queries.field_in_string(name) if objects else w.queries.field_name(name)
            yield name, item.this if type(item) is exp.Alias else item.expression
        elif type(item) is exp.Column:
            yield w.queries.field_name(w.names.column_parts(item)[-1]), item
        elif type(item) is exp.Star:
            yield "*", item
        elif type(item) is exp.Dot and type(item.expression) is exp.Identifier:
            yield w.queries.field_name(w.names.column(item.expression)), item
        else:
            yield _UNKNOWN, item


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
