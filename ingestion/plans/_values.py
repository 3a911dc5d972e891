"""Values that have parts: what makes structs, arrays and maps, takes them apart, and runs a lambda over them.

A plan prints what a query wrote, `explode(map(Q1, q1#3, Q2, q2#4))`, or what the optimizer made of it. Which column
goes to which output is told by the place of an argument; a flat reading of the text would have every input in every
output. Each function here gives the lineage of the whole and of its parts; None leaves a call to the flat reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingestion.analysis.roles import AGGREGATION, COMPOSED, CONDITIONAL, FILTER, SORT, TRANSFORMATION
from ingestion.dialects.functions import (
    ELEMENTS,
    INLINES,
    MAKING_PARTS,
    MOVING,
    PARTS_USES,
    WITH_POSITIONS,
    PartsUse,
)
from ingestion.model.lineage import ColumnRef
from ingestion.plans import vocabulary
from ingestion.plans._relation import (
    ID,
    NOTHING,
    Attribute,
    AttributeLineage,
    IndirectUse,
    ValueParts,
    unite_lineages,
)

_ALIAS_AT_END = re.compile(r" AS (?:(?! AS ).)*#\d+L?(?:-T\d+ms)?$", re.DOTALL)
"""`amount#3 AS total#9`: a struct's field that the query named."""
_PARAMETER = re.compile(r"lambda (.*)#(\d+)L?(?:-T\d+ms)?", re.DOTALL)
_FIELD_CHANGE = re.compile(r"(WithField|dropfield)\((.*)\)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call in an expression: `read` gives the value of an argument's text, with more attributes in scope."""

    name: str
    arguments: Sequence[str]
    read: Callable[[str, Mapping[int, Attribute]], AttributeLineage]

    def value(self, index: int) -> AttributeLineage:
        """The value of an argument."""
        return self.read(self.arguments[index], {})

    def values(self) -> list[AttributeLineage]:
        """The values of all arguments."""
        return [self.read(text, {}) for text in self.arguments]


# Parts of values.


def _in_role(lineage: AttributeLineage, role: int) -> AttributeLineage:
    """A value in a role that its columns play in another, with its parts."""
    direct = {column: COMPOSED[role][inner] for column, inner in lineage.direct.items()}
    return replace(lineage, direct=direct, parts=_each_part(lineage.parts, lambda part: _in_role(part, role)))


def with_influences(lineage: AttributeLineage, uses: Iterable[IndirectUse]) -> AttributeLineage:
    """A value in which, and in each part of which, other columns have a say."""
    added = frozenset(uses)
    if not added:
        return lineage
    parts = _each_part(lineage.parts, lambda part: with_influences(part, added))
    return replace(lineage, indirect=lineage.indirect | added, parts=parts)


def _each_part(parts: ValueParts | None, change: Callable[[AttributeLineage], AttributeLineage]) -> ValueParts | None:
    if parts is None:
        return None
    return replace(
        parts,
        fields={name: change(part) for name, part in parts.fields.items()} if parts.fields is not None else None,
        rest=change(parts.rest) if parts.rest is not None else None,
        element=change(parts.element) if parts.element is not None else None,
        key=change(parts.key) if parts.key is not None else None,
        items={name: change(part) for name, part in parts.items.items()} if parts.items is not None else None,
    )


def uncertain_part(lineage: AttributeLineage) -> AttributeLineage:
    """A part of a value whose parts are not told: of several columns, each may be what it is made of."""
    whole = _in_role(replace(lineage, parts=None), TRANSFORMATION)
    return replace(whole, opaque=True) if len(whole.direct) > 1 else whole


def _element_of(lineage: AttributeLineage) -> AttributeLineage:
    """What an array's elements, or a map's values, are made of."""
    if lineage.parts is not None and lineage.parts.element is not None:
        return lineage.parts.element
    return _in_role(replace(lineage, parts=None), TRANSFORMATION)


def _key_of(lineage: AttributeLineage) -> AttributeLineage:
    """What a map's keys are made of."""
    if lineage.parts is not None and lineage.parts.key is not None:
        return lineage.parts.key
    return uncertain_part(lineage)


def _map_value_of(lineage: AttributeLineage) -> AttributeLineage:
    """What a map's values are made of, where it is not told whether a column is in them or in its keys."""
    if lineage.parts is not None and lineage.parts.key is not None:
        return _element_of(lineage)
    return uncertain_part(lineage)


def _size_of(lineage: AttributeLineage) -> frozenset[ColumnRef]:
    """The columns that decide how many elements there are."""
    if lineage.parts is not None and lineage.parts.element is not None:
        return lineage.parts.size
    return lineage.columns


def field_of(lineage: AttributeLineage, name: str) -> AttributeLineage:
    """What a field is made of; of an array of structs, the array of that field."""
    parts = lineage.parts
    if parts is not None and parts.fields is not None:
        known = {each.casefold(): part for each, part in parts.fields.items()}
        if name.casefold() in known:
            return known[name.casefold()]
        if parts.rest is not None:
            return parts.rest
    elif parts is not None and parts.element is not None and parts.key is None:
        return _array(field_of(parts.element, name), parts.size)
    return uncertain_part(lineage)


def _fields_of(lineage: AttributeLineage, count: int) -> list[AttributeLineage]:
    """The fields of a struct in their order, where it has so many; else the same for each."""
    fields = lineage.parts.fields if lineage.parts is not None else None
    if fields is not None and len(fields) == count:
        return list(fields.values())
    return [lineage if count == 1 and fields is None else uncertain_part(lineage)] * count


def item_of(lineage: AttributeLineage, index: str, decided_by: AttributeLineage) -> AttributeLineage:
    """The element at a printed position, or behind a printed key, that the columns of `decided_by` choose."""
    items = lineage.parts.items if lineage.parts is not None else None
    if items is not None and not decided_by.columns:
        return items[index] if index in items else _element_of(lineage)
    return with_influences(_element_of(lineage), _uses(decided_by.columns, CONDITIONAL))


def _uses(columns: Iterable[ColumnRef], role: int) -> frozenset[IndirectUse]:
    return frozenset((column, role) for column in columns)


def _whole(values: Iterable[AttributeLineage], parts: ValueParts) -> AttributeLineage:
    """A value that others are put together to."""
    together = unite_lineages(_in_role(replace(value, parts=None), TRANSFORMATION) for value in values)
    return replace(together, parts=parts)


def _array(
    element: AttributeLineage, size: frozenset[ColumnRef], items: Mapping[str, AttributeLineage] | None = None
) -> AttributeLineage:
    """An array of such elements; what decides how many there are has a say in it as a whole."""
    of_elements = _in_role(replace(element, parts=None), TRANSFORMATION)
    whole = with_influences(of_elements, _uses(size - set(of_elements.direct), CONDITIONAL))
    return replace(whole, parts=ValueParts(element=element, size=size, items=items))


def _map_of(key: AttributeLineage, value: AttributeLineage, size: frozenset[ColumnRef]) -> AttributeLineage:
    whole = _whole((key, value), ValueParts(element=value, key=key, size=size))
    return replace(whole, indirect=whole.indirect | _uses(size - set(whole.direct), CONDITIONAL))


def _with_size(lineage: AttributeLineage, size: frozenset[ColumnRef]) -> AttributeLineage:
    """An array or a map of which more columns decide how many elements there are."""
    return replace(lineage, parts=replace(lineage.parts, size=size)) if lineage.parts is not None else lineage


# What makes structs, arrays and maps.


def _struct(call: FunctionCall) -> AttributeLineage | None:
    """`struct(a, a#1, b, b#2)`, `named_struct(x, a#1)`: names and values in turn."""
    names, values = call.arguments[::2], call.arguments[1::2]
    if len(names) != len(values) or any(ID.search(name) for name in names):
        return None
    return _struct_of({n: call.read(_ALIAS_AT_END.sub("", v), {}) for n, v in zip(names, values, strict=True)})


def _struct_of(fields: Mapping[str, AttributeLineage]) -> AttributeLineage:
    """A struct of such fields."""
    return _whole(fields.values(), ValueParts(fields=fields))


def _array_of_arguments(call: FunctionCall) -> AttributeLineage:
    values = [_in_role(value, TRANSFORMATION) for value in call.values()]
    return _array(unite_lineages(values), frozenset(), {str(i): value for i, value in enumerate(values)})


def _map_of_arguments(call: FunctionCall) -> AttributeLineage | None:
    """`map(K, a#1, L, b#2)`: keys and values in turn.

    Literals are printed raw: of two beside each other it is not told whether they were one with a comma in it. That is
    no matter as long as columns stand for values only.
    """
    texts = call.arguments
    literal = [ID.search(text) is None for text in texts]
    if len(texts) % 2 or (any(one and other for one, other in pairwise(literal)) and not all(literal[::2])):
        return None
    values = [_in_role(value, TRANSFORMATION) for value in call.values()]
    keys, values = values[::2], values[1::2]
    keyed = dict(zip(texts[::2], values, strict=True)) if all(literal[::2]) else None
    parts = ValueParts(element=unite_lineages(values), key=unite_lineages(keys), items=keyed)
    return _whole([*keys, *values], parts)


def _map_from_arrays(call: FunctionCall) -> AttributeLineage:
    keys, values = call.value(0), call.value(1)
    return _map_of(_element_of(keys), _element_of(values), _size_of(keys) | _size_of(values))


def _map_from_entries(call: FunctionCall) -> AttributeLineage | None:
    entries = call.value(0)
    fields = _element_of(entries).parts
    if fields is None or fields.fields is None or len(fields.fields) != 2:
        return None
    key, value = fields.fields.values()
    return _map_of(key, value, _size_of(entries))


def _map_entries(call: FunctionCall) -> AttributeLineage:
    entries = call.value(0)
    return _array(_struct_of({"key": _key_of(entries), "value": _map_value_of(entries)}), _size_of(entries))


def _map_keys(call: FunctionCall) -> AttributeLineage:
    return _array(_key_of(call.value(0)), _size_of(call.value(0)))


def _map_values(call: FunctionCall) -> AttributeLineage:
    return _array(_map_value_of(call.value(0)), _size_of(call.value(0)))


def _arrays_zip(call: FunctionCall) -> AttributeLineage | None:
    """`arrays_zip(xs#1, ys#2, xs, ys)`: the arrays, and the names of the fields."""
    half = len(call.arguments) // 2
    names = call.arguments[half:]
    if len(call.arguments) % 2 or len(set(names)) != half or any(ID.search(name) for name in names):
        return None
    arrays = [call.value(index) for index in range(half)]
    fields = {name: _element_of(array) for name, array in zip(names, arrays, strict=True)}
    return _array(_struct_of(fields), frozenset().union(*map(_size_of, arrays)))


def _update_fields(call: FunctionCall) -> AttributeLineage | None:
    """`update_fields(s#1, WithField(x, a#2), dropfield(y))`: withField and dropFields of the DataFrame API.

    Of a stored struct it is not told which fields it has: beside those that were set, all may have been dropped.
    """
    base, *changes = call.arguments
    struct = call.read(base, {})
    known = struct.parts.fields if struct.parts is not None else None
    fields = dict(known or {})
    rest = struct.parts.rest if struct.parts is not None and known is not None else None
    stored = frozenset() if known is not None else _uses(struct.columns, CONDITIONAL)  # its NULL is the result's
    if known is None:
        rest = uncertain_part(struct)
    dropped = False
    for change in changes:
        match = _FIELD_CHANGE.fullmatch(change)
        if match is None:
            return None
        name, _, text = match.group(2).partition(", ")
        if match.group(1) == "WithField":
            fields[name] = with_influences(call.read(text, {}), stored)
        else:
            fields.pop(name, None)
            dropped = True
    if rest is not None and dropped and fields:
        rest = replace(rest, opaque=True)
    made = [*fields.values(), *([rest] if rest is not None else [])]
    return _whole(made, ValueParts(fields=fields, rest=rest))


# Lambdas: `transform(xs#1, lambdafunction((lambda x#2 + b#3), lambda x#2, false))`.


def _body(call: FunctionCall, index: int, *values: AttributeLineage) -> AttributeLineage | None:
    """What a lambda gives of the values of its parameters, of which it may leave out the last ones."""
    text = call.arguments[index]
    if not text.startswith("lambdafunction(") or not text.endswith(", false)"):
        return None
    inside = text.removeprefix("lambdafunction(").removesuffix(", false)")
    bound: dict[int, Attribute] = {}
    names: list[tuple[int, str]] = []
    while (cut := inside.rfind(", lambda ")) >= 0 and (match := _PARAMETER.fullmatch(inside, cut + 2)):
        names.insert(0, (int(match.group(2)), match.group(1)))
        inside = inside[:cut]
    for (number, name), value in zip(names, values, strict=False):
        bound[number] = Attribute(number, name, value)
    return call.read(inside, bound) if len(bound) == len(names) else None


def _transform(call: FunctionCall) -> AttributeLineage | None:
    array = call.value(0)
    made = _body(call, 1, _element_of(array), NOTHING)
    return _array(made, _size_of(array)) if made is not None else None


def _zip_with(call: FunctionCall) -> AttributeLineage | None:
    one, other = call.value(0), call.value(1)
    made = _body(call, 2, _element_of(one), _element_of(other))
    return _array(made, _size_of(one) | _size_of(other)) if made is not None else None


def _filter(call: FunctionCall) -> AttributeLineage | None:
    array = call.value(0)
    test = _body(call, 1, _element_of(array), NOTHING)
    if test is None:
        return None
    element = _element_of(array)
    kept = _array(with_influences(element, _uses(test.columns - set(element.direct), FILTER)), _size_of(array))
    return _with_size(kept, _size_of(array) | test.columns)


def _holds(call: FunctionCall) -> AttributeLineage | None:
    """`exists` and `forall`: a test of the elements."""
    array = call.value(0)
    test = _body(call, 1, _element_of(array))
    if test is None:
        return None
    return with_influences(_in_role(test, TRANSFORMATION), _uses(_size_of(array) - set(test.direct), CONDITIONAL))


def _fold(call: FunctionCall) -> AttributeLineage | None:
    """`aggregate(xs#1, 0, merge, finish)`: what the merge gives is what the next one begins with."""
    array = call.value(0)
    so_far = call.value(1)
    for _ in range(4):
        again = _body(call, 2, so_far, _element_of(array))
        if again is None:
            return None
        both = unite_lineages((so_far, again))
        done, so_far = both.columns == so_far.columns, both
        if done:
            break
    finished = _body(call, 3, so_far) if len(call.arguments) > 3 else so_far
    if finished is None:
        return None
    return with_influences(
        _in_role(finished, TRANSFORMATION), _uses(_size_of(array) - set(finished.direct), CONDITIONAL)
    )


def _map_filter(call: FunctionCall) -> AttributeLineage | None:
    entries = call.value(0)
    test = _body(call, 1, _key_of(entries), _map_value_of(entries))
    if test is None:
        return None
    uses = _uses(test.columns - set(entries.direct), FILTER)
    kept = _map_of(
        with_influences(_key_of(entries), uses), with_influences(_map_value_of(entries), uses), _size_of(entries)
    )
    return _with_size(kept, _size_of(entries) | test.columns)


def _transform_entries(call: FunctionCall) -> AttributeLineage | None:
    """`transform_keys` and `transform_values`."""
    entries = call.value(0)
    made = _body(call, 1, _key_of(entries), _map_value_of(entries))
    if made is None:
        return None
    if call.name == "transform_keys":
        return _map_of(made, _map_value_of(entries), _size_of(entries))
    return _map_of(_key_of(entries), made, _size_of(entries))


def _map_zip_with(call: FunctionCall) -> AttributeLineage | None:
    one, other = call.value(0), call.value(1)
    keys = unite_lineages((_key_of(one), _key_of(other)))
    made = _body(call, 2, keys, _map_value_of(one), _map_value_of(other))
    return _map_of(keys, made, _size_of(one) | _size_of(other)) if made is not None else None


def _array_sort(call: FunctionCall) -> AttributeLineage | None:
    array = call.value(0)
    order = _body(call, 1, _element_of(array), _element_of(array)) if len(call.arguments) > 1 else _element_of(array)
    if order is None:
        return None
    return _array(with_influences(_element_of(array), _uses(order.columns, SORT)), _size_of(array))


# What passes values with parts on.


def _same_elements(call: FunctionCall) -> AttributeLineage:
    """`slice(xs#1, 1, n#2)`, `array_distinct(xs#1)`: some of an array's elements, in some order."""
    array, *others = call.values()
    columns = frozenset().union(*(other.columns for other in others))
    element = with_influences(_element_of(array), _uses(columns, CONDITIONAL))
    if call.name == "sort_array":
        element = _in_order_of_fields(element, SORT)
    size = _size_of(array) | columns
    picked = PARTS_USES[call.name.upper()] is PartsUse.ELEMENTS_PICKED
    return _array(element, size | array.columns if picked else size)


def _join_elements(call: FunctionCall) -> AttributeLineage | None:
    """`concat(xs#1, ys#2)`, `array_union`: arrays of the elements of several."""
    arrays = call.values()
    if not any(_has_parts(array) for array in arrays):
        return None
    return _array(unite_lineages(map(_element_of, arrays)), frozenset().union(*map(_size_of, arrays)))


def _join_maps(call: FunctionCall) -> AttributeLineage:
    maps = call.values()
    keys, values = unite_lineages(map(_key_of, maps)), unite_lineages(map(_map_value_of, maps))
    return _map_of(keys, values, frozenset().union(*map(_size_of, maps)))


def _with_element(call: FunctionCall) -> AttributeLineage:
    """`array_append(xs#1, a#2)`."""
    array, element = call.value(0), call.value(len(call.arguments) - 1)
    return _array(unite_lineages((_element_of(array), _in_role(element, TRANSFORMATION))), _size_of(array))


def _repeat(call: FunctionCall) -> AttributeLineage:
    return _array(_in_role(call.value(0), TRANSFORMATION), call.value(1).columns)


def _flatten(call: FunctionCall) -> AttributeLineage:
    arrays = call.value(0)
    return _array(_element_of(_element_of(arrays)), _size_of(arrays) | _size_of(_element_of(arrays)))


def _list(call: FunctionCall) -> AttributeLineage:
    """`collect_list(struct(a, a#1), 0, 0)`: an array of a group's values, without its NULLs."""
    value = call.value(0)
    element = _in_role(value, AGGREGATION)
    made = _in_role(replace(value, parts=None), AGGREGATION)
    size = frozenset() if _is_struct(value) and call.name != "collect_set" else value.columns
    return replace(made, parts=ValueParts(element=element, size=size))


def _is_struct(value: AttributeLineage) -> bool:
    return value.parts is not None and value.parts.fields is not None


def _has_parts(value: AttributeLineage) -> bool:
    return value.parts is not None


def _extreme(call: FunctionCall) -> AttributeLineage | None:
    """`max(struct(b, b#1, a, a#2))`: the field a of the row with the greatest b."""
    value = call.value(0)
    return _in_order_of_fields(_in_role(value, AGGREGATION), SORT) if _has_parts(value) else None


def _in_order_of_fields(value: AttributeLineage, role: int) -> AttributeLineage:
    """A struct that was chosen among others, which are compared field by field: earlier fields decide on later ones."""
    if value.parts is None or value.parts.fields is None:
        return value
    fields: dict[str, AttributeLineage] = {}
    before: frozenset[ColumnRef] = frozenset()
    for name, field in value.parts.fields.items():
        fields[name] = with_influences(field, _uses(before - set(field.direct), role))
        before |= field.columns
    return replace(value, parts=replace(value.parts, fields=fields))


def _pick(call: FunctionCall) -> AttributeLineage | None:
    """`first(struct(…), false)`, `max_by(struct(…), b#1)`: one of a group's values; other arguments decide which."""
    value, *others = call.values()
    if not _has_parts(value):
        return None
    moving = call.name.upper() in MOVING
    columns = frozenset().union(*(other.columns for other in others))
    return with_influences(_in_role(value, TRANSFORMATION if moving else AGGREGATION), _uses(columns, SORT))


def _first_known(call: FunctionCall) -> AttributeLineage | None:
    values = call.values()
    if not any(_has_parts(value) for value in values):
        return None
    return with_influences(unite_lineages(values), _uses(unite_lineages(values).direct, CONDITIONAL))


def _item(call: FunctionCall) -> AttributeLineage | None:
    """`element_at(map(K, a#1), K, None, true)`, `get(array(a#1, b#2), 0)`: arrays count from 1 in the former only."""
    value, index = call.value(0), call.arguments[1]
    if not _has_parts(value):
        return None
    if value.parts is not None and value.parts.key is None and call.name != "get" and _NUMBER.fullmatch(index):
        count = len(value.parts.items or ())
        number = int(index)
        index = str(number - 1 if number > 0 else count + number)
    return item_of(value, index, call.value(1))


def _count(call: FunctionCall) -> AttributeLineage | None:
    """`size(xs#1, false)`: the number of elements, whatever they are."""
    value = call.value(0)
    if value.parts is None or value.parts.element is None:
        return None
    size = value.parts.size
    direct = dict.fromkeys(size & set(value.direct), TRANSFORMATION)
    return AttributeLineage(direct, _uses(size - set(direct), CONDITIONAL))


def _null_test(call: FunctionCall) -> AttributeLineage | None:
    """`isnotnull(st#1)`: a value that was put together is there, but for what has a say in that."""
    value = call.value(0)
    return AttributeLineage(indirect=value.indirect) if _has_parts(value) else None


def _hand_on(call: FunctionCall) -> AttributeLineage | None:
    value = call.value(0)
    return value if len(call.arguments) == 1 and _has_parts(value) else None


_READERS: Mapping[PartsUse, Callable[[FunctionCall], AttributeLineage | None]] = {
    PartsUse.STRUCT: _struct,
    PartsUse.STRUCT_CHANGE: _update_fields,
    PartsUse.ARRAY: _array_of_arguments,
    PartsUse.ARRAY_ZIP: _arrays_zip,
    PartsUse.MAP: _map_of_arguments,
    PartsUse.MAP_OF_ARRAYS: _map_from_arrays,
    PartsUse.MAP_OF_ENTRIES: _map_from_entries,
    PartsUse.MAP_ENTRIES: _map_entries,
    PartsUse.MAP_KEYS: _map_keys,
    PartsUse.MAP_VALUES: _map_values,
    PartsUse.MAP_JOIN: _join_maps,
    PartsUse.MAP_FILTER: _map_filter,
    PartsUse.MAP_CHANGE: _transform_entries,
    PartsUse.MAP_MERGE: _map_zip_with,
    PartsUse.LAMBDA: _transform,
    PartsUse.LAMBDA_OF_TWO: _zip_with,
    PartsUse.LAMBDA_FILTER: _filter,
    PartsUse.LAMBDA_TEST: _holds,
    PartsUse.LAMBDA_MERGE: _fold,
    PartsUse.LAMBDA_ORDER: _array_sort,
    PartsUse.ELEMENTS_KEPT: _same_elements,
    PartsUse.ELEMENTS_PICKED: _same_elements,
    PartsUse.ELEMENTS_JOINED: _join_elements,
    PartsUse.ELEMENT_ADDED: _with_element,
    PartsUse.ELEMENT_REPEATED: _repeat,
    PartsUse.ELEMENT: _item,
    PartsUse.NESTED_ELEMENTS: _flatten,
    PartsUse.LIST: _list,
    PartsUse.EXTREME: _extreme,
    PartsUse.PICK: _pick,
    PartsUse.FIRST_KNOWN: _first_known,
    PartsUse.COUNT: _count,
    PartsUse.NULL_TEST: _null_test,
}
MAKERS = re.compile(rf"\b(?:{'|'.join(sorted(MAKING_PARTS))})\(", re.IGNORECASE)
"""What makes a value with parts, or takes one apart that the plan does not show the parts of."""


def reads_call(name: str) -> bool:
    """Whether a function is one of those that make values with parts, or hand them on."""
    return name.upper() in PARTS_USES or name in vocabulary.TRANSPARENT


def value_of(call: FunctionCall) -> AttributeLineage | None:
    """The value of a call, with its parts; None where its arguments are not as such a call's are."""
    use = PARTS_USES.get(call.name.upper())
    try:
        return _READERS[use](call) if use is not None else _hand_on(call)
    except IndexError:  # an argument less than the function takes: a literal's word, which looked like a call
        return None


# Generators: each column that they make.


def generator_columns(call: FunctionCall, count: int) -> tuple[list[AttributeLineage], frozenset[ColumnRef]] | None:
    """The columns that a generator makes, so many, and those that decide how many rows; None for another generator."""
    name = call.name.upper()
    if name == "STACK":
        made = _stack_columns(call, count)
        return (made, frozenset()) if made is not None else None
    if name not in ELEMENTS | INLINES | WITH_POSITIONS or len(call.arguments) != 1:
        return None
    value = call.value(0)
    size = _size_of(value)
    position = [AttributeLineage(indirect=_uses(size, CONDITIONAL))] if name in WITH_POSITIONS else []
    left = count - len(position)
    if name in INLINES:
        return _fields_of(_element_of(value), left), size
    if left == 1:
        return [*position, _element_of(value)], size
    return ([*position, _key_of(value), _map_value_of(value)], size) if left == 2 else None


def _stack_columns(call: FunctionCall, count: int) -> list[AttributeLineage] | None:
    """`stack(2, A, a#1, B, b#2)`: the values row by row, in so many rows; the last row may be short of some.

    Literals are printed raw: where two stand beside each other and a row is short, one may have had a comma.
    """
    rows, *texts = call.arguments
    if not rows.isdigit() or not texts or not 0 <= int(rows) * count - len(texts) < count:
        return None
    literal = [ID.search(text) is None for text in texts]
    if len(texts) % count and any(one and other for one, other in pairwise(literal)):
        return None
    values = [_in_role(call.read(text, {}), TRANSFORMATION) for text in texts]
    return [unite_lineages(values[column::count]) for column in range(count)]
