"""What a real MariaDB logs, exported as the page about query logs says, and read by whole runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration, contributions_in
from tests.support.live_mariadb import MARIADB, MariaDb, documented_export, mariadb
from tests.support.run_in_session import run
from workflows.counts import RunCounts

pytestmark = pytest.mark.spark

STATEMENTS = [
    "create database shop", "create database mart", "use shop",
    "create table orders (day date, amount int, note text)", "create table daily (day date, total int)",
    "create table `Daily Notes` (note text)", "create table weekly (day date)", "create table late (day date)",
    "insert into orders values ('2026-11-20', 1, 'hunter2')",
    "insert into daily (day, total) select day, sum(amount) from orders where note <> 'hunter2' group by day",
    "insert into `Daily Notes` select note from orders",
    "insert into gone select day from nowhere",
    "set statement max_statement_time = 0.1 for insert into late select day from orders where sleep(2) = 0",
    "create procedure fill() insert into weekly select day from daily",
    "call fill()",
    "use mart",
    "create table copied as select day from shop.daily",
]  # fmt: skip


def edges(folder: Path, log: str) -> tuple[set[tuple[str, str]], RunCounts]:
    """What a run over a log gives: sources and targets as schema.table, and its counts."""
    file = configuration(folder, defaults={"database": "default"})
    content = yaml.safe_load(file.read_text())
    content["source"]["serviceConnection"]["config"]["type"] = "Mysql"
    lineage = content["source"]["sourceConfig"]["config"]
    lineage["queryLogFilePath"] = str(folder / log)
    del lineage["queryLogDuration"]
    file.write_text(yaml.safe_dump(content))
    counts = run(folder).counts
    found = {(one.source, one.target) for one in contributions_in(folder / "catalog.db")}
    assert b"hunter2" not in (folder / "catalog.db").read_bytes()
    return {tuple(".".join(name.split(".")[2:]) for name in pair) for pair in found}, counts  # type: ignore[misc]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    if MARIADB is None:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    with mariadb(tmp_path_factory.mktemp("m")) as server:
        server.session(STATEMENTS)
        yield server


WELL = {
    ("shop.orders", "shop.daily"), ("shop.orders", 'shop."Daily Notes"'), ("shop.daily", "shop.weekly"),
    ("shop.daily", "mart.copied"),
}  # fmt: skip
FAILED = {("shop.nowhere", "shop.gone"), ("shop.orders", "shop.late")}


def names(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(source.replace('"', ""), target.replace('"', "")) for source, target in pairs}


def test_the_general_log_of_a_mariadb(spark: SparkSession, logged: MariaDb, tmp_path: Path) -> None:
    """It does not tell which statements failed."""
    documented_export("MySQL general_log", tmp_path, logged.environment)
    found, counts = edges(tmp_path, "general_log.tsv")
    assert list(counts.exporters) == ["MySQL general_log"]
    assert names(found) == names(WELL | FAILED)
    assert counts.dead_total == 0


def test_the_statement_events_of_a_mariadb(spark: SparkSession, logged: MariaDb, tmp_path: Path) -> None:
    documented_export("MySQL events_statements", tmp_path, logged.environment)
    found, counts = edges(tmp_path, "events_statements.tsv")
    assert list(counts.exporters) == ["MySQL events_statements"]
    assert names(found) == names(WELL)
    assert counts.skipped["failed"] >= 2
