"""Tests of tables, their results, dashboards and metrics over the contract's calls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http_client import Client, ref

ORDERS = "shop.main.public.orders"
TESTS = "/dataQuality/testCases"


@pytest.fixture
def tested(shop: Client) -> Client:
    """A shop whose orders are tested for having ids."""
    shop.table("orders", "id total")
    definition = {"description": "No value is missing.", "entityType": "COLUMN", "testPlatforms": ["dbt"]}
    shop.made("/dataQuality/testDefinitions", {"name": "not_null", **definition})
    return shop


def add_test(client: Client, name: str = "has_id", link: str = f"<#E::table::{ORDERS}::columns::id>") -> Any:
    return client.made(TESTS, {"name": name, "entityLink": link, "testDefinition": "not_null"})


def test_a_test_lies_under_its_column_and_in_the_suite_of_its_table(tested: Client) -> None:
    test = add_test(tested)
    assert (test["fullyQualifiedName"], test["entityFQN"]) == (f"{ORDERS}.id.has_id", f"{ORDERS}.id")
    assert (test["testDefinition"]["name"], test["testSuite"]["type"]) == ("not_null", "testSuite")
    of_table = add_test(tested, "has_rows", f"<#E::table::{ORDERS}>")
    assert of_table["fullyQualifiedName"] == f"{ORDERS}.has_rows"
    (suite,) = tested.get("/dataQuality/testSuites")[1]["data"]
    assert (suite["fullyQualifiedName"], suite["basic"]) == (f"{ORDERS}.testSuite", True)
    assert suite["basicEntityReference"]["fullyQualifiedName"] == ORDERS
    assert add_test(tested)["id"] == test["id"]
    listed = tested.get(TESTS, entityFQN=ORDERS)[1]
    assert [one["name"] for one in listed["data"]] == ["has_rows", "has_id"]
    assert tested.get(TESTS, entityFQN="shop.main.public.other")[1]["data"] == []


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"entityLink": "<#E::table::shop.main.public.nope>"}, 404),
        ({"testDefinition": "nope"}, 404),
        ({"entityLink": "<#E::topic::t>"}, 400),
        ({"entityLink": "orders"}, 400),
        ({"entityLink": "<#E::table::>"}, 400),
    ],
)
def test_a_test_of_what_is_not_there_is_refused(tested: Client, changed: dict[str, str], status: int) -> None:
    request = {"name": "t", "entityLink": f"<#E::table::{ORDERS}>", "testDefinition": "not_null", **changed}
    answered, body = tested.put(TESTS, request)
    assert (answered, body["code"]) == (status, status)


def test_the_last_result_by_its_time_is_the_tests(tested: Client) -> None:
    name = add_test(tested)["fullyQualifiedName"]
    place = f"{TESTS}/testCaseResults/{name}"
    for at, status in ((2_000, "Failed"), (1_000, "Success"), (2_000, "Failed")):
        result = {"timestamp": at, "testCaseStatus": status, "failedRows": 3}
        assert tested.post(place, result)[0] == 201
    found = tested.get(f"{TESTS}/name/{name}", fields="testCaseResult")[1]
    assert (found["testCaseStatus"], found["testCaseResult"]["timestamp"]) == ("Failed", 2_000)
    assert [one["timestamp"] for one in tested.get(place)[1]["data"]] == [2_000, 1_000]
    assert [one["timestamp"] for one in tested.get(place, endTs=1_500)[1]["data"]] == [1_000]
    assert tested.post(f"{TESTS}/testCaseResults/none", {"timestamp": 1, "testCaseStatus": "Success"})[0] == 404
    assert tested.post(place, {"timestamp": 1, "testCaseStatus": "maybe"})[0] == 400


def test_the_picture_shows_tests_owners_and_tags(tested: Client) -> None:
    name = add_test(tested)["fullyQualifiedName"]
    tested.post(f"{TESTS}/testCaseResults/{name}", {"timestamp": 5, "testCaseStatus": "Failed", "failedRows": 2})
    team = tested.made("/teams", {"name": "finance"})
    owners = {"op": "add", "path": "/owners", "value": [ref(team, "team")]}
    label = {"tagFQN": "dbtTags.money", "source": "Classification", "labelType": "Automated", "state": "Confirmed"}
    tags = {"op": "add", "path": "/columns/0/tags", "value": [label]}
    assert tested.patch(f"/tables/name/{ORDERS}", [owners, tags])[0] == 200
    (card,) = tested.get("/headwater/graph", root=ORDERS)[1]["nodes"]
    assert card["tests"] == [{"name": "has_id", "column": "id", "status": "Failed", "at": 5, "failedRows": 2}]
    assert [one["name"] for one in card["owners"]] == ["finance"]
    assert card["columns"][0]["tags"] == ["dbtTags.money"]


def test_tests_go_with_their_table(tested: Client) -> None:
    add_test(tested)
    table = tested.get(f"/tables/name/{ORDERS}")[1]
    assert tested.delete(f"/tables/{table['id']}")[0] == 200
    assert tested.get(TESTS)[1]["data"] == tested.get("/dataQuality/testSuites")[1]["data"] == []


def test_dashboards_and_metrics_take_lineage_and_stand_in_the_picture(tested: Client) -> None:
    orders = tested.get(f"/tables/name/{ORDERS}")[1]
    tested.made("/services/dashboardServices", {"name": "reports", "serviceType": "CustomDashboard"})
    request = {"name": "weekly", "service": "reports", "sourceUrl": "https://example.org", "dashboardType": "Report"}
    dashboard = tested.made("/dashboards", request)
    expression = {"language": "SQL", "code": "sum(total)"}
    metric = tested.made("/metrics", {"name": "revenue", "metricType": "SUM", "metricExpression": expression})
    assert (dashboard["fullyQualifiedName"], metric["fullyQualifiedName"]) == ("reports.weekly", "revenue")
    for kind, entity in (("dashboard", dashboard), ("metric", metric)):
        ends = {"fromEntity": ref(orders), "toEntity": ref(entity, kind)}
        assert tested.put("/lineage", {"edge": {**ends, "lineageDetails": {"source": "DbtLineage"}}})[0] == 200
    graph = tested.get("/headwater/graph", root=ORDERS)[1]
    assert {node["type"] for node in graph["nodes"]} == {"table", "dashboard", "metric"}
    impacted = tested.get("/headwater/impact", entity=ORDERS)[1]["impacted"]
    assert {one["entity"]["fullyQualifiedName"] for one in impacted} == {"reports.weekly", "revenue"}
    assert tested.get("/headwater/graph", root="reports.weekly")[1]["roots"] == [dashboard["id"]]
