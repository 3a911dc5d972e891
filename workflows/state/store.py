"""The state store: its tables, and the database that it is in."""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Engine,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
)
from sqlalchemy.pool import ConnectionPoolEntry

from connectors.private_files import private_file
from connectors.sqlite_files import is_damage, is_full, is_no_database, quotes_content
from ingestion.errors import ConfigError, StateLost
from workflows.state._damage import state_lost

# The tables.

SCHEMA_VERSION = 6
"""Another one whenever a table or JOURNAL_SCHEMA changes: a store of another version is refused, and none is ever
rewritten."""
metadata = MetaData()

meta = Table("headwater_meta", metadata, Column("key", String(64), primary_key=True), Column("value", Text))

leases = Table(
    "headwater_lease",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("owner", Text, nullable=False),  # host, process and its start: what tells two runs apart
    Column("run_id", String(64), nullable=False),
    Column("heartbeat", Float(53), nullable=False),  # the store's clock, seconds since the epoch
)

runs = Table(
    "headwater_run",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("workflow", String(255), nullable=False),
    Column("started", Float(53), nullable=False),
    Column("ended", Float(53)),
    Column("outcome", String(32), nullable=False),
    Column("message", Text, nullable=False, server_default=""),
    Column("report", Text, nullable=False, server_default="{}"),  # counts and seconds by stage, as JSON
    Index("headwater_run_by_workflow", "workflow", "started"),
)

positions = Table(
    "headwater_position",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("newest", Float(53)),  # time of the newest record that was read; null: the log has no times
    Column("source_id", Text, nullable=False, server_default=""),  # where that record stands
    Column("complete_since", Float(53)),  # the journal has every record read since then; null: every one ever read
    Column("version", Text, nullable=False),  # of what read and parsed
    Column("settings", Text, nullable=False),  # digest of what the lineage depends on besides the log
    Column("to_retry", Integer, nullable=False),  # names and edges that the next run must try again
)

journal = Table(
    "headwater_journal",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("workflow", String(255), nullable=False, index=True),
    Column("statements", BigInteger, nullable=False),
    Column("newest", Float(53)),  # null: at least one of its statements has no time
    Column("content", LargeBinary, nullable=False),  # the statements, as Parquet; empty where they are in a file
    Column("file", Text),  # its name below the folder of segments
)

templates = Table(
    "headwater_template",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("fingerprint", String(128), primary_key=True),
    Column("dialect", String(64), primary_key=True),
    Column("version", Text, nullable=False),
    Column("tier", String(32), nullable=False),
    Column("symbolic", LargeBinary),
    Column("masked", Text, nullable=False),
    Column("dead", String(64)),
    Column("timed_out", Integer, nullable=False),
    Column("limits", Text, nullable=False),  # that its parsers worked under, as JSON
)

acknowledged = Table(
    "headwater_acknowledged",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("sink", String(128), primary_key=True),
    Column("target", String(128), primary_key=True),  # the entity (or dataset) that the edges lead into
    Column("kind", String(64), nullable=False),  # the target's type
    Column("digest", String(64), nullable=False),  # of everything that was said of it
    Column("digests", Text, nullable=False),  # who said it, since when, and a digest of it, as JSON
)

written_edges = Table(
    "headwater_written_edge",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("sink", String(128), primary_key=True),
    Column("target", String(128), primary_key=True),
    Column("source", String(128), primary_key=True),  # the entity that the edge comes from
    Column("receipt", String(64), nullable=False),  # how the sink left it, or that it is not ours
    Column("producers", Text, nullable=False),  # who says it, and when last, as JSON
)

log_files = Table(
    "headwater_log_file",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("modified", Float(53), nullable=False),  # seconds since the epoch
)

