"""Which job wrote an edge: stored with what its statements say, shown, and the same whatever run of the job it was."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from pathlib import Path

import pytest

from tests.support.catalog_contents import opened
from tests.support.growing_log import configuration
from tests.support.run_in_session import command_line, run

pytestmark = pytest.mark.spark

NAMES = ("QUERY_TEXT", "DATABASE_NAME", "SCHEMA_NAME", "SESSION_ID", "USER_NAME", "EXECUTION_STATUS", "START_TIME",
         "WAREHOUSE_NAME", "QUERY_TAG")  # fmt: skip
AIRFLOW = (
    '{{"dag_id": "shop", "task_id": "{task}", "run_id": "scheduled__{day}T05:00:00+00:00", "try_number": "{number}"}}'
)
STATEMENTS = [
    ("insert into daily (day) select day from orders where city = 'Bonn'", AIRFLOW),
    ("insert into daily (day) select day from orders where city = 'Kiel'", "backfill_{day}_{number}"),
    ("insert into daily (day) select day from orders where city = 'Ulm'", "customer {number}, 'hunter2'"),
    ("create temporary table t as select day from orders", "stage {number}"),
    ("insert into weekly (day) select day from t", AIRFLOW.replace("{task}", "weekly")),
    ('insert into monthly (day) select day from orders /* {"app": "dbt", "node_id": "model.shop.monthly"} */', ""),
    ("create view newest as select day from daily", "{number}"),
]


def write_log(folder: Path, day: str, number: int, more: tuple[tuple[str, str], ...] = ()) -> None:
    with (folder / "log" / "history.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        for minute, (text, tag) in enumerate((*STATEMENTS, *more), 1):
            job = tag.format(day=day, number=number, task="load") if "{" in tag else tag
            time = f"2026-11-20 08:{minute:02}:00"
            writer.writerow([text, "SHOP", "SALES", "7", "ETL", "SUCCESS", time, "W", job])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Path:
    folder = tmp_path_factory.mktemp("jobs")
    file = configuration(folder)
    file.write_text(file.read_text().replace("Postgres", "Snowflake"))
    (folder / "log").mkdir()
    write_log(folder, "2026-11-20", 471100815)
    assert run(folder).counts.published == 7
    return folder


def content(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that the catalog stores, but when it was told, and the numbers of rows."""
    with sqlite3.connect(folder / "catalog.db") as connection:
        tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        told = {name for name in tables if name not in {"batches", "meta", "pipeline_runs", "endings"}}
        rows = {name: connection.execute(f"select * from {name}").fetchall() for name in sorted(told)}
    rows["intervals"] = [row[1:] for row in rows["intervals"]]
    rows["sightings"] = [(row[0], *row[2:]) for row in rows["sightings"] if row[-1]]
    return {name: sorted(found, key=repr) for name, found in rows.items() if not name.startswith(("search", "sqlite"))}


def jobs_of(folder: Path) -> dict[tuple[str, str], str]:
    with opened(folder / "catalog.db") as catalog:
        return {edge: details.get("description", "") for edge, details in catalog.edges().items()}


def test_each_edge_names_the_jobs_that_wrote_it(folder: Path) -> None:
    assert jobs_of(folder) == {
        ("SALES.ORDERS", "SALES.DAILY"): "Run by `airflow shop.load`, `backfill`",
        ("SALES.ORDERS", "SALES.WEEKLY"): "Run by `airflow shop.weekly`",
        ("SALES.ORDERS", "SALES.MONTHLY"): "Run by `dbt model.shop.monthly`",
        ("SALES.DAILY", "SALES.NEWEST"): "",
    }


def test_explain_says_which_task_wrote_it(folder: Path) -> None:
    done = command_line(folder, "explain", "SALES.DAILY.DAY", "--catalog", "catalog.db")
    assert "query, sqlglot, run by airflow shop.load, backfill" in done.output
    shown = command_line(folder, "explain", "SALES.DAILY.DAY", "--catalog", "catalog.db", "--format", "json")
    (statement,) = json.loads(shown.output)["statements"]
    assert statement["jobs"] == ["airflow shop.load", "backfill"]


def test_nothing_but_names_leaves(folder: Path) -> None:
    stored = (folder / "catalog.db").read_bytes()
    assert not re.search(rb"hunter2|471100815|scheduled__|2026-11-20T05", stored)


def test_other_runs_of_the_jobs_write_nothing_new(folder: Path) -> None:
    before = content(folder)
    write_log(folder, "2026-11-21", 471200815)
    assert run(folder).counts.records_read == 0
    again = command_line(folder, "run", "-c", "lineage.yaml", "--full")
    assert again.exit_code == 0, again.output
    assert content(folder) == before
