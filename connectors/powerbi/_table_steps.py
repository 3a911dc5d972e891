"""What the functions of Power Query that take tables do with rows and their columns, each by its name.

Each gives None where its arguments do not tell what it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from connectors.powerbi._m import CallValue, FunctionValue, NameOf, TextValue
from connectors.powerbi._made import Made, ModelRows, beside, join_made, unite
from connectors.powerbi._power_query import StepArguments

_OUTER = "JoinKind.LeftOuter"
"""The join that leaves all rows of its first table, until the second is expanded."""
_NUMBERED = re.compile(r"(.+)\.\d+")
_AGGREGATES: Mapping[str, str] = {
    "List.Average": "AVG",
    "List.Count": "COUNT",
    "List.Max": "MAX",
    "List.Median": "MEDIAN",
    "List.Min": "MIN",
    "List.NonNullCount": "COUNT",
    "List.StandardDeviation": "STDDEV",
    "List.Sum": "SUM",
}


def _part_of(made: Made | None) -> Made | None:
    return made.as_part() if made is not None else None


def _over(rows: ModelRows, own: Mapping[str, Made | None], removed: frozenset[str] = frozenset()) -> ModelRows:
    """The rows with columns of a step's own, and without some; of a step that cannot tell one it is None."""

    def column(name: str) -> Made | None:
        if name in own:
            return own[name]
        return None if name in removed else rows.column(name)

    names = rows.names
    if names is not None:
        names = tuple(dict.fromkeys((*(one for one in names if one not in removed or one in own), *own)))
    nested = {name: inner for name, inner in rows.nested.items() if name not in removed and name not in own}
    return replace(rows.with_columns(column, names), nested=nested)


def _same(given: StepArguments) -> ModelRows | None:
    return given.rows(0)


def _select_rows(given: StepArguments) -> ModelRows | None:
    rows = given.rows(0)
    if rows is None:
        return None
    condition = given.made_of(given.nodes[1], rows).as_condition() if len(given.nodes) > 1 else Made()
    return replace(rows, conditions=(*rows.conditions, condition)) if condition.deciding else rows


def _rename(given: StepArguments) -> ModelRows | None:
    rows, entries = given.rows(0), given.entries(1)
    if rows is None or entries is None:
        return None
    new: dict[str, str] = {}
    for entry in entries:
        names = [given.queries.value(one, given.scope) for one in entry[:2]]
        if len(names) < 2 or not isinstance(names[0], str) or not isinstance(names[1], str):
            return None
        new[names[1]] = names[0]
    gone = frozenset(new.values()) - new.keys()
    found = _over(rows, {name: rows.column(old) for name, old in new.items()}, gone)
    inner = {name: rows.nested[old] for name, old in new.items() if old in rows.nested}
    return replace(found, nested={**found.nested, **inner})


def _select(given: StepArguments) -> ModelRows | None:
    rows, names = given.rows(0), given.names(1)
    if rows is None or names is None:
        return None
    kept = frozenset(names)
    found = rows.with_columns(lambda name: rows.column(name) if name in kept else None, names)
    return replace(found, nested={name: inner for name, inner in rows.nested.items() if name in kept})


def _remove(given: StepArguments) -> ModelRows | None:
    rows, names = given.rows(0), given.names(1)
    return _over(rows, {}, frozenset(names)) if rows is not None and names is not None else None


def _add(given: StepArguments) -> ModelRows | None:
    rows, name = given.rows(0), given.text(1)
    if rows is None or name is None or len(given.nodes) < 3:
        return None
    made = given.made_of(given.nodes[2], rows)
    is_function = isinstance(given.nodes[2], FunctionValue)
    return _over(rows, {name: made if is_function else None})


def _add_index(given: StepArguments) -> ModelRows | None:
    """A column of numbers, which are made of nothing."""
    rows, name = given.rows(0), given.text(1)
    return _over(rows, {name: Made()}) if rows is not None and name is not None else None


