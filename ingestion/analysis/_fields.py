"""The fields of values: as the statement builds them, or as types say, and what roles make of them."""

from __future__ import annotations

from typing import TypeAlias

from ingestion.analysis._columns import (
    SHIFT,
    ColumnSources,
    ColumnValue,
    Entry,
    FieldColumns,
    QueryColumns,
    UnexpandedStar,
    combine,
    field_of,
    field_or_part,
    union_of,
)
from ingestion.analysis._set_operations import combine_branches
from ingestion.analysis.form import POSITION, Expression, SetOperation, Slot
from ingestion.analysis.roles import ATOM, IDENTITY
from ingestion.dialects.types import struct_fields

_Each: TypeAlias = "tuple[FieldColumns | None, ColumnValue, int]"
"""The fields of one of the values that a value may be, that value, and its role."""


def fields_of_one(
    sources: ColumnSources, values: list[tuple[ColumnValue, int]], acting: dict[int, None], whole: ColumnValue
) -> FieldColumns | None:
    """The fields of `whole`, which is one of several values, each in its role."""
    each = [
        (fields_of(value, sources), value, role) for value, role in values if value.keys or value.fields is not None
    ]
    first = next((rows for rows, _, _ in each if rows is not None), None)
    if first is None:
        return None
    role = each[0][2]
    return with_role(first, role, acting, whole) if len(each) == 1 else _unite(first, each, acting, whole)


def fields_of(value: ColumnValue, sources: ColumnSources) -> FieldColumns | None:
    """The fields of a value: as the statement builds it, or as its type says."""
    if value.fields is not None:
        return value.fields
    if value.branches:
        found = [fields_of(branch, sources) for branch in value.branches]
        first = next((rows for rows in found if rows is not None), None)
        if first is None:
            return None
        each = [(rows, branch, IDENTITY) for rows, branch in zip(found, value.branches, strict=True) if branch.keys]
        return _unite(first, each, {}, value)
    type_ = value.type()
    known = struct_fields(type_[6:-1] if type_.startswith("ARRAY<") else type_)
    return (
        QueryColumns(sources, [(name, field_of(value, (name,)).with_type(kind)) for name, kind in known])
        if known
        else None
    )


def with_role(rows: FieldColumns, role: int, acting: dict[int, None], whole: ColumnValue) -> FieldColumns:
    """The fields of `whole`, which is made of `rows`: they play a role, and more acts on each of them."""
    if role == IDENTITY and not acting:
        return rows
    entries: list[Entry] = []
    for entry in rows.entries:
        if isinstance(entry, UnexpandedStar):
            entries.append(entry.playing(role))
            continue
        entries.append((entry[0], _value_in_role(entry[1], role, acting, whole, _shown_name(rows.sources, *entry))))
    made = QueryColumns(rows.sources, entries)
    made.keyed = rows.keyed
    return made


def _value_in_role(
    value: ColumnValue, role: int, acting: dict[int, None], whole: ColumnValue, name: str
) -> ColumnValue:
    """The value of a field of `whole` where it plays a role and more acts on it."""
    if role == IDENTITY and not acting:
        return value
    keys = combine([(role, value)]) | acting
    if role == IDENTITY:
        made = ColumnValue(keys).known_as(value.text(), value.type())
    else:
        made = ColumnValue(keys, Expression((0, f".{name}"), (Slot((), role, ATOM),), ATOM), (whole,)).with_type(
            value.type()
        )
    made.origins = value.origins
    return made.made_of(with_role(value.fields, role, acting, made) if value.fields is not None else None)


def _shown_name(sources: ColumnSources, name: str, value: ColumnValue) -> str:
    """A field's name for a text: one that no column behind it has may be a literal."""
    return name if any(c.column == name for key in value.keys for c in sources.columns(key >> SHIFT)) else POSITION


def _unite(first: FieldColumns, each: list[_Each], acting: dict[int, None], whole: ColumnValue) -> FieldColumns:
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
                values.append(_value_in_role(found, role, acting, whole, _shown_name(first.sources, name, found)))
        entries.append((name, union_of(values) if values else ColumnValue(())))  # none: all of them are constants
    entries += [entry for entry in first.entries if isinstance(entry, UnexpandedStar)]
    united = QueryColumns(first.sources, entries)
    united.keyed = first.keyed
    return united
