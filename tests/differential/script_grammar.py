"""Random scripts: what is written, renamed, dropped, swapped and written again, statement after statement.

A script is what an engine accepts: of every relation it is known which columns it has by then, and whether its key is
unique, as MERGE and conflicts want it. All values are whole numbers. The grammar keeps to what lineage can be held to:
a table that was read is neither dropped nor made anew, since what came of it would then hang on what is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True)
class Engine:
    """What differs between the engines that run scripts."""

    connection: str
    replaces_tables: bool = True
    merges: bool = True
    views_follow: bool = False  # the renames of what they read
    limit_by_query: bool = True
    conflict: str = "ON CONFLICT ({key}) DO UPDATE SET {column} = {table}.{column} + excluded.{column}"
    update_from: str = "UPDATE {table} SET {changes} FROM {source} s WHERE {table}.{key} = s.{other}"
    computed: str = "{name} bigint GENERATED ALWAYS AS ({value})"
    macro: str = "CREATE MACRO {name}(p, q) AS {body}"
    table_macro: str = "CREATE MACRO {name}(n) AS TABLE SELECT {columns} FROM {table} x WHERE x.{tested} > n"
    retype: bool = True
    rename_pairs: bool = False  # RENAME TABLE a TO b, c TO d


DUCKDB = Engine("DuckDB")
POSTGRES = Engine(
    "Postgres",
    replaces_tables=False,
    views_follow=True,
    computed="{name} bigint GENERATED ALWAYS AS ({value}) STORED",
    macro="CREATE FUNCTION {name}(p numeric, q numeric) RETURNS numeric LANGUAGE sql AS $$ SELECT {body} $$",
    table_macro="CREATE FUNCTION {name}(n bigint) RETURNS TABLE ({typed}) LANGUAGE sql AS "
    "$$ SELECT {columns} FROM {table} x WHERE x.{tested} > n $$",
)
MARIADB = Engine(
    "MariaDB",
    merges=False,
    limit_by_query=False,
    conflict="",  # its ON DUPLICATE KEY does not say which key decides
    update_from="UPDATE {table} JOIN {source} s ON {table}.{key} = s.{other} SET {changes}",
    macro="CREATE FUNCTION {name}(p bigint, q bigint) RETURNS bigint DETERMINISTIC RETURN {body}",
    table_macro="",
    retype=False,
    rename_pairs=True,
)


@dataclass
class Relation:
    """A table or a view as it is after some statements."""

    name: str
    columns: list[str]
    key: str | None = None  # the column whose values are unique and not null, if there is one
    primary: bool = False  # declared so
    view: bool = False
    base: bool = False
    computed: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)  # columns that something that stands was made of
    under_views: bool = False
    under_routines: bool = False

    @property
    def writable(self) -> list[str]:
        """The columns that a statement may set, but for the key."""
        return [one for one in self.columns if one != self.key and one not in self.computed]


Node = tuple[str, str | None]
"""A table, and a column of it; None: the table, or how many rows it has."""

_ROWS = ""
"""What a query reads of each relation in its FROM, even if it reads no column: how many rows it has."""
GONE = "(gone)"


@dataclass(frozen=True)
class Move:
    """After statement `at` a column of a table, or a whole table, goes by another name; None: it is gone."""

    at: int
    table: str
    column: str | None
    new: str | None


@dataclass(frozen=True)
class Script:
    """`bases` are the tables it starts from, whose columns begin with a key; `made` is what stands in the end."""

    statements: tuple[str, ...]
    bases: dict[str, tuple[str, ...]]
    made: dict[str, tuple[str, ...]]
    views: frozenset[str]
    moves: tuple[Move, ...]

    def final(self, after: int, node: Node) -> Node:
        """By which names a column goes in the end that goes by these once so many statements ran."""
        table, column = node
        for move in self.moves:
            if move.at < after or move.table != table or move.column not in (None, column):
                continue
            if move.new is None:
                return GONE, None
            table, column = (move.new, column) if move.column is None else (table, move.new)
        return table, column


@dataclass(frozen=True)
class _Scope:
    """What an expression may name: (alias, relation), and the columns that make a row unique."""

    relations: tuple[tuple[str, Relation], ...]
    order: tuple[str, ...] = ()


KINDS = (
    "create", "insert", "view", "rename_table", "rename_column", "drop_table", "drop_column", "add_column", "swap",
    "rebuild", "update", "self_update", "self_insert", "merge", "conflict", "macro", "table_macro", "computed",
    "delete", "limit", "exchange", "retype", "replace_view",
)  # fmt: skip
"""What a script may have besides its tables and its queries."""


class ScriptGrammar:
    """Makes one script of an engine, of the kinds that are asked for."""

    def __init__(self, seed: int, engine: Engine, kinds: Sequence[str] = KINDS) -> None:
        self._random = Random(seed)
        self._engine = engine
        self._kinds = frozenset(kinds)
        self._statements: list[str] = []
        self._relations: list[Relation] = []
        self._moves: list[Move] = []
        self._macros: list[tuple[str, int]] = []
        self._table_macros: list[Relation] = []
        self._barred: Relation | None = None
        self._fresh = 0
        self._reads: list[tuple[Relation, str]] = []

    def script(self, steps: int) -> Script:
        """Some tables, `steps` random statements over them, and a table of what they left."""
        for name, columns in (("t1", "abc"), ("t2", "d"), ("t3", "e")):
            relation = Relation(name, ["k", *columns], "k", base=True)
            self._relations.append(relation)
            self._say(f"CREATE TABLE {name} ({', '.join(f'{one} bigint' for one in relation.columns)})")
        made: dict[str, Callable[[], None]] = {
            "create": self._create, "insert": self._insert, "view": self._view, "rename_table": self._rename_table,
            "rename_column": self._rename_column, "drop_table": self._drop_table, "drop_column": self._drop_column,
            "add_column": self._add_column, "swap": self._swap, "rebuild": self._rebuild, "update": self._update,
            "self_update": self._self_update, "self_insert": self._self_insert, "merge": self._merge,
            "conflict": self._conflict, "macro": self._macro, "table_macro": self._table_macro,
            "computed": self._computed, "delete": self._delete, "exchange": self._exchange, "retype": self._retype,
            "replace_view": self._replace_view,
        }  # fmt: skip
        ways = [made[kind] for kind in KINDS if kind in self._kinds and kind in made]
        self._create()
        for _ in range(steps):
            self._random.choice(ways)()
        self._create()
        kept = [one for one in self._relations if not one.base]
        return Script(
            tuple(self._statements),
            {one.name: tuple(one.columns) for one in self._relations if one.base},
            {one.name: tuple(one.columns) for one in kept},
            frozenset(one.name for one in kept if one.view),
            tuple(self._moves),
        )

    def _say(self, statement: str) -> None:
        self._statements.append(statement)
        for relation, column in self._reads:
            relation.read.add(column)
        self._reads.clear()

    def _name(self, letter: str) -> str:
        self._fresh += 1
        return f"{letter}{self._fresh}"

    def _happens(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def _moved(self, table: str, column: str | None, new: str | None) -> None:
        self._moves.append(Move(len(self._statements) - 1, table, column, new))

    # -- queries

    def _query(
        self, width: int = 0, *, keyed: bool = False, without: Relation | None = None
    ) -> tuple[str, list[str], str | None]:
        """A query that does not read `without`, its columns' names, and the one of them that is a key."""
        self._barred = without
        candidates = [one for one in self._sources() if one.key or not keyed]
        relation = self._random.choice(candidates[-5:] if self._happens(70) else candidates)
        source, scope = f"{relation.name} x", _Scope((("x", relation),))
        self._reads.append((relation, _ROWS))
        others = [one for one in candidates if one.key]
        key = relation.key
        if key and others and self._happens(40):
            other = self._random.choice(others)
            join = self._random.choice(("JOIN", "LEFT JOIN"))
            source += f" {join} {other.name} y ON x.{key} = y.{other.key}"
            self._reads += [(relation, key), (other, str(other.key))]
            scope = _Scope((("x", relation), ("y", other)))
        elif others and not keyed and self._happens(8):
            other = self._random.choice(others)
            source, key = f"{source}, {other.name} y", None
            self._reads.append((other, _ROWS))
            scope = _Scope((("x", relation), ("y", other)))
        scope = _Scope(scope.relations, (f"x.{key}",) if key else ())
        if not keyed and self._happens(25):
            return self._grouped(source, scope, width or 1 + self._random.randrange(3))
        columns = [self._name("c") for _ in range(width or 1 + self._random.randrange(3))]
        items = [f"{self._value(scope)} AS {one}" for one in columns]
        if key:
            name = self._random.choice(("k", self._name("k")))
            items.insert(0, f"x.{key} AS {name}")
            self._reads.append((relation, key))
            columns.insert(0, name)
        text = f"SELECT {', '.join(items)} FROM {source}{self._where(scope)}"
        return text + self._limit(scope), columns, columns[0] if key else None

    def _sources(self) -> list[Relation]:
        return [one for one in (*self._relations, *self._table_macros) if one is not self._barred]

    def _other(self) -> Relation:
        """A table or view that a subquery reads."""
        return self._random.choice([one for one in self._relations if one is not self._barred])

    def _grouped(self, source: str, scope: _Scope, width: int) -> tuple[str, list[str], None]:
        columns = [self._name("c") for _ in range(width + 1)]
        group = self._column(scope)
        items = [f"{group} AS {columns[0]}"]
        for column in columns[1:]:
            function = self._random.choice(("sum", "max", "min", "count", "sum"))
            value = self._value(_Scope(scope.relations), 1)
            items.append(f"{function}({value}) AS {column}" if self._happens(85) else f"count(*) AS {column}")
        having = f" HAVING sum({self._column(scope)}) > 4" if self._happens(15) else ""
        return f"SELECT {', '.join(items)} FROM {source}{self._where(scope)} GROUP BY {group}{having}", columns, None

    def _where(self, scope: _Scope) -> str:
        return f" WHERE {self._condition(scope)}" if self._happens(30) else ""

    def _limit(self, scope: _Scope) -> str:
        if "limit" not in self._kinds or not scope.order or not self._engine.limit_by_query or not self._happens(8):
            return ""
        other = self._other()
        tested = self._random.choice(other.columns)
        self._reads.append((other, tested))
        return f" ORDER BY {scope.order[0]} LIMIT (SELECT count(*) FROM {other.name} z WHERE z.{tested} > 2)"

    def _column(self, scope: _Scope) -> str:
        alias, relation = self._random.choice(scope.relations)
        usual = [one for one in relation.columns if one != relation.key] or relation.columns
        column = self._random.choice(usual)
        self._reads.append((relation, column))
        return f"{alias}.{column}"

    def _condition(self, scope: _Scope, depth: int = 0) -> str:
        how = self._random.randrange(10)
        column = self._column(scope)
        number = self._random.choice((0, 1, 1, 2, 3))
        if how < 5 or depth:
            return f"{column} > {number}"
        if how < 7:
            second = self._column(scope)
            return f"{column} <> {second}" if second != column else f"{column} > {number}"
        other = self._other()
        tested = self._random.choice(other.columns)
        wanted = other.key or tested
        self._reads += [(other, tested), (other, wanted)]
        if how == 7:
            return f"{column} IN (SELECT z.{wanted} FROM {other.name} z WHERE z.{tested} > {number})"
        if how == 8:
            return f"EXISTS (SELECT 1 FROM {other.name} z WHERE z.{wanted} = {column} AND z.{tested} > {number})"
        return f"{column} > (SELECT min(z.{tested}) FROM {other.name} z)"

    def _value(self, scope: _Scope, depth: int = 0) -> str:
        """An expression in which every column has a part."""
        how = self._random.randrange(16 if depth == 0 else 8)
        first = self._column(scope)
        if how < 4:
            return first
        if how < 6:
            return f"{first} + {self._column(scope)} * 2"
        if how == 6:
            return f"coalesce(nullif({first}, 3), {self._column(scope)})"
        if how == 7:
            return f"CASE WHEN {self._condition(scope, 1)} THEN {first} ELSE {self._column(scope)} END"
        if how < 10 and self._macros:
            name, arguments = self._random.choice(self._macros)
            return f"{name}({', '.join([first, self._value(scope, 1)][:arguments])})"
        if how == 10:
            other = self._other()
            column = self._random.choice(other.columns)
            self._reads.append((other, column))
            return f"(SELECT max(z.{column}) FROM {other.name} z)"
        if how in (11, 12) and scope.order:
            window = f"PARTITION BY {self._column(scope)} ORDER BY {scope.order[0]}"
            function = self._random.choice((f"sum({first})", f"lag({first})", "row_number()", f"max({first})"))
            return f"{function} OVER ({window})"
        return f"({self._value(scope, 1)}) - {first} * 5"

    # -- what makes and fills tables

    def _create(self) -> None:
        text, columns, key = self._query()
        relation = Relation(self._name("w"), columns, key)
        how = self._random.randrange(4)
        if how == 0:
            typed = [f"{one} bigint{' PRIMARY KEY' if one == key else ''}" for one in columns]
            relation.primary = key is not None
            self._reads, kept = [], self._reads
            self._say(f"CREATE TABLE {relation.name} ({', '.join(typed)})")
            self._reads = kept
            self._say(f"INSERT INTO {relation.name} {text}")
        else:
            self._say(f"CREATE TABLE {relation.name} AS {text}")
        self._relations.append(relation)

    def _tables(self, wanted: Callable[[Relation], bool] = lambda _one: True) -> list[Relation]:
        """The tables that the script has made."""
        return [one for one in self._relations if not one.view and not one.base and wanted(one)]

    def _insert(self) -> None:
        for relation in self._some(lambda one: not one.primary and bool(one.writable)):
            free = list(dict.fromkeys([*([relation.key] if relation.key else []), *relation.writable]))
            wanted = self._random.sample(free, 1 + self._random.randrange(len(free)))
            feeds_itself = "self_insert" in self._kinds
            text, columns, _ = self._query(len(wanted), without=None if feeds_itself else relation)
            if len(columns) != len(wanted):
                text = f"SELECT {', '.join(f'q.{one}' for one in columns[-len(wanted) :])} FROM ({text}) q"
            relation.key = None
            self._say(f"INSERT INTO {relation.name} ({', '.join(wanted)}) {text}")

    def _some(self, wanted: Callable[[Relation], bool] = lambda _one: True) -> list[Relation]:
        found = self._tables(wanted)
        return [self._random.choice(found)] if found else []

    def _view(self) -> None:
        text, columns, key = self._query()
        for relation, _ in self._reads:
            relation.under_views = True
        view = Relation(self._name("v"), columns, key, view=True)
        self._say(f"CREATE VIEW {view.name} AS {text}")
        self._relations.append(view)

    def _computed(self) -> None:
        text, columns, _ = self._query(2)
        columns = columns[-2:]
        text = f"SELECT {', '.join(f'q.{one}' for one in columns)} FROM ({text}) q"
        made = self._name("g")
        value = self._random.choice(("{0} + {1} * 2", "coalesce({0}, 0) * 3", "CASE WHEN {0} > 2 THEN {1} ELSE 0 END"))
        typed = [*(f"{one} bigint" for one in columns)]
        typed.append(self._engine.computed.format(name=made, value=value.format(*columns)))
        relation = Relation(self._name("w"), [*columns, made], computed=[made])
        reads, self._reads = self._reads, []
        self._say(f"CREATE TABLE {relation.name} ({', '.join(typed)})")
        self._reads = [*reads, *((relation, one) for one in columns)]
        self._say(f"INSERT INTO {relation.name} ({', '.join(columns)}) {text}")
        self._relations.append(relation)

    def _macro(self) -> None:
        if len(self._macros) < 2:
            name = self._name("m")
            body = self._random.choice(
                ("p + q * 2", "coalesce(nullif(p, 3), q)", "CASE WHEN p > 2 THEN q ELSE p END", "q - p * 3")
            )
            self._say(self._engine.macro.format(name=name, body=body))
            self._macros.append((name, 2))

    def _table_macro(self) -> None:
        if not self._engine.table_macro or len(self._table_macros) > 1:
            return
        for relation in self._some(lambda one: len(one.columns) > 1):
            name, columns = self._name("m"), self._random.sample(relation.columns, 2)
            given = {"name": name, "columns": ", ".join(f"x.{one}" for one in columns), "table": relation.name}
            given |= {"tested": self._random.choice(relation.columns)}
            typed = ", ".join(f"{one} bigint" for one in columns)
            self._say(self._engine.table_macro.format(typed=typed, **given))
            relation.read.update(relation.columns)
            relation.under_routines = True
            self._table_macros.append(Relation(f"{name}(1)", columns))

    # -- what changes tables

    def _changes(self, relation: Relation, scope: _Scope, *, qualified: bool) -> str:
        wanted = self._random.sample(relation.writable, min(len(relation.writable), 1 + self._random.randrange(2)))
        shown = f"{relation.name}." if qualified and self._engine.rename_pairs else ""
        return ", ".join(f"{shown}{one} = {self._value(scope, 1)}" for one in wanted)

    def _update(self) -> None:
        for relation in self._some(lambda one: bool(one.key and one.writable)):
            others = [one for one in self._relations if one.key and one is not relation]
            source = self._random.choice(others)
            scope = _Scope((("s", source), (relation.name, relation)))
            given = {"table": relation.name, "key": relation.key, "source": source.name, "other": source.key}
            self._reads += [(relation, str(relation.key)), (source, str(source.key))]
            text = self._engine.update_from.format(changes=self._changes(relation, scope, qualified=True), **given)
            if self._happens(30):
                text += f"{' WHERE' if self._engine.rename_pairs else ' AND'} {self._condition(scope, 1)}"
            self._say(text)

    def _self_update(self) -> None:
        for relation in self._some(lambda one: bool(one.writable)):
            scope = _Scope(((relation.name, relation),))
            text = f"UPDATE {relation.name} SET {self._changes(relation, scope, qualified=False)}"
            self._say(text + (f" WHERE {self._condition(scope, 1)}" if self._happens(50) else ""))

    def _self_insert(self) -> None:
        for relation in self._some(lambda one: bool(one.writable) and not one.primary):
            scope = _Scope((("x", relation),))
            wanted = relation.writable[:2]
            items = ", ".join(self._value(scope, 1) for _ in wanted)
            where = f" WHERE {self._condition(scope, 1)}" if self._happens(50) else ""
            relation.key = None
            self._say(f"INSERT INTO {relation.name} ({', '.join(wanted)}) SELECT {items} FROM {relation.name} x{where}")

    def _merge(self) -> None:
        if not self._engine.merges:
            return
        for relation in self._some(lambda one: bool(one.key and one.writable)):
            source = self._random.choice([one for one in self._relations if one.key and one is not relation])
            scope = _Scope((("s", source), ("t", relation)))
            self._reads += [(relation, str(relation.key)), (source, str(source.key))]
            text = f"MERGE INTO {relation.name} t USING {source.name} s ON t.{relation.key} = s.{source.key}"
            if self._happens(50):
                done = self._random.choice(("DELETE", "UPDATE SET {}", "UPDATE SET {}", "DO NOTHING"))
                text += f" WHEN MATCHED AND {self._condition(scope, 1)} THEN "
                text += done.format(self._changes(relation, scope, qualified=False))
            if self._happens(70):
                text += f" WHEN MATCHED THEN UPDATE SET {self._changes(relation, scope, qualified=False)}"
            text += self._not_matched(relation, source)
            self._say(text)

    def _not_matched(self, relation: Relation, source: Relation) -> str:
        scope = _Scope((("s", source),))
        wanted = self._random.sample(relation.writable, 1)
        values = ", ".join([f"s.{source.key}", *(self._value(scope, 1) for _ in wanted)])
        tested = f" AND {self._condition(scope, 1)}" if self._happens(40) else ""
        text = f" WHEN NOT MATCHED{tested} THEN INSERT ({', '.join([str(relation.key), *wanted])}) VALUES ({values})"
        if self._happens(25):
            own = _Scope((("t", relation),))
            done = self._random.choice(("DELETE", f"UPDATE SET {self._changes(relation, own, qualified=False)}"))
            text += f" WHEN NOT MATCHED BY SOURCE AND {self._condition(own, 1)} THEN {done}"
        return text

    def _conflict(self) -> None:
        if not self._engine.conflict:
            return
        for relation in self._some(lambda one: bool(one.primary and one.key and one.writable)):
            column = self._random.choice(relation.writable)
            text, columns, key = self._query(1, keyed=True)
            given = {"key": relation.key, "column": column, "table": relation.name}
            # without WHERE the conflict would be read as the join's own condition
            text = f"SELECT q.{key}, q.{columns[-1]} FROM ({text}) q WHERE q.{key} < 100"
            head = f"INSERT INTO {relation.name} ({relation.key}, {column}) {text}"
            self._say(f"{head} {self._engine.conflict.format(**given)}")

    def _delete(self) -> None:
        for relation in self._some(lambda one: bool(one.columns)):
            other = self._random.choice([one for one in self._relations if one is not relation])
            tested, wanted = self._random.choice(other.columns), other.key or other.columns[0]
            own = relation.key or self._random.choice(relation.columns)
            self._reads += [(other, tested), (other, wanted), (relation, own)]
            chosen = f"SELECT z.{wanted} FROM {other.name} z WHERE z.{tested} > 4"
            self._say(f"DELETE FROM {relation.name} WHERE {own} IN ({chosen})")

    # -- names

    def _renamed(self, relation: Relation, new: str) -> str:
        if self._engine.rename_pairs and self._happens(50):
            return f"RENAME TABLE {relation.name} TO {new}"
        return f"ALTER TABLE {relation.name} RENAME TO {new}"

    def _may_move(self, one: Relation) -> bool:
        return not one.under_routines and (self._engine.views_follow or not one.under_views)

    def _free(self, one: Relation) -> bool:
        """Nothing keeps the engine from changing what the table is."""
        return not one.under_views and not one.under_routines

    def _rename_table(self) -> None:
        for relation in self._some(self._may_move):
            new = self._name("w")
            self._say(self._renamed(relation, new))
            self._moved(relation.name, None, new)
            relation.name = new

    def _rename_column(self) -> None:
        for relation in self._some(lambda one: self._may_move(one) and not one.computed):
            column = self._random.choice(relation.columns)
            new = self._name("k" if column == relation.key else "r")
            word = self._random.choice(("COLUMN ", "")) if not self._engine.rename_pairs else "COLUMN "
            text = f"ALTER TABLE {relation.name} RENAME {word}{column} TO {new}"
            if self._engine.rename_pairs and column != relation.key and self._happens(40):
                text = f"ALTER TABLE {relation.name} CHANGE {column} {new} bigint"
            self._say(text)
            self._moved(relation.name, column, new)
            relation.columns[relation.columns.index(column)] = new
            relation.read = {new if one == column else one for one in relation.read}
            relation.key = new if relation.key == column else relation.key

    def _drop_table(self) -> None:
        for relation in self._some(lambda one: not one.read and self._free(one)):
            if len(self._tables()) > 1:
                self._say(f"DROP TABLE {self._random.choice(('', 'IF EXISTS '))}{relation.name}")
                self._moved(relation.name, None, None)
                self._relations.remove(relation)

    def _drop_column(self) -> None:
        for relation in self._some(lambda one: not one.computed and self._free(one) and len(one.columns) > 2):
            free = [one for one in relation.writable if one not in relation.read]
            if free:
                column = self._random.choice(free)
                self._say(f"ALTER TABLE {relation.name} DROP COLUMN {column}")
                self._moved(relation.name, column, None)
                relation.columns.remove(column)
                if self._happens(50):
                    self._say(f"ALTER TABLE {relation.name} ADD COLUMN {column} bigint")
                    relation.columns.append(column)

    def _add_column(self) -> None:
        for relation in self._some(lambda one: not one.computed and self._free(one)):
            new = self._name("c")
            self._say(f"ALTER TABLE {relation.name} ADD COLUMN {new} bigint")
            scope = _Scope(((relation.name, relation),))
            value = self._value(scope, 1)
            self._say(f"UPDATE {relation.name} SET {new} = {value}")
            relation.columns.append(new)

    def _replaceable(self) -> list[Relation]:
        return self._some(lambda one: not one.read and self._free(one))

    def _swap(self) -> None:
        """A table that is built beside the one that stands, and takes its name."""
        for relation in self._replaceable():
            text, columns, key = self._query(without=relation)
            beside, aside = f"{relation.name}_new", f"{relation.name}_old"
            self._say(f"CREATE TABLE {beside} AS {text}")
            new = Relation(beside, columns, key)
            if self._happens(50):
                self._say(f"DROP TABLE {self._random.choice(('', 'IF EXISTS '))}{relation.name}")
                self._moved(relation.name, None, None)
                self._take(new, relation.name)
            elif self._engine.rename_pairs and self._happens(50):
                self._say(f"RENAME TABLE {relation.name} TO {aside}, {beside} TO {relation.name}")
                self._moved(relation.name, None, aside)
                self._moved(beside, None, relation.name)
                self._say(f"DROP TABLE {aside}")
                self._moved(aside, None, None)
            else:
                self._take(relation, aside, keeps=True)
                self._take(new, relation.name)
                self._say(f"DROP TABLE {aside}")
                self._moved(aside, None, None)
            self._relations[self._relations.index(relation)] = Relation(relation.name, columns, key)

    def _exchange(self) -> None:
        """Two tables that take each other's names."""
        movable = self._tables(self._may_move)
        if len(movable) > 1:
            one, other = self._random.sample(movable, 2)
            first, second, aside = one.name, other.name, self._name("w")
            if self._engine.rename_pairs:
                self._say(f"RENAME TABLE {first} TO {aside}, {second} TO {first}, {aside} TO {second}")
                for old, new in ((first, aside), (second, first), (aside, second)):
                    self._moved(old, None, new)
            else:
                for old, new in ((first, aside), (second, first), (aside, second)):
                    self._say(self._renamed(Relation(old, []), new))
                    self._moved(old, None, new)
            one.name, other.name = second, first

    def _retype(self) -> None:
        """A column whose values are made anew as its type is said."""
        if not self._engine.retype:
            return
        for relation in self._some(lambda one: bool(one.writable) and not one.computed and self._free(one)):
            column = self._random.choice(relation.writable)
            value = f"{column} + {self._random.choice(relation.columns)} * 2"
            self._say(f"ALTER TABLE {relation.name} ALTER COLUMN {column} TYPE bigint USING ({value})")

    def _replace_view(self) -> None:
        """A view that nothing reads says something else from now on."""
        free = [one for one in self._relations if one.view and not one.read and self._free(one)]
        if free and self._engine.replaces_tables:
            view = self._random.choice(free)
            text, columns, key = self._query(without=view)
            for relation, _ in self._reads:
                relation.under_views = True
            self._moved_before(view.name)
            self._say(f"CREATE OR REPLACE VIEW {view.name} AS {text}")
            self._relations[self._relations.index(view)] = Relation(view.name, columns, key, view=True)

    def _take(self, relation: Relation, new: str, *, keeps: bool = False) -> None:
        self._say(self._renamed(relation, new))
        self._moved(relation.name, None, new)
        if not keeps:
            relation.name = new

    def _rebuild(self) -> None:
        """A table that is made anew under its own name."""
        for relation in self._replaceable():
            text, columns, key = self._query(without=relation)
            if self._engine.replaces_tables and self._happens(60):
                self._moved_before(relation.name)
                self._say(f"CREATE OR REPLACE TABLE {relation.name} AS {text}")
            else:
                reads, self._reads = self._reads, []
                self._say(f"DROP TABLE IF EXISTS {relation.name}")
                self._moved(relation.name, None, None)
                self._reads = reads
                self._say(f"CREATE TABLE {relation.name} AS {text}")
            self._relations[self._relations.index(relation)] = Relation(relation.name, columns, key)

    def _moved_before(self, table: str) -> None:
        """The table of this name goes as the next statement begins."""
        self._moves.append(Move(len(self._statements) - 1, table, None, None))
