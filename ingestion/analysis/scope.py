"""The one name scope: which relation, WITH item, outer query or output a name in a query means.

In `WITH c AS (SELECT k FROM s) SELECT k AS x, (SELECT MAX(b) FROM u WHERE u.k = c.k) FROM c ORDER BY x` the scope of
the outer SELECT has the item c in its `view`, the relation c, whose rows are the item's, and the output x; that of the
inner one has u, and c through its `parent`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeAlias

from ingestion.analysis._columns import (
    AnyRows,
    ColumnSources,
    ColumnValue,
    Entry,
    FunctionColumns,
    QueryColumns,
    TableColumns,
    UnexpandedStar,
    combine,
    field_of,
    spellings,
    values_of,
)
from ingestion.analysis.form import (
    CommonTable,
    OutputNames,
    Projection,
    Query,
    RelationSource,
    Select,
    Slot,
    Star,
    TableFunction,
    all_slots,
    projected_expressions,
)
from ingestion.analysis.roles import TRANSFORMATION
from ingestion.dialects import Dialect, fold_column
from ingestion.dialects.definition import MergedColumns
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.namespaces import QUALIFIED_PARTS
from ingestion.model.outcomes import ProblemKind

_TWO_SIDES = 2


class ScopedRelation:
    """One relation in scope: how it may be called, and its columns. `hidden` ones are those of semi and anti joins.

    `name` is what it is called by in one word: a function without an alias by its own, as in PostgreSQL and SQLite,
    `SELECT json_each.value FROM t, json_each(t.doc)`.
    """

    __slots__ = ("alias", "hidden", "name", "of_array_join", "parts", "rows", "written")

    def __init__(self, relation: RelationSource, rows: AnyRows, alias: str) -> None:
        self.rows = rows
        self.alias = alias
        self.parts: tuple[str, ...] = ()
        self.of_array_join = isinstance(relation.source, TableFunction) and relation.source.of_array_join
        if isinstance(relation.source, TableName):
            self.parts = relation.source.parts
        elif isinstance(relation.source, TableFunction) and not alias and not self.of_array_join:
            self.parts = (relation.source.label,)
        self.name = alias or (self.parts[-1] if self.parts else "")
        self.hidden = self.of_array_join
        self.written = relation.written


class _RelationNames:
    """By which qualifiers the relations of a scope are called; looked at one by one, n joins would take n times n.

    In `SELECT t.a, web.t.b FROM web.t` both mean web.t, and so does `x.web.t.c`; in `FROM web.t AS o` only `o.a` does.
    Of several relations of one name the first is meant. Loosely, also web.t is, by the name that its alias hides, and
    what is called so in another case. T-SQL's table variable `@t`, which is read as the temporary table `#@t`, has
    columns `[@t].a`. Where a database may stand right before a table (`skips_schema`), `db1.t.a` is of db1.main.t.
    """

    __slots__ = ("_aliased", "_count", "_hidden", "_in_any_case", "_plain", "_skips_schema")

    def __init__(self, *, skips_schema: bool) -> None:
        self._skips_schema = skips_schema
        self._count = 0
        self._aliased: dict[tuple[str, ...], tuple[int, ScopedRelation]] = {}
        self._plain = _SuffixIndex()
        self._hidden = _SuffixIndex()
        self._in_any_case: dict[str, list[ScopedRelation]] = {}

    def find(
        self, relations: Sequence[ScopedRelation], qualifier: tuple[str, ...], *, loosely: bool
    ) -> ScopedRelation | None:
        """The relation that a qualifier means among those of the scope, some of which may be known already."""
        self._take_in(relations)
        found = [*self._plain.matches(qualifier), *filter(None, (self._aliased.get(qualifier),))]
        if not found and loosely:
            found = self._hidden.matches(qualifier)
        if found:
            return min(found, key=itemgetter(0))[1]
        same = self._in_any_case.get(qualifier[0].lower(), ()) if loosely and len(qualifier) == 1 else ()
        return same[0] if len(same) == 1 else None

    def find_in_any_case(self, relations: Sequence[ScopedRelation], name: str) -> ScopedRelation | None:
        """The relation that has this name in any case, as its alias or as the last word of its name."""
        self._take_in(relations)
        return next((one for one in self._in_any_case.get(name.lower(), ()) if not one.hidden), None)

    def _take_in(self, relations: Sequence[ScopedRelation]) -> None:
        for number in range(self._count, len(relations)):
            self._add(number, relations[number])
        self._count = len(relations)

    def _add(self, number: int, visible: ScopedRelation) -> None:
        if visible.alias:
            self._aliased.setdefault((visible.alias,), (number, visible))
        if visible.parts:
            (self._hidden if visible.alias else self._plain).add(number, visible)
            if self._skips_schema and len(visible.parts) == QUALIFIED_PARTS and not visible.alias:
                self._aliased.setdefault((visible.parts[0], visible.parts[-1]), (number, visible))
        if visible.name.startswith("#@"):
            self._aliased.setdefault((visible.name[1:],), (number, visible))
        self._in_any_case.setdefault(visible.name.lower(), []).append(visible)


class _SuffixIndex:
    """Relations by the ends of their names: `t` and `web.t` are ends of web.t, which itself is one of `x.web.t`."""

    __slots__ = ("_by_end", "_whole")

    def __init__(self) -> None:
        self._by_end: dict[tuple[str, ...], tuple[int, ScopedRelation]] = {}
        self._whole: dict[tuple[str, ...], tuple[int, ScopedRelation]] = {}

    def add(self, number: int, visible: ScopedRelation) -> None:
        """Takes in the relation of that number."""
        parts = visible.parts
        for start in range(len(parts)):
            self._by_end.setdefault(parts[start:], (number, visible))
        self._whole.setdefault(parts, (number, visible))

    def matches(self, qualifier: tuple[str, ...]) -> list[tuple[int, ScopedRelation]]:
        """Those that a qualifier is the end of, or that are the end of it, with their numbers."""
        ends = [self._whole.get(qualifier[start:]) for start in range(1, len(qualifier))]
        return [one for one in (self._by_end.get(qualifier), *ends) if one is not None]


_OF_SESSION = (("session",), ("system", "session"))
"""What variables are named with."""


def _entries_of(rows: AnyRows) -> list[Entry]:
    """What `t.*` stands for, given the rows of t."""
    return rows.all() if isinstance(rows, FunctionColumns) else rows.entries


class Merge(NamedTuple):
    """A join by USING or NATURAL: the columns that it makes one, how it joins, and what the columns are then.

    `first` and `middle` are where its left and its right side start among the relations.
    """

    names: tuple[str, ...]
    how: str
    first: int
    middle: int
    values: Mapping[str, ColumnValue]


def _changed_columns(entries: Sequence[Entry], changed: Mapping[str, str]) -> list[Entry]:
    """The columns; those that are `changed` get another name, or with "" go."""
    if not changed:
        return list(entries)
    known = _names(entries)
    gone = spellings(known, [old for old, new in changed.items() if not new])
    renamed = {called: new for old, new in changed.items() if new for called in spellings(known, (old,))}
    return [
        entry.without(gone).with_renamed(tuple(renamed.items()))
        if isinstance(entry, UnexpandedStar)
        else (renamed.get(entry[0], entry[0]), entry[1])
        for entry in entries
        if isinstance(entry, UnexpandedStar) or entry[0] not in gone
    ]


def _names(entries: Sequence[Entry]) -> list[str]:
    return [entry[0] for entry in entries if isinstance(entry, tuple)]


def without_columns(entries: Sequence[Entry], names: Iterable[str]) -> list[Entry]:
    """The columns that are not among the names."""
    return _changed_columns(entries, dict.fromkeys(names, ""))


def _without_first(entries: Sequence[Entry], names: Iterable[str]) -> list[Entry]:
    """The columns that are left of a side where a join has made one each of these names, of which it may have several.

    `FROM t JOIN u USING (k), v JOIN w USING (k)` has v's k beside that of all others.
    """
    gone = spellings(_names(entries), tuple(names))
    left = set(gone)
    kept: list[Entry] = []
    for entry in entries:
        if isinstance(entry, UnexpandedStar):
            kept.append(entry.without(gone))
        elif entry[0] in left:
            left.remove(entry[0])
        else:
            kept.append(entry)
    return kept


def _among_left(left: Sequence[Entry], merged: Mapping[str, ColumnValue], how: str) -> list[Entry]:
    """The left side's columns, the merged ones where they stand, first where nobody knows that.

    One in a run of unknown columns stays there where it is the left side's own.
    """
    known = _names(left)
    called = {name: value for key, value in merged.items() for name in spellings(known, (key,)) if name in known}
    found = [(entry[0], called.get(entry[0], entry[1])) if isinstance(entry, tuple) else entry for entry in left]
    unknown = [name for name in merged if spellings(known, (name,)).isdisjoint(known)]
    if not how.startswith(("RIGHT", "FULL")):
        return found
    return [*((name, merged[name]) for name in unknown), *without_columns(found, unknown)]


def _by_position(relations: Sequence[ScopedRelation], number: int, name: str) -> ColumnValue | None:
    """Snowflake's `SELECT $2 FROM t`: number 2 is the second column of what is read; of a stage, one of that name.

    There is no number 0.
    """
    entries = [entry for visible in relations for entry in visible.rows.entries]
    before = [entry[1] for entry in entries[:number] if isinstance(entry, tuple)]
    if len(before) == number > 0:
        return before[-1]
    guesses = [guess for visible in relations for guess in visible.rows.guesses(name)]
    return guesses[0] if len(guesses) == 1 else None


def unnested_fields(
    relations: Iterable[ScopedRelation], name: str, dialect: Dialect
) -> Iterator[tuple[ScopedRelation, ColumnValue]]:
    """The fields that a bare name may be: qty of `SELECT qty FROM t, UNNEST(t.lines)`, if no column of t's."""
    for visible in relations if dialect.fields_unnested else ():
        rows = visible.rows
        if isinstance(rows, FunctionColumns) and rows.may_have_fields:
            yield visible, rows.field(name)


