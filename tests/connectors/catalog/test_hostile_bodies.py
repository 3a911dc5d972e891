"""Small bodies that are to make the catalog large or slow: each is refused by the rule that it breaks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.connectors.catalog.http_client import Client

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