dead_letters = Table(
    "headwater_dead_letter",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("source_id", String(1024), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("step", Integer, primary_key=True),
    Column("digest", BigInteger),
    Column("fingerprint", String(128)),
    Column("run_id", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("letter", Text, nullable=False),  # masked text, tier, limits, versions, time, as JSON
    Index("headwater_dead_letter_by_template", "workflow", "fingerprint"),
)

log_queries = Table(
    "headwater_log_query",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("id", String(64), primary_key=True),  # digest of the next five
    Column("query", String(128), nullable=False),  # fingerprint of the text without its literals
    Column("dialect", String(64), nullable=False),
    Column("literals", String(64), nullable=False),  # digest of them, under the key of this store; empty: any
    Column("database", Text, nullable=False),
    Column("search_path", Text, nullable=False),  # as JSON
    Column("version", Text, nullable=False),  # of what took it apart
    Column("content", Text, nullable=False),  # what it was taken apart into, as JSON; empty where it was not
    Column("reason", Text, nullable=False),  # why not
    Column("tables", Text, nullable=False),  # full names, part by part, as JSON
)

log_query_uses = Table(
    "headwater_log_query_use",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("user", Text, primary_key=True),  # empty: the log does not say
    Column("runs", BigInteger, nullable=False),
    Column("last", Float(53)),  # seconds since the epoch
)

log_metrics = Table(
    "headwater_log_metric",
    metadata,
    Column("workflow", String(255), primary_key=True),
    Column("identity", String(64), primary_key=True),  # digest of view, measure and filters
    Column("name", Text, nullable=False),  # that it was filed under
    Column("digest", String(64), nullable=False),  # of all that was said of it
    Column("sink", String(128), nullable=False),  # the catalog that it was filed in
)


def _prepare(connection: Connection, location: str) -> None:
    """Makes the tables where there are none. Raises ConfigError for a store of another version."""
    if not inspect(connection).has_table(meta.name):
        metadata.create_all(connection)
        connection.execute(insert(meta).values(key="schema", value=str(SCHEMA_VERSION)))
    found = connection.scalar(select(meta.c.value).where(meta.c.key == "schema"))
    if found != str(SCHEMA_VERSION):
        versions = f"state {'of no version' if found is None else found}, this is {SCHEMA_VERSION}"
        raise ConfigError(
            f"the state in {location} was written by another version ({versions}): use that version, or another "
            "headwater.state.url: what the log still has is read again, and counts once"
        )
    if identity_of(connection) is None:  # new, or a repair could not read it
        connection.execute(insert(meta).values(key="identity", value=uuid.uuid4().hex))


def identity_of(connection: Connection) -> str | None:
    """What tells a store from every other, wherever it is; None until it is opened."""
    found: str | None = connection.scalar(select(meta.c.value).where(meta.c.key == "identity"))
    return found


# The database: one SQLite file, or a PostgreSQL that several machines share.

VALUES_AT_ONCE = 500
"""In a list of values to compare with: SQLite before 3.32 takes 999 parameters of a statement."""
_BUSY_SECONDS = 60
_NOT_AS_WRITTEN = "text in it is not as it was written"
_READ_ONLY = "readonly"
_PREPARATION_LOCK = 4_611_686_018_427_001


class StateStore:
    """Transactions over the state; `location` names it without its password. Safe to share between threads."""

    def __init__(self, engine: Engine, location: str) -> None:
        self._engine = engine
        self.location = location
        self._made = self._identity()

    def follow(self) -> None:
        """Where the file was taken away or replaced since, goes on with the one in its place, made if there is none.

        For who looks at a store for days; a run keeps to the one that it began with. Raises StateLost like `read`.
        """
        if self._made is None or self._identity() == self._made:
            return
        self._engine.dispose()
        with self.write() as connection:
            _prepare(connection, self.location)
        self._made = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        """What tells a file from another of its name; None where the store is no file, or it is not there."""
        if self._engine.dialect.name != "sqlite":
            return None
        try:
            found = Path(self.location).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @property
    def is_file(self) -> bool:
        """Whether it is a file of this machine."""
        return self._engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view. Raises StateLost where the store does not work."""
        with self._translate_errors(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: all of it is stored when the block ends, or nothing. Raises StateLost like `read`."""
        with (
            self._translate_errors(),
            self._engine.connect().execution_options(immediate=True) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """The database's own troubles as ours; what a statement does wrong is not among them."""
        try:
            yield
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise state_lost(f" {self.location}", _NOT_AS_WRITTEN) from error
        except DBAPIError as error:
            if isinstance(error, OperationalError | InterfaceError | InternalError) or type(error) is DatabaseError:
                raise _state_lost(self.location, error) from error
            raise


def put_rows(
    connection: Connection, table: Table, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]]
) -> None:
    """Keeps `rows`, each with a value for each of the `columns`, in place of those of a table that have the same key.

    They are given to the driver itself: SQLAlchemy takes each row apart by the names of its columns, which costs more
    than storing it.
    """
    if rows:
        connection.exec_driver_sql(_put_statement(table, columns, connection.dialect), list(rows))


@lru_cache(maxsize=64)
def _put_statement(table: Table, columns: tuple[str, ...], dialect: Dialect) -> str:
    """`insert into t (k, a) values (?, ?) on conflict (k) do update set a = excluded.a`."""
    quoted = {name: dialect.identifier_preparer.quote(table.c[name].name) for name in columns}
    keys = {column.name for column in table.primary_key}
    marks = ", ".join(["?" if dialect.paramstyle == "qmark" else "%s"] * len(quoted))
    news = ", ".join(f"{name} = excluded.{name}" for key, name in quoted.items() if key not in keys)
    return (
        f"insert into {table.name} ({', '.join(quoted.values())}) values ({marks}) "
        f"on conflict ({', '.join(quoted[name] for name in quoted if name in keys)}) do update set {news}"
    )


def clock(connection: Connection) -> float:
    """The store's own time in seconds since the epoch: machines that share it need not agree on theirs."""
    if connection.dialect.name == "postgresql":
        return float(connection.scalar(text("select extract(epoch from clock_timestamp())")) or 0.0)
    return time.time()


def open_state(url: str) -> StateStore:
    """The store at `url`: a file, or a SQLAlchemy URL (sqlite:///, postgresql://). Made where there is none.

    Raises ConfigError where it cannot be opened.
    """
    try:
        parsed = make_url(url if "://" in url else f"sqlite:///{url}")
        if parsed.get_backend_name() == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        elif parsed.get_backend_name() == "sqlite":
            _make_private(parsed.database)
        else:
            raise ConfigError(f"headwater.state.url: {parsed.get_backend_name()} is neither sqlite nor postgresql")
        location = parsed.database if parsed.get_backend_name() == "sqlite" else parsed.render_as_string()
        engine = _engine(parsed.render_as_string(hide_password=False))
        store = StateStore(engine, location or url)
        with store.write() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"select pg_advisory_xact_lock({_PREPARATION_LOCK})"))
            _prepare(connection, store.location)
    except (ArgumentError, ValueError):
        raise ConfigError("headwater.state.url: write a file's path, or postgresql://user@host/database") from None
    except (NoSuchModuleError, ModuleNotFoundError):
        raise ConfigError("headwater.state.url: PostgreSQL needs psycopg: pip install 'headwater[postgres]'") from None
    except (OSError, StateLost, DatabaseError) as error:
        cause = error.__cause__ or error
        if is_damage(cause) and not is_no_database(cause):
            raise state_lost(f" {location}", _reason(cause)) from None
        raise ConfigError(
            f"the state store {location} cannot be used ({_reason(cause)}): see headwater.state.url"
        ) from None
    return StateStore(engine, store.location)  # whose file is there by now


