"""Expressions in a scope: the value that one has, and the fields of what it builds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ingestion.analysis.relations import AnyRows, Entry, QueryColumns
from ingestion.analysis.runs import UnexpandedStar
from ingestion.analysis.set_operations import combine_branches
from ingestion.analysis.values import (
    ROLE_MASK,
    SHIFT,
    ColumnSources,
    ColumnValue,
    built_field,
    combined,
    field_of,
    field_or_part,
    union_of,
)
from ingestion.dialects.types import struct_fields
from ingestion.relational.form import (
    POSITION,
    AnySlot,
    CallSlot,
    Expression,
    Fields,
    FieldSlot,
    QuerySlot,
    SetOperation,
    Slot,
    Star,
)
from ingestion.relational.roles import ATOM, COMPOSED, IDENTITY, is_direct

if TYPE_CHECKING:
    from ingestion.analysis.scopes import Scope

_Each: TypeAlias = "tuple[AnyRows | None, ColumnValue, int]"
"""The fields of one of the values that a value may be, that value, and its role."""


def evaluated(scope: Scope, expression: Expression) -> ColumnValue:
    """The value of an expression in a scope."""
    slots = expression.slots
    alone = len(slots) == 1 and len(expression.parts) == 1 and isinstance(expression.parts[0], int)
    if alone and type(slots[0]) is Slot:
        return scope.resolve(slots[0].parts)  # a bare column: whoever uses it adds the role
    inputs: list[ColumnValue] = []
    keys: dict[int, None] = {}
    origins: dict[int, ColumnValue] = {}
    for slot in slots:
        if isinstance(slot, Slot):
            value = scope.resolve(slot.parts)
            row = COMPOSED[slot.role]
            for key in value.keys:
                keys[key & ~31 | row[key & 31]] = None
        elif isinstance(slot, FieldSlot):
            value = _field(scope, slot)
            keys.update(combined([(slot.role, value)]))
            row = COMPOSED[slot.role]
            for key, origin in (value.origins or {}).items():
                origins[key & ~ROLE_MASK | row[key & ROLE_MASK]] = origin
        else:
            value = _called_or_queried(scope, slot)
            keys.update(dict.fromkeys(value.keys))
            if value.origins:
                origins.update(value.origins)
        inputs.append(value)
    if alone and type(slots[0]) is FieldSlot and slots[0].role == IDENTITY:
        return inputs[0]
    made = ColumnValue(keys, expression, inputs)
    made.origins = origins or None
    if expression.fields is not None:
        given = expression.fields
        made.fields = _fields(scope, given, made) if given.own or given.among else _taken(scope, slots, made)
    elif alone:
        made.fields = inputs[0].fields
    return made


def _called_or_queried(scope: Scope, slot: CallSlot | QuerySlot) -> ColumnValue:
    analysis = scope.analysis
    return analysis.called(slot, scope) if isinstance(slot, CallSlot) else analysis.subquery(slot, scope)


def _field(scope: Scope, slot: FieldSlot) -> ColumnValue:
    value = evaluated(scope, slot.value)
    return field_of(value, slot.path) if slot.said else built_field(value, slot.path)[0]


def _fields(scope: Scope, fields: Fields, made: ColumnValue) -> AnyRows | None:
    """The fields of what an expression builds; None where they do not follow."""
    if fields.own:
        built = QueryColumns(scope.analysis.sources, _own(scope, fields))
        built.keyed = fields.keyed
        return built
    values = [(evaluated(scope, expression), role) for expression, role in fields.among]
    acting = [(role, evaluated(scope, expression)) for expression, role in fields.acting]
    rows = _of_one(scope, values, _indirect(acting), made)
    return (
        QueryColumns(rows.sources, _renamed(rows.entries, fields.names)) if rows is not None and fields.names else rows
    )


def _taken(scope: Scope, slots: Sequence[AnySlot], made: ColumnValue) -> AnyRows | None:
    """The fields of a value that is one of its expression's direct slots."""
    uses = [(slot.role, value) for slot, value in zip(slots, made.inputs, strict=True)]
    values = [(value, role) for role, value in uses if is_direct(role)]
    if not any(value.fields is not None or value.branches for value, _ in values):
        return None
    return _of_one(scope, values, _indirect(use for use in uses if not is_direct(use[0])), made)


def _of_one(
    scope: Scope, values: list[tuple[ColumnValue, int]], acting: dict[int, None], whole: ColumnValue
) -> AnyRows | None:
    """The fields of `whole`, which is one of several values, each in its role."""
    each = [(fields_of(value, scope), value, role) for value, role in values if value.keys or value.fields is not None]
    first = next((rows for rows, _, _ in each if rows is not None), None)
    if first is None:
        return None
    role = each[0][2]
    return with_role(first, role, acting, whole) if len(each) == 1 else _united(first, each, acting, whole)


