"""What runs tell afterwards: a list, metrics, and whether the scheduler is well."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from ingestion.model.outcomes import RunOutcome
from workflows.cli import app
from workflows.state.health import health_server
from workflows.state.metrics import metrics_text, write_metrics
from workflows.state.runs import RecordedRun, begin_run, end_run
from workflows.state.store import StateStore, open_state

WORKFLOW = "shop.query-log-lineage"


def record(store: StateStore, run_id: str, started: float, outcome: RunOutcome, published: int = 0) -> None:
    counts = {"statements": 10, "published": published, "skipped": {"select": 3}, "dead": {"timeout": 1}}
    with store.write() as connection:
        begin_run(connection, WORKFLOW, run_id, started)
        ended = RecordedRun(run_id, WORKFLOW, started, started + 5, outcome, "", {"counts": counts})
        end_run(connection, ended)


@pytest.fixture
def file(workflow_file: Callable[..., Path], minimal: str, tmp_path: Path) -> Path:
    store = open_state(str(tmp_path / ".headwater" / "state.db"))
    record(store, "a" * 32, time.time() - 100, RunOutcome.DONE, published=6)
    record(store, "b" * 32, time.time() - 50, RunOutcome.TARGET_DOWN)
    store.close()
    return workflow_file(minimal)


def test_runs_are_listed_from_the_latest_on(file: Path) -> None:
    shown = CliRunner().invoke(app, ["runs", "-c", str(file)]).output
    first, second = shown.splitlines()[1:3]
    assert first.startswith("b" * 12)
    assert "target_down" in first
    assert second.startswith("a" * 12)
    assert " 5.0 " in second


def test_runs_are_listed_for_machines_even_when_the_log_is_gone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "log.csv").unlink()
    shown = CliRunner().invoke(app, ["runs", "-c", str(file), "--json", "--limit", "1"]).output
    (run,) = map(json.loads, shown.splitlines())
    assert run["outcome"] == "target_down"
    assert run["counts"]["skipped"] == {"select": 3}


def test_metrics_tell_the_last_run_and_the_last_good_one(file: Path, tmp_path: Path) -> None:
    store = open_state(str(tmp_path / ".headwater" / "state.db"))
    families = {f.name: f for f in text_string_to_metric_families(metrics_text(store).decode())}
    assert {s.labels["outcome"]: s.value for s in families["headwater_runs"].samples} == {"done": 1, "target_down": 1}
    assert families["headwater_run_published"].samples[0].value == 6
    assert families["headwater_run_dead"].samples[0].labels["reason"] == "timeout"
    started, finished = families["headwater_run_started_seconds"], families["headwater_run_finished_seconds"]
    assert started.samples[0].value > finished.samples[0].value
    write_metrics(store, tmp_path / "deep" / "metrics.prom")
    assert (tmp_path / "deep" / "metrics.prom").read_bytes() == metrics_text(store)
    store.close()


def test_the_scheduler_s_own_server(file: Path, tmp_path: Path) -> None:
    store = open_state(str(tmp_path / ".headwater" / "state.db"))
    with health_server(store, "127.0.0.1", 0) as url:
        assert requests.get(f"{url}/healthz", timeout=5).text == "ok\n"
        assert requests.get(f"{url}/readyz", timeout=5).status_code == 200
        metrics = requests.get(f"{url}/metrics", timeout=5)
        assert metrics.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert "headwater_run_published" in metrics.text
        assert requests.get(f"{url}/other", timeout=5).status_code == 404
        with store.write() as connection:
            connection.exec_driver_sql("drop table headwater_run")
        assert requests.get(f"{url}/metrics", timeout=5).status_code == 503
        assert requests.get(f"{url}/healthz", timeout=5).status_code == 200
    store.close()


def test_a_schedule_needs_one_and_a_file_to_read_again(file: Path) -> None:
    none = CliRunner().invoke(app, ["schedule", "-c", str(file), "--once-due"])
    assert none.exit_code == 2
    assert "headwater.schedule" in none.output
    standard_input = CliRunner().invoke(app, ["schedule", "-c", "-"])
    assert standard_input.exit_code == 2


def test_what_is_not_due_is_not_started(workflow_file: Callable[..., Path], minimal: str, tmp_path: Path) -> None:
    store = open_state(str(tmp_path / ".headwater" / "state.db"))
    record(store, "c" * 32, time.time(), RunOutcome.DONE)
    store.close()
    file = workflow_file(minimal + 'headwater: {schedule: {cron: "0 0 1 1 *"}}\n')
    assert CliRunner().invoke(app, ["schedule", "-c", str(file), "--once-due"]).exit_code == 0
