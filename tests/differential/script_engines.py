"""What engines make of a script, over tables that are filled in one way or another."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import duckdb
import psycopg

from tests.differential.script_grammar import DUCKDB, MARIADB, Engine, Node, Script
from tests.support import live_mariadb, live_postgres
from tests.support.live_mariadb import MariaDb
from tests.support.server_folder import server_folder

Rows = tuple[tuple[int | None, ...], ...]
Filling = Mapping[str, Rows]
"""Of each table that a script starts from, the rows."""

Contents = Mapping[str, tuple[Counter[Any], ...]]
"""Of each table and view, what its columns hold, whatever the order of the rows."""

_ROWS = 7
_KEYS = range(1, 11)


class Refused(Exception):
    """The engine did not run a statement."""


class Runner(Protocol):
    """Runs scripts, each over several fillings."""

    def contents(self, script: Script, fillings: Sequence[Filling]) -> list[Contents | None]:
        """What each filling leaves; None: a statement failed."""


def random_filling(random: Random, script: Script) -> Filling:
    """Rows with unique keys, small numbers, and a few nulls."""
    return {table: _rows(random, len(columns)) for table, columns in script.bases.items()}


def _rows(random: Random, width: int) -> Rows:
    keys = random.sample(_KEYS, _ROWS)
    return tuple((key, *(_number(random) for _ in range(width - 1))) for key in keys)


def _number(random: Random) -> int | None:
    return random.choice((0, 1, 2, 3, 4, 5, 6, 7, None))


def changed(random: Random, filling: Filling, table: str, column: int) -> Filling:
    """The same but for the values of one column."""
    rows = filling[table]
    values = random.sample(_KEYS, len(rows)) if column == 0 else [_number(random) for _ in rows]
    other = tuple((*row[:column], value, *row[column + 1 :]) for row, value in zip(rows, values, strict=True))
    return {**filling, table: other}


def _filled(script: Script, filling: Filling) -> list[str]:
    """The script's statements, its tables filled as soon as they are made."""
    made = len(script.bases)
    inserts = [f"INSERT INTO {table} VALUES {_values(rows)}" for table, rows in filling.items()]
    return [*script.statements[:made], *inserts, *script.statements[made:]]


def _values(rows: Rows) -> str:
    shown = (", ".join("NULL" if value is None else str(value) for value in row) for row in rows)
    return ", ".join(f"({row})" for row in shown)


def _columns(rows: Sequence[Sequence[Any]], width: int) -> tuple[Counter[Any], ...]:
    return tuple(Counter(row[number] for row in rows) for number in range(width))


class Session(Protocol):
    """A session of an engine that can undo what makes and alters tables."""

    @property
    def errors(self) -> type[Exception]: ...
    def execute(self, text: str) -> None: ...
    def rows(self, query: str) -> list[tuple[Any, ...]]: ...
    def fresh(self) -> AbstractContextManager[object]: ...
    def undone(self) -> AbstractContextManager[object]: ...


@dataclass(frozen=True)
class DuckDbSession:
    """In this process."""

    connection: duckdb.DuckDBPyConnection
    errors: type[Exception] = duckdb.Error

    def execute(self, text: str) -> None:
        self.connection.execute(text)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """A schema without tables, which goes in the end: this engine has no transactions within others."""
        self.connection.execute("CREATE SCHEMA script; USE script")
        try:
            yield
        finally:
            self.connection.execute("USE main; DROP SCHEMA script CASCADE")

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is done within is undone."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")


@dataclass(frozen=True)
class PostgreSqlSession:
    """On a server."""

    connection: psycopg.Connection[tuple[Any, ...]]
    errors: type[Exception] = psycopg.Error

    def execute(self, text: str) -> None:
        self.connection.execute(text.encode())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query.encode()).fetchall()

    def fresh(self) -> AbstractContextManager[object]:
        """A schema without tables, which is left so."""
        return self.connection.transaction(force_rollback=True)

    def undone(self) -> AbstractContextManager[object]:
        """What is done within is undone."""
        return self.connection.transaction(force_rollback=True)


