"""Values in the making: what a column of a relation is made of, as keys that compose by integer arithmetic.

A key is the number of a source (one column, or the candidates of an ambiguous name) and the role it plays. Texts and
types are put together only for the values that reach an output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ingestion.dialects.types import rule_type, widest
from ingestion.model import ColumnRef, TableName
from ingestion.relational.form import Expression
from ingestion.relational.roles import ATOM, COMPOSED, IDENTITY, ROLES, TRANSFORMATION, is_direct

SHIFT = ROLES.bit_length() - 1
ROLE_MASK = ROLES - 1
TEXT_LIMIT = 2000

_DEPTH_LIMIT = 150

NO_TABLE = TableName(("*",))
"""The table of a run that is none of a table's."""


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
        self.fields: FieldColumns | None = None
        self.expression = expression
        self.inputs = inputs
        self.branches = branches
        self.precedence = expression.precedence if expression is not None else ATOM
        self._text: str | None = None
        self._type: str | None = None

    def text(self, depth: int = 0) -> str:
        """The canonical expression, over base-table columns; cut at TEXT_LIMIT characters."""
        if self._text is None:
            self._text = self._compose_text(depth)
        return self._text

    def _compose_text(self, depth: int) -> str:
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
                if value.precedence < slots[part].outer_precedence:
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

    def with_type(self, type_: str) -> ColumnValue:
        """This value with its type given."""
        self._type = type_
        return self

    def made_of(self, fields: FieldColumns | None) -> ColumnValue:
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
        """The value of an ambiguous name: all columns behind its candidates (`SELECT a FROM t, u`: t.a, u.a)."""
        columns: dict[ColumnRef, None] = {}
        role = 0
        for candidate in candidates:
            for key in candidate.keys:
                if is_direct(key & ROLE_MASK):
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


def combine(values: Iterable[tuple[int, ColumnValue]]) -> dict[int, None]:
    """The keys of values that play the given roles in one result."""
    keys: dict[int, None] = {}
    for role, value in values:
        row = COMPOSED[role]
        for key in value.keys:
            keys[key & ~ROLE_MASK | row[key & ROLE_MASK]] = None
    return keys


def union_of(branches: Sequence[ColumnValue]) -> ColumnValue:
    """A column of a set operation: `SELECT a FROM s UNION ALL SELECT b FROM t` has one, of s.a and t.b."""
    first = branches[0]
    if all(branch is first for branch in branches):
        return first
    keys: dict[int, None] = {}
    for branch in branches:
        for key in branch.keys:
            keys[key] = None
    return ColumnValue(keys, None, (), branches)


@dataclass(frozen=True, slots=True, eq=False)
class UnexpandedStar:
    """All columns of a table of unknown schema but `excluded`; `renamed` is old name to new.

    `others` run beside it: the columns at the same positions in the other branches of a set operation. `role` is what
    they play (ARRAY_AGG(t)[0].*). With `value` they are the fields of a value of unknown type, and not of the table.
    """

    table: TableName
    excluded: frozenset[str] = frozenset()
    renamed: tuple[tuple[str, str], ...] = ()
    others: tuple[UnexpandedStar | ColumnValue, ...] = ()
    value: ColumnValue | None = None
    role: int = IDENTITY

    def beside(self, others: Iterable[UnexpandedStar | ColumnValue]) -> UnexpandedStar:
        """This run with more that runs beside it."""
        return replace(self, others=(*self.others, *others))

    def playing(self, role: int) -> UnexpandedStar:
        """This run where its columns play a role."""
        value = None if self.value is None else ColumnValue(combine([(role, self.value)])).known_as(self.value.text())
        return replace(self, value=value, role=COMPOSED[role][self.role])

    def whole(self, sources: ColumnSources) -> ColumnValue:
        """The value that stands for all of its columns."""
        if self.value is None:
            return self.own(sources, "*")
        return ColumnValue(combine([(TRANSFORMATION, self.value)])).known_as(f"{self.value.text()}.*")

    def own(self, sources: ColumnSources, name: str) -> ColumnValue:
        """The value of a column of its table, in its role."""
        own = sources.column(self.table, name)
        return (
            own if self.role == IDENTITY else ColumnValue(combine([(self.role, own)])).known_as(own.text(), own.type())
        )

    def without(self, names: frozenset[str]) -> UnexpandedStar:
        """This run with some columns gone, given by the names they have now."""
        back = {new: old for old, new in self.renamed}
        gone = frozenset(back.get(name, name) for name in names)
        kept = tuple(pair for pair in self.renamed if pair[1] not in names)
        return replace(self, excluded=self.excluded | gone, renamed=kept)

    def with_renamed(self, pairs: Sequence[tuple[str, str]]) -> UnexpandedStar:
        """This run with columns renamed."""
        back = {new: old for old, new in self.renamed}
        kept = dict(self.renamed)
        kept.update({back.get(old, old): new for old, new in pairs})
        return replace(self, renamed=tuple(kept.items()))

    def original(self, name: str) -> str | None:
        """The table's own name of a column, a of x after `* RENAME (a AS x)`; None where it is not in the run."""
        for old, new in self.renamed:
            if new == name:
                return old
            if old == name:
                return None
        return None if name in self.excluded else name


Entry: TypeAlias = "tuple[str, ColumnValue] | UnexpandedStar"


def values_of(entries: Iterable[Entry], sources: ColumnSources) -> list[ColumnValue]:
    """The values of columns; of a run of unknown ones, that which stands for all of it."""
    return [entry[1] if isinstance(entry, tuple) else entry.whole(sources) for entry in entries]


class FieldColumns(Protocol):
    """The fields of a value, as the columns of a relation are."""

    @property
    def sources(self) -> ColumnSources:
        """The source columns of the analysis."""

    @property
    def entries(self) -> list[Entry]:
        """All fields in order."""

    @property
    def stars(self) -> list[UnexpandedStar]:
        """The runs of fields that are not known."""

    @property
    def keyed(self) -> bool:
        """Whether they have names alone and no order."""

    def names(self) -> Iterator[str]:
        """The known names."""

    def find(self, name: str) -> ColumnValue | None:
        """The field that is surely called `name`."""

    def guesses(self, name: str) -> list[ColumnValue]:
        """The fields that may be called `name`."""
