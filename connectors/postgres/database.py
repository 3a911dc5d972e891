"""A live PostgreSQL: how to get in, and what it tells of itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingestion.errors import ConfigError, TargetDown
from ingestion.model.lineage import Column
from ingestion.statements.routines.definition import Definition, DefinitionKind

if TYPE_CHECKING:
    from psycopg import Connection


CONNECT_SECONDS = 10
STATEMENT_SECONDS = 300
_DEFAULT_PORT = 5432
_WHERE = "source.serviceConnection.config"

# What libpq says of a connection that will not come about however often it is tried.
_REFUSALS = {
    "password authentication failed": f"wrong user name or password: check {_WHERE}.username and authType.password",
    "no password supplied": f"a password is wanted: set {_WHERE}.authType.password",
    "no pg_hba.conf entry": "the server lets nobody in from here: see its pg_hba.conf",
    "does not support SSL": f"the server speaks no TLS: set {_WHERE}.sslMode to disable or prefer",
    "certificate verify failed": f"its certificate is not trusted: set {_WHERE}.sslConfig.caCertificate",
    "role": f"there is no such role: check {_WHERE}.username",
    "database": f"there is no such database: check {_WHERE}.database",
    "could not translate host name": f"there is no such host: check {_WHERE}.hostPort",
    "Name or service not known": f"there is no such host: check {_WHERE}.hostPort",
}

Row = tuple[Any, ...]

_OURS = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'"
_NO_EXTENSION = """
    NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend e WHERE e.objid = {0}.oid AND e.classid = {1} AND e.deptype = 'e')
"""
_VIEWS = f"""
    SELECT n.nspname, c.relname, c.relkind = 'm', pg_catalog.pg_get_viewdef(c.oid)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v', 'm') AND {_OURS}
      AND {_NO_EXTENSION.format("c", "'pg_catalog.pg_class'::pg_catalog.regclass")}
    ORDER BY 1, 2
"""
_ROUTINES = f"""
    SELECT n.nspname, p.proname, l.lanname, pg_catalog.pg_get_functiondef(p.oid)
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE p.prokind IN ('f', 'p') AND l.lanname IN ('sql', 'plpgsql') AND {_OURS}
      AND {_NO_EXTENSION.format("p", "'pg_catalog.pg_proc'::pg_catalog.regclass")}
    ORDER BY 1, 2, p.oid
"""
# Before PostgreSQL 13 there was no tgparentid, by which a partition's copy of a trigger is told.
_TRIGGERS = f"""
    SELECT n.nspname, c.relname, t.tgname, pg_catalog.pg_get_triggerdef(t.oid)
    FROM pg_catalog.pg_trigger t
    JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND {_OURS}
      AND coalesce(pg_catalog.to_jsonb(t) ->> 'tgparentid', '0') = '0'
    ORDER BY 1, 2, 3
"""
# information_schema.columns has no materialized views, and only what the role may read; its types lose their lengths.
_COLUMNS = f"""
    SELECT n.nspname, c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped AND {_OURS}
    ORDER BY 1, 2, a.attnum
"""
_STATISTICS = """
    SELECT n.nspname, pg_catalog.array_agg(a.attname::text)
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relname = 'pg_stat_statements' AND c.relkind IN ('v', 'r')
    GROUP BY 1
