"""Metrics in a platform that speaks OpenMetadata's contract and nothing beyond: what is sent, and what is withdrawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import Collection, TableDefinition, put
from connectors.openmetadata.http import Call, Http
from connectors.openmetadata.metrics import MetricFiling
from ingestion.metrics.collection import MetricCollection, QueryUse
from ingestion.metrics.report import FiledTable, MetricReport
from ingestion.model.lineage import Column
from tests.support.decompositions import decomposed
from workflows.config import EmbeddedCatalog
from workflows.target import platform_of

SUM = "SELECT sum(amount) AS gmv FROM shop.orders"
COUNT = "SELECT count(*) AS visits FROM shop.visits"
ORDERS = "pg.web.shop.orders"


def report_of(*queries: str) -> MetricReport:
    found = MetricCollection()
    for query in queries:
        found.add(decomposed(query), QueryUse(3, ("ann",), 1_000))
    return MetricReport(found.metrics())


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with platform_of(EmbeddedCatalog(file=tmp_path_factory.mktemp("plain") / "shop.db")) as platform:
        http = platform.http
        put(http, Collection.DATABASE_SERVICES, {"name": "pg", "serviceType": "Postgres"})
        put(http, Collection.DATABASES, {"name": "web", "service": "pg"})
        put(http, Collection.SCHEMAS, {"name": "shop", "database": "pg.web"})
        put(http, Collection.TABLES, TableDefinition("pg.web.shop", "orders", (Column("amount", "int"),)).to_json())
        put(http, Collection.METRICS, {"name": "visits", "description": "of somebody's"})
        yield replace(platform, capabilities=frozenset())


@pytest.fixture
def calls(plain: Platform, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What is written through the client from now on."""
    made: list[Call] = []
    send = Http.send

    def noted(http: Http, call: Call) -> Any:
        if call.method != "GET":
            made.append(call)
        return send(http, call)

    monkeypatch.setattr(Http, "send", noted)
    return made


def test_metrics_are_filed_by_the_contract_alone(plain: Platform, calls: list[Call]) -> None:
    tables = {"shop.orders": FiledTable(ORDERS, {"amount": (f"{ORDERS}.amount", "int")})}
    filing = MetricFiling(plain, "shop.log", tables)
    filed, warnings = filing.file(report_of(SUM, COUNT))
    assert warnings == ["visits is a metric of the catalog already: it stays as it is"]
    assert [(call.method, call.path) for call in calls] == [
        ("PUT", "services/dashboardServices"),
        ("PUT", "dashboard/datamodels"),
        ("PUT", "lineage"),
        ("PUT", "metrics"),
        ("PUT", "lineage"),
    ]
    assert calls[3].body == {
        "name": "gmv",
        "metricExpression": {"language": "SQL", "code": "SUM(amount)"},
        "measures": [{"name": "gmv", "expression": "SUM(amount)", "aggregation": "SUM"}],
        "dimensions": [],
    }
    calls.clear()
    again = replace(filing, filed=filed)
    assert again.file(report_of(SUM)) == (filed, [])
    assert calls == []  # nothing is said twice
    again.withdraw(set(), ())
    assert [call.method for call in calls] == ["DELETE", "DELETE"]
    assert plain.http.get("metrics/name/gmv") is None
    assert plain.http.get("dashboard/datamodels/name/queries of shop%2Elog.model.orders") is None
    assert (plain.http.get("metrics/name/visits") or {})["description"] == "of somebody's"


def test_what_a_killed_run_has_filed_is_known_again_and_what_others_have_filed_is_not(
    plain: Platform, calls: list[Call]
) -> None:
    filing = MetricFiling(plain, "shop.killed", {})
    filed, warnings = filing.file(report_of(SUM))
    assert (list(filed), warnings) == (["gmv"], [])
    calls.clear()
    assert filing.file(report_of(SUM)) == (filed, [])  # the state does not have it
    assert [call.path for call in calls][2:] == ["metrics", "lineage"]
    calls.clear()
    assert replace(filing, origin="shop.other").file(report_of(SUM)) == (
        {},
        ["gmv is a metric of the catalog already: it stays as it is"],
    )
    assert calls == []
