"""The value of an expression in a scope, and what conditions and keys do to all outputs of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ingestion.analysis._columns import (
    ROLE_MASK,
    ColumnValue,
    Entry,
    FieldColumns,
    QueryColumns,
    TableColumns,
    UnexpandedStar,
    built_field,
    combine,
    field_of,
    values_of,
)
from ingestion.analysis._fields import fields_of_one, with_role
from ingestion.analysis.form import (
    AnySlot,
    CallSlot,
    Clause,
    Expression,
    Fields,
    FieldSlot,
    OutputNames,
    ParameterSlot,
    QuerySlot,
    Slot,
    Star,
    StarSlot,
)
from ingestion.analysis.roles import COMPOSED, IDENTITY, is_direct, role_of
from ingestion.analysis.scope import AnalysisContext, Scope, outputs_in_list
from ingestion.dialects import Dialect
from ingestion.model.function_parameters import column_of
from ingestion.model.lineage import Column, FunctionBody, ParameterUse
from ingestion.model.steps import take_steps

_OF_KEYS = (OutputNames.BEFORE_COLUMNS, OutputNames.AFTER_COLUMNS)


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
        elif isinstance(slot, StarSlot):
            value = _star(scope, slot)
            keys.update(combine([(slot.role, value)]))
        else:
            value = _named_value(scope, slot) if isinstance(slot, CallSlot | ParameterSlot) else _subquery(scope, slot)
            keys.update(dict.fromkeys(value.keys))
            if value.origins:
                origins.update(value.origins)
        inputs.append(value)
    if alone and type(slots[0]) is FieldSlot and slots[0].role == IDENTITY:
        return inputs[0]
    if any(type(slot) is CallSlot for slot in slots):
        keys = _keys_of_calls(scope, slots, inputs, keys)
    take_steps(len(keys))
    made = ColumnValue(keys, expression, inputs)
    made.origins = origins or None
    if expression.fields is not None:
        made.fields = _fields(scope, expression.fields, made)
    elif alone:
        made.fields = inputs[0].fields
    return made


def _star(scope: Scope, slot: StarSlot) -> ColumnValue:
    star = slot.star
    text = ".".join((*star.qualifier, "*"))
    names = [*star.excluded, *(".".join(parts) for parts, name in star.changed_of if not name)]
    without = f" EXCEPT ({', '.join(names)})" if names else ""
    return scope.whole(scope.analysis.expand_star(star, scope), f"{text}{without}")


def _named_value(scope: Scope, slot: CallSlot | ParameterSlot) -> ColumnValue:
    """What a function reads itself; nothing where nobody has defined it. And a parameter, in its own body."""
    if isinstance(slot, ParameterSlot):
        if not scope.analysis.of_function:
            return ColumnValue(())
        column = column_of(slot.number, slot.name)
        own = scope.analysis.sources.column(column.table, column.column)
        return ColumnValue(combine([(slot.role, own)])).known_as("?")
    scope.analysis.functions[slot.name] = None
    rows = scope.analysis.table(slot.name)
    body = body_of(rows.columns or ())
    if rows.columns is None or (body is not None and not body.reads):
        return ColumnValue(())
    scope.tables.update(rows.tables)
    return ColumnValue(combine((slot.role, entry[1]) for entry in rows.entries if isinstance(entry, tuple)))


def _keys_of_calls(
    scope: Scope, slots: Sequence[AnySlot], inputs: Sequence[ColumnValue], keys: dict[int, None]
) -> dict[int, None]:
    """The keys of an expression's slots where it calls functions whose bodies tell what they do with their arguments.

    After `CREATE MACRO f(x) AS (SELECT max(v) FROM t WHERE k = x)` a of `f(a)` only filters, and after
    `CREATE MACRO f(x, y) AS x + 1` b of `f(a, b)` is nothing to it. `keys` is what they are where no body tells.
    """
    through: dict[int, list[list[int]]] = {}
    for slot in slots:
        if not isinstance(slot, CallSlot) or not slot.arguments:
            continue
        body = body_of(scope.analysis.table(slot.name).columns or ())
        if body is None or len(slot.arguments) > len(body.given):  # else it is another function of that name
            continue
        for number, (start, end, name) in enumerate(slot.arguments, 1):
            roles = [role_of(use.transformation) for use in uses_of(body.uses, number, name)]
            for inside in range(start, end):
                through.setdefault(inside, []).append(roles)
    if not through:
        return keys
    keys = {}
    for number, (slot, value) in enumerate(zip(slots, inputs, strict=True)):
        whole = isinstance(slot, CallSlot | ParameterSlot | QuerySlot)  # these have their role already
        own = dict.fromkeys(value.keys) if whole else combine([(slot.role, value)])
        for roles in through.get(number, ()):
            own = {key & ~ROLE_MASK | COMPOSED[key & ROLE_MASK][role]: None for key in own for role in roles}
        keys.update(own)
    return keys


def body_of(columns: Iterable[Column]) -> FunctionBody | None:
    """How a function makes the columns that it gives of its parameters; None where that is not known."""
    bodies = [column.body for column in columns if column.body is not None]
    if not bodies:
        return None
    uses = dict.fromkeys(use for body in bodies for use in body.uses)
    return FunctionBody(bodies[0].given, tuple(uses), any(body.reads for body in bodies))


def uses_of(uses: Iterable[ParameterUse], number: int, name: str) -> list[ParameterUse]:
    """What becomes of the argument at a position, or of one that names its parameter."""
    return [use for use in uses if (use.name == name if name else use.number == number)]


def _subquery(scope: Scope, slot: QuerySlot) -> ColumnValue:
    """The value of a subquery in an expression; its conditions act on this value alone."""
    called, perhaps = scope.values_called(slot.unless) if slot.unless else (None, [])
    if called is not None:
        return ColumnValue(combine([(slot.role, called)])).known_as(called.text(), called.type())
    rows = scope.analysis.query(slot.query, scope, scope.view)
    scope.tables.update(rows.tables)
    sources = scope.analysis.sources
    values = values_of(rows.entries, sources)
    if perhaps:
        values = [scope.one_of([*perhaps, *values], ".".join(slot.unless))]
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
    if not (fields.own or fields.among):
        return _fields_of_slot(scope, made)
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


def _fields_of_slot(scope: Scope, made: ColumnValue) -> FieldColumns | None:
    """The fields of a value that is one of its expression's direct slots."""
    slots = made.expression.slots if made.expression is not None else ()
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