def _duplicate(given: StepArguments) -> ModelRows | None:
    rows, name, new = given.rows(0), given.text(1), given.text(2)
    return _over(rows, {new: rows.column(name)}) if rows is not None and name and new else None


def _transform(given: StepArguments) -> ModelRows | None:
    rows, entries = given.rows(0), given.entries(1)
    if rows is None or entries is None:
        return None
    own: dict[str, Made | None] = {}
    for entry in entries:
        name = given.queries.value(entry[0], given.scope) if entry else None
        if not isinstance(name, str):
            return None
        own[name] = _part_of(rows.column(name))
    return _over(rows, own)


def _replace_values(given: StepArguments) -> ModelRows | None:
    """`Table.ReplaceValue(t, old, new, replacer, columns)`: values may be those of other columns of the row."""
    rows, names = given.rows(0), given.names(4)
    if rows is None or names is None:
        return None
    others = join_made(given.made_of(one, rows) for one in given.nodes[1:3] if isinstance(one, FunctionValue))
    return _over(rows, {name: join_made((rows.column(name) or Made(), others)) for name in names})


def _split(given: StepArguments) -> ModelRows | None:
    """`Table.SplitColumn(t, "a", splitter, {"a.1", "a.2"})`; without names the parts are numbered so."""
    rows, name = given.rows(0), given.text(1)
    if rows is None or name is None:
        return None
    source, names = _part_of(rows.column(name)), given.names(3) if len(given.nodes) > 3 else None
    if names is not None:
        return _over(rows, dict.fromkeys(names, source), frozenset({name}))

    def column(asked: str) -> Made | None:
        numbered = _NUMBERED.fullmatch(asked)
        if numbered is not None and numbered[1] == name:
            return source
        return None if asked == name else rows.column(asked)

    return rows.with_columns(column, None)


def _combine_columns(given: StepArguments) -> ModelRows | None:
    rows, names, new = given.rows(0), given.names(1), given.text(3)
    if rows is None or names is None or new is None:
        return None
    return _over(rows, {new: join_made(rows.column(name) or Made() for name in names)}, frozenset(names))


def _pivot(given: StepArguments) -> ModelRows | None:
    """`Table.Pivot(t, {"north", "south"}, "region", "total")`: where values are not listed, no column is known."""
    rows, names, attribute, value = given.rows(0), given.names(1), given.text(2), given.text(3)
    if rows is None or names is None or attribute is None or value is None:
        return None
    decided = (rows.column(attribute) or Made()).as_condition()
    cell = join_made((rows.column(value) or Made(), decided))
    return _over(rows, dict.fromkeys(names, cell), frozenset({attribute, value}))


def _unpivot(given: StepArguments) -> ModelRows | None:
    rows, names, attribute, value = given.rows(0), given.names(1), given.text(2), given.text(3)
    if rows is None or names is None or attribute is None or value is None:
        return None
    made = join_made(rows.column(name) or Made() for name in names)
    return _over(rows, {attribute: Made(), value: made}, frozenset(names))


def _unpivot_others(given: StepArguments) -> ModelRows | None:
    """The columns that are not named become rows: which those are, is known where all columns are."""
    rows, kept, attribute, value = given.rows(0), given.names(1), given.text(2), given.text(3)
    if rows is None or kept is None or attribute is None or value is None:
        return None
    others = frozenset(rows.names or ()) - frozenset(kept)
    made = join_made(rows.column(name) or Made() for name in sorted(others)) if rows.names is not None else None

    def column(name: str) -> Made | None:
        if name in (attribute, value):
            return made if name == value else Made()
        return rows.column(name) if name in kept else None

    return rows.with_columns(column, (*kept, attribute, value))


