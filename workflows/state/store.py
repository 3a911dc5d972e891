"""The state store: one SQLite file, or a PostgreSQL that several machines share."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
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

from ingestion.errors import ConfigError, StateLost
from workflows.journal.damage import state_lost
from workflows.state.schema import prepare

_BUSY_SECONDS = 60
_DAMAGE = ("malformed", "not a database")
_READ_ONLY = "readonly"
_MIGRATION_LOCK = 4_611_686_018_427_001


class StateStore:
    """Transactions over the state; `place` names it without its password. Safe to share between threads."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine = engine
        self.place = place
        self._made = self._identity()

    def follow(self) -> None:
        """Where the file was taken away or replaced since, goes on with the one in its place, made if there is none.

        For who looks at a store for days; a run keeps to the one that it began with. Raises StateLost like `read`.
        """
        if self._made is None or self._identity() == self._made:
            return
        self._engine.dispose()
        with self.write() as connection:
            prepare(connection, self.place)
        self._made = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        """What tells a file from another of its name; None where the store is no file, or it is not there."""
        if self._engine.dialect.name != "sqlite":
            return None
        try:
            found = Path(self.place).stat()
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
        except DBAPIError as error:
            if isinstance(error, OperationalError | InterfaceError | InternalError) or type(error) is DatabaseError:
                raise _state_lost(self.place, _reason(error)) from error
            raise


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
            Path(parsed.database or "").parent.mkdir(parents=True, exist_ok=True)
        else:
            raise ConfigError(f"headwater.state.url: {parsed.get_backend_name()} is neither sqlite nor postgresql")
        place = parsed.database if parsed.get_backend_name() == "sqlite" else parsed.render_as_string()
        engine = _engine(parsed.render_as_string(hide_password=False))
        store = StateStore(engine, place or url)
        with store.write() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text(f"select pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            prepare(connection, store.place)
    except (ArgumentError, ValueError):
        raise ConfigError("headwater.state.url: write a file's path, or postgresql://user@host/database") from None
    except (NoSuchModuleError, ModuleNotFoundError):
        raise ConfigError("headwater.state.url: PostgreSQL needs psycopg: pip install 'headwater[postgres]'") from None
    except (OSError, StateLost, DatabaseError) as error:
        cause = error.__cause__ or error
        raise ConfigError(
            f"the state store {place} cannot be used ({_reason(cause)}): see headwater.state.url"
        ) from None
    return StateStore(engine, store.place)  # whose file is there by now


def _state_lost(place: str, reason: str) -> StateLost:
    if any(sign in reason for sign in _DAMAGE):
        return state_lost(f" {place}", reason)
    if _READ_ONLY in reason:
        error = StateLost(f"the state store {place} is read-only: let it be written, or set headwater.state.url")
        error.exit_code = ConfigError.exit_code
        return error
    return StateLost(
        f"the state store {place} does not work ({reason}); what was noted until now is kept: "
        "run the same command again when it does"
    )


def _reason(error: BaseException) -> str:
    """What is wrong: SQLite's own fixed words, the name of PostgreSQL's error (whose words may quote values)."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return str(cause) if isinstance(cause, sqlite3.Error) else type(cause).__name__


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
