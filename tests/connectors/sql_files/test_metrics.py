"""`ingest metrics` on files: queries that are one metric, variants that differ, and what is not taken apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.sql_files.metrics import MADE_ELSEWHERE
from ingestion.metrics.collection import MetricCollection, QueryUse
from ingestion.metrics.report import reportable_metrics
from ingestion.model.lineage import Json
from tests.support.decompositions import decomposed
from workflows.cli import app

QUERIES = """
CREATE TABLE shop.orders (id int, amount numeric, status text, placed timestamp);
SELECT status, sum(amount) AS gmv FROM shop.orders WHERE status = 'canary-1' GROUP BY status;
SELECT sum(o.amount) AS total FROM shop.orders o WHERE 'canary-1' = o.status AND placed > now();
WITH p AS (SELECT * FROM shop.orders WHERE status = 'canary-1') SELECT sum(amount) FROM p;
CREATE TEMP TABLE done AS SELECT amount FROM shop.orders WHERE status = 'canary-2';
SELECT sum(amount) AS gmv FROM done;
SELECT date_trunc('month', placed) AS m, sum(amount) AS gmv FROM shop.orders GROUP BY 1;
SELECT sum(amount) FROM (SELECT amount FROM shop.orders UNION ALL SELECT amount FROM old.orders) q;
SELECT sum(amount OVER () FROM shop.orders;
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Json, str]:
    """The report as JSON, and as text."""
    file = tmp_path_factory.mktemp("sql") / "queries.sql"
    file.write_text(QUERIES)
    told = CliRunner().invoke(app, ["metrics", str(file), "--dialect", "postgres", "--format", "json"])
    text = CliRunner().invoke(app, ["metrics", str(file), "--dialect", "postgres"])
    assert (told.exit_code, text.exit_code) == (1, 1)
    return json.loads(told.stdout), text.stdout


def test_one_measure_is_one_metric_for_each_set_of_filters(report: tuple[Json, str]) -> None:
    found = [(one["name"], one["expression"], one["filters"], one["runs"]) for one in report[0]["metrics"]]
    assert found == [
        ("gmv", "SUM(amount)", ["status = ?"], 2),
        ("total", "SUM(amount)", ["? = status", "placed > CURRENT_TIMESTAMP"], 1),
        ("gmv_2", "SUM(amount)", ["status = ?"], 1),
        ("gmv_3", "SUM(amount)", [], 1),
    ]


def test_variants_say_what_differs_and_no_literal(report: tuple[Json, str]) -> None:
    variants = {one["name"]: one["variant"] for one in report[0]["metrics"]}
    assert variants == {
        "gmv": ["status = ?"],
        "total": ["? = status", "placed > CURRENT_TIMESTAMP"],
        "gmv_2": ["status = ? (2)"],
        "gmv_3": [],
    }
    assert "canary" not in json.dumps(report[0]) + report[1]


def test_every_statement_is_accounted_for(report: tuple[Json, str]) -> None:
    told, text = report
    assert [(one["reason"], one["queries"]) for one in told["not_taken_apart"]] == [
        ("no aggregate", 1),
        ("a set operation", 1),
    ]
    assert told["without_query"] == 1
    assert len(told["failures"]) == 1
    assert "not taken apart: 1 of a set operation" in text


def test_columns_lead_to_measures_through_the_fields_of_a_view(report: tuple[Json, str]) -> None:
    edges = {(one["source"], one["target"]): one["expression"] for one in report[0]["lineage"]}
    assert edges[("shop.orders.amount", "orders.amount")] == "amount"
    assert edges[("orders.amount", "gmv")] == "SUM(amount)"
    assert ("shop.orders.status", "orders.status") in edges


def test_a_directory_is_read_like_a_dbt_project(tmp_path: Path) -> None:
    (tmp_path / "daily.sql").write_text("SELECT day, count(*) AS n FROM {{ ref('visits') }} GROUP BY day")
    told = CliRunner().invoke(app, ["metrics", str(tmp_path), "--format", "json"])
    assert told.exit_code == 0, told.output
    (metric,) = json.loads(told.stdout)["metrics"]
    assert (metric["name"], metric["view"]["tables"], metric["dimensions"][0]["name"]) == ("n", ["visits"], "day")