@dataclass
class SessionRunner:
    """Runs a script and undoes it, filling after filling."""

    session: Session
    refusal: str = ""

    def contents(self, script: Script, fillings: Sequence[Filling]) -> list[Contents | None]:
        return [self._left(script, filling) for filling in fillings]

    def _left(self, script: Script, filling: Filling) -> Contents | None:
        try:
            with self.session.undone():
                self.session.execute(";".join(_filled(script, filling)))
                return {name: _contents(self.session, name, columns) for name, columns in script.made.items()}
        except self.session.errors as error:
            self.refusal = str(error)
            return None


def _contents(session: Session, table: str, columns: Sequence[str]) -> tuple[Counter[Any], ...]:
    return _columns(session.rows(f"SELECT {', '.join(columns)} FROM {table}"), len(columns))


_TABLES = """
    SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()
    ORDER BY table_name, ordinal_position
"""


Edge = tuple[Node, Node]
_Held = dict[Node, Counter[Any]]


@dataclass(frozen=True)
class StepEffects:
    """What each statement makes of one column's values, whatever the tables hold when it begins.

    A column is given other values just before a statement, and what differs after it was made of that column. Names
    are those that the tables have in the end. Views are read as tables of their contents.
    """

    session: Session
    script: Script
    random: Random

    def among(self, wanted: set[Edge], rounds: int) -> set[Edge]:
        """Those of the edges, of a source and a target each, that were seen to move within so many rounds."""
        computed = {edge for edge in wanted if str(edge[0][1])[0] == "g"}
        found = self._among(wanted - computed, rounds, self.script.statements)
        if computed:  # such a column is given other values where it is a plain one
            found |= self._among(computed, rounds, [_COMPUTED.sub(")", one) for one in self.script.statements])
        return found

    def _among(self, wanted: set[Edge], rounds: int, statements: Sequence[str]) -> set[Edge]:
        found: set[Edge] = set()
        with self.session.fresh():
            before = self._columns()
            for at, written in enumerate(statements):
                statement = _VIEW.sub(r"\1TABLE", written)
                with self.session.undone():
                    self.session.execute(statement)
                    after = self._columns()
                if statement.split()[0] in _WRITES:
                    plain = statements is not self.script.statements
                    step = _Step(self.session, self.script, at, statement, before, after, plain)
                    for _ in range(rounds):
                        found |= step.moved(wanted - found, self.random)
                self.session.execute(statement)
                before = after
        return found

    def _columns(self) -> list[Node]:
        return [(table, column) for table, column in self.session.rows(_TABLES)]


@dataclass(frozen=True)
class _Step:
    """One statement, and the columns that there are before it and after it; all tables are empty."""

    session: Session
    script: Script
    at: int
    statement: str
    before: Sequence[Node]
    after: Sequence[Node]
    plain: bool

    def moved(self, wanted: set[Edge], random: Random) -> set[Edge]:
        stored: dict[str, list[str]] = {}
        for table, column in self.before:
            if column is not None and (column[0] != "g" or self.plain):
                stored.setdefault(table, []).append(column)
        sources = [(table, one) for table, columns in stored.items() for one in columns]
        edges = {source: self._edges(source, wanted) for source in sources}
        targets = {target for found in edges.values() for _, target in found}
        filling = {table: _random_rows(random, columns) for table, columns in stored.items()}
        held = self._after(filling, stored, targets) if targets else {}
        found: set[Edge] = set()
        for table, column in sources if held else ():
            if not edges[table, column]:
                continue
            number = stored[table].index(column)
            pairs = zip(filling[table], _random_values(random, column), strict=True)
            other = tuple((*row[:number], one, *row[number + 1 :]) for row, one in pairs)
            now = self._after({**filling, table: other}, stored, targets)
            found |= {edge for edge in edges[table, column] if edge[1] in now and now[edge[1]] != held.get(edge[1])}
        return found

    def _edges(self, source: Node, wanted: set[Edge]) -> set[Edge]:
        """Those that may begin at a column: what a macro reads its call does not name."""
        named = source[0] in self.statement or "m" in self.statement
        final = self.script.final(self.at, source)
        return {edge for edge in wanted if edge[0] == final} if named else set()

    def _after(self, filling: Filling, stored: Mapping[str, Sequence[str]], targets: set[Node]) -> _Held:
        """What columns hold once the statement ran over that filling; nothing where the engine did not run it.

        A key that is there already is no reason: the target is then empty before.
        """
        target = self.statement.split()[2]
        return self._held(filling, stored, targets) or self._held({**filling, target: ()}, stored, targets)

    def _held(self, filling: Filling, stored: Mapping[str, Sequence[str]], targets: set[Node]) -> _Held:
        begin = [
            f"INSERT INTO {name} ({', '.join(columns)}) VALUES {_values(filling[name])}"
            for name, columns in stored.items()
            if filling[name]
        ]
        finals = {node: self.script.final(self.at + 1, node) for node in self.after}
        try:
            with self.session.undone():
                self.session.execute(";".join([*begin, self.statement]))
                return {
                    final: _contents(self.session, table, [str(column)])[0]
                    for (table, column), final in finals.items()
                    if final in targets
                }
        except self.session.errors:
            return {}


