"""What columns and rows are worth to the analysis: values with their sources, fields in them, rows with known or
open columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ingestion.analysis.form import POSITION, Expression
from ingestion.analysis.roles import (
    ATOM,
    COMPOSED,
    IDENTITY,
    ROLES,
    TRANSFORMATION,
    TRANSFORMED,
    is_direct,
    unite_roles,
)
from ingestion.dialects.types import field_type, rule_type, standard_type, widest
from ingestion.model.lineage import MOST_EXPRESSION, Column, ColumnRef, TableName
from ingestion.model.steps import take_steps

# Values in the making: what a column of a relation is made of, as keys that compose by integer arithmetic.
#
# A key is the number of a source (one column, or the candidates of an ambiguous name) and the role it plays. Texts
# and types are put together only for the values that reach an output.

SHIFT = ROLES.bit_length() - 1
ROLE_MASK = ROLES - 1

_DEPTH_LIMIT = 150
"""Values inside each other whose text and type are put together: each takes a frame of the stack."""

NO_TABLE = TableName(("*",))
"""The table of a run that is none of a table's."""

SchemaLookup: TypeAlias = Callable[[TableName], "Sequence[Column] | None"]


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
        """The canonical expression, over base-table columns; cut at MOST_EXPRESSION characters."""
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
                if length > MOST_EXPRESSION:
                    break
            return _cut(" | ".join(texts))
        expression = self.expression
        if expression is None:
            return "NULL"
        slots, inputs = expression.slots, self.inputs
        written: list[str] = []
        length = 0
        for part in expression.parts:
            if isinstance(part, int):
                value = inputs[part]
                text = value.text(depth + 1)
                if value.precedence < slots[part].outer_precedence:
                    text = f"({text})"
            else:
                text = part
            written.append(text)
            length += len(text)
            if length > MOST_EXPRESSION:
                break
        return _cut("".join(written))

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


def _cut(text: str) -> str:
    """The text, cut at the limit."""
    return text if len(text) <= MOST_EXPRESSION else text[: MOST_EXPRESSION - 1] + "…"


class TableSources:
    """The columns of one base table that an analysis met, as values."""

    __slots__ = ("_numbers", "_prefix", "_sources", "_table", "_values")

    def __init__(self, sources: ColumnSources, table: TableName) -> None:
        self._sources = sources
        self._table = table
        self._prefix = f"{table.dotted}."
        self._numbers: dict[str, int] = {}
        self._values: dict[str, ColumnValue] = {}

    def number(self, column: str) -> int:
        """The number of a column of the table."""
        number = self._numbers.get(column)
        if number is None:
            number = self._numbers[column] = self._sources.add(self._table, column)
        return number

    def value(self, column: str, type_: str = "") -> ColumnValue:
        """The value that a column of the table is."""
        value = self._values.get(column)
        if value is None:
            key = self.number(column) << SHIFT
            value = self._values[column] = ColumnValue((key,)).known_as(self._prefix + column, type_)
        return value


