"""pg_stat_statements as the log of a live PostgreSQL, through a whole run.

The PostgreSQL that a wheel carries has no contrib modules, so a view of that name stands in it, with the columns that
the extension has in its versions; everything else is the server's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.postgres import PostgresDatabase, PostgresOptions, connect
from tests.support import live_postgres as live
from tests.support.catalog_contents import opened
from workflows.config import load_config
from workflows.counts import RunCounts
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

TABLES = """
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id int, amount numeric, day date, paid boolean);
CREATE TABLE shop.report (id int, total numeric);
CREATE TABLE shop.months (month date, total numeric);
CREATE TABLE shop.wide (a int, b int);
CREATE PROCEDURE shop.load() LANGUAGE sql AS $$ INSERT INTO shop.months (month) SELECT day FROM shop.orders $$;
CREATE TABLE statements (query text, database text, calls bigint, since timestamptz DEFAULT now());
"""
STATEMENTS = (
    "INSERT INTO shop.report (id, total) SELECT id, sum(amount) FROM shop.orders WHERE day > $1 GROUP BY id",
    "WITH paid AS (SELECT * FROM shop.orders WHERE id IN ($1 /*, ... */)) INSERT INTO shop.months (total)"
    " SELECT amount FROM paid LIMIT $2",
    "UPDATE shop.wide SET a = o.id FROM shop.orders o WHERE o.id = b AND o.paid = $1",
    "CALL shop.load()",
    "SELECT $1 + $2",
    "SET search_path = shop",
    "<insufficient privilege>",
)
OF_ANOTHER_DATABASE = "INSERT INTO shop.wide (a) SELECT id FROM shop.report"
VERSIONS = {
    "before 13": "0::float8 AS total_time",
    "13": "true AS toplevel, 1::bigint AS queryid, 0::bigint AS plans, 5.0::float8 AS total_exec_time",
    "17": "true AS toplevel, 1::bigint AS queryid, 5.0::float8 AS total_exec_time, s.since AS stats_since",
}
VIEW = """
CREATE VIEW public.pg_stat_statements AS
SELECT 10::oid AS userid, coalesce(d.oid, 1::oid) AS dbid, s.query, s.calls, {columns}
FROM statements s LEFT JOIN pg_database d ON d.datname = s.database
"""
EXPECTED: dict[tuple[str, str], set[tuple[str, str]]] = {
    ("shop.orders", "shop.report"): {("amount", "total"), ("id", "id")},
    ("shop.orders", "shop.months"): {("amount", "total"), ("day", "month")},
    ("shop.orders", "shop.wide"): {("id", "a")},
    ("shop.wide", "shop.wide"): set(),  # its b decides which rows of a are set
}


def run(folder: Path, socket: Path) -> tuple[RunCounts, dict[tuple[str, str], dict[str, Any]]]:
    content = {
        **live.configuration(socket),
        "headwater": {"catalog": {"file": str(folder / "catalog.db")}, "deadLetters": str(folder / "dead.jsonl")},
    }
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    summary = run_workflow(load_config(folder / "lineage.yaml"), RunOptions("test"), LoggedProgress())
    with opened(folder / "catalog.db") as catalog:
        return summary.counts, {key: details for key, details in catalog.edges().items() if key[0].startswith("shop.")}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with live.server(tmp_path_factory.mktemp("statistics") / "data") as (socket, uri):
        with psycopg.connect(uri, autocommit=True) as session:
            session.execute(TABLES.encode())
            for text in STATEMENTS:
                session.execute("INSERT INTO statements VALUES (%s, current_database(), 3)", (text,))
            session.execute("INSERT INTO statements VALUES (%s, 'template1', 3)", (OF_ANOTHER_DATABASE,))
        yield socket


def changed(socket: Path, text: str) -> None:
    with psycopg.connect(host=str(socket), user="postgres", dbname="postgres", autocommit=True) as session:
        session.execute(text.encode())


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_s_columns_are_read(place: Path, version: str) -> None:
    changed(place, "DROP VIEW IF EXISTS public.pg_stat_statements; " + VIEW.format(columns=VERSIONS[version]))
    with connect(PostgresOptions(str(place))) as session:
        rows = PostgresDatabase(session).statements(100)
    assert rows is not None
    assert {row["text"] for row in rows} == set(STATEMENTS) - {"<insufficient privilege>"}
    assert {row["start_time"] is not None for row in rows} == {version == "17"}


@pytest.mark.spark
def test_a_run_reads_it_and_counts_nothing_twice(spark: SparkSession, place: Path, tmp_path: Path) -> None:
    changed(place, "DROP VIEW IF EXISTS public.pg_stat_statements; " + VIEW.format(columns=VERSIONS["17"]))
    counts, edges = run(tmp_path, place)
    counts.check_conservation()
    assert (counts.records_read, counts.dead) == (len(STATEMENTS) - 1, {})
    found = {
        key: {
            (one["fromColumns"][0].rpartition(".")[2], one["toColumn"].rpartition(".")[2])
            for one in details["columnsLineage"]
        }
        for key, details in edges.items()
    }
    assert found == EXPECTED
    changed(place, "UPDATE statements SET calls = calls + 1")
    again, same = run(tmp_path, place)
    assert (again.edges.new, again.edges.merged, again.records_read_before) == (0, 0, len(STATEMENTS) - 1)
    assert same == edges
