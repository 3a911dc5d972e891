"""One SQLite file, opened by any number of processes: writers queue, readers never wait.

WAL with full synchronisation: what a client was told is stored survives a killed process and a power cut.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select, text, update
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.edge_counts import prepare_edge_counts
from connectors.catalog.store.indexes import prepare_activity, prepare_labels, prepare_name_index
from connectors.catalog.store.schema import SCHEMA_VERSION, entities, intervals, meta, metadata
from connectors.private_files import private_file, private_folder
from connectors.sqlite_files import StoreDamaged, is_damage, is_full, is_no_database
from ingestion.errors import ConfigError, LineageError, TargetDown
from ingestion.model.lineage import Json

_ROWS = 1_000_000
_STATISTICS = {
    # for each index: rows in all, and to expect for one value of its first column, of its first two, ...
    (entities.name, "sqlite_autoindex_entities_1"): f"{_ROWS} 1",  # id
    (entities.name, "sqlite_autoindex_entities_2"): f"{_ROWS} 300000 1",  # type, fqn
    (entities.name, "entities_fqn_folded"): f"{_ROWS} 300000 1",
    (entities.name, "entities_name_folded"): f"{_ROWS} 300000 20",
    (entities.name, "entities_listed"): f"{_ROWS} 1",
    (entities.name, "entities_held"): f"{_ROWS} 20",
    (entities.name, "entities_path"): f"{_ROWS} 2",
    (entities.name, "entities_checksum"): f"{_ROWS} 2",
    (intervals.name, "intervals_from"): f"{_ROWS} 20",
    (intervals.name, "intervals_to"): f"{_ROWS} 5",
    (intervals.name, "intervals_holders"): f"{_ROWS} 1000 100",
    (intervals.name, "intervals_version"): f"{_ROWS} 1",
    (intervals.name, "intervals_start"): f"{_ROWS} 5",
    (intervals.name, "intervals_end"): f"{_ROWS} 500000",
}

_OURS = f"tbl in ('{entities.name}', '{intervals.name}')"

BUSY_SECONDS = 60
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False, check_circular=False
)
_CHECKPOINT_PAGES = 8_192
"""Of the write-ahead log, 32 MiB: the fewer checkpoints, the fewer times is a page written that many calls change."""


# What the query planner is told of the indexes, of which a new store has no statistics.
#
# Left to itself it takes one type of entities, or the intervals that are still open, for ten rows: it would read all
# tables to find the hundred whose names are asked for.


def _prepare_selectivity(connection: Connection) -> None:
    """Tells the planner, where it has not been told the same. What it knows of other tables stays."""
    has_any = connection.scalar(text("select 1 from sqlite_master where name = 'sqlite_stat1'"))
    if has_any:
        rows = connection.execute(text(f"select tbl, idx, stat from sqlite_stat1 where {_OURS}"))
        if {(row[0], row[1]): row[2] for row in rows} == _STATISTICS:
            return
    else:  # which alone makes the table that they stand in
        connection.execute(text(f"analyze {meta.name}"))
    connection.execute(text(f"delete from sqlite_stat1 where {_OURS}"))
    values = [{"tbl": table, "idx": index, "stat": expected} for (table, index), expected in _STATISTICS.items()]
    connection.execute(text("insert into sqlite_stat1 (tbl, idx, stat) values (:tbl, :idx, :stat)"), values)
    connection.execute(text("analyze sqlite_schema"))


# The time, as the catalog keeps it.


def now_millis() -> int:
    """Now, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


# The store.


@dataclass(frozen=True, slots=True)
class _PoolSettings:
    """How connections are used: as many are `kept` and `more` made where these are busy, each with pages in memory."""

    begin: str
    kept: int
    more: int
    pages_kib: int


_READERS = _PoolSettings("begin", kept=8, more=64, pages_kib=8_192)
_WRITER = _PoolSettings("begin immediate", kept=1, more=0, pages_kib=32_768)
"""SQLite has one writer at a time: one connection keeps the pages that all of them change."""