class ColumnSources:
    """The source columns that one analysis met, by number.

    Each number is of one column, or of those, by their own numbers, that an ambiguous name may mean. Most columns that
    a name may mean are nobody's in the end: references to columns are made of those that someone asks for.
    """

    __slots__ = ("_candidates", "_columns", "_members", "_numbers", "_references", "_tables", "dialect", "doubtful")

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.doubtful: set[int] = set()
        self._columns: list[tuple[TableName, str] | None] = []
        self._members: list[tuple[int, ...]] = []
        self._candidates: dict[int, tuple[ColumnRef, ...]] = {}
        self._references: dict[int, ColumnRef] = {}
        self._numbers: dict[tuple[tuple[int, ...], bool], int] = {}
        self._tables: dict[TableName, TableSources] = {}

    def __len__(self) -> int:
        return len(self._members)

    def add(self, table: TableName, column: str) -> int:
        """The number of a column that has none yet."""
        number = len(self._members)
        self._columns.append((table, column))
        self._members.append((number,))
        return number

    def members(self, number: int) -> tuple[int, ...]:
        """The numbers of the columns that a number stands for."""
        return self._members[number]

    def column_of(self, number: int) -> tuple[TableName, str]:
        """The table and the name of the column that alone has this number."""
        column = self._columns[number]
        assert column is not None
        return column

    def columns(self, number: int) -> tuple[ColumnRef, ...]:
        """The columns that a number stands for."""
        found = self._candidates.get(number)
        if found is None:
            members = self._members[number]
            found = (self._reference(number),) if members == (number,) else tuple(map(self._reference, members))
            self._candidates[number] = found
        return found

    def _reference(self, number: int) -> ColumnRef:
        found = self._references.get(number)
        if found is None:
            found = self._references[number] = ColumnRef(*self.column_of(number))
        return found

    def of_table(self, table: TableName) -> TableSources:
        """The columns of a base table."""
        found = self._tables.get(table)
        if found is None:
            found = self._tables[table] = TableSources(self, table)
        return found

    def column(self, table: TableName, column: str) -> ColumnValue:
        """The value that a column of a base table is."""
        return self.of_table(table).value(column)

    def one_of(self, candidates: Sequence[ColumnValue], name: str) -> ColumnValue:
        """The value of an ambiguous name: all columns behind its candidates (`SELECT a FROM t, u`: t.a, u.a).

        A candidate without columns is one as well: n in `SELECT COUNT(*) AS n, n / 2 FROM t` is t.n, or no column.
        """
        columns: dict[int, None] = {}
        role = IDENTITY
        doubtful = False
        members = self._members
        for candidate in candidates:
            is_known = False
            for key in candidate.keys:
                own = key & ROLE_MASK
                if own == IDENTITY or is_direct(own):
                    is_known = True
                    for member in members[key >> SHIFT]:
                        columns[member] = None
                    role = unite_roles(role, own) if own != IDENTITY else role
            doubtful |= not is_known
        if not columns:
            return ColumnValue((), None).known_as(name)
        number = self._number_of(tuple(columns), doubtful=doubtful)
        return ColumnValue((number << SHIFT | role,)).known_as(name)

    def any_of(self, numbers: tuple[int, ...], name: str) -> ColumnValue:
        """The same of columns as they are: a in `SELECT a FROM t, u`, where nothing is known of either."""
        return ColumnValue((self._number_of(numbers, doubtful=False) << SHIFT,)).known_as(name)

    def _number_of(self, members: tuple[int, ...], *, doubtful: bool) -> int:
        take_steps(len(members))
        number = self._numbers.get((members, doubtful))
        if number is None:
            number = self._numbers[members, doubtful] = len(self._members)
            self._columns.append(None)
            self._members.append(members)
            if doubtful:
                self.doubtful.add(number)
        return number


def combine(values: Iterable[tuple[int, ColumnValue]]) -> dict[int, None]:
    """The keys of values that play the given roles in one result."""
    keys: dict[int, None] = {}
    for role, value in values:
        row = COMPOSED[role]
        for key in value.keys:
            keys[key & ~ROLE_MASK | row[key & ROLE_MASK]] = None
    take_steps(len(keys))
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
        """The table's own name of a column, a of x after `* RENAME (a AS x)`; None where it is not in the run.

        After `* RENAME (a AS b, b AS a)` both are, each as the other.
        """
        back = {new: old for old, new in self.renamed}
        if name in back:
            return back[name]
        return None if name in self.excluded or name in back.values() else name


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


# Fields inside values, by their paths.


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
    """A field of what a set operation gives: of structs by the position that the first of them has it at."""
    found = [_built_field(branch, name) for branch in branches]
    first = next((rows for branch in branches if (rows := branch.fields) is not None), None)
    if not any(found):
        return None
    filled = [branch for branch in branches if branch.keys] or branches  # VALUES of structs may hold literals alone
    names = [entry[0] if isinstance(entry, tuple) else "" for entry in first.entries] if first is not None else []
    if first is None or first.keyed or name not in names:
        return union_of([field_or_part(branch, name) for branch in filled])
    position = names.index(name)
    return union_of([_at(branch, position, name) for branch in filled])


