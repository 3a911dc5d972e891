"""Files of SQLite that we keep: what an error says of one, whether it is whole, what can be read of a damaged one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import LargeBinary, MetaData, Table, Text
from sqlalchemy import create_engine as sqlalchemy_engine
from sqlalchemy.exc import DBAPIError

from connectors.private_files import private_file
from ingestion.errors import ConfigError

_PARTS = ("", "-wal", "-shm")
"""What a store consists of while programs have it open."""
_QUOTES = "Could not decode"
_DAMAGE = ("malformed", "not a database", _QUOTES)
_FULL = ("is full", "disk I/O error")
"""The second is what SQLite says of a limit on the size of files, and of some disks over a network."""
_UNREADABLE = (sqlite3.Error, ValueError, OverflowError)
StoredRow = tuple[Any, ...]
_ROWID = ("rowid",)


class StoreDamaged(ConfigError):
    """A file that we keep cannot be read any more: repeating does not help."""

    code = "store_damaged"


# What an error says of the file.


def is_damage(error: BaseException) -> bool:
    """Whether an error tells that the file is damaged. What of it is text or JSON is written by us, and is that."""
    if isinstance(error, UnicodeDecodeError | json.JSONDecodeError):
        return True
    words = _words(error)
    return any(sign in words for sign in _DAMAGE)


def is_no_database(error: BaseException) -> bool:
    """Whether an error tells that the file is none of SQLite's, from its first bytes on."""
    return "not a database" in _words(error)


def quotes_content(error: BaseException) -> bool:
    """Whether the words of an error go on with what is stored."""
    return _QUOTES in _words(error)


def is_full(error: BaseException) -> bool:
    """Whether an error tells that the disk has no room."""
    words = _words(error)
    return any(sign in words for sign in _FULL)


def _words(error: BaseException) -> str:
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(cause) if isinstance(cause, sqlite3.Error) else ""