def _renamed(entries: list[Entry], names: tuple[str, ...]) -> list[Entry]:
    if len(entries) != len(names):
        return entries
    return [(name, entry[1]) if isinstance(entry, tuple) else entry for name, entry in zip(names, entries, strict=True)]


def _own(scope: Scope, fields: Fields) -> list[Entry]:
    entries: list[Entry] = []
    for item in fields.own:
        if isinstance(item, Star):
            entries += scope.analysis.starred(item, scope)
        else:
            entries.append((item.name, evaluated(scope, item.expression)))
    return entries


def _indirect(uses: Iterable[tuple[int, ColumnValue]]) -> dict[int, None]:
    return {key: None for key in combined(uses) if not is_direct(key & ROLE_MASK)}


def fields_of(value: ColumnValue, scope: Scope) -> AnyRows | None:
    """The fields of a value: as the statement builds it, or as its type says."""
    if value.fields is not None:
        return value.fields
    sources = scope.analysis.sources
    if value.branches:
        found = [fields_of(branch, scope) for branch in value.branches]
        first = next((rows for rows in found if rows is not None), None)
        if first is None:
            return None
        each = [(rows, branch, IDENTITY) for rows, branch in zip(found, value.branches, strict=True) if branch.keys]
        return _united(first, each, {}, value)
    type_ = value.type()
    known = struct_fields(type_[6:-1] if type_.startswith("ARRAY<") else type_)
    return QueryColumns(sources, [(name, field_of(value, (name,))) for name, _ in known]) if known else None


def with_role(rows: AnyRows, role: int, acting: dict[int, None], whole: ColumnValue) -> AnyRows:
    """The fields of `whole`, which is made of `rows`: they play a role, and more acts on each of them."""
    if role == IDENTITY and not acting:
        return rows
    entries: list[Entry] = []
    for entry in rows.entries:
        if isinstance(entry, UnexpandedStar):
            entries.append(entry.playing(role))
            continue
        entries.append((entry[0], _played(entry[1], role, acting, whole, _shown(rows.sources, *entry))))
    made = QueryColumns(rows.sources, entries)
    made.keyed = rows.keyed
    return made


def _played(value: ColumnValue, role: int, acting: dict[int, None], whole: ColumnValue, name: str) -> ColumnValue:
    """The value of a field of `whole` where it plays a role and more acts on it."""
    if role == IDENTITY and not acting:
        return value
    keys = combined([(role, value)]) | acting
    if role == IDENTITY:
        made = ColumnValue(keys).known_as(value.text(), value.type())
    else:
        made = ColumnValue(keys, Expression((0, f".{name}"), (Slot((), role, ATOM),), ATOM), (whole,)).typed(
            value.type()
        )
    made.origins = value.origins
    return made.made_of(with_role(value.fields, role, acting, made) if value.fields is not None else None)


def _shown(sources: ColumnSources, name: str, value: ColumnValue) -> str:
    """A field's name for a text: one that no column behind it has may be a literal."""
    return name if any(c.column == name for key in value.keys for c in sources.all[key >> SHIFT]) else POSITION


def _united(first: AnyRows, each: list[_Each], acting: dict[int, None], whole: ColumnValue) -> AnyRows:
    """The fields of a value that is one of several: by name where all have the same names, else by position."""
    known = [with_role(rows, role, acting, whole) for rows, _, role in each if rows is not None]
    if any(rows.stars for rows in known):
        branches = [QueryColumns(rows.sources, rows.entries) for rows in known]
        return QueryColumns(first.sources, combine_branches(first.sources, branches, SetOperation((), None)))
    names = [entry[0] for entry in first.entries if isinstance(entry, tuple)]
    lowered = {name.lower() for name in names}
    same = first.keyed or all(rows is None or {name.lower() for name in rows.names()} == lowered for rows, _, _ in each)
    entries: list[Entry] = []
    for number, name in enumerate(names):
        values = []
        for rows, value, role in each:
            if rows is None:
                found: ColumnValue | None = field_or_part(value, name)
            elif same or rows is first:
                found = rows.find(name)
            else:
                entry = rows.entries[number] if number < len(rows.entries) else None
                found = entry[1] if isinstance(entry, tuple) else None
            if found is not None:
                values.append(_played(found, role, acting, whole, _shown(first.sources, name, found)))
        entries.append((name, union_of(values)))
    entries += [entry for entry in first.entries if isinstance(entry, UnexpandedStar)]
    united = QueryColumns(first.sources, entries)
    united.keyed = first.keyed
    return united