def _at(value: ColumnValue, position: int, name: str) -> ColumnValue:
    entries = value.fields.entries if value.fields is not None else ()
    entry = entries[position] if position < len(entries) else None
    return entry[1] if isinstance(entry, tuple) else field_or_part(value, name)


def _inside(value: ColumnValue, path: Sequence[str]) -> ColumnValue:
    keys = [key & ~ROLE_MASK | TRANSFORMED[key & ROLE_MASK] for key in value.keys]
    type_ = value.type()
    for name in path:
        type_ = field_type(type_, name)
    text = value.text() if value.precedence == ATOM else f"({value.text()})"
    return ColumnValue(keys).known_as(_cut(".".join((text, *path))), type_)


# A column out of a run of columns that no schema has named yet.


def star_column(sources: ColumnSources, star: UnexpandedStar, name: str) -> ColumnValue:
    """The value of one of a run's columns, by its name in the table: t.x out of `SELECT x FROM (SELECT * FROM t) d`."""
    return star.own(sources, name) if star.value is None else field_of(star.value, (name,))


def _star_value(sources: ColumnSources, star: UnexpandedStar, column: str) -> ColumnValue:
    """A column out of a run: certain in its own table, and some column of the runs beside it."""
    own = star_column(sources, star, column)
    if not star.others:
        return own
    branches = [own]
    for other in star.others:
        if isinstance(other, UnexpandedStar):
            inside = other.original(column)
            candidates = [star_column(sources, other, inside or column), other.whole(sources)]
            branches.append(sources.one_of(candidates, other.whole(sources).text()))
        else:
            branches.append(other)
    return union_of(branches)


# Relations as a query sees them: columns in order, and runs of columns that no schema has named yet.


def spellings(names: Iterable[str], wanted: Collection[str]) -> frozenset[str]:
    """What `wanted` names are called among `names`: as they are, else like the only one that differs in case alone.

    `SELECT * EXCEPT (Id) FROM t` leaves out the column ID of a table t that has no Id.
    """
    if not wanted:
        return frozenset()
    known = dict.fromkeys(names)
    folded: dict[str, list[str]] = {}
    for name in known:
        folded.setdefault(name.lower(), []).append(name)
    return frozenset(
        same[0] if name not in known and len(same := folded.get(name.lower(), [])) == 1 else name for name in wanted
    )


class QueryColumns:
    """The columns of a query or derived table in order, with what acts on all of its rows, and the tables behind it.

    `name_unknown` rows go by other names than their own. `keyed` ones are the fields of an object, which has them by
    name alone and in no order.
    """

    __slots__ = ("_folded", "_index", "entries", "indirect", "keyed", "name_unknown", "sources", "stars", "tables")

    def __init__(
        self,
        sources: ColumnSources,
        entries: list[Entry],
        indirect: dict[int, ColumnValue] | None = None,
        tables: dict[TableName, None] | None = None,
        *,
        name_unknown: bool = False,
    ) -> None:
        self.sources = sources
        self.entries = entries
        self.name_unknown = name_unknown
        self.keyed = False
        self.indirect = indirect if indirect is not None else {}
        self.tables = tables if tables is not None else {}
        self.stars = [entry for entry in entries if type(entry) is UnexpandedStar]
        self._index: dict[str, ColumnValue] | None = None
        self._folded: dict[str, str | None] | None = None

    @property
    def open(self) -> bool:
        """Whether there may be columns that are not known."""
        return bool(self.stars) or self.name_unknown

    def find(self, name: str) -> ColumnValue | None:
        """The column that is surely called `name`: as it is spelled, else whatever its case if that is one.

        A star brings columns under their catalog's spelling, which need not be that of the dialect's bare names.
        """
        if self.name_unknown:
            return None
        index = self._index
        if index is None:
            index = self._index = {}
            for entry in self.entries:
                if isinstance(entry, tuple):
                    index.setdefault(entry[0], entry[1])
        found = index.get(name)
        if found is not None:
            return found
        folded = self._folded
        if folded is None:
            folded = self._folded = {}
            for known in index:
                key = known.lower()
                folded[key] = None if key in folded else known
        same = folded.get(name.lower())
        return None if same is None else index[same]

    def guesses(self, name: str) -> list[ColumnValue]:
        """The columns that may be called `name`, one for each run of unknown columns.

        `SELECT x FROM (SELECT * FROM t) d` may mean t.x; after `* EXCEPT (x)` it cannot.
        """
        if self.name_unknown:
            return [self.sources.one_of([entry[1] for entry in self.entries if isinstance(entry, tuple)], name)]
        found = []
        for star in self.stars:
            original = star.original(name)
            if original is not None:
                found.append(_star_value(self.sources, star, original))
        return found

    def names(self) -> Iterator[str]:
        """The known names."""
        for entry in self.entries:
            if isinstance(entry, tuple):
                yield entry[0]


