"""Search by what people remember of a name."""

from __future__ import annotations

from hashlib import md5
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from connectors.catalog.search.names import find, one_slip_apart
from connectors.catalog.store.database import Database, open_database
from tests.support.http_client import Client

TABLES = {
    "orders": "order_id customer_id total",
    "dim_orders": "key order_id",
    "dimCustomers": "customerName plz",
    "café_visits": "besuch_größe",
    "stg_order_items": "order_id item",
}


@pytest.fixture
def named(shop: Client) -> Client:
    for name, columns in TABLES.items():
        shop.table(name, columns)
    shop.table("orders", "total", "shop.main.other")
    return shop


def found(client: Client, wanted: str, **more: int) -> list[str]:
    results = client.get("/headwater/search", q=wanted, **more)[1]["results"]
    return [(one.get("column") or one["entity"]["fullyQualifiedName"]).removeprefix("shop.main.") for one in results]


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        ("orders", ["other.orders", "public.orders", "public.dim_orders"]),
        ("ORD", ["other.orders", "public.orders", "public.dim_orders", "public.stg_order_items"]),
        ("dim orders", ["public.dim_orders"]),
        ("orders dim", ["public.dim_orders"]),
        ("dimorders", ["public.dim_orders"]),
        ("dim_orders", ["public.dim_orders"]),
        ("items", ["public.stg_order_items"]),
        ("rder_item", ["public.stg_order_items"]),
        ("customers", ["public.dimCustomers"]),
        ("dimcust", ["public.dimCustomers"]),
        ("cafe", ["public.café_visits"]),
        ("CAFÉ visits", ["public.café_visits"]),
        ("grosse", ["public.café_visits.besuch_größe"]),
        ("other orders", ["other.orders"]),
        ("public.orders.total", ["public.orders.total"]),
        ("orders total", ["other.orders.total", "public.orders.total"]),
        ("ordrs", ["other.orders", "public.orders", "public.dim_orders"]),
        ("dim odrers", ["public.dim_orders"]),
        ("custmer name", ["public.dimCustomers.customerName"]),
        ("plx", []),
    ],
)
def test_tables_and_columns_are_found(named: Client, wanted: str, first: list[str]) -> None:
    assert found(named, wanted)[: max(1, len(first))] == first


def test_tables_come_before_columns_and_leave_them_room(named: Client) -> None:
    assert found(named, "order", limit=4) == [
        *("other.orders", "public.orders", "public.dim_orders"),
        "public.dim_orders.order_id",
    ]
    kinds = [name.count(".") for name in found(named, "order")]
    assert kinds == sorted(kinds)


def test_a_slip_of_the_finger_that_begins_the_checksum_of_a_query_is_still_one(shop: Client) -> None:
    shop.table("feed", "total")
    texts = (f"SELECT {number} FROM feed" for number in count())
    query = next(one for one in texts if md5(one.encode(), usedforsecurity=False).hexdigest().startswith("fead"))
    assert shop.put("/queries", {"query": query, "service": "shop"})[0] == 201
    assert found(shop, "fead") == ["public.feed"]


def test_a_store_made_before_the_index_is_searched_too(named: Client, tmp_path: Path) -> None:
    database = open_database(tmp_path / "catalog.db")
    with database.write() as connection:
        for name in (
            "search_vocabulary",
            "search_spellings",
            *(f"search_{k}_{i}" for k in ("entity", "column") for i in ("words", "inside")),
        ):
            connection.execute(text(f"drop table {name}"))
        connection.execute(text("create virtual table search using fts5(name, content = 'search_names')"))
    database.close()
    assert names_in(open_database(tmp_path / "catalog.db"), "dimorders") == ["shop.main.public.dim_orders"]


def names_in(database: Database, wanted: str) -> list[str]:
    with database.read() as connection:
        results = find(connection, wanted, 10)
    database.close()
    return [one["entity"]["fullyQualifiedName"] for one in results]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("orders", "ordrs", True),
        ("orders", "oders", True),
        ("orders", "ordesr", True),
        ("orders", "orderss", True),
        ("orders", "arders", True),
        ("orders", "orders", True),
        ("orders", "orsder", False),
        ("orders", "order_", True),
        ("orders", "rdes", False),
        ("", "a", True),
    ],
)
def test_words_one_slip_apart(one: str, other: str, *, same: bool) -> None:
    assert one_slip_apart(one, other) is one_slip_apart(other, one) is same
