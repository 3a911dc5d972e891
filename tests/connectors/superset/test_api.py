"""Superset's REST API: what it answers is read as its export is, and how it may refuse."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.dashboards.servers import ToolServer
from connectors.dashboards.settings import DashboardServer
from connectors.superset._api import documents_of_server
from connectors.superset._assets import assets_of
from connectors.superset.settings import SupersetConfig
from ingestion.errors import ConfigError, TargetDown
from tests.support.superset_export import CHARTS, ORDERS

_PEOPLE = [{"id": 1, "first_name": "Ann", "last_name": "Lee"}]
_DATASET: dict[str, Any] = {key: ORDERS[key] for key in ("table_name", "schema", "sql", "columns", "metrics")}
_CHART: dict[str, Any] = {"slice_name": "Sales by region", "viz_type": "pie", "owners": _PEOPLE, "id": 7}
ANSWERS: dict[str, Any] = {
    "database/": [{"id": 3, "database_name": "warehouse", "backend": "postgresql"}],
    "database/3/connection": {"sqlalchemy_uri": "postgresql://bi:XXXX@h/shopdb"},
    "dataset/": [{"id": 5, "table_name": "orders"}],
    "dataset/5": {**_DATASET, "id": 5, "database": {"id": 3}, "owners": _PEOPLE},
    "chart/": [{**_CHART, "datasource_id": 5}],
    "chart/7": {**_CHART, "params": json.dumps(CHARTS[0]["params"]), "query_context": None},
    "dashboard/": [{"id": 9, "dashboard_title": "Sales"}],
    "dashboard/9": {"id": 9, "dashboard_title": "Sales", "owners": _PEOPLE},
    "dashboard/9/charts": [{"id": 7}],
}


def settings_for(address: str, password: str = "open") -> DashboardServer:
    return DashboardServer.model_construct(
        host_port=address, username="bi", password=SecretStr(password), provider="db", api_key=None
    )


def answer(request: Request) -> Response:
    if request.path.endswith("security/login"):
        right = (request.get_json() or {}).get("password") == "open"
        return Response(json.dumps({"access_token": "t"} if right else {"message": "no"}), 200 if right else 401)
    if request.headers.get("Authorization") != "Bearer t":
        return Response("{}", 401)
    return Response(json.dumps({"result": ANSWERS[request.path.removeprefix("/api/v1/")]}), 200)


def test_what_the_server_answers_is_read_as_an_export_is(httpserver: HTTPServer) -> None:
    for path in ("security/login", *ANSWERS):
        httpserver.expect_request(f"/api/v1/{path}").respond_with_handler(answer)
    server = settings_for(httpserver.url_for("/"))
    settings = SupersetConfig.model_construct(
        dashboard_server=server, dashboard_service_name="bi", database_names={}, dashboard_path=None
    )
    found = {one.title: one for one in assets_of(documents_of_server(server), settings).items}
    assert found["orders"].query is not None
    assert (found["orders"].query.dialect, found["orders"].query.database) == ("postgres", "shopdb")
    chart = found["Sales by region"]
    assert chart.query is not None
    assert chart.query.text.startswith('SELECT region AS "region", SUM(total) AS "Total" FROM "dashboards"."model"')
    assert (chart.owners, chart.url) == (("Ann Lee",), httpserver.url_for("/explore/?slice_id=7"))
    assert found["Sales"].members == ("7",)


@pytest.mark.parametrize("broken", sorted(path for path in ANSWERS if path != "database/3/connection"))
@pytest.mark.parametrize("said", ["[]", "7", "{}", '{"result": "maintenance"}'])
def test_an_answer_of_another_form_is_no_empty_superset(httpserver: HTTPServer, broken: str, said: str) -> None:
    for path in ("security/login", *ANSWERS):
        httpserver.expect_request(f"/api/v1/{path}").respond_with_handler(
            (lambda _request: Response(said, 200)) if path == broken else answer
        )
    with pytest.raises(ConfigError, match=f"answers api/v1/{broken} as no Superset that is known"):
        documents_of_server(settings_for(httpserver.url_for("/")))


def test_a_refusal_and_silence_are_told_without_a_secret(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/v1/security/login").respond_with_handler(answer)
    with pytest.raises(ConfigError, match=r"Superset at http://localhost:\d+ refuses who asks \(HTTP 401") as refused:
        documents_of_server(settings_for(httpserver.url_for("/"), "sesame"))
    assert "sesame" not in str(refused.value)
    for path, content in (("html", "<html>"), ("moved", "")):
        httpserver.expect_request(f"/{path}").respond_with_data(
            content, status=302 if path == "moved" else 200, headers={"Location": "http://other.example"}
        )
        with pytest.raises(ConfigError, match="is hostPort right"):
            ToolServer("Superset", httpserver.url_for("")).get(path)
    httpserver.expect_request("/broken").respond_with_data("", status=503)
    with pytest.raises(TargetDown, match="answers HTTP 503 to broken"):
        ToolServer("Superset", httpserver.url_for(""), attempts=2, wait=0).get("broken")
    with pytest.raises(TargetDown, match="does not answer"):
        ToolServer("Superset", "http://127.0.0.1:9", attempts=1).get("x")


@pytest.mark.skipif("HEADWATER_SUPERSET" not in os.environ, reason="no address of a Superset is given")
def test_a_live_superset_is_read_whole() -> None:
    """With `HEADWATER_SUPERSET=http://admin:admin@127.0.0.1:8088`."""
    user, _, address = os.environ["HEADWATER_SUPERSET"].removeprefix("http://").rpartition("@")
    name, _, password = user.partition(":")
    server = DashboardServer.model_construct(
        host_port=f"http://{address}", username=name, password=SecretStr(password), provider="db", api_key=None
    )
    documents = documents_of_server(server)
    settings = SupersetConfig.model_construct(
        dashboard_server=server, dashboard_service_name="bi", database_names={}, dashboard_path=None
    )
    found = assets_of(documents, settings)
    assert len(found.items) == len(documents.datasets) + len(documents.charts) + len(documents.dashboards)
    assert all(one.query is not None or one.end for one in found.items)
