"""Tables of Flink, which are names for topics, tables and files elsewhere: scripts with these in their place.

`CREATE TABLE o (id INT, twice AS id * 2) WITH ('connector' = 'kafka', 'topic' = 'orders', …)` makes nothing: it says
how the topic is called in this script. So that data is followed from where it is to where it goes, each name is
replaced by what it stands for, and a column that is computed by its expression. What a user would look for is the
topic, not the name that one script has for it; a table that is nowhere else (datagen, print, a catalog's own) stays
what it is called.

Options are values of a user's: of them only the place is taken, and none is left in the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.flink_connectors import (
    BYTES,
    CHANGES,
    FILES,
    NESTED_TYPES,
    OTHER_TYPE,
    SIMPLE_TYPES,
    TOPICS,
    WAREHOUSES,
    WINDOW_BOUNDS,
    WINDOWS,
)
from ingestion.dialects.relations import WrittenRelation, relation_at
from ingestion.dialects.unfilled_templates import is_unfilled
from ingestion.model.engine_names import JdbcUrl, Parts, jdbc_url
from ingestion.model.storage_paths import location as path_name
from ingestion.model.topics import cluster_of, is_topic_name, plain_names, topic_path

TableNaming = Callable[[JdbcUrl, Parts], Parts]
"""The whole name of a table behind an address, by what its connector calls it."""

_PLAIN_TYPE = re.compile(r"[A-Za-z_]+(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?")
_PLAIN_NAME = re.compile(r"[\w.$-]+\Z")
_HINT = re.compile(r"/\*\+")
_NAMING = ("topic", "path", "table-name", "collection", "database-name", "database", "schema-name", "catalog-name",
           "catalog-database", "catalog-table")  # fmt: skip
"""Options that name what a table stands for, and not where that is."""
_QUERIES = keywords("select with insert create execute explain values replace begin end from (")
_NO_NAMED_RELATION = keywords("lateral table unnest select")
_NO_COLUMN = keywords("primary unique constraint watermark period partition")
_PARTITIONS = keywords("partition distribution")
_AFTER_OUTPUTS = keywords("from where union intersect except minus order limit fetch offset")


@dataclass(frozen=True, slots=True)
class ConnectorTable:
    """A table of a script: its name, its columns in their place with their types, those that it computes.

    `locations`: the relations that it stands for, none where it is one by itself; of several it is read, and what is
    written into it is not told which it goes to. `like`: the table that it begins as, and what it leaves out of that.
    `options` say where its data is, and hold secrets: they go nowhere. `order` has the names of all columns as they
    were written, `written_metadata` those that an INSERT fills and no message has as a field. `name` is the whole name,
    by what USE said before it. `is_altered`: its columns are others, or stand elsewhere, than when it was made.
    """

    parts: Parts
    columns: tuple[tuple[str, str], ...] = ()
    computed: tuple[tuple[str, str], ...] = ()
    locations: tuple[Parts, ...] = ()
    like: Parts | None = None
    excluded: frozenset[str] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    order: tuple[str, ...] = ()
    written_metadata: frozenset[str] = frozenset()
    name: Parts = ()
    is_temporary: bool = False
    is_altered: bool = False

    @property
    def location(self) -> Parts | None:
        """The one relation that it stands for, for what is written into it."""
        return self.locations[0] if len(self.locations) == 1 else None

    def relation(self, quote: Callable[[str], str]) -> str:
        """What is written."""
        return ".".join(map(quote, self.location or self.parts))

    def query(self, quote: Callable[[str], str], *, has_star: bool = True) -> str:
        """What a FROM has for it, without an alias; with `has_star` a `SELECT *` asks for its columns in their order.

        Two tables of one topic may have other fields of it, or them in another order: what `*` means, the name tells.
        """
        listed = self.computed or (has_star and (self.locations or self.is_altered) and self.order)
        relations = [".".join(map(quote, one)) for one in self.locations] or [self.relation(quote)]
        if not listed and len(relations) == 1:
            return relations[0]
        made = {name: f"{expression} AS {quote(name)}" for name, expression in self.computed}
        # By `SELECT *` a computed column comes where it was written, between the others.
        columns = ", ".join(made.get(name) or quote(name) for name in self.order) or "*"
        return f"({' UNION ALL '.join(f'SELECT {columns} FROM {one}' for one in relations)})"

    def may_be_called(self, parts: Parts) -> bool:
        """Whether a name, of which what is left out may be anything, means this table."""
        both = list(zip(reversed(parts), reversed(self.name or self.parts), strict=False))
        return bool(both) and all(one == other or not (one and other) for one, other in both)

    def filled_columns(self) -> tuple[str, ...]:
        """The columns that an INSERT without a list of them fills, in their order: metadata that it sets among them."""
        if not self.location and not self.written_metadata and not self.is_altered:
            return ()
        stored = {*(name for name, _type in self.columns), *self.written_metadata}
        return tuple(name for name in self.order if name in stored)


@dataclass(slots=True)
class ConnectorTables:
    """The tables of scripts, one defined behind the other; `naming` says what tables elsewhere are called."""

    dialect: Dialect
    naming: TableNaming
    _defined: dict[str, list[ConnectorTable]] = field(default_factory=lambda: defaultdict(list))
    _catalogs: dict[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    def define(self, table: ConnectorTable) -> None:
        self._defined[_last_part(table)].append(table)

    def of(self, parts: Parts) -> ConnectorTable | None:
        """The table that a name means: the one that was defined last of those that may be called so.

        A temporary one goes before all others of its name.
        """
        found = [table for table in reversed(self._namesakes(parts)) if table.may_be_called(parts)]
        return next((table for table in found if table.is_temporary), found[0] if found else None)

    def _namesakes(self, parts: Parts) -> list[ConnectorTable]:
        """Those whose own name is the last part of a name, in the order in which they were defined."""
        return self._defined.get(parts[-1], []) if parts else []

    def add_catalog(self, name: str, options: Mapping[str, str]) -> None:
        """A catalog, whose tables nobody defines: they are there."""
        self._catalogs[name] = options

    def has_catalog(self, parts: Parts) -> bool:
        """Whether a whole name is in a catalog that a script has made."""
        return len(parts) == 3 and parts[0] in self._catalogs

    def of_catalog(self, parts: Parts) -> ConnectorTable | None:
        """What a whole name in a catalog of tables elsewhere stands for: `pg.shop.`web.orders``."""
        catalog, database, table = parts
        options, location = self._catalogs[catalog], None
        database = database or options.get("default-database", "")
        if options.get("type") == "jdbc":
            url = jdbc_url(f"{options.get('base-url', '').rstrip('/')}/{database}")
            location = self.naming(url, tuple(table.split("."))) if url is not None and database else None
        elif options.get("type") in WAREHOUSES and "://" in options.get("warehouse", "") and database:
            location = (path_name(f"{options['warehouse'].rstrip('/')}/{database}.db/{table}").dotted,)
        return ConnectorTable(parts, locations=(location,), name=parts) if location is not None else None

    def drop(self, parts: Parts, *, temporary: bool = False) -> None:
        """Without the table of a name, of which those that are `temporary` are others."""
        found = [one for one in self._namesakes(parts) if one.is_temporary == temporary and one.may_be_called(parts)]
        self.forget([one for one in found if one.name == found[-1].name])

    def drop_all(self, above: Parts) -> None:
        """Without the tables of a catalog, or of a database."""
        self.forget([one for one in self if one.name[:-1][: len(above)] == above])

    def end_session(self) -> None:
        """What was temporary hides nothing of later scripts."""
        for table in [one for one in self if one.is_temporary]:
            self.forget([table])
            self.define(replace(table, is_temporary=False))

    def forget(self, tables: Iterable[ConnectorTable]) -> None:
        """Without these, which end with their session."""
        for table in tables:
            called = self._defined[_last_part(table)]
            called[:] = [one for one in called if one is not table]

    def __iter__(self) -> Iterator[ConnectorTable]:
        return chain.from_iterable(self._defined.values())


def _last_part(table: ConnectorTable) -> str:
    return (table.name or table.parts)[-1]


def _own_name(url: JdbcUrl, parts: Parts) -> Parts:
    """Where nothing says which service is at an address, the name within it."""
    return parts if not url.database or url.database in parts[:-1] else (url.database, *parts)


def with_locations(script: str, dialect: Dialect, tables: ConnectorTables | None = None) -> str:
    """A script with what its tables stand for, on the same lines; `tables` has those of other scripts, and gets these.

    Raises Unparsable for a text whose quotes do not pair.
    """
    code = Code.of(script, dialect)
    known = tables or ConnectorTables(dialect, _own_name)
    own: list[tuple[tuple[int, int], Parts, ConnectorTable | None]] = []
    later = ConnectorTables(dialect, known.naming)
    for statement, scope in _with_scopes(code, _statements(code)):
        made = _definition(code, statement)
        own.append((statement, scope, made))
        if made is not None:
            later.define(_complete(made, later, scope))
    edits: list[Edit] = [*_hints(code)]
    session = _Session(code, known)
    for statement, scope, made in own:
        names = _StatementNames(code, known, later, scope)
        edits += session.definition(statement, made, names) if made is not None else session.change(statement, names)
    known.forget(session.views)
    known.end_session()
    return _apply(script, edits)


@dataclass
class _Session:
    """A script on its way: what its statements do to the tables that are `known`. `views` end with it."""

    code: Code
    known: ConnectorTables
    views: list[ConnectorTable] = field(default_factory=list)
    _own: set[tuple[Parts, bool]] = field(default_factory=set)
    _set_runs_nothing: bool = False

    def definition(self, statement: tuple[int, int], made: ConnectorTable, names: _StatementNames) -> Iterator[Edit]:
        """What a CREATE TABLE becomes; one IF NOT EXISTS of a table that the script has made changes nothing."""
        made = _complete(made, self.known, names.scope)
        query = _query_of(self.code, statement)
        if (made.name, made.is_temporary) in self._own and _is_if_not_exists(self.code, statement):
            yield self.code.edit(*_inside(statement))
            return
        if query is not None:
            made = _with_columns_of(self.code, (query, statement[1]), made)
        yield from _definition_edits(self.code, statement, made)
        yield from names.edits((query, statement[1])) if query is not None else ()
        self.known.define(made)
        self._own.add((made.name, made.is_temporary))

    def change(self, statement: tuple[int, int], names: _StatementNames) -> Iterator[Edit]:
        """What any other statement becomes, with what it does to tables."""
        code, known, scope = self.code, self.known, names.scope
        if self._runs_nothing(statement):
            yield code.edit(*_inside(statement), "EXPLAIN SELECT 1")
            return
        if code.stands(statement[0], "create", "catalog") and code.is_name(statement[0] + 2):
            known.add_catalog(code.name(statement[0] + 2), _options(code, *statement))
        altered = _altered_table(code, statement, known, scope)
        if altered is not None:
            known.define(altered.table)
            yield from altered.edits
            return
        yield from names.edits(statement)
        _drop(self, statement, scope)
        view = _view(code, statement, scope)
        if view is not None:
            known.define(view)
            self.views += [view] * view.is_temporary

    def _runs_nothing(self, statement: tuple[int, int]) -> bool:
        """Whether a statement is only explained, or compiled to a plan that the script does not execute."""
        code, first = self.code, statement[0]
        if code.word(first) == "end" and self._set_runs_nothing:
            self._set_runs_nothing = False
            return True
        planned = code.word(first) == "compile" and not code.stands(first + 1, "and", "execute")
        idle = (planned and code.without_quotes(first + 2) not in self._executed_plans) or code.word(first) == "explain"
        begins = any(code.stands(at, "statement", "set", "begin") for at in range(first, min(first + 9, statement[1])))
        self._set_runs_nothing |= idle and begins
        return idle or self._set_runs_nothing

    @cached_property
    def _executed_plans(self) -> frozenset[str]:
        code = self.code
        return frozenset(
            code.without_quotes(at + 2) for at in range(len(code.tokens) - 2) if code.stands(at, "execute", "plan")
        )

    def forget_own(self, parts: Parts, *, temporary: bool) -> None:
        """A table of a name is made anew by a later CREATE TABLE IF NOT EXISTS."""
        self._own = {one for one in self._own if one[1] != temporary or not _may_be(one[0], parts)}


def _may_be(name: Parts, parts: Parts) -> bool:
    return ConnectorTable(name, name=name).may_be_called(parts)


def _inside(statement: tuple[int, int]) -> tuple[int, int]:
    return statement[0], statement[1] - 1


def _drop(session: _Session, statement: tuple[int, int], scope: Parts) -> None:
    """`DROP [TEMPORARY] TABLE t`, `DROP VIEW v`, `DROP DATABASE d`, `DROP CATALOG c`."""
    code, at = session.code, statement[0] + 1
    if code.word(statement[0]) != "drop":
        return
    temporary = code.word(at) in ("temporary", "temp")
    kind = code.word(at + temporary)
    at += temporary + 1
    at += 2 if code.stands(at, "if", "exists") else 0
    parts, _end = code.dotted_name(at)
    if not parts:
        return
    if kind in ("table", "view"):
        session.known.drop(_whole(parts, scope), temporary=temporary)
        session.forget_own(_whole(parts, scope), temporary=temporary)
    elif kind in ("database", "catalog"):
        session.known.drop_all(_whole(parts, scope[:1]) if kind == "database" else parts)


def _is_if_not_exists(code: Code, statement: tuple[int, int]) -> bool:
    return any(code.stands(at, "table", "if", "not", "exists") for at in range(statement[0], statement[0] + 3))


def _with_scopes(code: Code, statements: Iterable[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], Parts]]:
    """Each statement with the catalog and the database that it runs in, "" where USE has not told the one."""
    scope: Parts = ()
    for first, last in statements:
        yield (first, last), scope
        if code.stands(first, "use", "catalog") and code.is_name(first + 2):
            scope = (code.name(first + 2), "")  # the database is what the catalog has for one
        elif code.word(first) == "use" and code.is_name(first + 1) and code.word(first + 1) != "modules":
            named, _end = code.dotted_name(first + 1)
            scope = (*(scope[:1] or ("",)), *named)[-2:]


def _whole(parts: Parts, scope: Parts) -> Parts:
    """A name with what USE says before it."""
    return (*scope[: max(0, len(scope) + 1 - len(parts))], *parts)


def _view(code: Code, statement: tuple[int, int], scope: Parts) -> ConnectorTable | None:
    """A view as a table that stands for nothing: it hides the tables that were called so before."""
    at = statement[0] + 1
    if code.word(statement[0]) != "create":
        return None
    at += 2 if code.stands(at, "or", "replace") else 0
    temporary = code.word(at) in ("temporary", "temp")
    at += temporary
    if code.word(at) != "view":
        return None
    at += 4 if code.stands(at + 1, "if", "not", "exists") else 1
    parts, _end = code.dotted_name(at)
    return ConnectorTable(parts, name=_whole(parts, scope), is_temporary=temporary) if parts else None


@dataclass(frozen=True, slots=True)
class _Alteration:
    """A table after a statement, and what the statement becomes."""

    table: ConnectorTable
    edits: tuple[Edit, ...] = ()


def _altered_table(code: Code, statement: tuple[int, int], known: ConnectorTables, scope: Parts) -> _Alteration | None:
    """`ALTER TABLE t SET ('topic' = 'b')` leads elsewhere from then on, `ALTER TABLE t RENAME TO u` is called so.

    What ADD, MODIFY, DROP and RENAME do to columns is done to those that the table's definition has: a topic's own
    are no others by that.
    """
    first, last = statement
    if not code.stands(first, "alter", "table"):
        return None
    at = first + (4 if code.stands(first + 2, "if", "exists") else 2)
    parts, end = code.dotted_name(at)
    table = known.of(_whole(parts, scope)) if parts else None
    if table is None:
        return None
    if code.word(end) in ("set", "reset"):
        options = _options_in(code, end, last)
        gone = _strings_in(code, end, last) if code.word(end) == "reset" else frozenset()
        kept = {key: value for key, value in {**table.options, **options}.items() if key not in gone}
        return _Alteration(replace(table, options=kept, locations=_locations_of(kept, table.parts, known)))
    if code.stands(end, "rename", "to"):
        renamed, _end = code.dotted_name(end + 2)
        return _Alteration(replace(table, parts=renamed, name=_whole(renamed, scope)))
    changed = _with_altered_columns(code, (end, last), table)
    if changed is None:
        return None
    quote = _quote_of(code.dialect)
    return _Alteration(changed, (code.edit(first, last - 1, _change_text(table, changed, quote)),))


def _strings_in(code: Code, first: int, last: int) -> frozenset[str]:
    return frozenset(code.without_quotes(at) for at in range(first, last) if code.is_string(at))


def _with_altered_columns(code: Code, change: tuple[int, int], table: ConnectorTable) -> ConnectorTable | None:
    """A table after `ADD (b INT AFTER a)`, `MODIFY c AS a * 2 FIRST`, `DROP (a, b)`, `RENAME a TO b`."""
    first, last = change
    word = code.word(first)
    inner = (first + 2, min(code.closing(first + 1), last)) if code.word(first + 1) == "(" else (first + 1, last)
    if word == "rename" and code.word(first + 2) == "to":
        return _with_renamed(table, code.column(first + 1), code.column(first + 3))
    if word == "drop" and code.word(first + 1) not in _NO_COLUMN:
        return _without_columns(table, frozenset(code.column(begin) for begin, _end in code.items(*inner)))
    if word not in ("add", "modify") or code.word(first + 1) in _PARTITIONS:
        return None
    for begin, end in _items(code, *inner):
        after, end = _position(code, begin, end)
        column = _column(code, (begin, end))
        if column is not None:
            table = _with_column(table, column, after)
    return replace(table, is_altered=True)


def _position(code: Code, first: int, last: int) -> tuple[str | None, int]:
    """Where a column is put: "" before all others, behind that of a name, or None where nothing says it."""
    if code.word(last - 1) == "first" and last - first > 1:
        return "", last - 1
    if code.word(last - 2) == "after" and last - first > 2:
        return code.column(last - 1), last - 2
    return None, last


def _without_columns(table: ConnectorTable, gone: frozenset[str]) -> ConnectorTable:
    return replace(
        table,
        columns=tuple(one for one in table.columns if one[0] not in gone),
        computed=tuple(one for one in table.computed if one[0] not in gone),
        order=tuple(name for name in table.order if name not in gone),
        written_metadata=table.written_metadata - gone,
        is_altered=True,
    )


def _with_column(table: ConnectorTable, column: _Column, after: str | None) -> ConnectorTable:
    """A table with a column, in the place of the one of its name where nothing says another."""
    rest = [name for name in table.order if name != column.name]
    at = table.order.index(column.name) if column.name in table.order else len(rest)
    if after is not None:
        at = rest.index(after) + 1 if after in rest else 0
    order = (*rest[:at], column.name, *rest[at:])
    table = _without_columns(table, frozenset({column.name}))
    if column.expression is None:
        table = replace(table, columns=(*table.columns, (column.name, column.type)))
    else:
        table = replace(table, computed=(*table.computed, (column.name, column.expression)))
    written = table.written_metadata | {column.name} if column.is_written else table.written_metadata
    return replace(table, order=order, written_metadata=written)


def _with_renamed(table: ConnectorTable, old: str, new: str) -> ConnectorTable:
    def rename(name: str) -> str:
        return new if name == old else name

    return replace(
        table,
        columns=tuple((rename(name), type_) for name, type_ in table.columns),
        computed=tuple((rename(name), expression) for name, expression in table.computed),
        order=tuple(map(rename, table.order)),
        written_metadata=frozenset(map(rename, table.written_metadata)),
        is_altered=True,
    )


def _change_text(before: ConnectorTable, after: ConnectorTable, quote: Callable[[str], str]) -> str:
    """What a change of columns is to the relation: to a topic another definition, to a table of Flink's own itself."""
    old, new = dict(before.columns), dict(after.columns)
    gone = [quote(name) for name in old if name not in new]
    made = {quote(name): type_ for name, type_ in after.columns if name not in old}
    if after.locations or not (gone or made):
        return _definition_text(after, quote)
    change = f"ALTER TABLE {after.relation(quote)}"
    if gone and made:  # no other change has both
        return f"{change} RENAME COLUMN {gone[0]} TO {next(iter(made))}"
    listed = ", ".join(f"{name} {type_}".rstrip() for name, type_ in made.items())
    return f"{change} ADD COLUMNS ({listed})" if made else f"{change} DROP COLUMNS ({', '.join(gone)})"


