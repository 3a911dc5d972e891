"""Logs as platforms export them, through a whole run: what is published, what is said, what a person is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration, contributions_in
from tests.support.run_in_session import command_line, run

pytestmark = pytest.mark.spark


def configured(folder: Path, connection_type: str, log: str, **headwater: object) -> None:
    """A workflow over one log of this type, without a window."""
    file = configuration(folder, **headwater)
    content = yaml.safe_load(file.read_text())
    content["source"]["serviceConnection"]["config"]["type"] = connection_type
    lineage = content["source"]["sourceConfig"]["config"]
    lineage["queryLogFilePath"] = str(folder / log)
    del lineage["queryLogDuration"]
    file.write_text(yaml.safe_dump(content))


def edges(folder: Path) -> set[tuple[str, str]]:
    return {(one.source, one.target) for one in contributions_in(folder / "catalog.db")}


def test_a_month_of_jobs_is_read_whole_and_failed_ones_are_not_published(spark: SparkSession, tmp_path: Path) -> None:
    jobs = [
        {"query": f"INSERT INTO mart.d{day} SELECT a FROM raw.s", "creation_time": f"2026-01-{day:02} 08:00:00 UTC",
         "job_id": f"j{day}", "project_id": "lake", "user_email": "etl@x", "state": "DONE",
         "error_result": {"reason": "stopped"} if day % 2 else None}
        for day in (1, 2, 15, 16, 30)
    ]  # fmt: skip
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, jobs)))
    configured(tmp_path, "BigQuery", "jobs.jsonl")
    summary = run(tmp_path)
    assert summary.counts.exporters == {"BigQuery INFORMATION_SCHEMA.JOBS": 1}
    assert (summary.counts.published, summary.counts.skipped) == (3, {"failed": 2})
    assert edges(tmp_path) == {("shop.lake.raw.s", f"shop.lake.mart.d{day}") for day in (2, 16, 30)}
    again = run(tmp_path)
    assert (again.counts.records_read, again.counts.records_read_before) == (0, 5)
    late = {**jobs[1], "job_id": "late", "query": "INSERT INTO mart.late SELECT a FROM raw.s", "error_result": None}
    (tmp_path / "jobs.jsonl").write_text("\n".join(map(json.dumps, [*jobs, late])))
    assert run(tmp_path).counts.published == 1


def test_a_window_that_is_asked_for_says_what_it_left_out(spark: SparkSession, tmp_path: Path) -> None:
    rows = [f"insert into d{day} select a from s,2026-01-{day:02}" for day in (1, 29, 30)]
    rows += ["insert into undated select a from s,"]
    (tmp_path / "log.csv").write_text("\n".join(["query,start_time", *rows]))
    configured(tmp_path, "Postgres", "log.csv")
    summary = run(tmp_path, "queryLogDuration=2")
    assert (summary.counts.published, summary.counts.skipped) == (3, {"outside_window": 1})
    window, outcome = summary.warnings
    assert window.startswith(
        "1 of 4 statements are outside the window (the 2 days up to the newest record; it begins at 2026-01-28 00:00)"
    )
    # Told once, whatever the number of records: what failed cannot be told from what ran.
    assert outcome.startswith("in the log no column tells how a statement ended") and "queryLogColumns" in outcome
    # What has no time is seen by the newest record, and moves no window of the catalog.
    newest = 1769731200000
    assert {one.last for one in contributions_in(tmp_path / "catalog.db")} == {newest - 86_400_000, newest}


def test_connections_and_changes_of_the_database_in_mysqls_log_hold(spark: SparkSession, tmp_path: Path) -> None:
    log = Path(__file__).parents[3] / "connectors/platforms/exports/mysql_general.csv"
    (tmp_path / "log.csv").write_bytes(log.read_bytes())
    configured(tmp_path, "Mysql", "log.csv", defaults={"database": "server"})
    summary = run(tmp_path)
    assert summary.counts.published == 2
    assert edges(tmp_path) == {
        ("shop.server.shop.orders", "shop.server.shop.daily"),
        ("shop.server.mart.s", "shop.server.mart.t"),
    }


def test_texts_that_are_no_sql_are_no_success(spark: SparkSession, tmp_path: Path) -> None:
    """Of names the column cannot be told from one of statements beforehand."""
    (tmp_path / "log.csv").write_text("query,sql_id\nnightly load,1\nann smith,2\nselect 1,3\n")
    configured(tmp_path, "Postgres", "log.csv")
    summary = run(tmp_path)
    assert summary.counts.dead == {"not_sql": 2}
    assert any(warning.startswith("2 of 3 texts are no SQL") for warning in summary.warnings)
    result = command_line(tmp_path, "run", "-c", "lineage.yaml", "--full")
    assert result.exit_code == 3
    assert "nightly" not in result.output + (tmp_path / "dead.jsonl").read_text()


def test_records_are_shown_as_they_are_understood_without_their_literals(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        "QUERY_TEXT,START_TIME,USER_NAME,WAREHOUSE_NAME,EXECUTION_STATUS,TOTAL_ELAPSED_TIME,DATABASE_NAME\n"
        "insert into t select 'hunter2' from s,2026-01-20 08:00:00,ANN,W,SUCCESS,2500,SHOP\n"
        "hunter2 of ann,2026-01-20 08:01:00,ANN,W,FAIL,1,SHOP\n"
        ",2026-01-20 08:01:00,ANN,W,SUCCESS,1,SHOP\n"
        "select 4,2026-01-20 08:01:00,ANN,W,SUCCESS,1,SHOP\n"
    )
    configured(tmp_path, "Snowflake", "log.csv")
    shown = command_line(tmp_path, "validate", "-c", "lineage.yaml", "--connect")
    assert shown.exit_code == 0, shown.output
    lines = [line.strip() for line in shown.output.splitlines() if line.startswith("  log ")]
    assert lines == [
        "log      read as Snowflake QUERY_HISTORY (1)",
        "log      log.csv:2: ran, 2026-01-20 08:00:00 UTC, 2.5 s, user ANN, database SHOP: "
        "insert into t select ? from s",
        "log      log.csv:3: failed, 2026-01-20 08:01:00 UTC, 0.001 s, user ANN, database SHOP: "
        "14 characters that are no SQL",
        "log      log.csv:4: not_a_statement, 2026-01-20 08:01:00 UTC, 0.001 s, user ANN, database SHOP: no text",
    ]
