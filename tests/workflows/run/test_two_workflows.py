"""Two workflows into one catalog, one of which is killed meanwhile: no edge is lost, and each takes back its own."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.catalog_contents import opened
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.runtime.options import Failpoints

pytestmark = pytest.mark.spark
FIRST = [
    ("a", "CREATE TABLE orders (id int, total int)"),
    ("a", "INSERT INTO both (id) SELECT id FROM orders"),
    ("a", "CREATE VIEW own AS SELECT id FROM orders"),
]
SECOND = [
    ("b", "CREATE TABLE clients (id int, city text)"),
    ("b", "INSERT INTO both (id) SELECT id FROM clients"),
    ("b", "CREATE VIEW own_too AS SELECT city FROM clients"),
]


def said(catalog: Path) -> set[tuple[str, str, str]]:
    """Who feeds whom by which columns."""
    return {
        (one.source.rpartition(".")[2], one.target.rpartition(".")[2], column["to"])
        for one in contributions_in(catalog)
        for column in one.content["columns"]
    }


def test_the_word_of_each_stands_whatever_becomes_of_the_other(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with opened(file) as catalog:
        server = {"hostPort": catalog.url, "securityConfig": {"jwtToken": "none"}}

        def workflow(name: str, log: Sequence[tuple[str, str]]) -> Path:
            folder = tmp_path / name
            write_log(folder / "log" / "all.csv", rows_of(log))
            state = {"url": str(folder / "state.db"), "workflow": name}
            configuration(folder, server, registerTables="always", state=state)
            return folder

        first, second = workflow("first", FIRST), workflow("second", SECOND)
        assert in_a_fork(spark, lambda: run(first, failpoints=Failpoints("sent:2:kill"))).code == -signal.SIGKILL
        for folder in (second, first):
            run(folder)
        before = said(file)
        workflow("first", [*FIRST, ("a", "CREATE OR REPLACE VIEW own AS SELECT total FROM orders")])
        run(first)
    both = {("orders", "both", "id"), ("clients", "both", "id"), ("clients", "own_too", "city")}
    assert before == both | {("orders", "own", "id")}
    assert said(file) == both | {("orders", "own", "total")}