class TableColumns:
    """A base table. Without a schema it is one run of unknown columns; `confirmed` are those it surely has.

    `SELECT t.a, a FROM t, u` proves that t has an a, so that the second a is t.a as well: in two it were an error.
    """

    __slots__ = ("_folded", "_own", "_schema", "columns", "confirmed", "sources", "table")

    indirect: dict[int, ColumnValue] = {}
    keyed = False

    def __init__(self, sources: ColumnSources, table: TableName, columns: Sequence[Column] | None) -> None:
        self.sources = sources
        self.table = table
        self.columns = columns
        self.confirmed: set[str] = set()
        self._own = sources.of_table(table)
        self._schema: dict[str, Column] | None = None
        self._folded: dict[str, Column | None] | None = None

    @property
    def tables(self) -> dict[TableName, None]:
        """The tables behind the rows."""
        return {self.table: None}

    @property
    def open(self) -> bool:
        """Whether there may be columns that are not known."""
        return self.columns is None

    @property
    def stars(self) -> list[UnexpandedStar]:
        """The runs of columns that are not known."""
        return [UnexpandedStar(self.table)] if self.columns is None else []

    @property
    def entries(self) -> list[Entry]:
        """All columns in order."""
        if self.columns is None:
            return [UnexpandedStar(self.table)]
        return [(column.name, self._value(column)) for column in self.columns if not column.hidden]

    def names(self) -> Iterator[str]:
        """The known names."""
        return (column.name for column in self.columns or ())

    def find(self, name: str) -> ColumnValue | None:
        """The column that is surely called `name`: as the catalog has it, else whatever its case if that is one."""
        if self.columns is None:
            return None
        schema = self._schema
        if schema is None:
            schema = self._schema = {column.name: column for column in self.columns}
        found = schema.get(name)
        if found is None:
            folded = self._folded
            if folded is None:
                folded = self._folded = {}
                for column in self.columns:
                    key = column.name.lower()
                    folded[key] = None if key in folded else column
            found = folded.get(name.lower())
            if found is None:
                return None
        return self._value(found)

    def _value(self, column: Column) -> ColumnValue:
        return self._own.value(column.name, standard_type(column.type, self.sources.dialect))

    def number_of_guess(self, name: str) -> int:
        """The number of the column that may be called `name`, as the table has no schema."""
        return self._own.number(name)

    def guess(self, name: str) -> ColumnValue:
        """The column that may be called `name`, as the table has no schema."""
        return self._own.value(name)

    def guesses(self, name: str) -> list[ColumnValue]:
        """The columns that may be called `name`."""
        return [] if self.columns is not None else [self._own.value(name)]


