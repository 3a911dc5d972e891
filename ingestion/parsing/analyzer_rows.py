"""Relations as a query sees them: columns in order, and runs of columns that no schema has named yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from ingestion.model import Column, TableName
from ingestion.parsing.analyzer_values import Sources, Value, union_of
from ingestion.types import standard_type

SchemaLookup: TypeAlias = Callable[[TableName], "Sequence[Column] | None"]


def spelled(names: Iterable[str], wanted: Collection[str]) -> frozenset[str]:
    """What `wanted` names are called among `names`: as they are, else like the only one that differs in case alone."""
    if not wanted:
        return frozenset()
    known = dict.fromkeys(names)
    folded: dict[str, list[str]] = {}
    for name in known:
        folded.setdefault(name.lower(), []).append(name)
    return frozenset(
        same[0] if name not in known and len(same := folded.get(name.lower(), [])) == 1 else name for name in wanted
    )


class StarRun:
    """All columns of a table of unknown schema but `excluded`; `renamed` is old name to new.

    `others` run beside it: the columns at the same positions in the other branches of a set operation.
    """

    __slots__ = ("excluded", "others", "renamed", "table")

    def __init__(
        self,
        table: TableName,
        excluded: frozenset[str] = frozenset(),
        renamed: tuple[tuple[str, str], ...] = (),
        others: tuple[StarRun | Value, ...] = (),
    ) -> None:
        self.table = table
        self.excluded = excluded
        self.renamed = renamed
        self.others = others

    def without(self, names: frozenset[str]) -> StarRun:
        """This run with some columns gone, given by the names they have now."""
        back = {new: old for old, new in self.renamed}
        gone = frozenset(back.get(name, name) for name in names)
        kept = tuple(pair for pair in self.renamed if pair[1] not in names)
        return StarRun(self.table, self.excluded | gone, kept, self.others)

    def with_renamed(self, pairs: Sequence[tuple[str, str]]) -> StarRun:
        """This run with columns renamed."""
        back = {new: old for old, new in self.renamed}
        kept = dict(self.renamed)
        kept.update({back.get(old, old): new for old, new in pairs})
        return StarRun(self.table, self.excluded, tuple(kept.items()), self.others)

    def original(self, name: str) -> str | None:
        """The table's own name of the column that is called `name` here; None where it cannot be in the run."""
        for old, new in self.renamed:
            if new == name:
                return old
            if old == name:
                return None
        return None if name in self.excluded else name


Entry: TypeAlias = "tuple[str, Value] | StarRun"


class Rows:
    """The columns of a query or derived table in order, with what acts on all of its rows, and the tables behind it.

    `loose` rows go by other names than their own, and which is which is not known.
    """

    __slots__ = ("_folded", "_index", "entries", "indirect", "loose", "sources", "stars", "tables")

    def __init__(
        self,
        sources: Sources,
        entries: list[Entry],
        indirect: dict[int, Value] | None = None,
        tables: dict[TableName, None] | None = None,
        *,
        loose: bool = False,
    ) -> None:
        self.sources = sources
        self.entries = entries
        self.loose = loose
        self.indirect = indirect if indirect is not None else {}
        self.tables = tables if tables is not None else {}
        self.stars = [entry for entry in entries if type(entry) is StarRun]
        self._index: dict[str, Value] | None = None
        self._folded: dict[str, str | None] | None = None

    @property
    def open(self) -> bool:
        """Whether there may be columns that are not known."""
        return bool(self.stars) or self.loose

    def find(self, name: str) -> Value | None:
        """The column that is surely called `name`: as it is spelled, else whatever its case if that is one.

        A star brings columns under their catalog's spelling, which need not be that of the dialect's bare names.
        """
        if self.loose:
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

    def guesses(self, name: str) -> list[Value]:
        """The columns that may be called `name`, one for each run of unknown columns."""
        if self.loose:
            return [self.sources.one_of([entry[1] for entry in self.entries if isinstance(entry, tuple)], name)]
        found = []
        for star in self.stars:
            original = star.original(name)
            if original is not None:
                found.append(star_value(self.sources, star, original))
        return found

    def names(self) -> Iterator[str]:
        """The known names."""
        for entry in self.entries:
            if isinstance(entry, tuple):
                yield entry[0]


def star_value(sources: Sources, star: StarRun, column: str) -> Value:
    """A column out of a run: certain in its own table, and some column of the runs beside it."""
    own = sources.column(star.table, column)
    if not star.others:
        return own
    branches = [own]
    for other in star.others:
        if isinstance(other, StarRun):
            inside = other.original(column)
            candidates = [sources.column(other.table, name) for name in (inside or column, "*")]
            branches.append(sources.one_of(candidates, f"{other.table.dotted}.*"))
        else:
            branches.append(other)
    return union_of(branches)


class TableRows:
    """A base table. Without a schema it is one run of unknown columns; `proven` are those it surely has."""

    __slots__ = ("_folded", "_guesses", "_schema", "columns", "proven", "sources", "table")

    indirect: dict[int, Value] = {}

    def __init__(self, sources: Sources, table: TableName, columns: Sequence[Column] | None) -> None:
        self.sources = sources
        self.table = table
        self.columns = columns
        self.proven: set[str] = set()
        self._guesses: dict[str, list[Value]] = {}
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
    def stars(self) -> list[StarRun]:
        """The runs of columns that are not known."""
        return [StarRun(self.table)] if self.columns is None else []

    @property
    def entries(self) -> list[Entry]:
        """All columns in order."""
        if self.columns is None:
            return [StarRun(self.table)]
        return [(column.name, self._value(column)) for column in self.columns]

    def names(self) -> Iterator[str]:
        """The known names."""
        return (column.name for column in self.columns or ())

    def find(self, name: str) -> Value | None:
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

    def _value(self, column: Column) -> Value:
        return self.sources.column(self.table, column.name, standard_type(column.type, self.sources.dialect))

    def guesses(self, name: str) -> list[Value]:
        """The columns that may be called `name`."""
        if self.columns is not None:
            return []
        found = self._guesses.get(name)
        if found is None:
            found = self._guesses[name] = [self.sources.column(self.table, name)]
        return found


class FunctionRows:
    """What a table function gives: every column is made of its arguments.

    Where the columns are not declared, any name that is prefixed may be one, and an unprefixed one that of its alias.
    """

    __slots__ = ("declared", "entries", "indirect", "label", "tables", "value")

    stars: list[StarRun] = []

    def __init__(self, value: Value, columns: Sequence[str], label: str, tables: dict[TableName, None]) -> None:
        self.value = value
        self.label = label
        self.declared = bool(columns)
        self.entries: list[Entry] = [(name, value) for name in columns or [label]]
        self.indirect: dict[int, Value] = {}
        self.tables = tables

    @property
    def open(self) -> bool:
        """Whether there may be columns that are not known."""
        return not self.declared

    def names(self) -> Iterator[str]:
        """The known names."""
        return (entry[0] for entry in self.entries if isinstance(entry, tuple))

    def find(self, name: str) -> Value | None:
        """The column that is surely called `name`, whatever its case."""
        (called,) = spelled(self.names(), (name,))
        return next((entry[1] for entry in self.entries if isinstance(entry, tuple) and entry[0] == called), None)

    def guesses(self, name: str) -> list[Value]:
        """The columns that may be called `name`: none unprefixed, as its rows are seldom more than one column."""
        return []


AnyRows: TypeAlias = "Rows | TableRows | FunctionRows"
