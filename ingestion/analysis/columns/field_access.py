"""Fields inside values, by their paths."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.analysis.columns.values import ROLE_MASK, ColumnValue, cut, union_of, values_of
from ingestion.dialects.types import field_type
from ingestion.relational.form import POSITION
from ingestion.relational.roles import ATOM, TRANSFORMED


def field_of(value: ColumnValue, path: Sequence[str]) -> ColumnValue:
    """A field inside a value: what it was built of where the statement builds it, else made of the value.

    In `SELECT d.s.v FROM (SELECT STRUCT(a AS v) AS s FROM t) d` the field v of s is t.a.
    """
    value, left = built_field(value, path)
    return value if not left else _inside(value, left)


def built_field(value: ColumnValue, path: Sequence[str]) -> tuple[ColumnValue, Sequence[str]]:
    """The value behind as much of a path as the statement itself has built, and the rest of the path."""
    for number, name in enumerate(path):
        inner = _built_field(value, name)
        if inner is None:
            return value, path[number:]
        value = inner
    return value, ()


def field_or_part(value: ColumnValue, name: str) -> ColumnValue:
    """A field by a name that no text may show: it may be a literal's."""
    return _built_field(value, name) or _inside(value, (POSITION,))


def _built_field(value: ColumnValue, name: str) -> ColumnValue | None:
    fields = value.fields
    if fields is None:
        return _in_branches(value.branches, name)
    known = fields.find(name) if name != POSITION else None
    if known is not None:
        return known
    guesses = (fields.guesses(name) if name != POSITION else ()) or values_of(fields.entries, fields.sources)
    return guesses[0] if len(guesses) == 1 else fields.sources.one_of(guesses, f"{value.text()}.{POSITION}")


def _in_branches(branches: Sequence[ColumnValue], name: str) -> ColumnValue | None:
    """A field of what a set operation gives: of structs by the place that the first of them has it at."""
    found = [_built_field(branch, name) for branch in branches]
    first = next((rows for branch in branches if (rows := branch.fields) is not None), None)
    if not any(found):
        return None
    names = [entry[0] if isinstance(entry, tuple) else "" for entry in first.entries] if first is not None else []
    if first is None or first.keyed or name not in names:
        return union_of([field_or_part(branch, name) for branch in branches if branch.keys])
    place = names.index(name)
    return union_of([_at(branch, place, name) for branch in branches if branch.keys])


def _at(value: ColumnValue, place: int, name: str) -> ColumnValue:
    entries = value.fields.entries if value.fields is not None else ()
    entry = entries[place] if place < len(entries) else None
    return entry[1] if isinstance(entry, tuple) else field_or_part(value, name)


def _inside(value: ColumnValue, path: Sequence[str]) -> ColumnValue:
    keys = [key & ~ROLE_MASK | TRANSFORMED[key & ROLE_MASK] for key in value.keys]
    type_ = value.type()
    for name in path:
        type_ = field_type(type_, name)
    text = value.text() if value.precedence == ATOM else f"({value.text()})"
    return ColumnValue(keys).known_as(cut(".".join((text, *path))), type_)
