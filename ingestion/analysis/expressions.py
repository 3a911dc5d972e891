"""Expressions in a scope: the value that one has, and the fields of what it builds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingestion.analysis.columns.field_access import built_field, field_of
from ingestion.analysis.columns.fields import fields_of_one, with_role
from ingestion.analysis.columns.relations import QueryColumns
from ingestion.analysis.columns.values import ROLE_MASK, ColumnValue, Entry, FieldColumns, combine, values_of
from ingestion.analysis.scopes import Scope
from ingestion.relational.form import AnySlot, CallSlot, Expression, Fields, FieldSlot, QuerySlot, Slot, Star
from ingestion.relational.roles import COMPOSED, IDENTITY, is_direct


def evaluate(scope: Scope, expression: Expression) -> ColumnValue:
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
            keys.update(combine([(slot.role, value)]))
            row = COMPOSED[slot.role]
            for key, origin in (value.origins or {}).items():
                origins[key & ~ROLE_MASK | row[key & ROLE_MASK]] = origin
        else:
            value = _reads_of_function(scope, slot) if isinstance(slot, CallSlot) else _subquery(scope, slot)
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
        made.fields = _fields(scope, given, made) if given.own or given.among else _fields_of_slot(scope, slots, made)
    elif alone:
        made.fields = inputs[0].fields
    return made


def _reads_of_function(scope: Scope, slot: CallSlot) -> ColumnValue:
    """What a function reads itself; nothing where nobody has defined it."""
    scope.analysis.functions[slot.name] = None
    rows = scope.analysis.table(slot.name)
    if rows.columns is None:
        return ColumnValue(())
    scope.tables.update(rows.tables)
    return ColumnValue(combine((slot.role, entry[1]) for entry in rows.entries if isinstance(entry, tuple)))


def _subquery(scope: Scope, slot: QuerySlot) -> ColumnValue:
    """The value of a subquery in an expression; its conditions act on this value alone."""
    rows = scope.analysis.query(slot.query, scope)
    scope.tables.update(rows.tables)
    sources = scope.analysis.sources
    values = values_of(rows.entries, sources)
    keys = combine((slot.role, value) for value in values) if not slot.exists else {}
    row = COMPOSED[slot.role]
    origins: dict[int, ColumnValue] = {}
    for key, condition in rows.indirect.items():
        outer = key & ~ROLE_MASK | row[key & ROLE_MASK]
        keys[outer] = None
        origins.setdefault(outer, condition)
    text = f"(SELECT {values[0].text() if values and not slot.exists else '?'})"
    value = ColumnValue(keys).known_as(text, values[0].type() if len(values) == 1 else "")
    value.origins = origins
    fields = rows if slot.struct else values[0].fields if len(values) == 1 else None
    acting = dict.fromkeys(origins)
    return value.made_of(with_role(fields, slot.role, acting, value) if fields is not None else None)


def _field(scope: Scope, slot: FieldSlot) -> ColumnValue:
    value = evaluate(scope, slot.value)
    return field_of(value, slot.path) if slot.shown else built_field(value, slot.path)[0]


def _fields(scope: Scope, fields: Fields, made: ColumnValue) -> FieldColumns | None:
    """The fields of what an expression builds; None where they do not follow."""
    if fields.own:
        built = QueryColumns(scope.analysis.sources, _own(scope, fields))
        built.keyed = fields.keyed
        return built
    values = [(evaluate(scope, expression), role) for expression, role in fields.among]
    acting = [(role, evaluate(scope, expression)) for expression, role in fields.acting]
    rows = fields_of_one(scope.analysis.sources, values, _indirect(acting), made)
    return (
        QueryColumns(rows.sources, _rename(rows.entries, fields.names)) if rows is not None and fields.names else rows
    )


def _fields_of_slot(scope: Scope, slots: Sequence[AnySlot], made: ColumnValue) -> FieldColumns | None:
    """The fields of a value that is one of its expression's direct slots."""
    uses = [(slot.role, value) for slot, value in zip(slots, made.inputs, strict=True)]
    values = [(value, role) for role, value in uses if is_direct(role)]
    if not any(value.fields is not None or value.branches for value, _ in values):
        return None
    return fields_of_one(scope.analysis.sources, values, _indirect(use for use in uses if not is_direct(use[0])), made)


def _rename(entries: list[Entry], names: tuple[str, ...]) -> list[Entry]:
    if len(entries) != len(names):
        return entries
    return [(name, entry[1]) if isinstance(entry, tuple) else entry for name, entry in zip(names, entries, strict=True)]


def _own(scope: Scope, fields: Fields) -> list[Entry]:
    entries: list[Entry] = []
    for item in fields.own:
        if isinstance(item, Star):
            entries += scope.analysis.expand_star(item, scope)
        else:
            entries.append((item.name, evaluate(scope, item.expression)))
    return entries


def _indirect(uses: Iterable[tuple[int, ColumnValue]]) -> dict[int, None]:
    return {key: None for key in combine(uses) if not is_direct(key & ROLE_MASK)}
