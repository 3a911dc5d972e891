"""Relations as a query sees them: columns in order, and runs of columns that no schema has named yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from ingestion.analysis.columns.field_access import built_field
from ingestion.analysis.columns.runs import star_value
from ingestion.analysis.columns.values import ColumnSources, ColumnValue, Entry, FieldColumns, UnexpandedStar
from ingestion.dialects.types import standard_type
from ingestion.model import Column, TableName

SchemaLookup: TypeAlias = Callable[[TableName], "Sequence[Column] | None"]


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
                found.append(star_value(self.sources, star, original))
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

    __slots__ = ("_folded", "_guesses", "_schema", "columns", "confirmed", "sources", "table")

    indirect: dict[int, ColumnValue] = {}
    keyed = False

    def __init__(self, sources: ColumnSources, table: TableName, columns: Sequence[Column] | None) -> None:
        self.sources = sources
        self.table = table
        self.columns = columns
        self.confirmed: set[str] = set()
        self._guesses: dict[str, list[ColumnValue]] = {}
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
        return [(column.name, self._value(column)) for column in self.columns]

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
        return self.sources.column(self.table, column.name, standard_type(column.type, self.sources.dialect))

    def guesses(self, name: str) -> list[ColumnValue]:
        """The columns that may be called `name`."""
        if self.columns is not None:
            return []
        found = self._guesses.get(name)
        if found is None:
            found = self._guesses[name] = [self.sources.column(self.table, name)]
        return found


class FunctionColumns:
    """What a table function gives: every column is made of its arguments.

    Where the columns are not declared, any name that is prefixed may be one, and an unprefixed one that of its alias.
    `fields` are those of an array's structs where the dialect has them as columns too.
    """

    __slots__ = ("declared", "entries", "fields", "indirect", "label", "sources", "tables", "value")

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

    def names(self) -> Iterator[str]:
        """The known names."""
        return (entry[0] for entry in self.entries if isinstance(entry, tuple))

    def find(self, name: str) -> ColumnValue | None:
        """The column that is surely called `name`, whatever its case."""
        (called,) = spellings(self.names(), (name,))
        found = next((entry[1] for entry in self.entries if isinstance(entry, tuple) and entry[0] == called), None)
        return self.fields.find(name) if found is None and self.fields is not None else found

    def all(self) -> list[Entry]:
        """What a star over the rows stands for: the fields in the place of what has them."""
        if self.fields is None:
            return self.entries
        return [*self.fields.entries, *self.entries[1:]]

    def guesses(self, name: str) -> list[ColumnValue]:
        """The columns that may be called `name`: none unprefixed, as its rows are seldom more than one column."""
        return []

    def field(self, name: str) -> ColumnValue:
        """What a name that is no declared column means: a field of what the rows are, where that is known.

        In `SELECT x.v FROM t, UNNEST(t.xs) AS x` v is a field of the structs in t.xs.
        """
        inner, left = built_field(self.value, (name,))
        return self.value if left else inner


AnyRows: TypeAlias = "QueryColumns | TableColumns | FunctionColumns"