def test_groups_of_counts_are_reported() -> None:
    sql = (
        "SELECT c, count(*) AS n FROM (SELECT customer, count(*) AS c FROM shop.orders GROUP BY customer) q GROUP BY c"
    )
    told = CliRunner().invoke(app, ["metrics", "-", "--dialect", "postgres", "--format", "json"], input=sql)
    assert told.exit_code == 0, told.output
    assert {one["name"]: one["expression"] for one in json.loads(told.stdout)["metrics"]} == {
        "c": "COUNT(*)",
        "n": "COUNT(*)",
    }


def test_a_metric_that_cannot_be_reported_costs_no_other() -> None:
    found = MetricCollection()
    found.add(decomposed("SELECT sum(a) AS good FROM t"), QueryUse(locations=("a.sql:1",)))
    found.add(decomposed("SELECT sum(a) AS bad FROM u"), QueryUse(last=10**18, locations=("a.sql:2",)))
    metrics, failures = reportable_metrics(found.metrics())
    assert [one.name for one in metrics] == ["good"]
    assert failures == ("a.sql:2: bad cannot be reported (ValueError)",)


WRITES = (
    "INSERT INTO p SELECT amount FROM b",
    "INSERT INTO p VALUES (1)",
    "DELETE FROM p WHERE amount = 1",
    "UPDATE p SET amount = 2",
    "MERGE INTO p USING b ON p.amount = b.amount WHEN MATCHED THEN DELETE",
    "TRUNCATE TABLE p",
    "ALTER TABLE p ADD COLUMN z int",
    "COPY p FROM 'file'",
    "CALL fill('p')",
)


def test_what_reads_a_temporary_table_that_is_written_to_is_not_taken_apart() -> None:
    made, read = "CREATE TEMP TABLE p AS SELECT amount FROM a", "SELECT sum(amount) FROM p"
    script = "".join(f"{made}; {write}; {read};\n" for write in WRITES) + "SELECT sum(amount) FROM a"
    told = CliRunner().invoke(app, ["metrics", "-", "--dialect", "postgres", "--format", "json"], input=script)
    assert told.exit_code == 0, told.output
    report = json.loads(told.stdout)
    reasons = {one["reason"]: one["queries"] for one in report["not_taken_apart"]}
    assert reasons["a temporary table that is written to after it was made"] == len(WRITES)
    assert [(one["view"]["tables"], one["runs"]) for one in report["metrics"]] == [(["a"], 1)]


def test_a_temporary_table_is_what_it_was_when_it_was_read() -> None:
    script = """
    CREATE TEMP TABLE p AS SELECT amount FROM a;
    CREATE TEMP TABLE q AS SELECT amount FROM p;
    DROP TABLE p;
    SELECT sum(amount) FROM p;
    CREATE TEMP TABLE p AS SELECT amount FROM b;
    SELECT sum(amount) FROM q;
    SELECT sum(amount) FROM p;
    CREATE TEMP TABLE e (amount int);
    SELECT sum(amount) FROM e;
    """
    told = CliRunner().invoke(app, ["metrics", "-", "--dialect", "postgres", "--format", "json"], input=script)
    assert told.exit_code == 0, told.output
    assert [one["view"]["tables"] for one in json.loads(told.stdout)["metrics"]] == [["p"], ["a"], ["b"]]


def test_names_mean_what_the_session_of_their_file_has(tmp_path: Path) -> None:
    file = tmp_path / "queries.sql"
    file.write_text(
        """USE shop;
        CREATE TABLE orders (id int, amount int);
        SELECT sum(amount) AS gmv FROM orders;
        USE mart;
        SELECT sum(amount) AS gmv FROM orders;
        SELECT sum(amount) AS gmv FROM shop.orders;
        CREATE TEMPORARY TABLE w AS SELECT amount FROM orders;
        SELECT sum(amount) FROM w;
        USE shop;
        SELECT sum(amount) FROM w;"""
    )
    told = CliRunner().invoke(app, ["metrics", str(file), "--dialect", "mysql", "--format", "json"])
    found = json.loads(told.stdout)
    assert [(one["name"], one["view"]["sql"], one["runs"]) for one in found["metrics"]] == [
        ("gmv", "SELECT * FROM shop.orders", 2),
        ("gmv_2", "SELECT * FROM mart.orders", 2),
    ]
    assert MADE_ELSEWHERE in [one["reason"] for one in found["not_taken_apart"]]
