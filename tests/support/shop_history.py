"""A small catalog with two states: a view that is defined anew, of other columns and with another table beside it."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client
from tests.support.lineage_statements import DAY, redefinition, said, send

BEFORE = 1_700_000_000_000
CHANGED = BEFORE + 10 * DAY
AFTER = CHANGED + DAY
SCHEMA = "shop.main.public"


def _register(client: Client, at: int, **tables: str) -> None:
    rows = [
        {
            "name": name,
            "databaseSchema": SCHEMA,
            "columns": [{"name": column, "dataType": "INT"} for column in columns.split()],
        }
        for name, columns in tables.items()
    ]
    status, answer = client.post("/headwater/tables", {"tables": rows, "at": at, "replaceColumns": True})
    assert status == 200, answer


def fill(client: Client) -> None:
    """orders -> daily -> report; then `daily` takes its total through `rates`, and has no region any more."""
    connection = {"connection": {"config": {"username": "u", "hostPort": "h:1"}}}
    client.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres", **connection})
    client.made("/databases", {"name": "main", "service": "shop"})
    client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
    _register(client, BEFORE, orders="day total region", daily="day region total", report="day region total")
    made = {name: _table(client, name) for name in ("orders", "daily", "report")}
    view = {"producer": "view:daily", "sqlQuery": "SELECT …"}
    first = said(made["orders"], made["daily"], "day>day region>region total>total", firstSeen=BEFORE + 1, **view)
    first["contribution"]["columns"][2] |= {"subtype": "AGGREGATION", "expression": "SUM(total)"}
    read = said(
        made["daily"], made["report"], "day>day region>region total>total", producer="view:r", firstSeen=BEFORE + 2
    )
    send(client, first, read)
    _register(client, CHANGED, daily="day total", rates="day rate")
    made["rates"] = _table(client, "rates")
    again = said(made["orders"], made["daily"], "day>day total>total", firstSeen=CHANGED, **view)
    again["contribution"]["columns"][1] |= {"subtype": "AGGREGATION", "expression": "SUM(total * rate)"}
    rated = said(made["rates"], made["daily"], "rate>total", firstSeen=CHANGED, **view)
    send(client, again, rated, replace=[redefinition(made["daily"], "view:daily", at=CHANGED)])


def _table(client: Client, name: str) -> Any:
    status, answer = client.get(f"/tables/name/{SCHEMA}.{name}")
    assert status == 200, answer
    return answer
