"""Who reads what, as a log tells it: of columns that are named, met by a star, or read into what has no entity."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from ingestion.analysis.analyzer import analyze, without_schema
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column, Problem
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.sqlglot.tier import parse
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import configuration
from tests.support.run_in_session import command_line, run
from workflows.run.publish.reads import ColumnUse, columns_read
from workflows.run.read import reader
from workflows.runtime.options import Backfill, Failpoints

HEADER = "query_text,start_time,end_time,session_id,user_name,status,bytes_read,credits_used\n"
LOG = [
    ("s1", "etl", "CREATE TABLE orders (id int, amount numeric, status text, note text)"),
    ("s1", "etl", "CREATE TABLE raw AS SELECT id, amount AS x FROM orders"),
    ("s1", "etl", "CREATE TABLE daily AS SELECT status, sum(amount) AS total FROM orders GROUP BY status"),
    ("s1", "etl", "CREATE TABLE monthly AS SELECT total FROM daily"),
    ("s1", "etl", "CREATE TABLE yearly AS SELECT total FROM monthly"),
    ("s1", "etl", "CREATE TABLE kept AS SELECT id, note FROM orders"),
    ("s4", "etl", "CREATE TEMP TABLE tmp AS SELECT amount FROM orders"),
    ("s3", "ann", "SELECT status FROM daily WHERE status = 'canary'"),
    ("s3", "bob", "SELECT * FROM kept"),
    ("s3", "bob", "SELECT count(*) FROM raw"),
    ("s3", "bob", "FETCH 10 FROM c"),
    ("s3", "bob", "SELECT ('lost FROM yearly"),
    ("s1", "etl", "CREATE TABLE queue (id int, note text)"),
    ("s3", "bob", "DELETE FROM queue WHERE id = 7 RETURNING note"),
    ("s1", "etl", "CREATE TABLE held AS SELECT id, note, code, spare FROM feed"),
    ("s3", "bob", "DECLARE c CURSOR FOR SELECT id FROM held"),
    ("s3", "bob", "COPY held (note) TO STDOUT"),
    ("s3", "bob", "COPY (SELECT code FROM held) TO PROGRAM 'gzip'"),
    ("s3", "bob", "EXPORT DATABASE 'everything'"),
]
LATER = [*LOG, ("s5", "cy", "SELECT total FROM yearly"), ("s1", "etl", "INSERT INTO monthly SELECT total FROM daily")]


def write_log(folder: Path, statements: list[tuple[str, str, str]]) -> None:
    rows = [
        f'"{text}",2026-01-01 00:{number:02d}:00,2026-01-01 00:{number:02d}:30,{session},{user},,{number * 1000},0.5'
        for number, (session, user, text) in enumerate(statements)
    ]
    (folder / "log").mkdir(exist_ok=True)
    (folder / "log" / "all.csv").write_text(HEADER + "\n".join(rows) + "\n")


def unused(folder: Path, *arguments: str) -> Any:
    told = command_line(folder, "unused", "--catalog", "catalog.db", "--json", *arguments)
    assert told.exit_code == 0, told.output
    return json.loads(told.stdout)


def names(found: Any, part: str = "unused") -> list[str]:
    return [f"{one['entity']['fullyQualifiedName']}.{one['column'] or ''}".rstrip(".") for one in found[part]]


@pytest.mark.spark
def test_what_no_select_leads_back_to_is_unused_with_what_it_costs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = configuration(tmp_path)
    write_log(tmp_path, LOG)
    content = yaml.safe_load(file.read_text())
    run(tmp_path)
    nothing = command_line(tmp_path, "unused", "--catalog", "catalog.db")
    assert (nothing.exit_code, nothing.output.splitlines()[0][:39]) == (1, "of no table is it known who reads it: s")
    content["source"]["sourceConfig"]["config"]["processEntities"] = True
    file.write_text(yaml.safe_dump(content))
    killed = in_a_fork(spark, lambda: run(tmp_path, failpoints=Failpoints("commit:1:kill")))
    assert killed.code == -signal.SIGKILL, killed.sentence
    run(tmp_path)
    found = unused(tmp_path)
    service = found["unused"][0]["entity"]["fullyQualifiedName"].partition(".")[0]
    public = f"{service}.default.public"
    assert names(found) == [f"{public}.yearly", f"{public}.monthly"]
    second, first = found["unused"]
    assert first["cost"] == {"runs": 1, "statements": 1, "seconds": 30.0, "bytes": 3000, "credits": 0.5}
    assert (first["onlyReadBy"], second["onlyReadBy"]) == ([f"{public}.yearly"], [])
    assert first["ask"] == ["etl"]
    # read into a temporary table, by a star alone, by what is read of daily; and what only nobody's tables read
    assert names(found, "columns") == [
        f"{public}.daily.total",
        f"{public}.feed.spare",
        f"{public}.held.spare",
        f"{public}.raw.id",
        f"{public}.raw.x",
    ]
    stars = [one["column"] for one in found["onlyByStar"]]
    assert stars == [f"{public}.kept.id", f"{public}.kept.note", f"{public}.orders.id", f"{public}.orders.note"]
    (covered,) = found["coverage"]
    assert (covered["selects"], covered["read"], covered["unread"]) == (7, 6, {"ill_formed": 1})
    assert covered["mayRead"] == {"cursor": 1, "unparsable": 1}
    write_log(tmp_path, LATER)
    run(tmp_path)
    later = unused(tmp_path)
    assert names(later) == []
    assert later["coverage"][0]["selects"] == 8
    assert names(unused(tmp_path, "--but-for", "cy")) == [f"{public}.monthly", f"{public}.yearly"]
    with monkeypatch.context() as patched:
        patched.setattr(reader, "FEW", 0)  # as of a log of many statements, which Spark shuffles
        run(tmp_path, extent=Backfill(full=True))
    again = unused(tmp_path, "--but-for", "CY")
    assert again["coverage"] == later["coverage"]
    assert again["unused"][0]["cost"]["runs"] == 2
    assert b"canary" not in (tmp_path / "catalog.db").read_bytes()


ORDERS = TableEntity("1", "s.d.p.orders", "s", "d", "p", "orders", (Column("id"), Column("total"), Column("Note")))
LINES = TableEntity("2", "s.d.p.lines", "s", "d", "p", "lines", (Column("id"), Column("price")))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM orders WHERE total > 1", {("id", "star"), ("total", "named"), ("Note", "star")}),
        ("SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM lines)", {(None, "rows")}),
        ("SELECT count(*) FROM orders", {(None, "rows")}),
        ("SELECT gone FROM orders", {(None, "unknown")}),
        ("SELECT note FROM orders", {("Note", "named")}),
        ("WITH a AS (SELECT id, total FROM orders) SELECT id FROM a", {("id", "named"), ("total", "named")}),
    ],
)
def test_a_query_reads_the_columns_that_it_has_a_part_of(sql: str, expected: set[tuple[str | None, str]]) -> None:
    tables = {"lines": LINES, "orders": ORDERS}
    statement = parse(sql, "postgres")
    named = without_schema(statement)
    entities = {name: (tables[name.table],) for name in named.sources}
    full = analyze(statement, lambda name: tables[name.table].columns)
    found = {ColumnUse(ORDERS, column, how) for column, how in expected}
    assert {use for use in columns_read(full, named, entities) if use.entity is ORDERS} == found


def test_of_a_name_that_may_mean_two_tables_both_are_read() -> None:
    statement = parse("SELECT id FROM orders", "postgres")
    named = without_schema(statement)
    entities = dict.fromkeys(named.sources, (ORDERS, LINES))
    assert {use.entity for use in columns_read(statement_of(statement), named, entities)} == {ORDERS, LINES}


def test_where_columns_were_not_followed_any_may_be_read() -> None:
    statement = replace(parse("SELECT id FROM orders", "postgres"), problems=(Problem(ProblemKind.UNSUPPORTED, "x"),))
    entities = dict.fromkeys(without_schema(statement).sources, (ORDERS,))
    found = set(columns_read(statement_of(statement), without_schema(statement), entities))
    assert found == {ColumnUse(ORDERS, "id", "named"), ColumnUse(ORDERS, None, "unknown")}


def statement_of(statement: Any) -> Any:
    return analyze(statement, lambda _name: None)