def _qualified_names(select: Select | None) -> dict[str, set[str]]:
    """The columns that a SELECT names with a prefix, by the prefix."""
    found: dict[str, set[str]] = {}
    for slot in named_columns(select) if select is not None else ():
        if len(slot.parts) > 1:
            found.setdefault(slot.parts[-2], set()).add(slot.parts[-1])
    return found


def named_columns(select: Select) -> list[Slot]:
    """The columns that a SELECT names, in its list, its clauses and the conditions of its joins."""
    expressions = list(projected_expressions(select))
    expressions += [clause.expression for clause in select.clauses if clause.expression is not None]
    for relation in select.relations:
        expressions += [clause.expression for clause in relation.on if clause.expression is not None]
    return [slot for slot in all_slots(expressions) if type(slot) is Slot]


class WithItem:
    """One WITH item: its definition, the items that it may read, and the query around it.

    In `WITH a AS (SELECT x FROM s), b AS (SELECT x FROM a) SELECT x FROM b` the item b may read a. Its `rows` are known
    once they have been read: an item that nobody reads gives nothing.
    """

    __slots__ = ("definition", "parent", "rows", "view")

    def __init__(self, definition: CommonTable, view: View, parent: Scope | None) -> None:
        self.definition = definition
        self.view = view
        self.parent = parent
        self.rows: QueryColumns | None = None


