"""The SELECTs of a query log as metrics: each run counted once whatever happens, added up, without literals."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.openmetadata.entities import Collection, put
from ingestion.metrics.process import MetricsProcess, MetricsRequest
from ingestion.parsing.sandbox.process import Limits
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import configuration
from tests.support.parser_processes import parser_processes
from tests.support.run_in_session import command_line, run
from workflows.config import EmbeddedCatalog
from workflows.run.publish import log_metrics
from workflows.run.publish.log_metrics import decompose_all
from workflows.run.read import reader
from workflows.runtime.options import Backfill, Failpoints
from workflows.target import platform_of

pytestmark = pytest.mark.spark
HEADER = "query_text,start_time,session_id,user_name,status\n"
DEFINING = [
    ("s1", "etl", "CREATE TABLE orders (id int, amount numeric, status text, placed timestamp)"),
    ("s1", "etl", "CREATE TABLE orders_kept AS SELECT id, amount, status, placed FROM orders"),
    ("s1", "etl", "CREATE TEMP TABLE recent AS SELECT amount FROM orders"),
]
FIRST = [
    ("s2", "ann", "SELECT status, sum(amount) AS gmv FROM orders WHERE status = 'canary-paid' GROUP BY status"),
    ("s2", "ann", "select status, SUM(amount) as gmv from orders where status = 'canary-paid' group by status"),
    ("s3", "bob", "SELECT sum(o.amount) FROM public.orders o WHERE 'canary-paid' = o.status"),
    ("s3", "bob", "SELECT sum(amount) AS sent FROM orders WHERE status = 'canary-sent'"),
    ("s3", "bob", "SELECT * FROM orders WHERE id = 7"),
    ("s1", "etl", "SELECT sum(amount) AS of_temporary FROM recent"),
    ("s4", "cy", "SET search_path TO mart"),
    ("s4", "cy", "SELECT sum(amount) AS of_mart FROM orders"),
]
LATER = [
    ("s5", "dan", "SELECT sum(amount) AS total FROM orders WHERE status = 'canary-paid'"),
    *(("s6", "eve", f"SELECT max(amount) AS most FROM orders WHERE id = {number}") for number in range(22)),
    ("s7", "fay", "SET search_path TO mart"),
    ("s7", "fay", "SELECT sum(amount) AS sent FROM orders WHERE status = 'canary-sent'"),
]


def write_log(folder: Path, statements: Sequence[tuple[str, str, str]]) -> None:
    rows = [
        f'"{text}",2026-01-01 {number // 60:02d}:{number % 60:02d}:00,{session},{user},'
        for number, (session, user, text) in enumerate(statements)
    ]
    (folder / "log").mkdir(exist_ok=True)
    (folder / "log" / "all.csv").write_text(HEADER + "\n".join(rows) + "\n")


def workflow(folder: Path, *, entities: bool = True) -> Path:
    folder.mkdir(exist_ok=True)
    file = configuration(folder)
    content = yaml.safe_load(file.read_text())
    content["source"]["sourceConfig"]["config"]["processEntities"] = entities
    file.write_text(yaml.safe_dump(content))
    return folder


def metrics_of(folder: Path) -> dict[str, dict[str, Any]]:
    told = command_line(folder, "metrics", "--catalog", "catalog.db", "--format", "json")
    assert told.exit_code == 0, told.output
    return {one["name"]: one for one in json.loads(told.stdout)["metrics"]}


def uses(found: dict[str, dict[str, Any]]) -> dict[str, tuple[int, tuple[str, ...], str]]:
    return {name: (one["runs"], tuple(one["users"]), one["last_run"]) for name, one in found.items()}


def test_each_run_is_counted_once_through_kills_growth_and_rereading(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workflow(tmp_path / "shop", entities=False)
    write_log(folder, [*DEFINING, *FIRST])
    run(folder)
    assert metrics_of(folder) == {}
    workflow(folder)  # who asks for it later has all counted that the log still has
    killed = in_a_fork(spark, lambda: run(folder, failpoints=Failpoints("commit:1:kill")))
    assert killed.code == -signal.SIGKILL, killed.sentence
    assert run(folder).counts.skipped["select"] == 7
    found = metrics_of(folder)
    assert uses(found) == {
        "gmv": (3, ("ann", "bob"), "2026-01-01T00:05:00Z"),
        "sent": (1, ("bob",), "2026-01-01T00:06:00Z"),
        "of_mart": (1, ("cy",), "2026-01-01T00:10:00Z"),
    }
    assert found["gmv"]["view"]["sql"] == "SELECT * FROM default.public.orders"
    impact = command_line(folder, "impact", "default.public.orders.amount", "--catalog", "catalog.db")
    assert "gmv" in impact.output
    write_log(folder, [*DEFINING, *FIRST, *LATER])
    with monkeypatch.context() as patched:
        patched.setattr(reader, "FEW", 0)  # as of a log of many statements, which Spark shuffles
        patched.setattr(log_metrics, "_FEW", 1)  # and of many queries, which it looks up
        # all of it again, of which the most was counted
        assert not run(folder, extent=Backfill(full=True)).warnings
    grown = metrics_of(folder)
    assert uses(grown) == {
        **uses(found),
        "gmv": (4, ("ann", "bob", "dan"), "2026-01-01T00:11:00Z"),
        "most": (22, ("eve",), "2026-01-01T00:33:00Z"),
        "sent_2": (1, ("fay",), "2026-01-01T00:35:00Z"),
    }
    assert grown["most"]["any_literal"] is True
    with platform_of(EmbeddedCatalog(file=folder / "other.db")) as platform:
        put(platform.http, Collection.METRICS, {"name": "gmv", "description": "of somebody's"})
    moved = run(folder, f"headwater.catalog.file={folder / 'other.db'}")
    assert "gmv is a metric of the catalog already: it stays as it is" in moved.warnings
    with platform_of(EmbeddedCatalog(file=folder / "other.db")) as platform:
        assert (platform.http.get("metrics/name/gmv") or {})["description"] == "of somebody's"
        assert platform.http.get("metrics/name/sent") is not None
    files = [file for file in folder.rglob("*") if file.is_file() and file.parent.name != "log"]
    assert not [file for file in files if b"canary" in file.read_bytes()]


def test_many_queries_are_taken_apart_by_tasks_as_few_are_here(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"SELECT max(a{number}) FROM t" for number in range(6)] + ["SELECT sum(a FROM t"]
    requests = [MetricsRequest(text, "postgres", b"key") for text in texts]
    with MetricsProcess(Limits()) as process:
        here = decompose_all(spark, requests, process, 2)
        started = set(parser_processes())
        assert decompose_all(spark, requests, process, 2) == here
        assert set(parser_processes()) == started
        monkeypatch.setattr(log_metrics, "_FEW", 1)
        assert decompose_all(spark, requests, process, 2) == here
    shown = [one.metrics.measures[0].expression.text if one.metrics else one.reason for one in here]
    assert shown == [*(f"MAX(a{number})" for number in range(6)), "unparsable"]