# What acts on all outputs of a query: its conditions and keys, DISTINCT, and the rest of set operations.


def apply_clauses(analysis: AnalysisContext, clauses: Iterable[Clause], scope: Scope, rows: QueryColumns) -> None:
    """Let conditions and keys act on all outputs.

    In `SELECT a AS b FROM t WHERE c > 0`, `scope` resolves c, and c then filters each column of `rows`: b.
    """
    indirect = rows.indirect
    for clause in clauses:
        if clause.expression is None:
            if not clause.ordinal:
                all_columns(analysis, rows, clause.role, indirect)
            value = _ordinal(clause.ordinal, rows)
        else:
            scope.show_outputs(_visible(analysis.dialect, clause.aliases))
            value = _key_alias(analysis, clause, scope) or evaluate(scope, clause.expression)
        if value is not None:
            act(indirect, value, clause.role)
    scope.show_outputs(outputs_in_list(analysis.dialect))


def _visible(dialect: Dialect, aliases: OutputNames) -> OutputNames:
    if aliases is OutputNames.LATERAL:
        return aliases if dialect.output_names_in_where else OutputNames.HIDDEN
    if aliases is OutputNames.BEFORE_COLUMNS and dialect.output_names_in_order_by:
        return aliases
    shown = aliases is not OutputNames.HIDDEN and dialect.output_names_in_having
    return OutputNames.AFTER_COLUMNS if shown else OutputNames.HIDDEN


def _key_alias(analysis: AnalysisContext, clause: Clause, scope: Scope) -> ColumnValue | None:
    """The output that a key means by its name: before any column in ORDER BY, after known columns in GROUP BY."""
    expression = clause.expression
    if expression is None or clause.aliases not in _OF_KEYS or len(expression.slots) != 1:
        return None
    slot = expression.slots[0]
    if not isinstance(slot, Slot) or len(slot.parts) != 1 or len(expression.parts) != 1:
        return None
    name = slot.parts[0]
    alias = scope.outputs.get(name)
    if alias is None or clause.aliases is OutputNames.BEFORE_COLUMNS:
        return alias
    if not analysis.dialect.output_names_in_group_by:
        return None
    known = any(
        visible.rows.find(name) is not None
        or (isinstance(visible.rows, TableColumns) and name in visible.rows.confirmed)
        for visible in scope.relations
    )
    return None if known else alias


def _ordinal(ordinal: int, rows: QueryColumns) -> ColumnValue | None:
    counted = rows.entries[:ordinal] if ordinal > 0 else rows.entries[ordinal:]
    if any(isinstance(entry, UnexpandedStar) for entry in counted) or not 0 < abs(ordinal) <= len(rows.entries):
        return None
    entry = counted[-1] if ordinal > 0 else counted[0]
    return entry[1] if isinstance(entry, tuple) else None


def all_columns(analysis: AnalysisContext, rows: QueryColumns, role: int, indirect: dict[int, ColumnValue]) -> None:
    """Let every column of rows act on all outputs: in `SELECT DISTINCT a, b FROM t` t.a and t.b are grouped by."""
    for value in values_of(rows.entries, analysis.sources):
        act(indirect, value, role)


def act(indirect: dict[int, ColumnValue], value: ColumnValue, role: int) -> None:
    """Let a value act on all outputs in a role: in `SELECT a FROM t WHERE b > 1` t.b is a filter of every output."""
    row = COMPOSED[role]
    origins = value.origins
    for key in value.keys:
        indirect.setdefault(key & ~ROLE_MASK | row[key & ROLE_MASK], origins.get(key, value) if origins else value)