View: TypeAlias = "Mapping[str, WithItem]"
"""The WITH items that a query may read, by their names' keys."""
NO_ITEMS: View = {}


class ItemsOfWith:
    """The items of one WITH as they are defined: each sees those before it, and what is in view around all of them.

    They stand in one table: with one of its own for each, n items would take n times n.
    """

    def __init__(self, around: View) -> None:
        self.around = around
        self.items: dict[str, list[tuple[int, WithItem]]] = {}
        self._count = 0

    def add(self, key: str, item: WithItem) -> None:
        """Takes in the next item."""
        self.items.setdefault(key, []).append((self._count, item))
        self._count += 1

    def view(self, hidden: WithItem | None = None) -> View:
        """What is in view behind the last of the items until now, but for an item that is `hidden`."""
        return _ItemView(self, self._count, hidden)


class _ItemView(Mapping[str, WithItem]):
    """So many items of a WITH, of one name the last, and what is around it."""

    __slots__ = ("_count", "_hidden", "_within")

    def __init__(self, within: ItemsOfWith, count: int, hidden: WithItem | None) -> None:
        self._within = within
        self._count = count
        self._hidden = hidden

    def __getitem__(self, key: str) -> WithItem:
        for number_and_item in reversed(self._within.items.get(key, ())):
            if self._shows(number_and_item):
                return number_and_item[1]
        return self._within.around[key]

    def _shows(self, number_and_item: tuple[int, WithItem]) -> bool:
        number, item = number_and_item
        return number < self._count and item is not self._hidden

    def __iter__(self) -> Iterator[str]:
        own = (key for key, items in self._within.items.items() if any(map(self._shows, items)))
        return iter(dict.fromkeys((*self._within.around, *own)))

    def __len__(self) -> int:
        return len(tuple(self))

    def __bool__(self) -> bool:
        return self._count > 0 or bool(self._within.around)


def item_key(name: str, dialect: Dialect) -> str:
    """What an item is found under: its name in any case, where the dialect does not fold case already."""
    return name.lower() if dialect.keeps_case else name


class AnalysisContext(Protocol):
    """What the analysis of a part of a statement uses of the whole's."""

    dialect: Dialect
    sources: ColumnSources
    hidden_columns: frozenset[str]
    functions: dict[TableName, None]
    of_function: bool

    def problem(self, kind: ProblemKind, subject: str) -> None:
        """Note what stays unresolved."""

    def table(self, name: TableName) -> TableColumns:
        """The rows of a base table."""

    def query(self, query: Query, parent: Scope | None, view: View) -> QueryColumns:
        """The rows of a query; `parent` is the scope around it, `view` has the WITH items that it may read."""

    def expand_star(self, star: Star, scope: Scope) -> list[Entry]:
        """What a star stands for."""

    def item_value(self, item: WithItem, scope: Scope) -> ColumnValue | None:
        """ClickHouse: the value that a WITH item names, in the scope that uses it."""


