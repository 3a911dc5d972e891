"""What the page asks the catalog for, and what it is served as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.page.html import ASSETS, POLICY
from tests.support.http_client import Client, ref
from tests.support.sample_catalog import fill, name


@pytest.fixture
def orchard(client: Client) -> Client:
    fill(client)
    return client


def picture(client: Client, *steps: dict[str, Any], **more: Any) -> Any:
    status, answer = client.post("/headwater/picture", {"steps": list(steps), "days": 0, **more})
    assert status == 200, answer
    return answer


def names(answer: Any) -> set[str]:
    return {node["name"] for node in answer["nodes"]}


def test_each_step_of_a_picture_has_its_own_reach(orchard: Client) -> None:
    answer = picture(orchard, {"entity": name("takings"), "upstream": 1}, {"entity": name("weighed"), "upstream": 1})
    assert names(answer) == {"takings", "weighed", "trees", "prices", "pickings"}
    assert len(answer["edges"]) == 4
    assert {node["name"]: node["hidden"]["downstream"] for node in answer["nodes"]}["takings"] == 1


def test_nearer_cards_come_first_when_not_all_may(orchard: Client) -> None:
    answer = picture(orchard, {"entity": name("report"), "upstream": 9}, limit=3)
    assert names(answer) == {"report", "takings", "prices"}
    assert answer["truncated"]


def test_a_step_that_names_nothing_is_left_out_but_not_the_only_one(orchard: Client) -> None:
    assert names(picture(orchard, {"entity": "x.y"}, {"entity": name("trees")})) == {"trees"}
    status, answer = orchard.post("/headwater/picture", {"steps": [{"entity": "x.y"}]})
    assert (status, answer["code"]) == (404, 404)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"steps": []},
        {"steps": [{"entity": ""}]},
        {"steps": [{"entity": "a", "upstream": 101}]},
        {"steps": 1, "more": 2},
    ],
)
def test_a_picture_of_nothing_or_too_much_is_refused(client: Client, body: Any) -> None:
    assert client.post("/headwater/picture", body)[0] == 400


def test_beginnings_say_how_much_there_is(orchard: Client) -> None:
    assert orchard.get("/headwater/beginnings")[1] == {"tables": 6, "columnEdges": 14}


def test_an_empty_catalog_has_no_beginning(client: Client) -> None:
    assert client.get("/headwater/beginnings")[1] == {"tables": 0, "columnEdges": 0}
    nothing: list[object] = []
    lists = dict.fromkeys(("changed", "used", "failed", "uncovered"), nothing)
    assert client.get("/headwater/beginnings/lists")[1] == lists


def test_the_page_and_its_files_are_served_under_a_strict_policy(client: Client) -> None:
    base = client.url.removesuffix("api/v1")
    for path, kind in [
        ("", "text/html; charset=utf-8"),
        *((f"explorer/{file}", kind) for file, kind in ASSETS.items()),
    ]:
        answer = client.session.get(base + path, timeout=10)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("file", ["page.html", "nothing.mjs", "..%2Fpages.py", "%2e%2e/pages.py"])
def test_nothing_else_is_served_as_a_file_of_the_page(client: Client, file: str) -> None:
    base = client.url.removesuffix("api/v1")
    assert client.session.get(f"{base}explorer/{file}", timeout=10).status_code == 404


def test_with_a_token_the_page_is_open_and_the_lineage_is_not(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0, token="open-sesame")) as address:
        base = address.url.removesuffix("api")
        assert requests.get(base, timeout=10).status_code == 200
        for file in ("app.mjs", "page.js"):
            assert requests.get(f"{base}explorer/{file}", timeout=10).status_code == 200
        assert requests.get(f"{base}api/v1/headwater/beginnings", timeout=10).status_code == 401


def hub(client: Client, readers: int = 30) -> None:
    """A table that many read, and one of them is read itself."""
    fill(client)
    client.made("/databaseSchemas", {"name": "far", "database": "farm.farm"})
    made = [client.table(f"reader_{number:02d}", "a", "farm.farm.far") for number in range(readers)]
    root = client.get(f"/tables/name/{name('report')}")[1]
    edges = [lineage_edge(root, one, 1) for one in made] + [lineage_edge(made[7], made[8], 9)]
    assert client.post("/headwater/lineage", {"batchId": "hub", "edges": edges})[0] == 200


def lineage_edge(source: Any, target: Any, records: int) -> dict[str, Any]:
    contribution = {
        "producer": {"kind": "query", "key": target["name"]},
        "source": "QueryLineage",
        "records": [f"{number:08x}" for number in range(records)],
    }
    return {"fromEntity": ref(source), "toEntity": ref(target), "contribution": contribution}


@pytest.mark.parametrize("many", [3, 1_000])
def test_a_card_with_many_neighbours_shows_the_most_used_and_lists_all(
    client: Client, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.catalog.store.lineage.reads._MANY_READERS", many)
    hub(client)
    answer = picture(client, {"entity": name("report"), "downstream": 1}, beside=4)
    assert len(names(answer)) == 5
    assert names(answer) > {"report", "reader_07"}
    assert {node["name"]: node["hidden"]["downstream"] for node in answer["nodes"]}["report"] == 26
    _, page = client.get("/headwater/neighbours", entity=name("report"), side="downstream", days=0, limit=3)
    listed = [one["entity"]["fullyQualifiedName"].split(".")[-1] for one in page["entities"]]
    assert (page["total"], page["found"], listed) == (30, 30, ["reader_07", "reader_00", "reader_01"])
    assert page["entities"][0]["use"]["runs"] == 9
    asked = {"entity": name("report"), "side": "downstream", "days": 0, "q": "reader 1", "sort": "name", "start": 2}
    _, page = client.get("/headwater/neighbours", **asked)
    assert (page["total"], page["found"]) == (30, 10)
    _, page = client.get("/headwater/neighbours", **{**asked, "q": "er_1"})
    assert [one["entity"]["fullyQualifiedName"][-2:] for one in page["entities"]] == [f"1{n}" for n in range(2, 10)]


@pytest.mark.parametrize("most", [1, 2_000])
def test_from_farther_away_there_are_schemas_and_services_with_the_edges_between_them(
    client: Client, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.catalog.picture.areas._MOST_USED", most)
    hub(client)
    status, answer = client.get("/headwater/areas", days=0)
    assert (status, answer["level"]) == (200, "schemas")
    tables = {node["name"]: node["tables"] for node in answer["nodes"]}
    assert tables["far"] == 30
    assert sum(tables.values()) == 36
    (far,) = [node for node in answer["nodes"] if node["name"] == "far"]
    assert [(column["name"], column["dataType"]) for column in far["columns"]][:1] == [("reader_07", "9 runs")]
    into = [edge for edge in answer["edges"] if edge["to"] == far["id"]]
    assert [[one["count"] for one in edge["contributions"]] for edge in into] == [[30]]
    _, answer = client.get("/headwater/areas", days=0, level="services")
    assert ([node["tables"] for node in answer["nodes"]], answer["edges"]) == ([36], [])
    _, answer = client.get("/headwater/areas", days=0, level="schemas", service="farm")
    assert {node["name"] for node in answer["nodes"]} == {"raw", "core", "mart", "far"}
    _, page = client.get("/headwater/areas/tables", entity=far["fullyQualifiedName"], limit=2)
    assert (page["total"], page["entities"][0]["entity"]["fullyQualifiedName"][-9:]) == (30, "reader_07")
    assert client.get("/headwater/areas/tables", entity="nowhere")[0] == 404


def test_of_too_many_schemas_the_largest_are_shown_with_the_edges_between_them(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.catalog.picture.areas._MOST_AREAS", 3)
    hub(client)
    for service, cut in ((None, True), ("farm", False)):
        asked = {"level": "schemas"} | ({"service": service} if service else {})
        _, answer = client.get("/headwater/areas", days=0, **asked)
        shown = {node["id"]: node["name"] for node in answer["nodes"]}
        assert list(shown.values()) == ["far", "raw", "core"]
        assert (answer["areas"], answer["truncated"], answer["links"]) == (4, cut, 1)
        assert [(shown[edge["from"]], shown[edge["to"]]) for edge in answer["edges"]] == [("raw", "core")]
