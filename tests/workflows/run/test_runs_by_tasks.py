"""Runs whose batches are worked on by tasks: nothing is lost, the dead are replayed, and what others say stays."""

from __future__ import annotations

import json
import logging
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import configuration, contributions_in, rows_of, write_log
from tests.support.http_client import Client
from tests.support.run_in_session import run
from workflows.counts import RunCounts
from workflows.runtime.options import Backfill, Failpoints

pytestmark = pytest.mark.spark
APART = [("s1", f"INSERT INTO {name} (a) SELECT a FROM s_{name}") for name in ("alpha", "beta", "gamma", "delta")]
AGAIN = [
    ("s1", "INSERT INTO alpha (a) SELECT upper(a) FROM s_alpha"),
    ("s1", "INSERT INTO late (a) SELECT a FROM beta"),
]
EVENT = {
    "eventTime": "2026-01-01T00:00:00Z",
    "producer": "https://jobs.example",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "eventType": "COMPLETE",
    "run": {"runId": "01890000-0000-7000-8000-000000000001"},
    "job": {"namespace": "jobs", "name": "fill"},
    "inputs": [{"namespace": "postgres://h:5432", "name": "shop.public.elsewhere"}],
    "outputs": [{"namespace": "postgres://h:5432", "name": "shop.public.gamma"}],
}


def edges_in(folder: Path) -> set[tuple[str, str, str]]:
    """The kind of who says each edge, and its ends without what qualifies them."""
    return {
        (one.producer.split()[0], one.source.split(".")[-1], one.target.split(".")[-1])
        for one in contributions_in(folder / "catalog.db")
    }


def of_log(*names: str) -> set[tuple[str, str, str]]:
    return {("query", f"s_{name}", name) for name in names}


def conserved(counts: RunCounts) -> tuple[int, dict[str, int], dict[str, int]]:
    counts.check_conservation()
    return counts.published, dict(counts.skipped), dict(counts.dead)


def test_the_dead_are_replayed_and_what_others_say_of_the_same_tables_stays(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "workflows.run.execution")
    events = tmp_path / "events.jsonl"
    sent = {"transport": {"type": "file", "log_file_path": str(events), "append": True}}
    configuration(tmp_path, templatesAtOnce=1, openLineage=sent)
    write_log(tmp_path / "log" / "1.csv", rows_of(APART))
    first = run(tmp_path, failpoints=Failpoints("binding:s_delta:raise")).counts
    assert conserved(first) == (3, {}, {"binding_failed": 1})
    assert edges_in(tmp_path) == of_log("alpha", "beta", "gamma")
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        client = Client(address.url)
        names = {one["name"]: one["fullyQualifiedName"] for one in client.get("/tables", limit=20)[1]["data"]}
        ends = {"from": {"entity": names["s_alpha"]}, "to": {"entity": names["alpha"]}}
        assert client.post("/headwater/corrections", {"verdict": "rejected", "reason": "a test", **ends})[0] == 200
        assert client.post("/openlineage/lineage", EVENT)[0] < 300
    others = edges_in(tmp_path) - of_log("beta", "gamma")
    assert {target for _kind, _source, target in others} == {"gamma"}
    events.unlink()
    assert conserved(run(tmp_path, extent=Backfill(dead=True)).counts) == (1, {}, {})
    write_log(tmp_path / "log" / "2.csv", rows_of([*APART, *AGAIN])[len(APART) :])
    assert conserved(run(tmp_path).counts) == (1, {"rejected_by_hand": 1}, {})
    assert edges_in(tmp_path) == of_log("beta", "gamma", "delta") | {("query", "beta", "late")} | others
    outputs = {one["name"] for line in events.read_text().splitlines() for one in json.loads(line)["outputs"]}
    assert {name.split(".")[-1] for name in outputs} == {"delta", "late"}
    by_tasks = [record for record in caplog.records if "in Spark's tasks" in record.getMessage()]
    assert len(by_tasks) == 3


def test_a_run_that_is_killed_while_its_tasks_publish_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    sent = {"transport": {"type": "file", "log_file_path": str(tmp_path / "events.jsonl"), "append": True}}
    configuration(tmp_path, templatesAtOnce=1, openLineage=sent)
    write_log(tmp_path / "log" / "1.csv", rows_of(APART))
    for place in ("sent:1", "publish:2", "events:2", "commit:1"):
        ending = in_a_fork(spark, lambda place=place: run(tmp_path, failpoints=Failpoints(f"{place}:kill")))
        assert ending.code == -signal.SIGKILL, (place, ending.sentence)
    counts = run(tmp_path).counts
    assert conserved(counts) == (len(APART), {}, {})
    assert (counts.edges.new, counts.edges.unchanged) == (0, len(APART))
    assert edges_in(tmp_path) == of_log("alpha", "beta", "gamma", "delta")
    told = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    runs = {(one["outputs"][0]["name"].split(".")[-1], one["run"]["runId"]) for one in told if one["outputs"]}
    assert sorted(target for target, _run in runs) == ["alpha", "beta", "delta", "gamma"]
