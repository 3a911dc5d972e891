"""What a PostgreSQL tells of itself; a role that may only read the catalogs is enough."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ingestion.errors import ConfigError, TargetDown
from ingestion.model import Column
from ingestion.routines.definition import Definition, DefinitionKind

if TYPE_CHECKING:
    from psycopg import Connection

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
        return {place: tuple(columns) for place, columns in found.items()}

    def statements(self, limit: int) -> list[dict[str, Any]] | None:
        """The statements that ran in this database, as pg_stat_statements keeps them (rows of RECORD_SCHEMA).

        None where the extension is not there. It keeps a few thousand texts, literals gone, and neither the order nor
        the times at which they ran: before PostgreSQL 17 not even when it first saw them. Raises ConfigError where
        the role may not see other users' statements.
        """
        places = self._rows(_STATISTICS)
        if not places:
            return None
        schema, columns = places[0]
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
    place = '"' + schema.replace('"', '""') + '"'
    return f"""
        SELECT r.rolname, s.query, s.{seconds} / 1000 / greatest(s.calls, 1), {since}
        FROM {place}.pg_stat_statements s
        JOIN pg_catalog.pg_database d ON d.oid = s.dbid
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.userid
        WHERE d.datname = %s
        ORDER BY 4 NULLS FIRST, s.calls DESC, s.query
        LIMIT %s
    """
