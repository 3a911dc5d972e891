"""Values in the making: what a column of a relation is made of, as keys that compose by integer arithmetic.

A key is the number of a source (one column, or the candidates of an ambiguous name) and the role it plays. Texts and
types are put together only for the values that reach an output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ingestion.dialects.types import field_type, rule_type, widest
from ingestion.model import ColumnRef, TableName
from ingestion.relational.form import POSITION, Expression
from ingestion.relational.roles import ATOM, COMPOSED, ROLES, TRANSFORMED

if TYPE_CHECKING:
    from ingestion.analysis.relations import AnyRows

SHIFT = ROLES.bit_length() - 1
ROLE_MASK = ROLES - 1
TEXT_LIMIT = 2000

_DEPTH_LIMIT = 150


class ColumnValue:
    """One column of a relation. `inputs` fill the slots of `expression`; `branches` are those of a set operation.

    `origins` has, for the keys that come from a subquery's conditions, the condition each comes from. `fields` are
    those of a struct, or of an array's structs, that the statement itself builds.
    """

    __slots__ = ("_text", "_type", "branches", "expression", "fields", "inputs", "keys", "origins", "precedence")

    def __init__(
        self,
        keys: Iterable[int],
        expression: Expression | None = None,
        inputs: Sequence[ColumnValue] = (),
        branches: Sequence[ColumnValue] = (),
    ) -> None:
        self.keys = tuple(keys)
        self.origins: dict[int, ColumnValue] | None = None
        self.fields: AnyRows | None = None
        self.expression = expression
        self.inputs = inputs
        self.branches = branches
        self.precedence = expression.precedence if expression is not None else ATOM
        self._text: str | None = None
        self._type: str | None = None

    def text(self, depth: int = 0) -> str:
        """The canonical expression, over base-table columns; cut at TEXT_LIMIT characters."""
        if self._text is None:
            self._text = self._written(depth)
        return self._text

    def _written(self, depth: int) -> str:
        if depth > _DEPTH_LIMIT:
            return "…"
        if self.branches:
            texts: dict[str, None] = {}
            length = 0
            for branch in self.branches:
                text = branch.text(depth + 1)
                if text not in texts:
                    texts[text] = None
                    length += len(text)
                if length > TEXT_LIMIT:
                    break
            return cut(" | ".join(texts))
        expression = self.expression
        if expression is None:
            return "NULL"
        slots, inputs = expression.slots, self.inputs
        pieces: list[str] = []
        length = 0
        for part in expression.parts:
            if isinstance(part, int):
                value = inputs[part]
                piece = value.text(depth + 1)
                if value.precedence < slots[part].tight:
                    piece = f"({piece})"
            else:
                piece = part
            pieces.append(piece)
            length += len(piece)
            if length > TEXT_LIMIT:
                break
        return cut("".join(pieces))

    def type(self, depth: int = 0) -> str:
        """The type in the standard set, "" where it does not follow."""
        if self._type is None:
            self._type = self._derived_type(depth)
        return self._type

    def _derived_type(self, depth: int) -> str:
        if depth > _DEPTH_LIMIT:
            return ""
        if self.branches:
            return widest([branch.type(depth + 1) for branch in self.branches])
        if self.expression is None:
            return ""
        inputs = self.inputs
        return rule_type(self.expression.type, lambda number: inputs[number].type(depth + 1))

    def known_as(self, text: str, type_: str = "") -> ColumnValue:
        """This value with its text and type given."""
        self._text, self._type = text, type_
        return self

    def typed(self, type_: str) -> ColumnValue:
        """This value with its type given."""
        self._type = type_
        return self

    def made_of(self, fields: AnyRows | None) -> ColumnValue:
        """This value with its fields given."""
        self.fields = fields
        return self


def cut(text: str) -> str:
    """The text, cut at the limit."""
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"


class ColumnSources:
    """The source columns that one analysis met, by number."""

    __slots__ = ("_columns", "_numbers", "all", "dialect")

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.all: list[tuple[ColumnRef, ...]] = []
        self._numbers: dict[tuple[ColumnRef, ...], int] = {}
        self._columns: dict[TableName, dict[str, ColumnValue]] = {}

    def column(self, table: TableName, column: str, type_: str = "") -> ColumnValue:
        """The value that a column of a base table is."""
        columns = self._columns.get(table)
        if columns is None:
            columns = self._columns[table] = {}
        value = columns.get(column)
        if value is None:
            number = len(self.all)
            self.all.append((ColumnRef(table, column),))
            value = ColumnValue((number << SHIFT,)).known_as(f"{table.dotted}.{column}", type_)
            columns[column] = value
        return value

    def one_of(self, candidates: Sequence[ColumnValue], name: str) -> ColumnValue:
        """The value of an ambiguous name: every column behind every candidate is a candidate."""
        columns: dict[ColumnRef, None] = {}
        role = 0
        for candidate in candidates:
            for key in candidate.keys:
                if key & 15 <= 2:
                    columns.update(dict.fromkeys(self.all[key >> SHIFT]))
                    role = max(role, key & ROLE_MASK)
        if not columns:
            return ColumnValue((), None).known_as(name)
        found = tuple(columns)
        number = self._numbers.get(found)
        if number is None:
            number = self._numbers[found] = len(self.all)
            self.all.append(found)
        return ColumnValue((number << SHIFT | role,)).known_as(name)


def combined(values: Iterable[tuple[int, ColumnValue]]) -> dict[int, None]:
    """The keys of values that play the given roles in one result."""
    keys: dict[int, None] = {}
    for role, value in values:
        row = COMPOSED[role]
        for key in value.keys:
            keys[key & ~ROLE_MASK | row[key & ROLE_MASK]] = None
    return keys


def field_of(value: ColumnValue, path: Sequence[str]) -> ColumnValue:
    """A field inside a value: what it was built of where the statement builds it, else made of the value."""
    value, left = built_field(value, path)
    return value if not left else _inside(value, left)


def built_field(value: ColumnValue, path: Sequence[str]) -> tuple[ColumnValue, Sequence[str]]:
    """The value behind as much of a path as the statement itself has built, and the rest of the path."""
    for number, name in enumerate(path):
        inner = _built(value, name)
        if inner is None:
            return value, path[number:]
        value = inner
    return value, ()


def field_or_part(value: ColumnValue, name: str) -> ColumnValue:
    """A field by a name that no text may show: it may be a literal's."""
    return _built(value, name) or _inside(value, (POSITION,))


def _built(value: ColumnValue, name: str) -> ColumnValue | None:
    fields = value.fields
    if fields is None:
        return _in_branches(value.branches, name)
    known = fields.find(name) if name != POSITION else None
    if known is not None:
        return known
    guesses = (fields.guesses(name) if name != POSITION else ()) or [
        entry[1] if isinstance(entry, tuple) else entry.whole(fields.sources) for entry in fields.entries
    ]
    return guesses[0] if len(guesses) == 1 else fields.sources.one_of(guesses, f"{value.text()}.{POSITION}")


def _in_branches(branches: Sequence[ColumnValue], name: str) -> ColumnValue | None:
    """A field of what a set operation gives: of structs by the place that the first of them has it at."""
    found = [_built(branch, name) for branch in branches]
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


def union_of(branches: Sequence[ColumnValue]) -> ColumnValue:
    """A column of a set operation."""
    first = branches[0]
    if all(branch is first for branch in branches):
        return first
    keys: dict[int, None] = {}
    for branch in branches:
        for key in branch.keys:
            keys[key] = None
    return ColumnValue(keys, None, (), branches)
