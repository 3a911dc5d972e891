"""The call for what made a table wrong: suspects with the paths that a picture of them is drawn from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http_client import Client

NAMES = ("orders", "sales", "daily")
ORDERS, SALES, DAILY = (f"shop.main.public.{name}" for name in NAMES)
NOON = 1_795_176_000_000  # 2026-11-20


@pytest.fixture(scope="module")
def history(kept: Client) -> Client:
    """Four days of orders -> sales -> daily with a test a day; on the fourth `sales` is made of another column."""
    for name, columns in zip(NAMES, ("total net", "revenue", "revenue"), strict=True):
        kept.table(name, columns)
    for day in (17, 18, 19, 20):
        column = "net" if day == 20 else "total"
        _told(kept, _load(day, 1, ("orders", column), "sales"))
        _told(kept, _load(day, 2, ("sales", "revenue"), "daily"))
        held = {"assertion": "not_null", "column": "revenue", "success": day < 20}
        tested = _dataset("daily", inputFacets={"dataQualityAssertions": {"assertions": [held]}})
        _told(kept, _event(day, 6, "tests", inputs=[tested]))
    return kept


def _told(client: Client, event: dict[str, Any]) -> None:
    status, answer = client.post("/openlineage/lineage", event)
    assert status in (200, 201), answer


def _event(day: int, hour: int, job: str, **more: Any) -> dict[str, Any]:
    time = f"2026-11-{day}T{hour:02}:00:00Z"
    run = {"runId": f"{job}-{day}"}
    return {"eventType": "COMPLETE", "eventTime": time, "run": run, "job": {"namespace": "j", "name": job}, **more}


def _dataset(name: str, **more: Any) -> dict[str, Any]:
    return {"namespace": "shop", "name": f"main.public.{name}", **more}


def _load(day: int, hour: int, source: tuple[str, str], target: str) -> dict[str, Any]:
    fields = [{"namespace": "shop", "name": f"main.public.{source[0]}", "field": source[1]}]
    made = {"columnLineage": {"fields": {"revenue": {"inputFields": fields}}}}
    return _event(day, hour, target, inputs=[_dataset(source[0])], outputs=[_dataset(target, facets=made)])


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
