"""`source.type: dbt`: models published, redefined ones replaced, removed ones gone, with what is said of them.

Tests with their results, exposures and metrics are filed beside them, and go with them too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.catalog_contents import Catalog, opened
from tests.support.dbt_project import BUILT, FRESHNESS
from workflows.config import load_config
from workflows.counts import RunSummary
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

pytestmark = pytest.mark.spark


METRIC = {
    "name": "revenue",
    "type": "simple",
    "label": "Revenue",
    "type_params": {"measure": {"name": "earned"}},
    "depends_on": {"nodes": ["semantic_model.roastery.orders"]},
    "tags": ["money"],
    "meta": {"owner": "finance"},
}
SEMANTIC_MODEL = {
    "name": "orders",
    "measures": [
        {"name": "earned", "agg": "sum", "expr": "case when city = 'hidden' then margin end"},
        {"name": "other", "agg": "sum"},
    ],
    "dimensions": [{"name": "ordered_on", "type": "time"}, {"name": "city", "type": "categorical"}],
    "depends_on": {"nodes": ["model.roastery.orders"]},
}


def run(folder: Path, manifest: dict[str, Any], run_id: str) -> RunSummary:
    (folder / "manifest.json").write_text(json.dumps(manifest))
    files = {"dbtConfigType": "local", "dbtManifestFilePath": str(folder / "manifest.json")}
    files |= {"dbtCatalogFilePath": str(BUILT / "catalog.json"), "dbtRunResultsFilePath": str(folder / "results.json")}
    files |= {"dbtSourcesFilePath": str(folder / "sources.json")}
    settings = {"type": "DBT", "dbtConfigSource": files, "dbtUpdateDescriptions": True, "includeTags": True}
    content = {
        "source": {"type": "dbt", "serviceName": "roastery", "sourceConfig": {"config": settings}},
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}, "successThreshold": 50},
        "headwater": {"catalog": {"file": str(folder / "catalog.db")}, "deadLetters": str(folder / "dead.jsonl")},
    }
    (folder / "dbt.yaml").write_text(yaml.safe_dump(content))
    return run_workflow(load_config(folder / "dbt.yaml"), RunOptions(run_id), LoggedProgress())


def into(catalog: Catalog, table: str) -> set[tuple[str, str, str, str]]:
    return {edge for edge in catalog.column_edges() if edge[2] == table}


def table(catalog: Catalog, name: str) -> dict[str, Any]:
    found: dict[str, Any] = catalog.get(f"tables/name/roastery.roastery.{name}", fields="tags,columns,owners")
    return found


def listed_tests(catalog: Catalog) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = catalog.get("dataQuality/testCases", limit=100)["data"]
    return found


def result(test: dict[str, Any]) -> tuple[str, str]:
    return test["testCaseResult"]["testCaseStatus"], test["testCaseResult"]["result"]


def reads(catalog: Catalog, kind: str, name: str) -> set[str]:
    """The tables that an exposure or a metric is made of."""
    graph = catalog.get(f"lineage/{kind}/name/{name}", upstreamDepth=1, downstreamDepth=0)
    assert {edge["lineageDetails"]["source"] for edge in graph["upstreamEdges"]} == {"DbtLineage"}
    return {node["name"] for node in graph["nodes"]}


def test_a_project_is_published_and_follows_its_manifest(spark: SparkSession, tmp_path: Path) -> None:
    results = json.loads((BUILT / "run_results.json").read_text())
    (failed,) = [one for one in results["results"] if one["unique_id"].startswith("test.roastery.unique_")]
    failed |= {"status": "fail", "failures": 2}
    (tmp_path / "results.json").write_text(json.dumps(results))
    (tmp_path / "sources.json").write_text(json.dumps(FRESHNESS))
    manifest = json.loads((BUILT / "manifest.json").read_text())
    manifest["metrics"]["metric.roastery.revenue"] = METRIC
    manifest["semantic_models"]["semantic_model.roastery.orders"] = SEMANTIC_MODEL

    first = run(tmp_path, manifest, "first")

    assert (first.counts.published, first.counts.dead) == (9, {})
    assert "hard-coded reference: audit reads roastery.main_raw.raw_orders" in first.warnings
    assert "1 of dbt's last results failed: unique of orders.order_id" in first.warnings
    with opened(tmp_path / "catalog.db") as catalog:
        edges = catalog.column_edges()
        assert ("main_raw.raw_orders", "price_cents", "main.stg_orders", "price") in edges
        assert ("main_raw.raw_beans", "supplier_price", "main_marts.orders", "cost") in edges  # by an ephemeral model
        assert ("main.stg_customers", "changed_at", "snapshots.customer_history", "dbt_valid_from") in edges
        assert ("main_raw.raw_orders", "bean", "main_marts.audit", "dearest") not in edges
        assert not any("stg_beans" in name or "order_lines" in name for edge in edges for name in edge)
        (edge,) = catalog.get("headwater/graph", root="roastery.roastery.main.stg_orders", downstream=0)["edges"]
        assert [(one["producer"]["kind"], one["witness"]) for one in edge["contributions"]] == [("dbt", "dbt")]
        orders = table(catalog, "main_marts.orders")
        assert orders["description"] == "One row an order, with what it earned."
        columns = {column["name"]: column for column in orders["columns"]}
        assert columns["order_id"]["description"] == "The till's number."
        assert [tag["tagFQN"] for tag in columns["margin"]["tags"]] == ["dbtTags.money"]
        assert [owner["name"] for owner in orders["owners"]] == ["finance"]
        outcomes = {
            test["fullyQualifiedName"].removeprefix("roastery.roastery."): result(test)
            for test in listed_tests(catalog)
        }
        assert outcomes == {
            "main_marts.orders.order_id.not_null": ("Success", "pass"),
            "main_marts.orders.order_id.unique": ("Failed", "fail"),
            "main_marts.orders.no_free_coffee": ("Success", "pass"),
            "main_raw.raw_orders.freshness": ("Failed", "error"),
        }
        assert reads(catalog, "dashboard", "dbt_roastery.weekly_report") == {"dim_customers", "daily_sales"}
        metric = catalog.get("metrics/name/revenue")
        assert (metric["displayName"], metric["metricType"]) == ("Revenue", "SIMPLE")
        (measure,) = metric["measures"]
        assert measure["expression"] == "case when city = ? then margin end"
        assert metric["dimensions"][0] == {"name": "ordered_on", "type": "TIME"}
        assert reads(catalog, "metric", "revenue") == {"orders"}
        customers = table(catalog, "main_marts.dim_customers")
        assert [tag["tagFQN"] for tag in customers["tags"]] == ["dbtTags.people"]

    nodes = manifest["nodes"]
    prices = nodes["model.roastery.prices.v1"]
    prices["compiled_code"] = prices["compiled_code"].replace("max(price)", "max(tax)")
    del nodes["snapshot.roastery.customer_history"]
    (unique,) = [node for node in nodes if node.startswith("test.roastery.unique_")]
    del nodes[unique], manifest["metrics"]["metric.roastery.revenue"]
    manifest["exposures"]["exposure.roastery.weekly_report"]["depends_on"]["nodes"].pop()
    (failed,) = [one for one in results["results"] if one["unique_id"].startswith("test.roastery.not_null_")]
    failed |= {"status": "error", "timing": [{"completed_at": "2099-01-01T00:00:00Z"}]}
    (tmp_path / "results.json").write_text(json.dumps(results))
    audit = nodes["model.roastery.audit"]
    audit |= {"compiled_code": None, "raw_code": "select 1 as a\n{{ run_query('select secret') }}"}
    manifest["metadata"]["generated_at"] = "2099-01-01T00:00:00Z"
    nodes["model.roastery.orders"]["description"] = "Anew."

    second = run(tmp_path, manifest, "second")

    assert second.counts.dead == {"templated": 1}
    letter = json.loads((tmp_path / "dead.jsonl").read_text().splitlines()[0])
    assert letter["reason"] == "templated"
    assert "models/marts/audit.sql" in json.dumps(letter)
    assert "secret" not in (tmp_path / "dead.jsonl").read_text()
    with opened(tmp_path / "catalog.db") as catalog:
        prices_from = {edge[1] for edge in into(catalog, "main_marts.prices_v1") if edge[3] == "price"}
        assert prices_from == {"tax"}
        assert into(catalog, "snapshots.customer_history") == set()
        assert into(catalog, "main_marts.audit") != set()  # what cannot be read now says what it said
        assert table(catalog, "main_marts.orders")["description"] == "Anew."
        assert len(into(catalog, "main_marts.orders")) > 8
        outcomes = {test["name"]: result(test) for test in listed_tests(catalog)}
        assert outcomes == {
            "not_null": ("Aborted", "error"),
            "freshness": ("Failed", "error"),
            "no_free_coffee": ("Success", "pass"),
        }
        assert reads(catalog, "dashboard", "dbt_roastery.weekly_report") == {"dim_customers"}
        assert catalog.get("metrics")["data"] == []
