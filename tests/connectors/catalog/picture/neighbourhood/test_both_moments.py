"""A hub at two moments: what changed beside it comes before what is used most, and is counted where it is not shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http_client import Client
from tests.support.lineage_statements import DAY, redefinition, said, send

START = 1_700_000_000_000
CHANGED = START + DAY
LATER = CHANGED + DAY
HUB = "shop.main.public.hub"


def registered(client: Client, columns: dict[str, str], at: int) -> dict[str, Any]:
    rows = [
        {"name": name, "databaseSchema": "shop.main.public", "columns": [{"name": "a", "dataType": kind}]}
        for name, kind in columns.items()
    ]
    status, answer = client.post("/headwater/tables", {"tables": rows, "at": at, "replaceColumns": True})
    assert status == 200, answer
    return {one["fullyQualifiedName"].rsplit(".")[-1]: one for one in answer["tables"]}


def told(hub: Any, reader: Any, at: int, **column: str) -> Any:
    edge = said(hub, reader, "a>a", producer=f"view:{reader['fullyQualifiedName']}", firstSeen=at)
    edge["contribution"]["columns"][0] |= column
    return edge


@pytest.fixture
def hub(shop: Client) -> Client:
    """hub -> r0 … r9 before; then r1 reads another expression, r2 nothing, r3 is of another type, and new reads it."""
    names = {"hub": "INT", **{f"r{n}": "INT" for n in range(10)}}
    made = registered(shop, names, START)
    send(shop, *(told(made["hub"], made[f"r{n}"], START + 1) for n in range(10)))
    uses = [{"entity": {"id": made["r9"]["id"], "type": "table"}, "records": ["00000001", "00000002"], "at": START}]
    assert shop.post("/headwater/usage", {"items": uses})[0] == 200
    made |= registered(shop, {"r3": "TEXT", "new": "INT"}, CHANGED)
    ended = [redefinition(made[name], f"view:{made[name]['fullyQualifiedName']}", at=CHANGED) for name in ("r1", "r2")]
    again = told(made["hub"], made["r1"], CHANGED, expression="a + 1", subtype="TRANSFORMATION")
    send(shop, again, told(made["hub"], made["new"], CHANGED), replace=ended)
    return shop


def difference(client: Client, beside: int) -> tuple[set[str], Any]:
    steps = [{"entity": HUB, "downstream": 1}]
    asked = {"steps": steps, "from": CHANGED - 1, "to": LATER, "beside": beside}
    status, answer = client.post("/headwater/picture/difference", asked)
    assert status == 200, answer
    nodes = {side: {node["name"]: node for node in answer[side]["nodes"]} for side in ("before", "after")}
    assert nodes["before"].keys() == nodes["after"].keys()
    hidden = nodes["before"]["hub"]["hidden"]
    assert nodes["after"]["hub"]["hidden"] == hidden
    return set(nodes["after"]) - {"hub"}, hidden


@pytest.mark.parametrize(
    ("beside", "shown", "hidden", "changed"),
    [
        (4, {"r1", "r2", "r3", "new"}, 7, 0),
        (5, {"r1", "r2", "r3", "new", "r9"}, 6, 0),
        (100, {"new", *(f"r{n}" for n in range(10))}, 0, 0),
    ],
)
def test_what_changed_beside_a_hub_comes_first_then_what_is_used_most(
    hub: Client, beside: int, shown: set[str], hidden: int, changed: int
) -> None:
    found, counts = difference(hub, beside)
    assert found == shown
    assert (counts["downstream"], counts["changed"]["downstream"]) == (hidden, changed)


def test_what_changed_and_is_not_shown_is_counted(hub: Client) -> None:
    found, counts = difference(hub, 1)
    assert found < {"r1", "r2", "r3", "new"}
    assert counts == {"upstream": 0, "downstream": 10, "changed": {"upstream": 0, "downstream": 3}}


def test_the_list_has_the_neighbours_of_both_moments_with_what_became_of_them(hub: Client) -> None:
    asked = {"entity": HUB, "side": "downstream", "sort": "changed", "limit": 5, "from": CHANGED - 1, "asOf": LATER}
    status, answer = hub.get("/headwater/neighbours", **asked)
    assert status == 200, answer
    rows = [(one["entity"]["fullyQualifiedName"].rsplit(".")[-1], one.get("change")) for one in answer["entities"]]
    assert dict(rows[:4]) == {"r1": "changed", "r2": "removed", "r3": "changed", "new": "added"}
    assert rows[4] == ("r9", None)
    assert (answer["total"], answer["found"], answer["changed"]) == (11, 11, 4)
    status, answer = hub.get("/headwater/neighbours", **asked | {"asOf": CHANGED - 2})
    assert (status, answer["message"]) == (400, "asOf must not be before from")


def test_a_rejection_and_its_end_are_changes(hub: Client) -> None:
    why = {"reason": "no", "author": "ann"}
    ends = {"from": {"entity": HUB, "column": "a"}, "to": {"entity": "shop.main.public.r5", "column": "a"}}
    status, made = hub.post("/headwater/corrections", {"verdict": "rejected", **ends, **why})
    assert status in {200, 201}, made
    asked = {"entity": HUB, "side": "downstream", "sort": "changed", "limit": 3, "from": made["at"] - 1}
    changes = [
        (one["entity"]["fullyQualifiedName"].rsplit(".")[-1], one.get("change"))
        for one in hub.get("/headwater/neighbours", **asked)[1]["entities"]
    ]
    assert changes[0] == ("r5", "changed") and changes[1][1] is None
