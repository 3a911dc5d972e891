"""Metrics of queries in a catalog: entities with column edges, listed again, and withdrawn when they are gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from connectors.openmetadata.entities import Collection, TableDefinition, put
from ingestion.model.lineage import Column
from workflows.cli import app
from workflows.config import EmbeddedCatalog
from workflows.target import platform_of

QUERIES = """
SELECT region, sum(amount - discount) AS gmv FROM shop.orders WHERE status = 'canary' GROUP BY region;
SELECT count(*) AS visits FROM shop.visits;
SELECT max(amount) AS taken FROM shop.orders;
"""


def _metrics(*arguments: str | Path, queries: str | None = None) -> Result:
    return CliRunner().invoke(app, ["metrics", *map(str, arguments)], input=queries)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with one of the two tables, a metric of somebody's, and what the queries' metrics are."""
    file = tmp_path_factory.mktemp("catalog") / "shop.db"
    with platform_of(EmbeddedCatalog(file=file)) as platform:
        http = platform.http
        put(http, Collection.DATABASE_SERVICES, {"name": "pg", "serviceType": "Postgres"})
        put(http, Collection.DATABASES, {"name": "web", "service": "pg"})
        put(http, Collection.SCHEMAS, {"name": "shop", "database": "pg.web"})
        columns = tuple(Column(name, "int") for name in ("amount", "discount", "region", "status"))
        put(http, Collection.TABLES, TableDefinition("pg.web.shop", "orders", columns).to_json())
        put(http, Collection.METRICS, {"name": "taken", "description": "of somebody's"})
    told = _metrics("-", "--dialect", "postgres", "--catalog", file, queries=QUERIES)
    assert told.exit_code == 0, told.output
    assert "note: shop.visits is not in the catalog" in told.output
    assert "note: taken is a metric of the catalog already: it stays as it is" in told.output
    return file


def test_a_metric_is_made_of_columns_through_the_fields_of_its_view(catalog: Path) -> None:
    with platform_of(EmbeddedCatalog(file=catalog)) as platform:
        metric = platform.http.get("metrics/name/gmv") or {}
        graph = platform.http.get(f"lineage/metric/{metric['id']}", {"upstreamDepth": 2, "downstreamDepth": 0}) or {}
        view = platform.http.get("dashboard/datamodels/name/queries of -.model.orders") or {}
    assert metric["metricExpression"] == {"language": "SQL", "code": "SUM(amount - discount)"}
    assert [(one["name"], one["type"]) for one in metric["dimensions"]] == [
        ("region", "CATEGORICAL"),
        ("status", "CATEGORICAL"),
    ]
    assert (view["sql"], view["dataModelType"]) == ("SELECT * FROM shop.orders", "LookMlView")
    assert [(one["name"], one["dataType"]) for one in view["columns"]] == [
        (name, "INT") for name in ("amount", "discount", "region", "status")
    ]
    into_metric, into_view = sorted(graph["upstreamEdges"], key=lambda edge: edge["toEntity"] != metric["id"])
    assert (into_metric["fromEntity"], into_view["toEntity"]) == (view["id"], view["id"])
    assert into_metric["lineageDetails"]["columnsLineage"] == [
        {
            "fromColumns": ["queries of -.model.orders.amount", "queries of -.model.orders.discount"],
            "toColumn": "gmv",
            "function": "SUM(amount - discount)",
        }
    ]
    assert into_view["lineageDetails"]["columnsLineage"] == [
        {"fromColumns": [f"pg.web.shop.orders.{name}"], "toColumn": f"queries of -.model.orders.{name}"}
        for name in ("amount", "discount", "region", "status")
    ]


def test_what_is_filed_is_listed_again_without_a_literal(catalog: Path) -> None:
    text, told = _metrics("--catalog", catalog), _metrics("--catalog", catalog, "--format", "json")
    assert (text.exit_code, told.exit_code) == (0, 0)
    assert {one["name"] for one in json.loads(told.stdout)["metrics"]} == {"gmv", "visits"}
    assert "gmv = SUM(amount - discount)\n  view orders: SELECT * FROM shop.orders\n" in text.stdout
    assert b"canary" not in catalog.read_bytes() + told.stdout.encode()


def test_what_the_same_queries_measure_no_more_goes_and_nothing_else(catalog: Path) -> None:
    fewer = QUERIES.replace("SELECT count(*) AS visits FROM shop.visits;", "")
    assert _metrics("-", "--dialect", "postgres", "--catalog", catalog, queries=fewer).exit_code == 0
    with platform_of(EmbeddedCatalog(file=catalog)) as platform:
        listed = (platform.http.get("metrics") or {})["data"]
    assert {one["name"] for one in listed} == {"gmv", "taken"}


def _names(catalog: Path) -> set[str]:
    told = _metrics("--catalog", catalog, "--format", "json")
    return {one["name"] for one in json.loads(told.stdout)["metrics"]}


def test_folders_of_one_name_are_two_origins_and_nothing_goes_while_something_is_not_read(
    catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for team, name in (("a", "first"), ("b", "second")):
        models = tmp_path / team / "models"
        models.mkdir(parents=True)
        (models / "m.sql").write_text(f"SELECT sum(amount) AS {name} FROM shop.orders")
        monkeypatch.chdir(models)
        assert _metrics(".", "--dialect", "postgres", "--catalog", catalog).exit_code == 0
    assert {"first", "second"} <= _names(catalog)
    named = ("--dialect", "postgres", "--catalog", catalog, "--origin", "third")
    assert _metrics("-", *named, queries="SELECT sum(discount) AS third FROM shop.orders").exit_code == 0
    told = _metrics("-", *named, queries="SELECT sum(discount FROM shop.orders")
    assert (told.exit_code, "note: no metric is withdrawn" in told.output) == (1, True)
    assert {"first", "second", "third"} <= _names(catalog)
    assert _metrics("-", *named, queries="SELECT 1").exit_code == 0
    assert {"first", "second"} <= _names(catalog)
    assert "third" not in _names(catalog)


def test_what_cannot_be_asked_is_said(tmp_path: Path) -> None:
    missing = _metrics("--catalog", tmp_path / "no.db")
    assert (missing.exit_code, "no such catalog" in missing.output) == (2, True)
    assert _metrics().exit_code == 2
    assert _metrics("-", "--catalog", tmp_path / "no.db", queries=QUERIES).exit_code == 2
