"""The call for what made a table wrong: suspects with the paths that a picture of them is drawn from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.broken_history import DAILY, NOON, SALES, fill
from tests.support.http_client import Client


@pytest.fixture(scope="module")
def history(kept: Client) -> Client:
    fill(kept)
    return kept


def test_a_suspect_leads_to_each_entity_on_its_path(history: Client) -> None:
    status, body = history.get("/headwater/causes", entity=DAILY, column="revenue", asOf=NOON)
    assert (status, body["known"], body["name"]) == (200, True, f"{DAILY}.revenue")
    first = body["suspects"][0]
    assert [(node["entity"]["fullyQualifiedName"], node["column"]) for node in first["nodes"]] == [
        (SALES, "revenue"),
        (DAILY, "revenue"),
    ]
    assert first["ties"] == ["DIRECT"]
    assert first["evidence"][0]["columns"] == ["revenue"]
    assert "total -> net" in first["evidence"][0]["what"]
    ids = {name: history.get(f"/tables/name/{name}")[1]["id"] for name in (SALES, DAILY)}
    assert [node["entity"]["id"] for node in first["nodes"]] == [ids[SALES], ids[DAILY]]
    assert (body["entity"]["id"], body["column"]) == (ids[DAILY], "revenue")


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"entity": "shop.main.public.nope"}, 404, "nope not found"),
        ({"entity": DAILY, "column": "nope"}, 404, "nope not found"),
        ({"entity": DAILY, "asOf": 2**50}, 400, "has not come yet"),
        ({"entity": DAILY, "asOf": 1}, 400, "nothing is known of 1970"),
        ({"entity": DAILY, "days": -1}, 400, "query.days"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    history: Client, asked: dict[str, Any], status: int, told: str
) -> None:
    answer = history.get("/headwater/causes", **asked)
    assert answer[0] == status
    assert told in answer[1]["message"]