def _random_rows(random: Random, columns: Sequence[str]) -> Rows:
    return tuple(zip(*(_random_values(random, one) for one in columns), strict=True))


def _random_values(random: Random, column: str) -> list[int | None]:
    if column[0] == "k" and random.random() < 0.8:  # some that were keys once are none any more
        return list(random.sample(_KEYS, _ROWS))
    return [_number(random) for _ in range(_ROWS)]


_VIEW = re.compile(r"^(CREATE (?:OR REPLACE )?)VIEW")
_COMPUTED = re.compile(r" GENERATED ALWAYS AS .*\)(?: STORED)?\)$")
_WRITES = ("INSERT", "UPDATE", "MERGE", "CREATE", "DELETE", "ALTER")


@dataclass
class MariaDbClient:
    """All fillings of a script in one session of the server's client, a database each."""

    server: MariaDb

    def contents(self, script: Script, fillings: Sequence[Filling]) -> list[Contents | None]:
        text = "".join(self._world(script, filling, number) for number, filling in enumerate(fillings))
        command = ["mysql", "--force", "--batch", "--skip-column-names"]
        given = f"SET GLOBAL general_log = 0; SET default_storage_engine = MyISAM; SET sql_mode = '';\n{text}"
        done = subprocess.run(
            command, env=self.server.environment, input=given, text=True, capture_output=True, check=False
        )
        failed = {line.split(" at line ")[1].split(":")[0] for line in done.stderr.splitlines() if " at line " in line}
        self.refusal = done.stderr
        bad = {self._world_of(given, int(line)) for line in failed}
        found = dict(_parsed(done.stdout))
        return [None if number in bad else _typed(script, found.get(number, {})) for number in range(len(fillings))]

    def _world(self, script: Script, filling: Filling, number: int) -> str:
        begin = f"/* world {number} */ CREATE DATABASE w{number}; USE w{number};\n"
        reads = [
            f"SELECT '#', {number}, '{name}'; SELECT {', '.join(columns)} FROM {name}"
            for name, columns in script.made.items()
        ]
        return begin + ";\n".join([*_filled(script, filling), *reads, f"DROP DATABASE w{number}"]) + ";\n"

    def _world_of(self, text: str, line: int) -> int:
        before = [one for one in text.splitlines()[:line] if one.startswith("/* world ")]
        return int(before[-1].split()[2]) if before else -1


def _parsed(output: str) -> Iterator[tuple[int, dict[str, list[list[str]]]]]:
    worlds: dict[int, dict[str, list[list[str]]]] = {}
    rows: list[list[str]] = []
    for line in output.splitlines():
        fields = line.split("\t")
        if fields[0] == "#":
            rows = worlds.setdefault(int(fields[1]), {}).setdefault(fields[2], [])
        else:
            rows.append(fields)
    yield from worlds.items()


def _typed(script: Script, found: Mapping[str, list[list[str]]]) -> Contents:
    return {name: _columns(found.get(name, []), len(columns)) for name, columns in script.made.items()}


@contextmanager
def running(engine: Engine) -> Iterator[tuple[Runner, Session | None]]:
    """What runs the scripts of an engine, and where single statements can be tried, started for it."""
    with ExitStack() as kept:
        if engine is DUCKDB:
            connection = kept.enter_context(duckdb.connect(":memory:", config={"threads": 1}))
            session: Session = DuckDbSession(connection)
            yield SessionRunner(session), session
            return
        if engine is MARIADB:
            folder = kept.enter_context(server_folder())
            yield MariaDbClient(kept.enter_context(live_mariadb.mariadb(folder))), None
            return
        session = PostgreSqlSession(kept.enter_context(live_postgres.session_of_own_server()))
        yield SessionRunner(session), session