def is_whole(file: Path) -> bool:
    """Whether SQLite finds nothing wrong in all pages of a file; reads it once. A busy one counts as whole."""
    try:
        with closing(_open(file)) as connection:
            return bool(connection.execute("pragma quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        return not is_damage(error)


def noted_value(file: Path, table: str, key: str) -> object:
    """What a file's table of keys and values tells of a key; None where it tells nothing, or cannot be read."""
    try:
        with closing(_open(file)) as connection:
            found = connection.execute(f'select value from "{table}" where key = ?', (key,)).fetchone()
    except sqlite3.DatabaseError:
        return None
    return None if found is None else found[0]


def _open(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)


# What can be read of a damaged file, in a new one.


@dataclass(frozen=True, slots=True)
class SalvagedTable:
    """Rows of a table that were kept, and those that are lost as far as their number is known."""

    name: str
    kept: int
    lost: int
    is_cut: bool = False  # how many more are lost cannot be told


@dataclass(frozen=True, slots=True)
class Salvage:
    """What became of a file: its tables, and where the damaged one is now."""

    tables: tuple[SalvagedTable, ...]
    aside: Path

    @property
    def damaged(self) -> tuple[SalvagedTable, ...]:
        """The tables of which anything is lost."""
        return tuple(table for table in self.tables if table.lost or table.is_cut)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store is made of: its tables, and columns that hold JSON.

    `is_left_out` says of a table's row, by column, whether the new file is to be without it; it raises ValueError
    for one that is damaged. `complete` adds to the new file what it lacks, before it takes the damaged one's place:
    who is killed meanwhile has the damaged one still.
    """

    tables: MetaData
    json_columns: Collection[str] = ()
    is_left_out: Callable[[str, Mapping[str, Any]], bool] = lambda _table, _row: False
    complete: Callable[[Path], None] = lambda _file: None


def put_back(file: Path, aside: Path) -> None:
    """Gives a file that was set aside its name again, in place of what was made of it."""
    _move(aside, file)


def _move(file: Path, to: Path) -> None:
    for part in _PARTS:
        moved = file.with_name(file.name + part)
        if moved.is_file():
            moved.replace(to.with_name(to.name + part))


def salvage(file: Path, contents: Contents) -> Salvage:
    """Puts a file with all rows that can be read in the place of a damaged one, which is set aside.

    Nobody else may have it open. Raises ConfigError where the folder cannot be written.
    """
    new = file.with_name(f"{file.name}.repaired")
    aside = file.with_name(f"{file.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}")
    try:
        for part in _PARTS:  # of a repair that was killed
            new.with_name(new.name + part).unlink(missing_ok=True)
        private_file(new)
        found = _copy(file, new, contents)
        contents.complete(new)
        _move(file, aside)
        new.rename(file)
    except OSError as error:
        raise ConfigError(
            f"{file.parent} cannot be written ({error.strerror}): a repair needs room for a copy"
        ) from None
    return Salvage(found, aside)


def _copy(file: Path, new: Path, contents: Contents) -> tuple[SalvagedTable, ...]:
    engine = sqlalchemy_engine(f"sqlite:///{new}")
    contents.tables.create_all(engine)
    engine.dispose()
    found: list[SalvagedTable] = []
    with closing(sqlite3.connect(new)) as target:
        for table in contents.tables.sorted_tables:
            reader = _TableReader(file, table, contents)
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            marks = ", ".join("?" * len(table.columns))
            before = target.total_changes
            target.executemany(f'insert or ignore into "{table.name}" ({names}) values ({marks})', reader.rows())
            found.append(SalvagedTable(table.name, target.total_changes - before, reader.lost, reader.is_cut))
        orphans = _drop_orphans(target)
        target.commit()
    dropped = ((one, orphans.get(one.name, 0)) for one in found)
    return tuple(replace(one, kept=one.kept - number, lost=one.lost + number) for one, number in dropped)


def _drop_orphans(target: sqlite3.Connection) -> dict[str, int]:
    """Drops the rows that say something of a row which is lost; how many, by table."""
    gone: dict[str, int] = {}
    while True:
        found = target.execute("pragma foreign_key_check").fetchall()
        if not found:
            return gone
        for table, parent, index in {(table, parent, index) for table, _rowid, parent, index in found}:
            keys = [row for row in target.execute(f'pragma foreign_key_list("{table}")') if row[0] == index]
            joined = " and ".join(f'p."{key[4]}" = t."{key[3]}"' for key in keys)
            present = " and ".join(f't."{key[3]}" is not null' for key in keys)
            lacking = f'{present} and not exists (select 1 from "{parent}" p where {joined})'
            dropped = target.execute(f'delete from "{table}" as t where {lacking}').rowcount
            gone[table] = gone.get(table, 0) + dropped


class _TableReader:
    """The rows of one table that can be read and are what they should be."""

    def __init__(self, file: Path, table: Table, contents: Contents) -> None:
        self._file = file
        self._table = table
        self._contents = contents
        self._names = ""
        self.lost = 0
        self.is_cut = False

    def rows(self) -> Iterator[StoredRow]:
        """Each once. Raises nothing for what is damaged."""
        try:
            with closing(_open(self._file)) as connection:
                connection.text_factory = bytes
                known = {row[1].decode() for row in connection.execute(f'pragma table_info("{self._table.name}")')}
                if known >= {column.name for column in self._table.columns}:
                    self._names = ", ".join(f'"{column.name}"' for column in self._table.columns)
                    yield from self._by_key(connection)
                else:
                    self.is_cut = bool(known)
        except _UNREADABLE:
            self.is_cut = True

    def _by_key(self, connection: sqlite3.Connection) -> Iterator[StoredRow]:
        """Forwards until it breaks, from the other end until it breaks, and what can be had between."""
        last = yield from self._until_it_breaks(connection, "", None)
        if not self.is_cut:
            return
        first = yield from self._until_it_breaks(connection, " desc", last)
        if first != last and self._key() == _ROWID and first is not None:
            yield from self._between(connection, last[0] + 1 if last else 1, first[0] - 1)
            self.is_cut = False

    def _until_it_breaks(
        self, connection: sqlite3.Connection, direction: str, end: StoredRow | None
    ) -> Generator[StoredRow, None, StoredRow | None]:
        """The rows in a direction, without the one whose key is the `end`; the last key that was met."""
        key = self._key()
        order = ", ".join(f"{part}{direction}" for part in key)
        select = f'select {", ".join(key)}, {self._names} from "{self._table.name}" order by {order}'
        last: StoredRow | None = None
        try:
            for row in connection.execute(select):
                last = row[: len(key)]
                if last == end:
                    break
                yield from self._whole(row[len(key) :])
        except sqlite3.DatabaseError:
            self.is_cut = True
        return last

    def _between(self, connection: sqlite3.Connection, first: int, last: int) -> Iterator[StoredRow]:
        """The rows whose number is in a range, halved where it breaks down to those that cannot be read."""
        select = f'select rowid, {self._names} from "{self._table.name}" where rowid between ? and ? order by rowid'
        ranges = [(first, last)]
        while ranges:
            low, high = ranges.pop()
            try:
                for row in connection.execute(select, (low, high)):
                    low = row[0] + 1
                    yield from self._whole(row[1:])
            except sqlite3.DatabaseError:
                if low >= high:
                    self.lost += 1
                else:
                    middle = (low + high) // 2
                    ranges += [(middle + 1, high), (low, middle)]

    def _key(self) -> Sequence[str]:
        if self._table.dialect_options["sqlite"]["with_rowid"]:
            return _ROWID
        return tuple(f'"{column.name}"' for column in self._table.primary_key.columns)

    def _whole(self, row: StoredRow) -> Iterator[StoredRow]:
        """The row with its texts, unless one of its values cannot have been written."""
        try:
            values = [self._value(column, value) for column, value in zip(self._table.columns, row, strict=True)]
            named = {column.name: value for column, value in zip(self._table.columns, values, strict=True)}
            if not self._contents.is_left_out(self._table.name, named):
                yield tuple(values)
        except ValueError:
            self.lost += 1

    def _value(self, column: Any, value: Any) -> Any:
        """Raises ValueError for what the column cannot have."""
        if value is None:
            if not column.nullable:
                raise ValueError(column.name)
            return None
        if isinstance(column.type, LargeBinary):
            return value
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(column.type, Text) and column.name in self._contents.json_columns and value:
            json.loads(value)
        return value
