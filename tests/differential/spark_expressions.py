"""What Spark's expressions do with the columns in them, as OpenLineage's terms have it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.differential.lineage_facts import NOTHING, Uses, playing
from tests.differential.spark_plan import Node, words

_HASHES = frozenset({"Md5", "Sha1", "Sha2", "Crc32", "Murmur3Hash", "XxHash64", "Mask", "AesEncrypt", "SoundEx"})
_COUNTS = frozenset(
    {"Count", "HyperLogLogPlusPlus", "RegrCount", "CountMinSketchAgg", "HllSketchAgg", "ThetaSketchAgg"}
)
_MOVING = frozenset({"Lag", "Lead", "NthValue"})
_RANKS = frozenset({"RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist", "NTile"})
_SAME = frozenset({"Alias", "OuterReference", "TempResolvedColumn", "UnaryPositive"})
_REPLACED = frozenset({"NullIf", "Nvl", "Nvl2", "NullIfZero"})
"""Functions that stand for others: the one child is what they are replaced by."""
_CASTS = frozenset({"Cast", "UpCast", "AnsiCast"})
_OF_FIXED_LENGTH = ("char", "varchar", "readSide")
"""What Spark does to columns of the types CHAR and VARCHAR where it reads and writes them, as it casts others."""
_OF_WRITTEN_LENGTH = frozenset({"Stack", "JsonTuple"})
"""Generators of so many rows as the statement says, whatever their arguments are."""


@dataclass(frozen=True)
class Scope:
    """The attributes that an expression may use, by id; `plan` gives the uses of a subquery's outputs and rows."""

    attributes: Mapping[int, Uses]
    plan: Callable[[Node, Mapping[int, Uses]], tuple[Sequence[Uses], Uses]]
    shared: Uses = NOTHING  # what CommonExpressionRef means: Spark writes no id, and NULLIF has just one


def uses_of(node: Node, scope: Scope) -> Uses:
    """The columns in an expression and the part that each has in its value."""
    if node.name in ("AttributeReference", "LateralColumnAliasReference"):
        return scope.attributes.get(node.id, NOTHING)
    if node.name in _SAME or node.name in _REPLACED:
        return _merged(node.children or node.nodes("e"), scope)
    if node.name in _CASTS:
        return frozenset(
            use._replace(cast=True) if use.part == "IDENTITY" else use for use in uses_of(node.children[0], scope)
        )
    if node.name == "StaticInvoke" and str(node.fields["functionName"]).startswith(_OF_FIXED_LENGTH):
        return uses_of(node.children[0], scope)
    special = _SPECIAL.get(node.name)
    if special is not None:
        return special(node, scope)
    if node.name in _RANKS:  # Spark gives Rank its window's keys as arguments; NTILE's is a literal
        return NOTHING
    masking = node.name in _HASHES
    return playing("TRANSFORMATION", _merged(node.children, scope), masking=masking)


def _merged(nodes: Iterable[Node], scope: Scope) -> Uses:
    return frozenset(use for node in nodes for use in uses_of(node, scope))


def _case(node: Node, scope: Scope) -> Uses:
    pairs = len(node.children) // 2 * 2
    conditions = node.children[:pairs:2]
    values = (*node.children[1:pairs:2], *node.children[pairs:])  # an ELSE stands alone at the end
    return playing("TRANSFORMATION", _merged(values, scope)) | playing("CONDITIONAL", _merged(conditions, scope))


def _if(node: Node, scope: Scope) -> Uses:
    condition, *values = node.children
    return playing("TRANSFORMATION", _merged(values, scope)) | playing("CONDITIONAL", uses_of(condition, scope))


def _coalesce(node: Node, scope: Scope) -> Uses:
    uses = _merged(node.children, scope)
    return playing("TRANSFORMATION", uses) | playing("CONDITIONAL", uses)


def _aggregate_expression(node: Node, scope: Scope) -> Uses:
    function = node.child("aggregateFunction")
    condition = [child for child in node.children if child is not function]
    known = function.name in _SPECIAL or function.name in _HASHES
    made = uses_of(function, scope) if known else playing("AGGREGATION", _merged(function.children, scope))
    return made | playing("FILTER", _merged(condition, scope))


def _window(node: Node, scope: Scope) -> Uses:
    function, spec = node.child("windowFunction"), node.child("windowSpec")
    value = uses_of(function, scope)
    keys = [child for child in spec.children if child.name != "SpecifiedWindowFrame"]
    return value | playing("WINDOW", _merged(keys, scope))


def _ordered_by_second(node: Node, scope: Scope) -> Uses:
    value, order = node.children[:2]
    return playing("AGGREGATION", uses_of(value, scope)) | playing("SORT", uses_of(order, scope))


def _list_agg(node: Node, scope: Scope) -> Uses:
    keys = [child for child in node.children if child.name == "SortOrder"]
    values = [child for child in node.children if child.name != "SortOrder"]
    return playing("AGGREGATION", _merged(values, scope)) | playing("SORT", _merged(keys, scope))


def _pivot_first(node: Node, scope: Scope) -> Uses:
    value, key = uses_of(node.child("valueColumn"), scope), uses_of(node.child("pivotColumn"), scope)
    return value | playing("CONDITIONAL", key)


def _pivoted(node: Node, scope: Scope) -> Uses:
    """Picking one value out of PivotFirst's array changes nothing, nor does picking one by its place out of an array
    that is built where it is read; any other array's element is made of it.
    """
    uses = _merged(node.children, scope)
    child = node.children[0]
    if child.name == "CreateArray" and (place := _place(node)) < len(child.children):
        return uses_of(child.children[place], scope)
    picked = child.name == "AttributeReference" and child.fields["name"].startswith("__pivot_")
    return uses if picked else playing("TRANSFORMATION", uses)