"""
_HIDDEN = "<insufficient privilege>"


# Connecting to PostgreSQL: the keys of OpenMetadata's connection, and errors that say what to do and no secret.


@dataclass(frozen=True, slots=True)
class PostgresOptions:
    """Where a database is and how to get in. A `host` that begins with a slash is the directory of a socket."""

    host: str = "localhost"
    port: int = _DEFAULT_PORT
    database: str = "postgres"
    user: str = "postgres"
    password: str = field(default="", repr=False)
    ssl_mode: str = ""
    ca_certificate: str = ""

    @property
    def address(self) -> str:
        """What an error may call it."""
        return f"PostgreSQL at {self.host}:{self.port}"

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> PostgresOptions:
        """From the keys of OpenMetadata's Postgres connection; those that it has beside these change nothing here.

        Raises ConfigError.
        """
        host, _colon, port = str(keys.get("hostPort") or "localhost").partition(":")
        if port and not port.isdigit():
            raise ConfigError(f"{_WHERE}.hostPort: expected host:port, as in localhost:5432")
        auth = keys.get("authType")
        password = auth.get("password") if isinstance(auth, Mapping) else None
        tls = keys.get("sslConfig")
        return cls(
            host=host or "localhost",
            port=int(port or _DEFAULT_PORT),
            database=str(keys.get("database") or "postgres"),
            user=str(keys.get("username") or "postgres"),
            password=str(password or keys.get("password") or ""),
            ssl_mode=str(keys.get("sslMode") or ""),
            ca_certificate=str(tls.get("caCertificate") or "") if isinstance(tls, Mapping) else "",
        )


@contextmanager
def connect(options: PostgresOptions) -> Iterator[Connection[tuple[Any, ...]]]:
    """A read-only session that looks for no bare name anywhere, so that the server writes every name in full.

    Raises ConfigError (psycopg is missing, the server lets nobody in) and TargetDown (nobody answers).
    """
    try:
        import psycopg
    except ImportError as error:
        raise ConfigError("a live PostgreSQL is read with psycopg: pip install 'headwater[postgres]'") from error
    try:
        connection = psycopg.connect(**_arguments(options), autocommit=True)
    except psycopg.OperationalError as error:
        failure = _failure(options, str(error))
    else:
        with connection:
            connection.execute("SELECT pg_catalog.set_config('search_path', '', false)")
            connection.execute("SET default_transaction_read_only = on")
            yield connection
        return
    raise failure


def _arguments(options: PostgresOptions) -> dict[str, Any]:
    given: dict[str, Any] = {
        "host": options.host,
        "port": options.port,
        "dbname": options.database,
        "user": options.user,
        "password": options.password,
        "sslmode": options.ssl_mode,
        "sslrootcert": options.ca_certificate,
    }
    return {
        **{key: value for key, value in given.items() if value},
        "connect_timeout": CONNECT_SECONDS,
        "application_name": "headwater",
        "options": f"-c statement_timeout={STATEMENT_SECONDS * 1000}",
    }


def _failure(options: PostgresOptions, message: str) -> ConfigError | TargetDown:
    for part, advice in _REFUSALS.items():
        if part in message and (part not in ("role", "database") or f'{part} "' in message):
            return ConfigError(f"{options.address}: {advice}")
    return TargetDown(f"{options.address} does not answer; is it running, and is {_WHERE}.hostPort right?")


# What a PostgreSQL tells of itself; a role that may only read the catalogs is enough.


class PostgresDatabase:
    """One database over an open session. Raises ConfigError where the role may not read, TargetDown where it breaks."""

    def __init__(self, connection: Connection[Row]) -> None:
        self._connection = connection
        self.name = str(self._rows("SELECT pg_catalog.current_database()")[0][0])

    def views(self) -> Iterator[Definition]:
        """Views and materialized views, as the server writes them: every name in full."""
        now = time.time()
        for schema, name, materialized, text in self._rows(_VIEWS):
            kind = DefinitionKind.MATERIALIZED_VIEW if materialized else DefinitionKind.VIEW
            yield Definition(kind, (self.name, schema, name), text, now)

    def routines(self) -> Iterator[Definition]:
        """Procedures and functions in SQL and PL/pgSQL, and the triggers that run them."""
        now = time.time()
        for schema, relation, name, text in self._rows(_TRIGGERS):
            yield Definition(
                DefinitionKind.ROUTINE, (self.name, schema, f"{relation}.{name}"), text, now, language="sql"
            )
        for schema, name, language, text in self._rows(_ROUTINES):
            yield Definition(DefinitionKind.ROUTINE, (self.name, schema, name), text, now, language=language)

    def columns(self) -> dict[tuple[str, str, str], tuple[Column, ...]]:
        """The columns of every table and view in their order, by (database, schema, name)."""
        found: dict[tuple[str, str, str], list[Column]] = {}
        for schema, relation, column, kind in self._rows(_COLUMNS):
            found.setdefault((self.name, schema, relation), []).append(Column(column, kind))
        return {key: tuple(columns) for key, columns in found.items()}

    def statements(self, limit: int) -> list[dict[str, Any]] | None:
        """The statements that ran in this database, as pg_stat_statements keeps them (rows of RECORD_SCHEMA).

        None where the extension is not there. It keeps a few thousand texts, literals gone, and neither the order nor
        the times at which they ran: before PostgreSQL 17 not even when it first saw them. Raises ConfigError where
        the role may not see other users' statements.
        """
        found = self._rows(_STATISTICS)
        if not found:
            return None
        schema, columns = found[0]
        rows = self._rows(_statements_query(str(schema), columns), (self.name, limit))
        if rows and all(row[1] == _HIDDEN for row in rows):
            raise ConfigError(
                "pg_stat_statements hides what other roles ran: GRANT pg_read_all_stats to the role that reads it"
            )
        return [self._record(number, row) for number, row in enumerate(rows, 1) if row[1] != _HIDDEN]

    def _record(self, number: int, row: Row) -> dict[str, Any]:
        user, text, seconds, since = row
        return {
            "source_id": f"pg_stat_statements:{number}",
            "text": text,
            "start_time": float(since) if since is not None else None,
            "end_time": None,
            "duration": float(seconds),
            "user": user,
            "session": f"{user}@{self.name}",
            "database": self.name,
            "schema": None,
            "dialect": None,
            "query_type": None,
            "job": None,
            "status": None,
            "problem": None,
            "symbolic": None,
        }

    @contextmanager
    def trial(self) -> Iterator[Connection[Row]]:
        """A transaction in which things may be made: all of it is undone."""
        self._connection.execute("BEGIN READ WRITE")
        try:
            yield self._connection
        finally:
            self._connection.execute("ROLLBACK")

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        import psycopg

        try:
            # The texts are this module's own; what a server names goes in as values or quoted.
            return self._connection.execute(query.encode(), values or None).fetchall()
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigError(f"the role may not read {_relation(error)}: grant it SELECT there") from None
        except psycopg.errors.ObjectNotInPrerequisiteState:
            return []  # the extension is made, and the server was not started with its library
        except psycopg.OperationalError:
            reason = f"PostgreSQL broke off while database {self.name} was read: run again later"
        raise TargetDown(reason)


def _relation(error: Any) -> str:
    return str(error.diag.table_name or "the system catalogs")


def _statements_query(schema: str, columns: Sequence[str]) -> str:
    """Names of columns differ by the extension's version."""
    seconds = "total_exec_time" if "total_exec_time" in columns else "total_time"
    since = "pg_catalog.date_part('epoch', s.stats_since)" if "stats_since" in columns else "NULL"
    quoted = '"' + schema.replace('"', '""') + '"'
    return f"""
        SELECT r.rolname, s.query, s.{seconds} / 1000 / greatest(s.calls, 1), {since}
        FROM {quoted}.pg_stat_statements s
        JOIN pg_catalog.pg_database d ON d.oid = s.dbid
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.userid
        WHERE d.datname = %s
        ORDER BY 4 NULLS FIRST, s.calls DESC, s.query
        LIMIT %s
    """