def _group(given: StepArguments) -> ModelRows | None:
    """`Table.Group(t, {"region"}, {{"total", each List.Sum([amount]), type number}, {"all", each _}})`."""
    rows, keys, entries = given.rows(0), given.names(1), given.entries(2)
    if rows is None or keys is None or entries is None:
        return None
    own: dict[str, Made | None] = {}
    nested: dict[str, ModelRows] = {}
    for entry in entries:
        name = given.queries.value(entry[0], given.scope) if entry else None
        function = entry[1] if len(entry) > 1 else None
        if not isinstance(name, str) or not isinstance(function, FunctionValue):
            return None
        if isinstance(function.body, NameOf):
            nested[name] = rows
            own[name] = None
        else:
            aggregate = _AGGREGATES.get(function.body.name, "MAX") if isinstance(function.body, CallValue) else "MAX"
            own[name] = given.made_of(function, rows).aggregate_by(aggregate)
    kept = {key: rows.column(key) for key in keys}
    grouping = tuple(made for made in kept.values() if made is not None)
    found = rows.with_columns(lambda name: own[name] if name in own else kept.get(name), (*keys, *own))
    return replace(found, grouping=(*rows.grouping, *grouping), nested=nested)


def _nested_join(given: StepArguments) -> ModelRows | None:
    rows, other, name = given.rows(0), given.rows(2), given.text(4)
    if rows is None or name is None:
        return None
    if other is None:
        return _over(rows, {name: None})
    found, conditions = _over(rows, {name: None}), _compare(given, rows, other)
    kind = given.nodes[5] if len(given.nodes) > 5 else None
    if isinstance(kind, NameOf) and kind.name != _OUTER:
        found = replace(beside((found, other)).with_columns(found.column, found.names), nested=found.nested)
        found = replace(found, conditions=(*found.conditions, *conditions))
    return replace(found, nested={**found.nested, name: replace(other, conditions=(*other.conditions, *conditions))})


def _compare(given: StepArguments, rows: ModelRows, other: ModelRows) -> tuple[Made, ...]:
    """The columns that a join of the first with the third argument compares, pair by pair."""
    pairs = zip(given.names(1) or (), given.names(3) or (), strict=False)
    found = [(rows.column(one), other.column(two)) for one, two in pairs]
    return tuple(join_made((one, two)) for one, two in found if one is not None and two is not None)


def _expand(given: StepArguments) -> ModelRows | None:
    """`Table.ExpandTableColumn(t, "joined", {"name"}, {"joined.name"})`."""
    rows, name, fields = given.rows(0), given.text(1), given.names(2)
    if rows is None or name is None or fields is None:
        return None
    names = given.names(3) if len(given.nodes) > 3 else None
    other = rows.nested.get(name)
    pairs = tuple(zip(names or fields, fields, strict=False))
    if other is None:
        return _over(rows, {new: None for new, _old in pairs}, frozenset({name}))
    found = _over(rows, {new: other.column(old) for new, old in pairs}, frozenset({name}))
    inner = {new: other.nested[old] for new, old in pairs if old in other.nested}
    both = beside((found, other)).with_columns(found.column, found.names)
    return replace(both, nested={**found.nested, **inner})


def _expand_record(given: StepArguments) -> ModelRows | None:
    rows, name, fields = given.rows(0), given.text(1), given.names(2)
    if rows is None or name is None or fields is None:
        return None
    names = given.names(3) if len(given.nodes) > 3 else None
    made = _part_of(rows.column(name))
    return _over(rows, dict.fromkeys(names or fields, made), frozenset({name}))


def _expand_list(given: StepArguments) -> ModelRows | None:
    rows, name = given.rows(0), given.text(1)
    return _over(rows, {name: _part_of(rows.column(name))}) if rows is not None and name is not None else None