def _place(access: Node) -> int:
    """The place that an element is picked by; one after all where only the data say it."""
    place = access.children[1]
    known = place.name == "Literal" and str(place.fields["value"]).isdigit()
    return int(place.fields["value"]) if known else sys.maxsize


def _field(node: Node, scope: Scope) -> Uses:
    """A field of a struct that is built where it is read is what it was built of.

    Of `max(struct(a, b)).b` it is b; a only says which row.
    """
    child, number = node.children[0], int(node.fields["ordinal"])
    if child.name == "CreateNamedStruct":
        return uses_of(_fields(child)[number], scope)
    function = child.children[0] if child.name == "AggregateExpression" else child
    if function.name in ("Max", "Min") and function.children[0].name == "CreateNamedStruct":
        fields = _fields(function.children[0])
        others = [value for place, value in enumerate(fields) if place != number]
        return playing("AGGREGATION", uses_of(fields[number], scope)) | playing("SORT", _merged(others, scope))
    return playing("TRANSFORMATION", uses_of(child, scope))


def _fields(struct: Node) -> tuple[Node, ...]:
    return struct.children[1::2]


def generated(generator: Node, width: int, scope: Scope) -> list[Uses]:
    """What each of the columns is made of that a generator gives, as far as its arguments are told apart."""
    rows: list[Sequence[Node]] = []
    if generator.name == "Stack":
        values = generator.children[1:]
        rows = [values[start : start + width] for start in range(0, len(values), width)]
    elif generator.name == "Inline" and generator.children[0].name == "CreateArray":
        structs = generator.children[0].children
        rows = [_fields(struct) for struct in structs if struct.name == "CreateNamedStruct"]
    if not rows or any(len(row) > width for row in rows):
        whole = uses_of(generator, scope)
        if generator.name != "PosExplode":
            return [whole] * width
        return [playing("CONDITIONAL", deciding_rows(generator, scope)), *[whole] * (width - 1)]
    return [_merged([row[place] for row in rows if place < len(row)], scope) for place in range(width)]


def deciding_rows(generator: Node, scope: Scope) -> Uses:
    """What says how many rows a generator makes of one: what it takes apart.

    An array or a map that is built there has as many elements as are written, whatever they are. OUTER keeps a row
    where there is no element, and how many there are is still up to the array.
    """
    if generator.name in _OF_WRITTEN_LENGTH or generator.children[0].name in ("CreateArray", "CreateMap"):
        return NOTHING
    return uses_of(generator, scope)


def _scalar_subquery(node: Node, scope: Scope) -> Uses:
    outputs, rows = scope.plan(node.nodes("plan")[0], scope.attributes)
    return outputs[0] | rows


def _exists(node: Node, scope: Scope) -> Uses:
    return scope.plan(node.nodes("plan")[0], scope.attributes)[1]


def _list_query(node: Node, scope: Scope) -> Uses:
    outputs, rows = scope.plan(node.nodes("plan")[0], scope.attributes)
    return playing("TRANSFORMATION", frozenset().union(*outputs)) | rows


def _with_common(node: Node, scope: Scope) -> Uses:
    child, *definitions = node.children
    return uses_of(child, replace(scope, shared=_merged([d.children[0] for d in definitions], scope)))


def _aggregate(part: str, *, masking: bool = False) -> Callable[[Node, Scope], Uses]:
    return lambda node, scope: playing(part, _merged(node.children, scope), masking=masking)


_AGGREGATES = words(
    "Sum Average Min Max First Last AnyValue BoolAnd BoolOr BitAndAgg BitOrAgg CollectList CollectSet Percentile "
    "PercentileCont PercentileDisc ApproximatePercentile Median Mode StddevSamp StddevPop VarianceSamp VariancePop "
    "Corr CovSample CovPopulation Skewness Kurtosis Product HistogramNumeric RegrSlope TrySum TryAverage"
)

_SPECIAL: dict[str, Callable[[Node, Scope], Uses]] = {
    "CaseWhen": _case,
    "If": _if,
    "NullIfResult": _if,
    "Coalesce": _coalesce,
    "AggregateExpression": _aggregate_expression,
    "WindowExpression": _window,
    "MaxBy": _ordered_by_second,
    "MinBy": _ordered_by_second,
    "MaxMinByK": _ordered_by_second,
    "ListAgg": _list_agg,
    "PivotFirst": _pivot_first,
    "GetStructField": _field,
    "GetArrayItem": _pivoted,
    "ExtractValue": _pivoted,
    "ScalarSubquery": _scalar_subquery,
    "Exists": _exists,
    "ListQuery": _list_query,
    "With": _with_common,
    "CommonExpressionRef": lambda _node, scope: scope.shared,
    "SortOrder": lambda node, scope: uses_of(node.children[0], scope),
    # Replaced by shapes that test for null, which is how they are computed and not what they mean.
    "CountIf": lambda node, scope: playing(
        "AGGREGATION", _merged(node.nodes("child") or node.children, scope), masking=True
    ),
    **dict.fromkeys(_AGGREGATES, _aggregate("AGGREGATION")),
    **dict.fromkeys(_COUNTS, _aggregate("AGGREGATION", masking=True)),
    **dict.fromkeys(_MOVING, lambda node, scope: playing("TRANSFORMATION", _merged(node.children[:1], scope))),
}
