"""Dashboards, their charts and models, and metrics: lineage to them by column, on the wire and in the picture."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http_client import Client, ref

SALES = "shop.main.public.sales"


def edge(client: Client, source: tuple[Any, str], target: tuple[Any, str], columns: tuple[str, str]) -> Any:
    """Adds an edge with a pair of columns, and gives what is stored of it."""
    mapping = {"fromColumns": [columns[0]], "toColumn": columns[1]}
    details = {"source": "DashboardLineage", "columnsLineage": [mapping]}
    ends = {"fromEntity": ref(*source), "toEntity": ref(*target)}
    assert client.put("/lineage", {"edge": {**ends, "lineageDetails": details}})[0] == 200
    stored = client.edge(source[0], target[0])["columnsLineage"]
    assert stored == [mapping]
    return stored


@pytest.fixture(scope="module")
def board(kept: Client) -> dict[str, Any]:
    """A table, the model over it, a dashboard with a chart, and a metric, joined by columns."""
    table = kept.table("sales", "id total")
    chart = kept.made("/charts", {"name": "12", "displayName": "Revenue by day", "service": "looker"})
    columns = [{"name": "revenue", "dataType": "INT"}]
    request = {"name": "explore", "service": "looker", "dataModelType": "LookMlExplore", "columns": columns}
    model = kept.made("/dashboard/datamodels", request)
    request = {"name": "7", "displayName": "Board", "service": "looker", "charts": ["looker.12"]}
    dashboard = kept.made("/dashboards", {**request, "dataModels": ["looker.model.explore"]})
    metric = kept.made("/metrics", {"name": "revenue"})
    of_model = "looker.model.explore.revenue"
    edge(kept, (table, "table"), (model, "dashboardDataModel"), (f"{SALES}.total", of_model))
    edge(kept, (model, "dashboardDataModel"), (dashboard, "dashboard"), (of_model, "looker.12"))
    edge(kept, (model, "dashboardDataModel"), (chart, "chart"), (of_model, "looker.12"))
    edge(kept, (table, "table"), (metric, "metric"), (f"{SALES}.total", "revenue"))
    return {"table": table, "chart": chart, "model": model, "dashboard": dashboard, "metric": metric}


def test_a_dashboard_names_its_charts_and_models(kept: Client, board: dict[str, Any]) -> None:
    found = kept.get("/dashboards/name/looker.7")[1]
    assert [(one["name"], one["displayName"]) for one in found["charts"]] == [("12", "Revenue by day")]
    assert [one["fullyQualifiedName"] for one in found["dataModels"]] == ["looker.model.explore"]
    assert kept.put("/dashboards", {"name": "8", "service": "looker", "charts": ["looker.99"]})[0] == 404


def test_what_breaks_reaches_charts_by_column(kept: Client, board: dict[str, Any]) -> None:
    found = kept.get("/headwater/impact", entity=SALES, column="total")[1]["impacted"]
    by_name = {(one["entity"]["fullyQualifiedName"], one.get("column")): one["type"] for one in found}
    assert {name for name, _ in by_name} == {"looker.model.explore", "looker.7", "looker.12", "revenue"}
    assert set(by_name.values()) == {"DIRECT"}
    others = kept.get("/headwater/impact", entity=SALES, column="id")[1]["impacted"]
    assert "DIRECT" not in {one["type"] for one in others}


def test_the_picture_draws_charts_as_rows_of_their_dashboard(kept: Client, board: dict[str, Any]) -> None:
    graph = kept.get("/headwater/graph", root="looker.7", upstream=2)[1]
    cards = {card["fullyQualifiedName"]: card for card in graph["nodes"]}
    assert cards["looker.7"]["name"] == "Board"
    (row,) = cards["looker.7"]["columns"]
    assert (row["path"], row["description"]) == ("12", "Revenue by day")
    (drawn,) = [one for one in graph["edges"] if one["to"] == board["dashboard"]["id"]]
    (column,) = drawn["contributions"][0]["columns"]
    assert (column["from"], column["to"]) == (["looker.model.explore.revenue"], row["fullyQualifiedName"])
    source = kept.get("/headwater/upstream", entity="looker.7", column="12")[1]
    assert {card["fullyQualifiedName"] for card in source["nodes"]} == {"looker.7", "looker.model.explore", SALES}


def test_a_column_that_is_not_there_is_left_out(kept: Client, board: dict[str, Any]) -> None:
    mapping = {"fromColumns": [f"{SALES}.total"], "toColumn": "looker.99"}
    ends = {"fromEntity": ref(board["table"]), "toEntity": ref(board["dashboard"], "dashboard")}
    assert kept.put("/lineage", {"edge": {**ends, "lineageDetails": {"columnsLineage": [mapping]}}})[0] == 200
    assert kept.edge(board["table"], board["dashboard"])["columnsLineage"] == []