def _apply(text: str, edits: Iterable[Edit]) -> str:
    parts, position = [], 0
    for start, end, new in sorted(edits):
        if start < position:
            continue
        lines = text.count("\n", start, end) - new.count("\n")
        parts += [text[position:start], new, "\n" * lines]
        position = end
    return "".join([*parts, text[position:]])


def _hints(code: Code) -> Iterator[Edit]:
    """Hints are options: `FROM t /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */`."""
    position = 0
    for index in range(len(code.tokens) + 1):
        start = code.start_of(index)
        if _HINT.search(code.text, position, start):
            yield position, start, " "
        position = code.end_of(index)


def _statements(code: Code) -> Iterator[tuple[int, int]]:
    """From where to where each statement goes, without the words around the statements of a set of them."""
    begin = depth = 0
    for index in range(len(code.tokens) + 1):
        word = code.word(index) if index < len(code.tokens) else ";"
        depth += (word == "(") - (word == ")")
        if (word == ";" and depth <= 0) or index == len(code.tokens):
            if begin < index:
                yield begin, index
            begin, depth = index + 1, 0


# What a CREATE TABLE says.


def _definition(code: Code, statement: tuple[int, int]) -> ConnectorTable | None:
    first, last = statement
    at = first + 1
    if code.word(first) not in ("create", "replace"):
        return None
    if code.stands(at, "or", "replace"):
        at += 2
    temporary = code.word(at) in ("temporary", "temp")
    at += temporary
    if code.word(at) != "table":
        return None
    at += 1
    if code.stands(at, "if", "not", "exists"):
        at += 3
    parts, at = code.dotted_name(at)
    columns: list[_Column] = []
    if code.word(at) == "(":
        end = min(code.closing(at), last)
        columns += (one for item in _items(code, at + 1, end) if (one := _column(code, item)) is not None)
        at = end + 1
    like, excluded = _like(code, at, last)
    if not parts:
        return None
    return ConnectorTable(
        parts,
        tuple((one.name, one.type) for one in columns if one.expression is None),
        tuple((one.name, one.expression) for one in columns if one.expression is not None),
        like=like,
        excluded=excluded,
        options=_options(code, at, last),
        order=tuple(one.name for one in columns),
        written_metadata=frozenset(one.name for one in columns if one.is_written),
        is_temporary=temporary,
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: of a `type`, or made of an `expression`; `is_written`: of a message's metadata that an INSERT sets."""

    name: str
    type: str = ""
    expression: str | None = None
    is_written: bool = False


def _column(code: Code, item: tuple[int, int]) -> _Column | None:
    """`a INT NOT NULL`, `b AS a * 2`, `ts TIMESTAMP(3) METADATA FROM 'timestamp'`; None for a constraint.

    What comes from a message's metadata is a column that is made of no field.
    """
    first, last = item
    if code.word(first) in _NO_COLUMN or not code.is_name(first):
        return None
    name = code.column(first)
    if code.word(first + 1) == "as":
        return _Column(name, expression=code.between(first + 2, _until(code, first + 2, last, "comment")))
    depth = 0
    for index in range(first + 1, last):
        depth += (code.word(index) in ("(", "<")) - (code.word(index) in (")", ">"))
        if code.word(index) == "metadata" and depth == 0:  # within ROW<…> it is the name of a field
            virtual = any(code.word(at) == "virtual" for at in range(index, last))
            return _Column(name, expression="NULL", is_written=not virtual)
    return _Column(name, _type(code, first + 1, last))


def _items(code: Code, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The stretches between commas, of which those in `ROW<a INT, b INT>` are none."""
    begin, depth = first, 0
    for index in range(first, last + 1):
        word = code.word(index) if index < last else ","
        depth += (word in ("(", "<")) - (word in (")", ">"))
        if word == "," and (depth == 0 or index == last):
            if begin < index:
                yield begin, index
            begin = index + 1


def _type(code: Code, first: int, last: int) -> str:
    """A column's type in the words of Spark."""
    word = code.word(first)
    if word == "bytes":
        return BYTES
    if word in NESTED_TYPES and code.word(first + 1) == "<":
        closed = next((at for at in range(last - 1, first, -1) if code.word(at) == ">"), first)
        inner = code.between(first, closed + 1)
        return inner if not re.search(r"(?i)\b(?:row|multiset|bytes|null)\b", inner) else OTHER_TYPE
    plain = _PLAIN_TYPE.match(code.between(first, last)) if word in SIMPLE_TYPES else None
    return plain[0] if plain is not None else OTHER_TYPE


def _until(code: Code, first: int, last: int, word: str) -> int:
    return code.find(first, frozenset({word}), last)


def _options(code: Code, first: int, last: int) -> dict[str, str]:
    """The options in WITH ('connector' = 'kafka', …)."""
    return _options_in(code, _until(code, first, last, "with"), last)


def _options_in(code: Code, at: int, last: int) -> dict[str, str]:
    """The options in parentheses behind the word at `at`."""
    found: dict[str, str] = {}
    if at < last and code.word(at + 1) == "(":
        for begin, end in code.items(at + 2, min(code.closing(at + 1), last)):
            if end - begin == 3 and code.is_string(begin) and code.word(begin + 1) == "=" and code.is_string(end - 1):
                found[code.without_quotes(begin)] = code.without_quotes(end - 1)
    return found


def _like(code: Code, first: int, last: int) -> tuple[Parts | None, frozenset[str]]:
    """The table that one is LIKE, and what of it is left out: `LIKE t (EXCLUDING OPTIONS)`."""
    at = _until(code, first, last, "like")
    if at >= last:
        return None, frozenset()
    parts, end = code.dotted_name(at + 1)
    left_out = frozenset(code.word(index + 1) for index in range(end, last) if code.word(index) == "excluding")
    return parts or None, left_out


def _complete(table: ConnectorTable, known: ConnectorTables, scope: Parts) -> ConnectorTable:
    """A table with its place, and with what it has of the one that it is LIKE, in front of its own."""
    table = replace(table, name=_whole(table.parts, scope))
    base = known.of(_whole(table.like, scope)) if table.like is not None else None
    if base is None:
        return replace(table, locations=_locations_of(table.options, table.parts, known))
    own = {name for name, _ in (*table.columns, *table.computed)}
    made = () if table.excluded & {"all", "generated"} else base.computed
    taken = {name for name, _ in (*base.columns, *made)} - own
    inherited = {} if table.excluded & {"all", "options"} else base.options
    options = {**inherited, **table.options}
    return replace(
        table,
        columns=(*(one for one in base.columns if one[0] not in own), *table.columns),
        computed=(*(one for one in made if one[0] not in own), *table.computed),
        locations=_locations_of(options, table.parts, known),
        options=options,
        order=(*(name for name in base.order if name in taken), *table.order),
        written_metadata=(base.written_metadata & taken) | table.written_metadata,
    )


# Where a table's data is, by its options.


def _locations_of(options: Mapping[str, str], parts: Parts, known: ConnectorTables) -> tuple[Parts, ...]:
    """The relations that a connector leads to; none where it leads to none, or not to one that can be told."""
    connector = options.get("connector", "")
    templated = next((key for key in _NAMING if is_unfilled(options.get(key, ""))), None)
    if templated is not None and connector:
        return ((f"${{{templated}}}",),)  # a name by which each statement about it is told to be a template
    if connector in TOPICS:
        return _topics(options)
    if connector in FILES:
        path = options.get("path", "")
        return ((path_name(path).dotted,),) if "://" in path else ()
    if connector == "jdbc":
        table = _table_at(jdbc_url(options.get("url", "")), options.get("table-name", ""), known)
        return (table,) if table is not None else ()
    if connector in CHANGES:
        return _changed_tables(CHANGES[connector], options, known)
    if connector == "iceberg":
        name = options.get("catalog-table", parts[-1] if parts else "")
        named = (options.get("catalog-name", ""), options.get("catalog-database", ""), name)
        return (named,) if all(map(_PLAIN_NAME.match, named)) else ()
    return ()


def _topics(options: Mapping[str, str]) -> tuple[Parts, ...]:
    """One topic, a list of them (`a;b`), or those that a pattern has for a choice: `shop\\.(orders|items)`."""
    cluster = cluster_of(options.get("properties.bootstrap.servers", ""))
    topics = [one for one in (part.strip() for part in options.get("topic", "").split(";")) if one]
    topics = topics or [*(plain_names(options.get("topic-pattern", "")) or ())]
    if not cluster or not all(map(is_topic_name, topics)):
        return ()
    return tuple((topic_path(cluster, one),) for one in dict.fromkeys(topics))


def _table_at(url: JdbcUrl | None, name: str, known: ConnectorTables) -> Parts | None:
    if url is None or not _PLAIN_NAME.match(name) or is_unfilled(url.host):
        return None
    if is_unfilled(url.database):
        return ("${url}",)
    return known.naming(url, tuple(name.split(".")))


def _changed_tables(system: str, options: Mapping[str, str], known: ConnectorTables) -> tuple[Parts, ...]:
    """The tables whose changes are read; a pattern that is more than a choice names none."""
    host, port = options.get("hostname", ""), options.get("port", "")
    host = host or options.get("hosts", "").partition(",")[0].rpartition("@")[2]
    host, _, inner = host.partition(":")
    port = port or inner
    database = options.get("database-name") or options.get("database") or ""
    schema = options.get("schema-name", "")
    address = JdbcUrl(system, host.lower(), int(port) if port.isdigit() else None, database)
    found = []
    for written in plain_names(options.get("table-name") or options.get("collection") or "") or ():
        table = written.removeprefix(f"{database}.").rpartition(".")[2]
        named = [part for part in (database, schema, table) if part]
        if not host or not table or not all(map(_PLAIN_NAME.match, named)):
            return ()
        found.append(known.naming(address, tuple(named)))
    return tuple(dict.fromkeys(found))


# What a statement reads and writes.


def _definition_edits(code: Code, statement: tuple[int, int], table: ConnectorTable) -> Iterator[Edit]:
    """`CREATE TABLE … WITH (…)` as a definition of the columns that are there, or AS what fills it."""
    first, last = statement
    quote = _quote_of(code.dialect)
    query = _query_of(code, statement)
    if query is None:
        yield code.edit(first, last - 1, _definition_text(table, quote))
        return
    relation, listed = table.relation(quote), _columns_of_query_text(code, query, last, table)
    yield code.edit(first, query - 1, f"CREATE TABLE {relation} AS {f'SELECT {listed} FROM (' if listed else ''}")
    if listed:
        yield code.end_of(last - 1), code.end_of(last - 1), f") AS {quote('made')}"


def _definition_text(table: ConnectorTable, quote: Callable[[str], str]) -> str:
    """The columns that are there, of each relation that a table stands for."""
    types = dict(table.columns)
    columns = ", ".join(f"{quote(name)} {types[name]}".rstrip() for name in table.order if name in types)
    mode = "IF NOT EXISTS " if table.locations or table.is_altered or not columns else ""
    relations = [".".join(map(quote, one)) for one in table.locations]
    if table.location is None:
        relations.append(table.relation(quote))  # of several topics none is what is written into
    return "; ".join(f"CREATE TABLE {mode}{one}{f' ({columns})' if columns else ''}" for one in relations)


def _columns_of_query_text(code: Code, query: int, last: int, table: ConnectorTable) -> str:
    """What a table that a query makes has, where it lists columns of its own: these first, then the query's others."""
    given = _outputs_of(code, query, last)
    if not table.columns or not given:
        return ""
    quote, computed = _quote_of(code.dialect), {name for name, _expression in table.computed}
    stored = (name for name in table.order if name not in computed)
    return ", ".join(quote(name) if name in given else f"NULL AS {quote(name)}" for name in stored)


def _with_columns_of(code: Code, query: tuple[int, int], table: ConnectorTable) -> ConnectorTable:
    """A table that a query makes, with the columns that this gives it behind its own."""
    if not table.order:
        return table
    given = _outputs_of(code, *query)
    columns = (*table.columns, *((name, "") for name in given if name not in table.order))
    return replace(table, columns=columns, order=tuple(dict.fromkeys((*table.order, *given))))


def _outputs_of(code: Code, first: int, last: int) -> tuple[str, ...]:
    """What the columns of a query are called: `SELECT id, a.price, x * 2 AS y FROM …`; none where that is not said."""
    if code.word(first) != "select":
        return ()
    begin = first + 1 + (code.word(first + 1) in ("all", "distinct"))
    found = []
    for start, end in code.items(begin, code.find(begin, _AFTER_OUTPUTS, last)):
        is_name = end - start == 1 or code.word(end - 2) in (".", "as") or code.word(end - 2) == ")"
        if not is_name or not code.is_name(end - 1):
            return ()
        found.append(code.column(end - 1))
    return tuple(found)


def _query_of(code: Code, statement: tuple[int, int]) -> int | None:
    """Where the query of CREATE TABLE … AS SELECT … begins; a computed column has an AS too, inside parentheses."""
    first, last = statement
    at = code.find(first, frozenset({"as"}), last)
    return at + 1 if at < last and code.word(at + 1) in ("select", "with", "(") else None


def _quote_of(dialect: Dialect) -> Callable[[str], str]:
    """What puts a name in quotes."""
    mark = dialect.name_quotes[0]
    return lambda name: f"{mark}{name.replace(mark, mark * 2)}{mark}"


@dataclass(frozen=True, slots=True)
class _Around:
    """What is around the relations of a statement: the `items` of its WITH, and whether a `*` stands for columns."""

    items: frozenset[str]
    has_star: bool


@dataclass(frozen=True, slots=True)
class _StatementNames:
    """The names in the statements of a script: what was `known` when each ran, and what is defined `later`.

    `scope`: the catalog and the database that USE has said.
    """

    code: Code
    known: ConnectorTables
    later: ConnectorTables
    scope: Parts = ()

    def edits(self, statement: tuple[int, int]) -> Iterator[Edit]:
        first, last = self._inside_set(*statement)
        if first > statement[0]:
            yield self.code.edit(statement[0], first - 1)
        if first >= last:
            return
        if (end := self._view_of_materialized(first, last)) is not None:
            yield end
        if (changed := self._changed_table(first)) is not None:
            yield from self._target(changed)
        yield from self._windows(first, last)
        around = _Around(self._items_of_with(first, last), has_star=self._has_star(first))
        groups = [self.code.word(first)]
        for index in range(first, last):
            word = self.code.word(index)
            if word == "(":
                groups.append(self.code.word(index + 1) or "name")
            elif word == ")" and len(groups) > 1:
                groups.pop()
            elif word in ("from", "join") and groups[-1] in _QUERIES and not self._is_comparison(index):
                yield from self._relations(index + 1, last, around)
            elif word in ("into", "overwrite") and self.code.word(index - 1) == "insert":
                yield from self._target(index + 1, is_filled=True)

    def _changed_table(self, first: int) -> int | None:
        """Where the table stands that UPDATE, DELETE FROM or TRUNCATE TABLE changes."""
        words = {"update": 1, "delete": 2, "truncate": 2}
        return first + words[self.code.word(first)] if self.code.word(first) in words else None

    def _inside_set(self, first: int, last: int) -> tuple[int, int]:
        """Without EXECUTE STATEMENT SET BEGIN, BEGIN STATEMENT SET and END, which only hold statements together."""
        code = self.code
        if code.stands(first, "compile"):
            first = code.find(first, frozenset({"for"}), last) + 1
        if code.stands(first, "execute", "statement", "set", "begin"):
            first += 4
        elif code.stands(first, "begin", "statement", "set") or code.stands(first, "statement", "set", "begin"):
            first += 3
        elif (code.word(first) == "execute" and code.word(first + 1) in ("insert", "select")) or (
            code.word(first) == "end" and last == first + 1
        ):
            first += 1
        return first, last

    def _view_of_materialized(self, first: int, last: int) -> Edit | None:
        """`CREATE MATERIALIZED TABLE t … FRESHNESS = … AS SELECT …` is a view that is kept."""
        code = self.code
        if not code.stands(first, "create", "materialized", "table"):
            return None
        query = code.find(first, frozenset({"as"}), last)
        parts, _end = code.dotted_name(first + 3)
        name = ".".join(map(_quote_of(code.dialect), parts))
        return code.edit(first, query - 1, f"CREATE VIEW {name} ") if query < last else None

    def _is_comparison(self, index: int) -> bool:
        """Whether it is the FROM of `a IS NOT DISTINCT FROM b`."""
        return self.code.word(index - 1) == "distinct" and self.code.word(index - 2) in ("is", "not")

    def _items_of_with(self, first: int, last: int) -> frozenset[str]:
        """The names of WITH items, which hide tables."""
        code, found = self.code, set()
        for index in range(first, last):
            if (
                code.word(index) == "("
                and code.word(index - 1) == "as"
                and code.word(index + 1) in ("select", "with", "(")
            ):
                at = index - 2
                at = code.opening(at) - 1 if code.word(at) == ")" else at
                if at > first and code.word(at - 1) in ("with", ",", "recursive"):
                    found.add(code.name(at))
        return frozenset(found)

    def _relations(self, index: int, last: int, around: _Around) -> Iterator[Edit]:
        """The tables of `FROM a, b AS c JOIN …` up to its first other thing."""
        code = self.code
        while index < last and code.word(index) not in _NO_NAMED_RELATION:
            found = relation_at(code, index)
            if found.is_call or found.end == index:
                return
            if found.parts:
                yield from self._relation(index, found, around)
            if found.moment_end > found.end:
                yield code.edit(found.end, found.moment_end - 1)
            if code.word(found.behind) != ",":
                return
            index = found.behind + 1

    def _has_star(self, index: int) -> bool:
        """Whether a `*` stands for columns in the statement that is at an index: `SELECT *`, `SELECT a, t.*`."""
        code = self.code
        first = next((at + 1 for at in range(index, -1, -1) if code.word(at) == ";"), 0)
        last = next((at for at in range(index, len(code.tokens)) if code.word(at) == ";"), len(code.tokens))
        return any(
            code.word(at) == "*" and code.word(at - 1) in ("select", "all", "distinct", ",", ".")
            for at in range(first, last)
        )

    def _relation(self, index: int, relation: WrittenRelation, around: _Around) -> Iterator[Edit]:
        parts = relation.parts
        table = self._table(parts)
        if table is None or (len(parts) == 1 and parts[0] in around.items):
            return
        if not (table.locations or table.computed or table.is_altered):
            return
        quote = _quote_of(self.code.dialect)
        alias = "" if relation.alias is not None else f" AS {quote(parts[-1])}"
        query = table.query(quote, has_star=around.has_star)
        yield self.code.edit(index, relation.end - 1, f"{query}{alias}")

    def _target(self, index: int, *, is_filled: bool = False) -> Iterator[Edit]:
        """The table that is written; an INSERT that lists no columns fills metadata in their place too."""
        code, quote = self.code, _quote_of(self.code.dialect)
        index += code.word(index) == "table"
        parts, end = code.dotted_name(index)
        table = self._table(parts)
        if table is None:
            return
        filled = table.filled_columns() if is_filled and code.word(end) in ("select", "with", "values") else ()
        columns = f" ({', '.join(map(quote, filled))})" if filled else ""
        if table.location is not None or columns:
            yield code.edit(index, end - 1, f"{table.relation(quote)}{columns}")

    def _table(self, parts: Parts) -> ConnectorTable | None:
        whole = _whole(parts, self.scope)
        made = self.known.of(whole) or self.later.of(whole)
        if self.known.has_catalog(whole) and (made is None or made.name[:-2] != whole[:1]):
            return self.known.of_catalog(whole)
        return made

    def _windows(self, first: int, last: int) -> Iterator[Edit]:
        """`TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES))`: the rows of t, with the bounds of windows."""
        code, quote = self.code, _quote_of(self.code.dialect)
        for index in range(first, last):
            if code.word(index) not in WINDOWS or code.word(index + 1) != "(":
                continue
            close = code.closing(index + 1)
            data = next((at for at in range(index + 2, close) if code.word(at) == "table"), None)
            time = next((at for at in range(index + 2, close) if code.word(at) == "descriptor"), None)
            if data is None or time is None or not code.is_name(data + 1):
                continue
            parts, _end = code.dotted_name(data + 1)
            table = self._table(parts)
            query = table.query(quote) if table is not None else ".".join(map(quote, parts))
            moment, function = quote(code.column(time + 2)), code.word(index).upper()
            bounds = ", ".join(f"{function}({moment}) AS {name}" for name in WINDOW_BOUNDS)
            wrapped = code.word(index - 1) == "(" and code.word(index - 2) == "table"
            begin, end = (index - 2, close + 1) if wrapped else (index, close)
            yield code.edit(begin, end, f"(SELECT *, {bounds} FROM {query} AS {quote(parts[-1])})")
