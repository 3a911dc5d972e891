"""What a person rejected in the catalog stays rejected through the runs that follow, which say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.growing_log import configuration, rows_of, write_log
from tests.support.http_client import Client
from tests.support.run_in_session import run

LOG = [
    ("s1", "CREATE TABLE orders (oid int, total numeric)"),
    ("s1", "CREATE TABLE daily (oid int, total numeric)"),
    ("s1", "INSERT INTO daily (oid, total) SELECT oid, total FROM orders"),
    ("s1", "CREATE TABLE copy AS SELECT oid FROM daily"),
]
LATER = [("s1", "INSERT INTO daily (oid, total) SELECT oid, sum(total) FROM orders GROUP BY oid"), *LOG[2:3]]


def correct(client: Client, verdict: str, source: str, target: str) -> Any:
    ends = {"from": {"entity": source}, "to": {"entity": target}}
    status, answer = client.post("/headwater/corrections", {"verdict": verdict, "reason": "a test", **ends})
    assert status == 200, answer
    return answer


@pytest.mark.spark
def test_a_rejected_edge_outlives_the_next_run_which_counts_its_statements_as_skipped(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_log(tmp_path / "log" / "1.csv", rows_of(LOG))
    configuration(tmp_path)
    first = run(tmp_path).counts
    assert (first.published, first.skipped.get("rejected_by_hand")) == (2, None)
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        client = Client(address.url)
        names = {one["name"]: one["fullyQualifiedName"] for one in client.get("/tables", limit=10)[1]["data"]}
        rejection = correct(client, "rejected", names["orders"], names["daily"])
        correct(client, "added", names["orders"], names["copy"])
    write_log(tmp_path / "log" / "2.csv", rows_of([*LOG, *LATER])[len(LOG) :])
    second = run(tmp_path).counts
    second.check_conservation()
    assert (second.published, second.skipped) == (0, {"rejected_by_hand": 2})
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        client = Client(address.url)
        assert edges_into(client, names["daily"]) == set()
        assert edges_into(client, names["copy"]) == {"daily", "orders"}
        client.post(f"/headwater/corrections/{rejection['id']}/undo", {"reason": "it was right"})
        assert edges_into(client, names["daily"]) == {"orders"}
        body = client.get("/headwater/edge", **{"from": names["orders"], "to": names["daily"]})[1]
        texts = {one["sqlQuery"] for one in body["contributions"] if one["until"] is None}
        assert any("SUM(total)" in text.replace("sum", "SUM") for text in texts), "nothing that was said is lost"


def edges_into(client: Client, table: str) -> set[str]:
    status, body = client.get("/headwater/graph", root=table, upstream=1, downstream=0, days=0)
    assert status == 200, body
    names = {node["id"]: node["name"] for node in body["nodes"]}
    return {names[edge["from"]] for edge in body["edges"]}
