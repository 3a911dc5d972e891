"""Small bodies that are to make the catalog large or slow: each is refused by the rule that it breaks."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.http_client import Client

Operations = list[dict[str, Any]]


def copies(source: str, target: str, count: int) -> Operations:
    """Each copies the whole of `source` into it once more: it doubles."""
    return [{"op": "copy", "from": source, "path": target.format(number)} for number in range(count)]


class TestPatches:
    @pytest.fixture
    def service(self, shop: Client) -> str:
        return str(shop.get("/services/databaseServices/name/shop")[1]["id"])

    @pytest.mark.parametrize("count", [20, 24, 200])
    def test_copies_of_copies_are_refused(self, shop: Client, service: str, count: int) -> None:
        operations = copies("/connection/config", "/connection/config/x{}", count)
        status, body = shop.patch(f"/services/databaseServices/{service}", operations)
        assert (status, body["code"]) == (413, 413)
        assert "copies more than" in body["message"]
        assert "x0" not in shop.get(f"/services/databaseServices/{service}")[1]["connection"]["config"]

    def test_copies_of_copies_of_an_edge_are_refused(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        shop.lineage(source, target, columnsLineage=[{"fromColumns": ["shop.main.public.s.a"], "toColumn": "x"}])
        operations = [
            {"op": "add", "path": "/columnsLineage", "value": [[1]]},
            *copies("/columnsLineage", "/columnsLineage/{}", 24),
        ]
        status, body = shop.patch(f"/lineage/table/{source['id']}/table/{target['id']}", operations)
        assert (status, body["code"]) == (413, 413)

    def test_many_long_paths_are_refused(self, shop: Client, service: str) -> None:
        operations = [{"op": "test", "path": "/a" * 6_000, "value": 1} for _ in range(400)]
        assert shop.patch(f"/services/databaseServices/{service}", operations)[0] == 413

    def test_a_copy_that_a_client_may_mean_is_made(self, shop: Client) -> None:
        table = shop.table("t", "a b", description="two letters")
        operations = [{"op": "copy", "from": "/description", "path": "/displayName"}]
        assert shop.patch(f"/tables/{table['id']}", operations)[1]["displayName"] == "two letters"

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "copy", "from": "/nothing", "path": "/x"},
            {"op": "copy", "path": "/x"},
            {"op": "copy", "from": "x", "path": "/x"},
            {"op": "move", "from": "", "path": "/columns/0"},
            {"op": "add", "path": "/columns/" + "9" * 5_000, "value": 1},
        ],
    )
    def test_nonsense_is_a_bad_request(self, shop: Client, operation: dict[str, Any]) -> None:
        table = shop.table("t")
        assert shop.patch(f"/tables/{table['id']}", [operation])[0] == 400


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


class TestValues:
    def test_a_body_of_very_many_values_is_refused_before_it_is_read(self, shop: Client) -> None:
        body = b'{"name":"w","databaseSchema":"shop.main.public","columns":[' + b"[]," * 1_100_000 + b"[]]}"
        headers = {"Content-Type": "application/json"}
        answer = shop.session.put(f"{shop.url}/tables", data=body, headers=headers, timeout=60)
        assert (answer.status_code, answer.json()["code"]) == (413, 413)

    @pytest.mark.parametrize("item", [{}, 1, {"name": ""}, {"name": "x", "children": [{}]}])
    def test_a_list_is_refused_at_its_first_wrong_item(self, shop: Client, item: Any) -> None:
        status, body = shop.put(
            "/tables", {"name": "w", "databaseSchema": "shop.main.public", "columns": [item] * 50_000}
        )
        assert status == 400
        assert body["message"].count("columns.0") == 1
        assert "columns.1" not in body["message"]

    def test_a_bulk_call_has_so_many_requests_at_most(self, shop: Client) -> None:
        assert shop.put("/tables/bulk", [{}] * 10_001)[0] == 400

    @pytest.mark.parametrize("depth", [400, 900])
    def test_what_is_nested_deeply_is_stored_or_refused(self, shop: Client, depth: int) -> None:
        config = {"name": "deep", "serviceType": "Mysql", "connection": {"config": nested(depth)}}
        assert shop.put("/services/databaseServices", config)[0] in (201, 400)
        table = {"name": "deep", "databaseSchema": "shop.main.public", "columns": [], "extension": nested(depth)}
        assert shop.put("/tables", table)[0] in (201, 400)


class TestColumns:
    def test_names_that_grow_with_depth_are_refused(self, shop: Client) -> None:
        column: dict[str, Any] = {"name": "z"}
        for _ in range(120):
            column = {"name": "x" * 3_000, "children": [column]}
        status, body = shop.put("/tables", {"name": "t", "databaseSchema": "shop.main.public", "columns": [column]})
        assert (status, body["code"]) == (413, 413)

    def test_a_table_has_so_many_columns_at_most_however_they_come(self, shop: Client) -> None:
        def registered(letter: str, count: int) -> int:
            columns = [{"name": f"{letter}{number}"} for number in range(count)]
            table = {"name": "wide", "databaseSchema": "shop.main.public", "columns": columns}
            return shop.post("/headwater/tables", {"tables": [table]})[0]

        assert registered("a", 20_001) == 413


class TestEvents:
    @staticmethod
    def event(inputs: int, outputs: int, **more: Any) -> dict[str, Any]:
        def datasets(letter: str, count: int) -> list[dict[str, str]]:
            return [{"namespace": "postgres://h:1", "name": f"d.s.{letter}{number}"} for number in range(count)]

        job = {"namespace": "n", "name": "j"}
        times = {"eventTime": "2026-01-01T00:00:00Z", "eventType": "COMPLETE", "run": {"runId": "r"}, "job": job}
        return {**times, "inputs": datasets("i", inputs), "outputs": datasets("o", outputs), **more}

    def test_an_event_of_very_many_pairs_is_refused(self, shop: Client) -> None:
        status, body = shop.post("/openlineage/lineage", self.event(1_000, 1_000))
        assert (status, body["code"]) == (413, 413)

    @pytest.mark.parametrize("time", ["0001-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
    def test_times_at_the_ends_of_the_calendar_are_answered(self, shop: Client, time: str) -> None:
        assert shop.post("/openlineage/lineage", self.event(1, 1, eventTime=time))[0] in (200, 400)


class TestSearches:
    @pytest.mark.parametrize(
        "asked",
        [
            {"q": "a " * 40_000},
            {"query_filter": json.dumps({"bool": {"should": [{"term": {"name": "a"}}] * 3_000}})},
            {"query_filter": '{"bool":{"must":' * 5_000},
        ],
    )
    def test_a_search_that_is_too_large_is_a_bad_request(self, shop: Client, asked: dict[str, str]) -> None:
        assert shop.get("/search/query", **asked)[0] == 400

    def test_a_pattern_of_many_wildcards_is_answered_at_once(self, shop: Client) -> None:
        shop.table("a" * 3_000)
        begun = time.perf_counter()
        asked = {"fieldName": "name", "fieldValue": "*a" * 2_000 + "b"}
        assert shop.get("/search/fieldQuery", **asked)[0] in (200, 400)
        assert time.perf_counter() - begun < 5