class FunctionColumns:
    """What a table function gives: every column is made of its arguments.

    Where the columns are not declared, any name that is prefixed may be one, and an unprefixed one that of its alias.
    `fields` are those of an array's structs where the dialect has them as columns too; `pair` are the names of a map's
    columns where what is taken apart may be one.
    """

    __slots__ = (
        "declared",
        "entries",
        "fields",
        "indirect",
        "label",
        "of_column",
        "pair",
        "sources",
        "tables",
        "value",
    )

    stars: list[UnexpandedStar] = []
    keyed = False

    def __init__(
        self,
        sources: ColumnSources,
        value: ColumnValue,
        columns: Sequence[str],
        label: str,
        tables: dict[TableName, None],
    ) -> None:
        self.sources = sources
        self.fields: FieldColumns | None = None
        self.of_column = False  # an array that nobody says the elements of
        self.pair: tuple[str, ...] = ()
        self.value = value
        self.label = label
        self.declared = bool(columns)
        self.entries: list[Entry] = [(name, value) for name in columns or [label]]
        self.indirect: dict[int, ColumnValue] = {}
        self.tables = tables

    @property
    def open(self) -> bool:
        """Whether there may be columns that are not known."""
        return not self.declared

    @property
    def may_have_fields(self) -> bool:
        """Whether its rows may be structs, whose fields nobody knows here."""
        return self.of_column and self.fields is None and not self.value.type()

    def names(self) -> Iterator[str]:
        """The known names."""
        return (entry[0] for entry in self.entries if isinstance(entry, tuple))

    def find(self, name: str) -> ColumnValue | None:
        """The column that is surely called `name`, whatever its case."""
        found = self._column(name)
        if found is None and not self.declared and name == self.label:
            return self.value
        return self.fields.find(name) if found is None and self.fields is not None else found

    def declared_column(self, name: str) -> ColumnValue | None:
        """The column that is declared by this name, whatever its case, and no field."""
        return self._column(name) if self.declared else None

    def _column(self, name: str) -> ColumnValue | None:
        (called,) = spellings(self.names(), (name,))
        return next((entry[1] for entry in self.entries if isinstance(entry, tuple) and entry[0] == called), None)

    def all(self) -> list[Entry]:
        """What a star over the rows stands for: the fields in the place of what has them."""
        if self.fields is None:
            return self.entries
        return [*self.fields.entries, *self.entries[1:]]

    def guesses(self, name: str) -> list[ColumnValue]:
        """The columns that may be called `name`: any of a function that only its definition or its argument tells of.

        Of the others none, as their rows are seldom more than one column.
        """
        unknown = self.tables or any(isinstance(entry, UnexpandedStar) for entry in self.entries)
        return [self.value] if (unknown and self.open) or name in self.pair else []

    def field(self, name: str) -> ColumnValue:
        """What a name that is no declared column means: a field of what the rows are, where that is known.

        In `SELECT x.v FROM t, UNNEST(t.xs) AS x` v is a field of the structs in t.xs.
        """
        inner, left = built_field(self.value, (name,))
        return self.value if left else inner


_PAIR = ("key", "value")


def pair_of_map(value: ColumnValue) -> list[Entry]:
    """The columns of EXPLODE(m) where m is known for a map: a key and a value; none where it is not."""
    if not value.type().startswith("MAP<"):
        return []
    part = ColumnValue(combine([(TRANSFORMATION, value)])).known_as(f"EXPLODE({value.text()})")
    return [(name, part) for name in _PAIR]


def as_map(rows: FunctionColumns, value: ColumnValue) -> None:
    """Gives EXPLODE's rows the columns of a map where `value` is one, and tells that it may be where nobody knows."""
    known = pair_of_map(value)
    if known:
        rows.entries[-1:] = known
    elif not value.type():
        rows.pair = _PAIR


AnyRows: TypeAlias = "QueryColumns | TableColumns | FunctionColumns"


def rename_columns(sources: ColumnSources, rows: QueryColumns, columns: tuple[str, ...]) -> QueryColumns:
    """The rows under the names of a column list, by position: in `WITH c (x) AS (SELECT a FROM s)` x is s.a."""
    if not columns:
        return rows
    entries: list[Entry] = []
    left = list(columns)
    for entry in rows.entries:
        if not left:
            entries.append(entry)
        elif isinstance(entry, UnexpandedStar):
            unknown = entry.whole(sources)
            rest = len(rows.entries) - len(entries) - 1
            take = max(len(left) - rest, 0) if rest < len(left) else 0
            entries += [(name, unknown) for name in left[:take]]
            left = left[take:]
        else:
            entries.append((left.pop(0), entry[1]))
    return QueryColumns(sources, entries, rows.indirect, rows.tables)