class Scope:
    """What one SELECT's expressions may name: u in `SELECT (SELECT MAX(b) FROM u) FROM t`, whose `parent` has t."""

    __slots__ = (
        "_alias_values",
        "_aliases",
        "_known",
        "_names",
        "_qualified",
        "_visible",
        "analysis",
        "elements",
        "merged",
        "merges",
        "outputs",
        "parent",
        "relations",
        "select",
        "tables",
        "view",
    )

    def __init__(
        self, analysis: AnalysisContext, parent: Scope | None, view: View, select: Select | None = None
    ) -> None:
        self.analysis = analysis
        self.parent = parent
        self.view = view
        self.select = select
        self.relations: list[ScopedRelation] = []
        self.merged: Mapping[str, ColumnValue] = {}
        self.merges: dict[int, list[Merge]] = {}
        self.elements: dict[str, ColumnValue] = {}  # of ARRAY JOIN
        self._aliases: dict[str, WithItem] = {}  # those that no value was made of yet
        self._alias_values: dict[str, ColumnValue | None] = {}
        self.outputs: dict[str, ColumnValue] = {}
        self.tables: dict[TableName, None] = {}
        self._known: dict[tuple[str, ...], ColumnValue] = {}
        self._names = _RelationNames(skips_schema=analysis.dialect.columns_skip_schema)
        self._qualified: dict[str, set[str]] | None = None
        self._visible = outputs_in_list(analysis.dialect)

    def add(self, visible: ScopedRelation) -> None:
        """Bring a relation into scope."""
        self.relations.append(visible)
        if visible.of_array_join:
            self._add_elements(entry for entry in visible.rows.entries if isinstance(entry, tuple))
        if self._known:
            self._known.clear()

    def _add_elements(self, entries: Iterable[tuple[str, ColumnValue]]) -> None:
        """Let the elements of ARRAY JOIN be what their names mean: of `ARRAY JOIN t.xs` xs as well as t.xs."""
        for name, value in entries:
            self.elements[name] = value
            parts = tuple(name.split("."))
            for length in range(1, len(parts)):
                if self.relation(parts[:length], loosely=False) is not None:
                    self.elements[".".join(parts[length:])] = value

    @contextmanager
    def only_last(self, count: int) -> Iterator[None]:
        """Lets names without a prefix be columns of the last `count` relations alone.

        In `FROM t JOIN u JOIN v ON b > c ON t.a = u.a` no column of t is b.
        """
        first = len(self.relations) - count
        others = [one for one in self.relations[:first] if not one.hidden]
        merged, self.merged = self.merged, self.merged_among(first, len(self.relations))
        self._hide(others, hidden=True)
        try:
            yield
        finally:
            self._hide(others, hidden=False)
            self.merged = merged

    def merged_among(self, first: int, end: int) -> Mapping[str, ColumnValue]:
        """The columns that joins among the relations from `first` up to `end` made one."""
        merged: dict[str, ColumnValue] = {}
        for number in sorted(self.merges, reverse=True):
            for merge in reversed(self.merges[number]) if number < end else ():
                if merge.first >= first:
                    merged.update((name, value) for name, value in merge.values.items() if name not in merged)
        return merged

    def hide_last(self, count: int) -> None:
        """No name means a column of the last `count` relations from here on: the right side of a semi or anti join."""
        self._hide(self.relations[-count:], hidden=True)

    def _hide(self, relations: Iterable[ScopedRelation], *, hidden: bool) -> None:
        for relation in relations:
            relation.hidden = hidden
        self._known.clear()

    def name_values(self, named: Iterable[Projection]) -> None:
        """ClickHouse: let these be what their names mean from now on, wherever in the query they stand.

        In `SELECT toDate(ts) AS ts, f(lower(a) AS b) FROM t WHERE ts > b` both names are the values' in WHERE.
        """
        if self.analysis.dialect.aliases_everywhere:
            for one in named:
                if one.unnamed:  # in `SELECT u.a FROM t JOIN u WHERE a > 1` a is t's
                    continue
                select = Select((one,))
                item = WithItem(CommonTable(one.name, (), select, scalar=True), self.view, self.parent)
                self._aliases.setdefault(one.name, item)
            self._known.clear()

    def _aliased_value(self, name: str) -> ColumnValue | None:
        """The value that a name is an alias of, made once: aliases of aliases would double the work with each."""
        item = self._aliases.pop(name, None)  # in its own expression the name is a column's
        if item is not None:
            self._known.clear()
            self._alias_values[name] = self.analysis.item_value(item, self)
            self._known.clear()
        return self._alias_values.get(name)

    def item(self, name: TableName) -> WithItem | None:
        """The WITH item whose rows a bare name means, None where it means a table.

        `WITH c AS (SELECT a FROM s) SELECT a FROM web.c` reads a table: an item has no schema, but DuckDB's
        `recurring.c` within c, all rows that c has had.
        """
        if not self.view or name.kind is not NameKind.TABLE:
            return None
        recurring = self.analysis.dialect.recurring_items and name.parts[:-1] == ("recurring",)
        if len(name.parts) != 1 and not recurring:
            return None
        item = self.view.get(item_key(name.parts[-1], self.analysis.dialect))
        return None if item is None or item.definition.scalar else item

    def array(self, name: TableName) -> tuple[str, ...] | None:
        """The column that a dotted name under FROM means where it begins with a relation of this query or one around.

        In `SELECT (SELECT MAX(p.v) FROM e.params p) FROM web.events e` e.params is no table, but an array of e's.
        """
        parts = name.parts
        if name.kind is not NameKind.TABLE:
            return None
        for scope in self.outward():
            for length in range(len(parts) - 1, 0, -1):
                visible = scope.relation(parts[:length], loosely=False)
                if visible is not None:
                    path = tuple(fold_column(part, self.analysis.dialect, quoted=False) for part in parts[length:])
                    rows = visible.rows
                    has = rows.open or rows.find(path[0]) is not None
                    return (*parts[:length], *path) if has else None
        return None

    def resolve(self, parts: tuple[str, ...]) -> ColumnValue:
        """The value that a column's name means here; an empty one, and a problem noted, where there is none."""
        value = self._known.get(parts)
        if value is None:
            found = ColumnValue(()) if self._has_hidden_column(parts) else self.lookup(parts)
            value = self._known[parts] = found or self._unknown_column(parts)
        return value

    def values_called(self, parts: tuple[str, ...]) -> tuple[ColumnValue | None, list[ColumnValue]]:
        """What is surely called so where a table may stand as well, and else the columns that may be.

        ClickHouse looks for `a IN u` among aliases and columns first, whatever tables there are: u of `FROM t` is an
        array of t's where t has a column u, and one or the other where t's columns are not known.
        """
        if self.item(TableName(parts)) is not None:
            return None, []
        prefixes = [parts[:length] for length in range(1, len(parts))]
        perhaps: list[ColumnValue] = []
        for scope in self.outward():
            definite, guesses = scope._columns_called(parts[0])
            named = definite or scope._has_alias(parts[0])
            if named or any(scope.relation(prefix, loosely=False) for prefix in prefixes):
                return self.resolve(parts), []
            perhaps += [value for _, value in guesses if len(parts) == 1]
        return (self.resolve(parts), []) if self._named_value(parts[0]) is not None else (None, perhaps)

    def _has_alias(self, name: str) -> bool:
        return any(name in names for names in (self.elements, self._aliases, self._alias_values, self.outputs))

    def _has_hidden_column(self, parts: tuple[str, ...]) -> bool:
        """Whether a part of a name, behind a relation's own, is a hidden column: `_metadata.file_path`."""
        if not any(map(self._is_hidden_column, parts)):
            return False
        qualifiers = (parts[:length] for length in range(len(parts) - 1, 0, -1))
        behind = next((len(one) for one in qualifiers if any(s.relation(one) for s in self.outward())), 0)
        return any(map(self._is_hidden_column, parts[behind:]))

    def _is_hidden_column(self, name: str) -> bool:
        """Whether a name is a hidden column's though nobody knows the tables' columns.

        ClickHouse's `_part` and Spark's `_metadata` are hardly a user's, while a file may well have a column `rowid`.
        """
        hidden = name.startswith("_") and name in self.analysis.hidden_columns
        return hidden and name not in self.outputs and self.known_outside(name) is None

    def _unknown_column(self, parts: tuple[str, ...]) -> ColumnValue:
        name = ".".join(parts)
        if not self._is_variable(parts) and parts[-1] not in self.analysis.hidden_columns:
            self.analysis.problem(ProblemKind.UNKNOWN_COLUMN, name)
        return ColumnValue(()).known_as(name)

    def _is_variable(self, parts: tuple[str, ...]) -> bool:
        """Whether a name that no relation has is a session's variable: v of `SELECT v`, session.v of any query."""
        alone = not any(scope.relations for scope in self.outward())
        return self.analysis.dialect.bare_variables and (alone or parts[:-1] in _OF_SESSION)

    def lookup(self, parts: tuple[str, ...]) -> ColumnValue | None:
        """The value of a name (`("t", "a")`), from the innermost query that can have it; None where none has."""
        if len(parts) == 1:
            return self._unprefixed_column(parts[0])
        for loosely in (False, True):  # a name that an outer query has is not the hidden name of an inner table
            for scope in self.outward():
                found = scope._prefixed_column(parts, loosely=loosely)
                if found is not None:
                    return found
        if self.elements and (parts[0] in self.elements or ".".join(parts) in self.elements):
            return self.elements.get(".".join(parts)) or field_of(self.elements[parts[0]], parts[1:])
        if self.analysis.dialect.dotted_columns:
            shown = (one.rows for scope in self.outward() for one in scope.relations if not one.hidden)
            dotted = next((found for rows in shown if (found := _dotted_column(rows, parts)) is not None), None)
            if dotted is not None:
                return dotted
        if self.analysis.dialect.outputs_named_alias and parts[0] == "alias":
            named = next((scope.outputs[parts[1]] for scope in self.outward() if parts[1] in scope.outputs), None)
            if named is not None:
                return field_of(named, parts[2:])
        if self.analysis.dialect.struct_access:
            base = self._unprefixed_column(parts[0])
            return field_of(base, parts[1:]) if base is not None else None
        return None

    def _prefixed_column(self, parts: tuple[str, ...], *, loosely: bool) -> ColumnValue | None:
        """The value of `web.t.a.f`: of the longest prefix that is a relation's name the column, and fields of that."""
        for length in range(len(parts) - 1, 0, -1):
            visible = self.relation(parts[:length], loosely=loosely)
            if visible is not None:
                if self.analysis.dialect.dotted_columns:
                    dotted = _dotted_column(visible.rows, parts[length:])
                    if dotted is not None:
                        return dotted
                field = self._field_before_schema(parts, length, visible)
                if field is not None:
                    return field
                found = self._column_of(visible, parts[length])
                if found is None:
                    if length == 1 and len(self.relations) == 1 and self.analysis.dialect.struct_access:
                        field = visible.rows.find(parts[0])
                        if field is not None:
                            return field_of(field, parts[1:])
                    if length > len(visible.parts) > 0:  # `FROM web.t WHERE EXISTS (SELECT 1 FROM t WHERE web.t.a > b)`
                        continue
                    return self._unknown_column(parts)
                rest = parts[length + 1 :]
                return field_of(found, rest) if rest else found
        return None

    def _field_before_schema(self, parts: tuple[str, ...], length: int, visible: ScopedRelation) -> ColumnValue | None:
        """The field that `t.t.a` is of a table t with a column t, where nothing says that t is in a schema t."""
        if length <= len(visible.parts) or not self.analysis.dialect.struct_access:
            return None
        for shorter in range(length - 1, 0, -1):
            named = self.relation(parts[:shorter], loosely=False)
            column = named.rows.find(parts[shorter]) if named is not None else None
            if column is not None:
                return field_of(column, parts[shorter + 1 :])
        return None

    def relation(self, qualifier: tuple[str, ...], *, loosely: bool = True) -> ScopedRelation | None:
        """The relation that a qualifier means in this scope; `loosely` also by the name that its alias hides."""
        return self._names.find(self.relations, qualifier, loosely=loosely)

    def _column_of(self, visible: ScopedRelation, name: str) -> ColumnValue | None:
        """A column of the relation that a prefix means; naming it so proves that a table without a schema has it."""
        rows = visible.rows
        if name == "*":
            return self.whole_row(visible)
        found = rows.find(name) or self._nested_columns([visible], name)
        if found is not None:
            return found
        if isinstance(rows, FunctionColumns):
            return rows.field(name) if rows.open or name in rows.pair else None
        guesses = rows.guesses(name)
        if not guesses:
            return _by_position([visible], int(name[1:]), name) if _is_position(name) else None
        if isinstance(rows, TableColumns):
            rows.confirmed.add(name)
        return guesses[0] if len(guesses) == 1 else self.one_of(guesses, name)

    def _unprefixed_column(self, name: str) -> ColumnValue | None:
        """The value of a bare name, looked for as engines do: in the innermost query first, and in each in this order.

        In `SELECT k, a FROM t JOIN u USING (k)` k is the column that USING merged. a is a column that the schema of t
        or u has; where none is known to have it, one of those whose schema is not known; and only then a whole row, an
        output or a column of the query around.
        """
        aliased = self._aliased_value(name) if self._aliases or self._alias_values else None
        if aliased is not None:
            return aliased
        if name in self.elements:
            return self.elements[name]
        if self._visible is OutputNames.BEFORE_COLUMNS and name in self.outputs:
            return self.outputs[name]
        row = self._row_before_columns(name) if self.analysis.dialect.rows_before_columns else None
        if row is not None:
            return row
        if self.merged:
            (called,) = spellings(self.merged, (name,))
            if called in self.merged:
                return self.merged[called]
        if name == "*":
            return self._all_relations()
        named = self._named_value(name) if self.view else None
        if named is not None:
            return named
        common = self._among_unknown_tables(name)
        if common is not None:
            return common
        definite, guesses = self._columns_called(name)
        if definite:
            if self.analysis.dialect.left_side_first:
                return self._of_left_side(definite[0], guesses, name)
            return definite[0] if len(definite) == 1 else self.one_of(definite, name)
        if _is_position(name):
            return _by_position(self.relations, int(name[1:]), name)
        if guesses:
            return self._guess([*guesses, *unnested_fields(self.relations, name, self.analysis.dialect)], name)
        return self._nested_columns(self.relations, name) or self._elsewhere(name)

    def _nested_columns(self, relations: Iterable[ScopedRelation], name: str) -> ColumnValue | None:
        """ClickHouse: what n is of a table with the columns n.x and n.y."""
        if not self.analysis.dialect.dotted_columns:
            return None
        for visible in relations:
            known = [entry for entry in visible.rows.entries if isinstance(entry, tuple)]
            inner: list[Entry] = [
                (called.removeprefix(f"{name}."), value) for called, value in known if called.startswith(f"{name}.")
            ]
            if inner:
                return self.whole(inner, name)
        return None

    def name_of(self, parts: tuple[str, ...]) -> str:
        """ClickHouse's name of an output that is a column behind a prefix, if one: u.a of `SELECT t.a, u.a`."""
        for length in range(len(parts) - 1, 0, -1):
            visible = self.relation(parts[:length])
            if visible is not None:
                return self.name_beside_others(visible, ".".join(parts[length:]))
        return ".".join(parts)

    def name_beside_others(self, visible: ScopedRelation, name: str) -> str:
        """ClickHouse's name of a relation's column: that of one that others have too, but the left side of two."""
        sides = [one for one in self.relations if not one.of_array_join]
        if visible is sides[0] and len(sides) <= _TWO_SIDES:
            return name
        named = self._named_with_prefix()
        others = [one for one in sides if one is not visible]
        shared = any(one.rows.find(name) is not None or name in named.get(one.name, ()) for one in others)
        return f"{visible.name}.{name}" if shared and visible.name else name

    def _among_unknown_tables(self, name: str) -> ColumnValue | None:
        """The value of a name in a query over several tables, of none of which a column is known.

        What `_guess` says of it, for the commonest by far: a value is made of the name, and none of each candidate.
        None where there is more to ask.
        """
        tables: list[TableColumns] = []
        for visible in self.relations:
            rows = visible.rows
            if type(rows) is not TableColumns or rows.columns is not None or visible.hidden or visible.name == name:
                return None
            if name in rows.confirmed:
                return None
            tables.append(rows)
        if len(tables) <= 1 or name.startswith("$") or self._output(name) is not None:
            return None
        if any(name in of_one for of_one in self._named_with_prefix().values()):
            return None
        self.analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, name)
        return self.analysis.sources.any_of(tuple(dict.fromkeys(rows.number_of_guess(name) for rows in tables)), name)

    def _columns_called(self, name: str) -> tuple[list[ColumnValue], list[tuple[ScopedRelation, ColumnValue]]]:
        """The columns of this query's relations that surely have a name, and those that may have it."""
        definite: list[ColumnValue] = []
        guesses: list[tuple[ScopedRelation, ColumnValue]] = []
        for visible in self.relations:
            if visible.hidden:
                continue
            rows = visible.rows
            if type(rows) is TableColumns and rows.columns is None:  # by far the most, and they know nothing
                guesses.append((visible, rows.guess(name)))
                continue
            found = rows.find(name)
            if found is not None:
                if found not in definite:
                    definite.append(found)
            elif rows.open or isinstance(rows, FunctionColumns):
                guesses += [(visible, guess) for guess in rows.guesses(name)]
        return definite, guesses

    def _of_left_side(
        self, definite: ColumnValue, guesses: list[tuple[ScopedRelation, ColumnValue]], name: str
    ) -> ColumnValue:
        """The first of a name's columns: both sides of ClickHouse's join may have it, which in three is an error.

        Where only the right side is known to have it, it may be a column of the left one.
        """
        match [visible for visible in self.relations if not visible.of_array_join]:
            case [left, right] if not isinstance(right.rows, FunctionColumns):
                may_be = [value for visible, value in guesses if visible is left]
                return self.one_of([*may_be, definite], name) if may_be else definite
        return definite

    def _named_value(self, name: str) -> ColumnValue | None:
        """ClickHouse: the value that WITH names, x in `WITH a + 1 AS x SELECT x FROM t`, or None."""
        item = self.view.get(item_key(name, self.analysis.dialect))
        return self.analysis.item_value(item, self) if item is not None and item.definition.scalar else None

    def _guess(self, guesses: list[tuple[ScopedRelation, ColumnValue]], name: str) -> ColumnValue:
        """The value of a name that only relations without a schema may have.

        `SELECT a, (SELECT MAX(a) FROM u) FROM t` where t's schema is known and u's is not: the inner a is u's if u has
        one, else t's, so both are candidates. So is an output of that name, since a column would go before it and
        nobody knows whether there is one.
        """
        if len(guesses) > 1:
            confirmed = self._confirmed_candidate(guesses, name)
            if confirmed is not None:
                return confirmed
        alias = self._output(name)
        whole = self._maybe_whole_row(name)
        if len(guesses) == 1:
            visible, value = guesses[0]
            rows = visible.rows
            if isinstance(rows, TableColumns) and name in rows.confirmed:
                return value
            if whole is not None:
                return self.analysis.sources.one_of([value, whole], name).made_of(whole.fields)
            if alias is not None and alias is not value:
                if self._visible is OutputNames.AFTER_COLUMNS:
                    return alias
                return self.one_of([value, alias], name)
            outer = self.parent.known_outside(name) if self.parent is not None else None
            if outer is not None:
                return self.one_of([value, outer], name)
            if isinstance(rows, TableColumns):
                rows.confirmed.add(name)
            return value
        candidates = [value for _, value in guesses]
        candidates += [other for other in (alias, whole) if other is not None]
        return self.one_of(candidates, name).made_of(whole.fields if whole is not None else None)

    def show_outputs(self, visible: OutputNames) -> None:
        """Say whether the expressions that follow may use outputs: `b` in `SELECT a AS b FROM t ORDER BY b`."""
        if visible is not self._visible:
            self._visible = visible
            if self.outputs:
                self._known.clear()

    def _output(self, name: str) -> ColumnValue | None:
        return None if self._visible is OutputNames.HIDDEN else self.outputs.get(name)

    def _confirmed_candidate(self, guesses: list[tuple[ScopedRelation, ColumnValue]], name: str) -> ColumnValue | None:
        """The candidate that is surely there, from elsewhere in the statement: were it in two, this were an error."""
        if self.analysis.dialect.left_side_first:  # that the right side has it does not say that the left one has none
            guesses = guesses[:1] if not guesses[2:] else guesses
        sure = [
            value
            for visible, value in guesses
            if isinstance(visible.rows, TableColumns) and name in visible.rows.confirmed
        ]
        if len(sure) == 1:
            return sure[0]
        qualified = self._named_with_prefix()
        if not qualified:
            return None
        found = [value for visible, value in guesses if name in qualified.get(visible.name, ())]
        return found[0] if len(found) == 1 else None

    def _named_with_prefix(self) -> dict[str, set[str]]:
        """The columns that the query names with a prefix, by the prefix."""
        if self._qualified is None:
            self._qualified = _qualified_names(self.select)
        return self._qualified

    def _maybe_whole_row(self, name: str) -> ColumnValue | None:
        if not self.analysis.dialect.whole_rows:
            return None
        for visible in self.relations:
            if visible.name == name:
                return self.whole_row(visible)
        return None

    def _row_before_columns(self, name: str) -> ColumnValue | None:
        """BigQuery: the row, or the element of an array, of the relation that a bare name is the alias of.

        In `SELECT item FROM t, UNNEST(t.item) AS item` item is an element, and in `SELECT v FROM t AS v` v is a struct
        of all columns, though t has a column of the name: ZetaSQL takes no such column for what is meant.
        """
        visible = self._names.find_in_any_case(self.relations, name)
        if visible is not None and not isinstance(visible.rows, FunctionColumns):
            return self.whole_row(visible)
        functions = (one.rows for one in self.relations if isinstance(one.rows, FunctionColumns) and not one.hidden)
        found = (value for rows in functions if (value := rows.declared_column(name)) is not None)
        return next(found, None)

    def _elsewhere(self, name: str) -> ColumnValue | None:
        """A name that no relation here can have: a whole row, an earlier output, or the query around."""
        for visible in self.relations:
            if visible.alias == name or (not visible.alias and visible.parts[-1:] == (name,)):
                return self.whole_row(visible)
        alias = self._output(name)
        if alias is not None:
            return alias
        fields = self.analysis.dialect.fields_unnested
        functions = [v.rows for v in self.relations if isinstance(v.rows, FunctionColumns) and (fields or v.rows.open)]
        function = functions[0] if len(functions) == 1 else None
        if self.parent is None:
            return function.field(name) if function is not None else None
        if function is not None and fields:
            outer = self.parent.known_outside(name)
            if outer is None and (function.open or not self.parent.open):
                return function.field(name)
            if outer is not None and function.open:
                return self.one_of([function.field(name), outer], name)
            if outer is None and function.may_have_fields:  # value of `(SELECT value FROM UNNEST(t.params) AS p)`
                guess = self.parent._unprefixed_column(name)
                return function.field(name) if guess is None else self.one_of([function.field(name), guess], name)
        return self.parent._unprefixed_column(name)

    @property
    def open(self) -> bool:
        """Whether a query around, or this one, may have columns that are not known."""
        tables = (visible.rows for visible in self.relations if not isinstance(visible.rows, FunctionColumns))
        return any(rows.open for rows in tables) or (self.parent is not None and self.parent.open)

    def known_outside(self, name: str) -> ColumnValue | None:
        """The value of a name that a query around surely has."""
        visible = (one for scope in self.outward() for one in scope.relations if not one.hidden)
        return next((found for one in visible if (found := one.rows.find(name)) is not None), None)

    def outward(self) -> Iterator[Scope]:
        """This scope and those around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def whole_row(self, visible: ScopedRelation) -> ColumnValue:
        """The value that stands for all columns of a relation, as t does in `SELECT t FROM t` and `COUNT(t)`."""
        rows, label = visible.rows, visible.alias or ".".join(visible.parts)
        fields = rows.value.fields if isinstance(rows, FunctionColumns) and not rows.declared else rows
        return self._whole_of(rows.entries, f"{label}.*").made_of(fields)

    def _all_relations(self) -> ColumnValue:
        """The value that stands for all columns of all relations: STRUCT(*)."""
        return self.whole(self.all_entries(), "*")

    def whole(self, entries: list[Entry], text: str) -> ColumnValue:
        """The value that stands for all of these columns, which are its fields."""
        return self._whole_of(entries, text).made_of(QueryColumns(self.analysis.sources, entries))

    def _whole_of(self, entries: Sequence[Entry], text: str) -> ColumnValue:
        values = values_of(entries, self.analysis.sources)
        return ColumnValue(combine((TRANSFORMATION, value) for value in values)).known_as(text)

    def all_entries(self, changed: Iterable[tuple[tuple[str, ...], str]] = ()) -> list[Entry]:
        """What `*` stands for: each relation's columns but the target's and semi joins', those of USING once.

        Those that are `changed` of one relation alone, by their whole names, have the name beside them then, or go.
        """
        own: dict[int, dict[str, str]] = {}
        for parts, name in changed:
            relation = self.relation(parts[:-1])
            if relation is not None and parts[-1] not in self.merged:  # what is none may be a struct: one field goes
                own.setdefault(id(relation), {})[parts[-1]] = name
        entries: list[list[Entry]] = []
        for number, visible in enumerate(self.relations):
            is_given = not (visible.hidden or visible.written)
            right = _changed_columns(_entries_of(visible.rows), own.get(id(visible), {})) if is_given else []
            entries.append(right)
            for merge in self.merges.get(number, ()):
                left = [entry for each in entries[merge.first : merge.middle] for entry in each]
                right = [entry for each in entries[merge.middle :] for entry in each]
                entries[merge.first :] = [[] for _ in entries[merge.first :]]
                entries[-1] = self._merged_entries(left, right, merge)
        return [entry for each in entries for entry in each]

    def entries_beside_others(self, entries: list[Entry]) -> list[Entry]:
        """The columns of ClickHouse's `*` by what they are called: the second a, which is u's, is u.a.

        Where columns are not known, or USING makes those of more than two sides one, names stay what they are.
        """
        sides = [one for one in self.relations if not one.of_array_join]
        if any(one.rows.open for one in sides) or (self.merges and len(sides) > _TWO_SIDES):
            return entries
        having = {name: [one for one in sides if one.rows.find(name) is not None] for name in _names(entries)}
        count = Counter(_names(entries))
        met = Counter[str]()
        found: list[Entry] = []
        for entry in entries:
            name = entry[0] if isinstance(entry, tuple) else ""
            if isinstance(entry, tuple) and count[name] == len(having[name]) > 1:
                entry = self.name_beside_others(having[name][met[name]], name), entry[1]
                met[name] += 1
            found.append(entry)
        return found

    def own_entries(self, visible: ScopedRelation) -> list[Entry]:
        """What `t.*` stands for: all that t has, in Spark those columns first that USING and NATURAL make one.

        Trino has them in no relation's star. Where t's columns are not known, they are in the order that it will turn
        out to have.
        """
        entries = _entries_of(visible.rows)
        if self.analysis.dialect.own_star_without_merged:
            return without_columns(entries, self._merged_of(visible))
        if not self.merges or not self.analysis.dialect.own_star_merged_first:
            return entries
        position = self.relations.index(visible)
        for number in sorted(self.merges):
            for merge in self.merges[number]:
                own = {entry[0]: entry for entry in entries if isinstance(entry, tuple) and entry[0] in merge.names}
                if merge.first <= position <= number and len(own) == len(merge.names):
                    entries = [*(own[name] for name in merge.names), *without_columns(entries, own)]
        return entries

    def _merged_of(self, visible: ScopedRelation) -> Iterator[str]:
        """The columns of a relation that USING and NATURAL make one with those of others."""
        position = self.relations.index(visible) if self.merges else 0
        for number, merges in self.merges.items():
            for merge in merges:
                if merge.first <= position <= number:
                    yield from merge.names

    def _merged_entries(self, left: list[Entry], right: list[Entry], merge: Merge) -> list[Entry]:
        """The columns of two sides where USING or NATURAL makes some of them one."""
        names, how, merged = merge.names, merge.how, merge.values
        order = self.analysis.dialect.merged_columns
        if order is MergedColumns.AMONG_LEFT:
            return [*_among_left(left, merged, how), *without_columns(right, names)]
        if order is MergedColumns.AS_KEPT_SIDE:
            left, right = (right, left) if how.startswith("RIGHT") else (left, right)
            known = _names(left)
            names = tuple(sorted(names, key=lambda name: known.index(name) if name in known else len(known)))
        return [
            *((name, merged[name]) for name in names),
            *_without_first(left, names),
            *_without_first(right, names),
        ]

    def one_of(self, candidates: Sequence[ColumnValue], name: str) -> ColumnValue:
        """One of the values that a name may mean, which is noted as a problem."""
        self.analysis.problem(ProblemKind.AMBIGUOUS_COLUMN, name)
        return self.analysis.sources.one_of(candidates, name)


def _dotted_column(rows: AnyRows, parts: tuple[str, ...]) -> ColumnValue | None:
    """ClickHouse: the column n.x that `n.x` names, or the field y of that; None where there is none."""
    for end in range(len(parts), 1, -1):
        found = rows.find(".".join(parts[:end]))
        if found is not None:
            return field_of(found, parts[end:]) if parts[end:] else found
    return None


def outputs_in_list(dialect: Dialect) -> OutputNames:
    """Whether an output may use those before it: `SELECT a AS b, b + 1`."""
    return OutputNames.LATERAL if dialect.lateral_aliases else OutputNames.HIDDEN


def _is_position(name: str) -> bool:
    return name.startswith("$") and name[1:].isdigit()