def _make_private(database: str | None) -> None:
    """The file of a store that is not there yet; none for a database in memory or under a URI of SQLite's own."""
    if database and not database.startswith((":", "file:")) and not Path(database).exists():
        private_file(Path(database))


def _state_lost(location: str, error: BaseException) -> StateLost:
    reason = _reason(error)
    if is_damage(error):
        return state_lost(f" {location}", reason)
    if is_full(error):
        return StateLost(
            f"the disk of the state store {location} is full: make room in {Path(location).absolute().parent}, or set "
            "headwater.state.url to a file on another one; what was noted until now is kept: run the same command again"
        )
    if _READ_ONLY in reason:
        lost = StateLost(f"the state store {location} is read-only: let it be written, or set headwater.state.url")
        lost.exit_code = ConfigError.exit_code
        return lost
    return StateLost(
        f"the state store {location} does not work ({reason}); what was noted until now is kept: "
        "run the same command again when it does"
    )


def _reason(error: BaseException) -> str:
    """What is wrong: SQLite's own fixed words, the name of PostgreSQL's error (whose words may quote values)."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if not isinstance(cause, sqlite3.Error):
        return type(cause).__name__
    return _NOT_AS_WRITTEN if quotes_content(cause) else str(cause)


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True, pool_size=4)
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, not where the driver guesses
    cursor = connection.cursor()
    for pragma in ("journal_mode = wal", "synchronous = full"):
        cursor.execute(f"pragma {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("begin immediate" if immediate else "begin")
