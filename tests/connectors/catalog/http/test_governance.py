"""People, tags and domains, and what belongs to them."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client, ref


def names(answer: tuple[int, Any]) -> list[str]:
    """The names of what a list holds."""
    return [one["name"] for one in answer[1]["data"]]


def test_users_and_teams_own_things(kept: Client) -> None:
    carla = kept.made("/users", {"name": "carla", "email": "carla@example.org"})
    team = kept.made("/teams", {"name": "finance", "users": [carla["id"]]})
    david = kept.made("/users", {"name": "david", "email": "d@example.org", "teams": [team["id"]]})
    assert (david["teams"][0]["name"], david["isBot"]) == ("finance", False)
    assert kept.get("/teams/name/finance", fields="users")[1]["users"][0]["name"] == "carla"
    table = kept.table("owned", owners=[ref(team, "team")])
    assert names(kept.get("/teams/name/finance/assets")) == [table["name"]]
    assert kept.get("/users/name/carla/assets")[1]["paging"]["total"] == 0
    for secret in ({"password": "canary"}, {"authenticationMechanism": {"authType": "JWT"}}, {"roles": ["r"]}):
        status, body = kept.put("/users", {"name": "eve", "email": "e@example.org", **secret})
        assert (status, "canary" in str(body)) == (400, False)
    assert kept.put("/users", {"name": "eve", "email": "e@example.org", "teams": ["0" * 36]})[0] == 404


def test_tags_lie_in_classifications_and_in_tags(kept: Client) -> None:
    kept.made("/classifications", {"name": "Privacy", "description": "Who may see it"})
    secret = kept.made("/tags", {"classification": "Privacy", "name": "Secret", "description": "Few"})
    top = kept.made("/tags", {"parent": "Privacy.Secret", "name": "Top", "description": "Fewer"})
    assert (secret["fullyQualifiedName"], top["fullyQualifiedName"]) == ("Privacy.Secret", "Privacy.Secret.Top")
    assert (top["classification"]["name"], top["parent"]["id"]) == ("Privacy", secret["id"])
    assert names(kept.get("/tags", parent="Privacy")) == ["Secret", "Top"]
    assert kept.get("/tags/name/Privacy.Secret", fields="children")[1]["children"][0]["name"] == "Top"
    table = kept.table("confidential", tags=[{"tagFQN": "Privacy.Secret"}])
    assert names(kept.get("/tags/name/Privacy.Secret/assets")) == [table["name"]]
    assert kept.put("/tags", {"name": "lost", "description": "nowhere"})[0] == 400
    disabled = [{"op": "add", "path": "/disabled", "value": True}]
    assert kept.patch("/tags/name/Privacy.Secret.Top", disabled)[1]["parent"]["id"] == secret["id"]


def test_domains_hold_assets(kept: Client) -> None:
    sales = kept.made("/domains", {"name": "Sales", "domainType": "Aggregate", "description": "Sold"})
    web = kept.made("/domains", {"name": "Web", "domainType": "Aggregate", "description": "Shop", "parent": "Sales"})
    assert web["fullyQualifiedName"] == "Sales.Web"
    table = kept.table("in_sales", domains=["Sales"])
    path = f"/tables/{table['id']}"
    assert [one["name"] for one in table["domains"]] == ["Sales"]
    patch = [{"op": "add", "path": "/domains/0", "value": ref(web, "domain")}]
    assert [one["name"] for one in kept.patch(path, patch)[1]["domains"]] == ["Web", "Sales"]
    kept.table("in_sales")
    assert len(kept.get(path)[1]["domains"]) == 2
    assert names(kept.get("/domains/name/Sales.Web/assets")) == ["in_sales"]
    other = kept.table("moved")
    for how, held in (("add", ["in_sales", "moved"]), ("remove", ["in_sales"])):
        body = {"assets": [ref(other)]}
        assert kept.put(f"/domains/Sales/assets/{how}", body)[1]["status"] == "success"
        assert names(kept.get("/domains/name/Sales/assets")) == held
    assert kept.put("/domains/Sales/assets/add", {"assets": [ref(sales, "domain")]})[0] == 400
    lost = [{"op": "add", "path": "/domains/0", "value": {"id": "0" * 36, "type": "domain"}}]
    assert kept.patch(path, lost)[0] == 404


def test_suites_select_tests_of_many_tables(kept: Client) -> None:
    table = kept.table("suited")
    name = table["fullyQualifiedName"]
    kept.made(
        "/dataQuality/testDefinitions",
        {"name": "filled", "description": "d", "entityType": "TABLE", "testPlatforms": []},
    )
    basic = kept.made("/dataQuality/testSuites/executable", {"name": "any", "basicEntityReference": name})
    assert basic["basicEntityReference"]["id"] == table["id"]
    assert kept.get(f"/tables/name/{name}", fields="testSuite")[1]["testSuite"]["id"] == basic["id"]
    request = {"name": "has_rows", "entityLink": f"<#E::table::{name}>", "testDefinition": "filled"}
    test = kept.made("/dataQuality/testCases", request)
    chosen = kept.made("/dataQuality/testSuites", {"name": "critical"})
    ids = {"testSuiteId": chosen["id"], "testCaseIds": [test["id"]]}
    for _ in range(2):
        assert len(kept.put("/dataQuality/testCases/logicalTestCases", ids)[1]["tests"]) == 1
    assert kept.get("/dataQuality/testSuites/name/critical", fields="tests")[1]["tests"][0]["id"] == test["id"]
    assert kept.put("/dataQuality/testCases/logicalTestCases", {**ids, "testSuiteId": basic["id"]})[0] == 400
    rows = {"columns": ["a"], "rows": [[None]]}
    sample = f"/dataQuality/testCases/{test['id']}/failedRowsSample"
    assert kept.get(sample)[0] == 404
    assert kept.put(sample, rows)[1]["failedRowsSample"] == kept.get(sample)[1] == rows
    text = kept.session.put(f"{kept.url}/dataQuality/testCases/{test['id']}/inspectionQuery", data="select 1")
    assert text.json()["inspectionQuery"] == "select 1"
    assert kept.get(f"/dataQuality/testCases/{test['id']}")[1]["inspectionQuery"] == "select 1"
    deleted = kept.delete(f"/dataQuality/testSuites/executable/{basic['id']}", recursive="true", hardDelete="true")
    assert deleted[0] == 200
    assert kept.get(f"/dataQuality/testCases/{test['id']}")[0] == 404
