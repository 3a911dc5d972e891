"""A catalog of four days in which a definition goes wrong, told over OpenLineage, with a test that fails then."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client

NAMES = ("orders", "sales", "daily")
ORDERS, SALES, DAILY = (f"shop.main.public.{name}" for name in NAMES)
NOON = 1_795_176_000_000  # 2026-11-20


def fill(client: Client) -> None:
    """Four days of orders -> sales -> daily with a test a day; on the fourth `sales` is made of another column."""
    for name, columns in zip(NAMES, ("total net", "revenue", "revenue"), strict=True):
        client.table(name, columns)
    for day in (17, 18, 19, 20):
        column = "net" if day == 20 else "total"
        _told(client, _load(day, 1, ("orders", column), "sales"))
        _told(client, _load(day, 2, ("sales", "revenue"), "daily"))
        held = {"assertion": "not_null", "column": "revenue", "success": day < 20}
        tested = _dataset("daily", inputFacets={"dataQualityAssertions": {"assertions": [held]}})
        _told(client, _event(day, 6, "tests", inputs=[tested]))


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