class Database:
    """The store's file; `read` and `write` give a connection inside one transaction each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.trouble: LineageError | None = None
        """Why the last call failed for which nobody who called is to blame."""
        self._readers = _open(file, _READERS)
        self._writer = _open(file, _WRITER)
        with self.write() as connection:
            _prepare_tables(connection, file)
            for prepare in (prepare_name_index, prepare_labels, prepare_activity, prepare_edge_counts):
                prepare(connection)
            _prepare_selectivity(connection)
            _identify(connection)

    @property
    def identity(self) -> str:
        """What tells this store from another that takes its place under the same name."""
        with self.read() as connection:
            return f"{connection.scalar(select(meta.c.value).where(meta.c.key == 'identity')):016x}"

    def close(self) -> None:
        """Closes every connection; the last one folds the write-ahead log back into the file."""
        self._readers.dispose()
        self._writer.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the store, undisturbed by writers."""
        with self._explain_errors(), self._readers.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """The one writer of this moment: takes its turn before it reads, so that no merge is lost."""
        with self._explain_errors(), self._writer.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Raises StoreDamaged for a file that cannot be read, TargetDown where its disk is full."""
        try:
            yield
        except (DBAPIError, sqlite3.Error, ValueError) as error:
            self.trouble = damage_error(self._file) if is_damage(error) else _full_disk(self._file, error)
            if self.trouble is None:
                raise
            raise self.trouble from error


def tick(connection: Connection) -> int:
    """Now in milliseconds since the epoch, later than every tick before it in this store."""
    last = connection.scalar(select(meta.c.value).where(meta.c.key == "clock"))
    now = max(now_millis(), (last or 0) + 1)
    if last is None:
        connection.execute(insert(meta).values(key="clock", value=now))
    else:
        connection.execute(update(meta).where(meta.c.key == "clock").values(value=now))
    return now


def dumps(value: object) -> str:
    """Canonical JSON: equal values give equal text. Raises ApiError (400) for what JSON cannot carry."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, RecursionError) as error:
        raise bad_request("the body holds a value that JSON cannot carry") from error


def loads(document: str) -> Json:
    """The object that `dumps` wrote."""
    value: Json = json.loads(document)
    return value


def _open(file: Path, pool: _PoolSettings) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(file)),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
        pool_size=pool.kept,
        max_overflow=pool.more,
        pool_timeout=BUSY_SECONDS,
        pool_use_lifo=True,  # the pages that one call has read are often those that the next one needs
    )
    event.listen(engine, "connect", partial(_configure, pool))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(pool.begin))
    return engine


def _configure(pool: _PoolSettings, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where the engine says, not where the driver guesses
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = wal",
        "synchronous = full",
        "foreign_keys = on",
        f"cache_size = -{pool.pages_kib}",
        f"wal_autocheckpoint = {_CHECKPOINT_PAGES}",
    ):
        cursor.execute(f"pragma {pragma}")
    cursor.close()


def _prepare_tables(connection: Connection, file: Path) -> None:
    """Makes the tables that are not there. Raises ConfigError for a store of another version, which stays as it is."""
    of_version = select(meta.c.value).where(meta.c.key == "schema")
    found = connection.scalar(of_version) if inspect(connection).has_table(meta.name) else None
    if found not in (None, SCHEMA_VERSION):
        raise ConfigError(
            f"{file} was written by another version (store {found}, this is {SCHEMA_VERSION}): use that version, or "
            "name another file (headwater.catalog.file, --catalog), into which `ingest run --full` files the log again"
        )
    metadata.create_all(connection)
    if found is None:
        connection.execute(insert(meta).values(key="schema", value=SCHEMA_VERSION))


def _identify(connection: Connection) -> None:
    if connection.scalar(select(meta.c.value).where(meta.c.key == "identity")) is None:
        connection.execute(insert(meta).values(key="identity", value=secrets.randbits(63)))


def open_database(file: Path) -> Database:
    """The store in `file`, made when it is not there. Raises ConfigError when it cannot be opened, or is another's."""
    try:
        private_folder(file.parent)
        _refuse_foreign(file)
        if not file.exists():
            private_file(file)
        return Database(file)
    except StoreDamaged as error:
        if error.__cause__ is None or not is_no_database(error.__cause__):
            raise
        raise _unusable(file) from error.__cause__
    except (OSError, DBAPIError, sqlite3.Error, UnicodeDecodeError) as error:
        if is_damage(error) and not is_no_database(error):
            raise damage_error(file) from error
        if "locked" in str(error):
            message = f"{file} is locked by another program: try again when that has ended, or name another file"
            raise ConfigError(message) from error
        raise _unusable(file) from error


def _unusable(file: Path) -> ConfigError:
    return ConfigError(
        f"{file} cannot be used as a catalog: name a file that can be written, or one made by this program"
    )


def damage_error(file: Path) -> StoreDamaged:
    """What a catalog that cannot be read any more is told as."""
    return StoreDamaged(
        f"the catalog {file} is damaged: `ingest doctor --repair --catalog {file}` keeps what can be read of it, "
        "and the next run files the log again"
    )


def _full_disk(file: Path, error: BaseException) -> TargetDown | None:
    if not is_full(error):
        return None
    return TargetDown(
        f"the disk of the catalog {file} is full: make room in {file.absolute().parent}, or name a file on another "
        "one (headwater.catalog.file, --catalog); what was acknowledged is kept: run the same command again"
    )


def _refuse_foreign(file: Path) -> None:
    """A database that somebody else made stays as it is; looked at without writing to it."""
    if not file.is_file() or file.stat().st_size == 0:
        return
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as connection:
        tables = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
        ours = meta.name in tables and entities.name in tables
    if tables and not ours:
        raise ConfigError(f"{file} is a database of another program: name another file")