def _aggregate(given: StepArguments) -> ModelRows | None:
    """`Table.AggregateTableColumn(t, "joined", {{"total", List.Sum, "sum of total"}})`."""
    rows, name, entries = given.rows(0), given.text(1), given.entries(2)
    other = rows.nested.get(name) if rows is not None and name is not None else None
    if rows is None or name is None or entries is None:
        return None
    own: dict[str, Made | None] = {}
    for entry in entries:
        if len(entry) < 3 or not isinstance(entry[0], TextValue) or not isinstance(entry[2], TextValue):
            return None
        made = other.column(entry[0].text) if other is not None else None
        function = entry[1].name if isinstance(entry[1], NameOf) else ""
        own[entry[2].text] = made.aggregate_by(_AGGREGATES.get(function, "MAX")) if made is not None else None
    found = _over(rows, own, frozenset({name}))
    if other is None:
        return found
    return replace(beside((found, other)).with_columns(found.column, found.names), nested=found.nested)


def _join(given: StepArguments) -> ModelRows | None:
    """`Table.Join(t, keys, u, keys)`: a column is of the table that alone can have it, else of none that is known."""
    rows, other = given.rows(0), given.rows(2)
    if rows is None or other is None:
        return None

    def column(name: str) -> Made | None:
        for one, second in ((rows, other), (other, rows)):
            if one.names is not None and name in one.names and (second.names is None or name not in second.names):
                return one.column(name)
        found = [one for one in (rows, other) if one.names is None]
        return found[0].column(name) if len(found) == 1 else None

    names = (*rows.names, *other.names) if rows.names is not None and other.names is not None else None
    both = beside((rows, other)).with_columns(column, names)
    return replace(both, conditions=(*both.conditions, *_compare(given, rows, other)))


def _combine(given: StepArguments) -> ModelRows | None:
    found = given.value(0)
    if not isinstance(found, list) or not found:
        return None
    tables = [given.queries.rows_of(one) for one in found]
    known = [one for one in tables if one is not None]
    return unite(known) if len(known) == len(tables) else None


def _prefix(given: StepArguments) -> ModelRows | None:
    rows, prefix = given.rows(0), given.text(1)
    if rows is None or prefix is None:
        return None
    begin = f"{prefix}."
    names = tuple(begin + name for name in rows.names) if rows.names is not None else None
    return rows.with_columns(
        lambda name: rows.column(name.removeprefix(begin)) if name.startswith(begin) else None, names
    )


_SAME = (
    "AddKey",
    "AlternateRows",
    "Buffer",
    "Distinct",
    "FillDown",
    "FillUp",
    "FirstN",
    "LastN",
    "MaxN",
    "MinN",
    "Range",
    "RemoveFirstN",
    "RemoveLastN",
    "RemoveMatchingRows",
    "RemoveRowsWithErrors",
    "ReorderColumns",
    "Repeat",
    "ReplaceErrorValues",
    "ReplaceKeys",
    "ReverseRows",
    "SelectRowsWithErrors",
    "Skip",
    "Sort",
    "StopFolding",
    "TransformColumnTypes",
)
"""Steps that leave the columns as they are."""
_OWN: Mapping[str, Callable[[StepArguments], ModelRows | None]] = {
    "AddColumn": _add,
    "AddIndexColumn": _add_index,
    "AggregateTableColumn": _aggregate,
    "Combine": _combine,
    "CombineColumns": _combine_columns,
    "DuplicateColumn": _duplicate,
    "ExpandListColumn": _expand_list,
    "ExpandRecordColumn": _expand_record,
    "ExpandTableColumn": _expand,
    "FuzzyNestedJoin": _nested_join,
    "Group": _group,
    "Join": _join,
    "NestedJoin": _nested_join,
    "Pivot": _pivot,
    "PrefixColumns": _prefix,
    "RemoveColumns": _remove,
    "RenameColumns": _rename,
    "ReplaceValue": _replace_values,
    "SelectColumns": _select,
    "SelectRows": _select_rows,
    "SplitColumn": _split,
    "TransformColumns": _transform,
    "Unpivot": _unpivot,
    "UnpivotOtherColumns": _unpivot_others,
}
STEPS: Mapping[str, Callable[[StepArguments], ModelRows | None]] = {
    **{f"Table.{name}": _same for name in _SAME},
    **{f"Table.{name}": step for name, step in _OWN.items()},
}
