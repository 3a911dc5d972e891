"""What the page reads of a column's origin, and of a name that is not there."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client, ref
from tests.support.lineage_statements import said, send


def upstream(client: Client, table: Any, column: str, **more: object) -> tuple[set[str], bool]:
    status, body = client.get("/headwater/upstream", entity=table["fullyQualifiedName"], column=column, **more)
    assert status == 200, body
    return {node["name"] for node in body["nodes"]}, body["truncated"]


def test_only_tables_on_the_columns_own_way_are_read(shop: Client) -> None:
    one, two, three, other, loose = (shop.table(name) for name in ("one", "two", "three", "other", "loose"))
    send(shop, said(one, two, "a>a"), said(two, three, "a>a"), said(other, three, "b>b"), said(loose, three, ""))
    assert upstream(shop, three, "a") == ({"three", "two", "one", "loose"}, False)
    assert upstream(shop, three, "b") == ({"three", "other", "loose"}, False)
    assert upstream(shop, one, "a") == ({"one"}, False)
    assert shop.get("/headwater/upstream", entity="shop.main.public.none", column="a")[0] == 404


def test_a_name_that_moved_or_was_dropped_tells_so(shop: Client) -> None:
    first, second, third, gone = (shop.table(name) for name in ("first", "second", "third", "gone"))
    moves = [(first, second, 10), (second, third, 20)]
    events = [{"kind": "rename", "entity": ref(old), "other": ref(new), "at": at} for old, new, at in moves]
    events.append({"kind": "drop", "entity": ref(gone), "at": 30})
    assert shop.post("/headwater/names", {"events": events})[0] == 200

    def where(name: str) -> Any:
        return shop.get("/headwater/whereabouts", name=f"shop.main.public.{name}")[1]

    assert where("first")["renamed"] == {"entity": "shop.main.public.third", "at": 20}
    assert (where("gone")["renamed"], where("gone")["dropped"]) == (None, 30)
    assert where("thirt") == {"renamed": None, "dropped": None, "near": ["shop.main.public.third"]}
