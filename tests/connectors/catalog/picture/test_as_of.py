"""As of any moment the catalog answers what it answered then: whatever changed, and whatever changed since."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.http_client import Client, ref
from tests.support.lineage_statements import DAY, edges_of, graph, happened, redefinition, said, send

TABLES = tuple("pqrst")
COLUMNS = ("a", "b", "c", "d")
SCHEMA = "shop.main.public"
STEPS = 30


def now() -> int:
    return time.time_ns() // 1_000_000


def state(client: Client, as_of: int | None = None) -> Any:
    """Everything that is known of the tables and the edges between them, at a moment or now."""
    when = {"days": 0, "upstream": 0, "downstream": 0} | ({} if as_of is None else {"asOf": as_of})
    status, body = client.get("/headwater/graph", root=[f"{SCHEMA}.{name}" for name in TABLES], **when)
    assert status == 200, body
    cards = {
        node["name"]: (
            node.get("deleted", False),
            node.get("description"),
            [(one["path"], one["dataType"], one.get("description")) for one in node["columns"]],
            node["hidden"],
        )
        for node in body["nodes"]
    }
    return cards, {(edge["from"], edge["to"]): edge["contributions"] for edge in body["edges"]}


@dataclass
class Changes:
    """Random changes to a small catalog, each at its own moment."""

    client: Client
    random: random.Random
    tables: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        self.tables = {name: self.client.table(name, "a b c") for name in TABLES}

    def any(self) -> Any:
        return self.tables[self.random.choice(TABLES)]

    def two(self) -> tuple[Any, Any]:
        first, second = self.random.sample(TABLES, 2)
        return self.tables[first], self.tables[second]

    def pairs(self) -> str:
        def pick() -> str:
            return self.random.choice(COLUMNS)

        return " ".join(f"{pick()}{self.random.choice('>~')}{pick()}" for _ in range(self.random.randint(0, 3)))

    def query(self) -> None:
        source, target = self.two()
        key = f"query:{self.random.randint(1, 3)}"
        edge = said(
            source, target, self.pairs(), producer=key, firstSeen=now(), sqlQuery=f"q{self.random.randint(1, 2)}"
        )
        for column in edge["contribution"]["columns"]:
            column["expression"] = self.random.choice(["", "upper(x)", "x + ?"])
        send(self.client, edge)

    def redefine(self) -> None:
        target = self.any()
        others = [self.tables[name] for name in TABLES if name != target["name"]]
        sources = self.random.sample(others, self.random.randint(0, 2))
        at = now()
        edges = [said(one, target, self.pairs(), producer="view:v", firstSeen=at) for one in sources]
        send(self.client, *edges, replace=[redefinition(target, "view:v", at=at)])

    def shape(self) -> None:
        names = self.random.sample(COLUMNS, self.random.randint(1, 4))
        kinds = [self.random.choice(["INT", "TEXT"]) for _ in names]
        columns = [{"name": one, "dataType": kind} for one, kind in zip(names, kinds, strict=True)]
        table = {"name": self.any()["name"], "databaseSchema": SCHEMA, "columns": columns}
        table["description"] = self.random.choice(["one", "two"])
        body = {"tables": [table], "at": now(), "replaceColumns": self.random.random() < 0.5}
        assert self.client.post("/headwater/tables", body)[0] == 200

    def wire(self) -> None:
        source, target = self.two()
        column = self.random.choice("ab")
        pair = {
            "fromColumns": [f"{source['fullyQualifiedName']}.{column}"],
            "toColumn": f"{target['fullyQualifiedName']}.{column}",
            "function": self.random.choice(["f", "g"]),
        }
        ends = {"fromEntity": ref(source), "toEntity": ref(target)}
        details = {"columnsLineage": [pair], "source": self.random.choice(["Manual", "QueryLineage"])}
        self.client.put("/lineage", {"edge": {**ends, "lineageDetails": details}})

    def end(self) -> None:
        source, target = self.two()
        self.client.delete(f"/lineage/table/{source['id']}/table/{target['id']}")

    def drop(self) -> None:
        happened(self.client, "drop", self.any(), now())

    def rename(self) -> None:
        source, target = self.two()
        happened(self.client, "rename", source, now(), other=ref(target))

    def swap(self) -> None:
        source, target = self.two()
        happened(self.client, "swap", source, now(), other=ref(target))

    def column(self) -> None:
        name, other = self.random.sample(COLUMNS, 2)
        kind = self.random.choice(["dropColumn", "renameColumn"])
        happened(self.client, kind, self.any(), now(), column=name, **({"to": other} if kind[0] == "r" else {}))

    def delete(self) -> None:
        self.client.delete(f"/tables/{self.any()['id']}", hardDelete="false")

    def again(self) -> None:
        table = self.any()
        self.client.put("/tables/restore", {"id": table["id"]})

    def correct(self) -> None:
        source, target = self.two()
        column = self.random.choice([None, "a", "b"])
        ends = {"from": {"entity": source["fullyQualifiedName"], "column": column}}
        ends["to"] = {"entity": target["fullyQualifiedName"], "column": column}
        verdict = self.random.choice(["added", "confirmed", "rejected", "rejected"])
        self.client.post("/headwater/corrections", {"verdict": verdict, "reason": "r", **ends})

    def undo(self) -> None:
        for correction in self.client.get("/headwater/corrections")[1]["corrections"][:1]:
            self.client.post(f"/headwater/corrections/{correction['id']}/undo", {"reason": "u"})

    @property
    def ways(self) -> list[Callable[[], None]]:
        usual = [self.query, self.query, self.query, self.redefine, self.redefine, self.shape, self.wire]
        usual += [self.correct, self.correct, self.undo]
        return [*usual, self.end, self.drop, self.rename, self.swap, self.column, self.column, self.delete, self.again]


@pytest.mark.parametrize("seed", [1, 3])
def test_after_any_changes_the_state_as_of_a_moment_is_what_it_was_then(shop: Client, seed: int) -> None:
    changes = Changes(shop, random.Random(seed))
    changes.begin()
    states: list[tuple[int, str, Any]] = []
    for _ in range(STEPS):
        time.sleep(0.003)
        way = changes.random.choice(changes.ways)
        way()
        time.sleep(0.002)
        states.append((now(), way.__name__, state(shop)))
    for at, name, then in states:
        cards, edges = state(shop, at)
        assert cards == then[0], name
        assert edges == then[1], name
    assert len({repr(then) for _, _, then in states}) > STEPS // 2, "the changes change something"


def test_an_observation_of_the_past_is_as_old_as_it_was_then(shop: Client) -> None:
    old, target = shop.table("old"), shop.table("t")
    other = shop.table("other")
    send(shop, said(old, target, "a>a", firstSeen=100 * DAY), said(other, target, "a>a", firstSeen=140 * DAY))
    assert edges_of(graph(shop, target, asOf=145 * DAY, days=30)) == {("other", "t")}
    send(shop, said(old, target, "a>a", firstSeen=200 * DAY))
    assert edges_of(graph(shop, target, asOf=145 * DAY, days=30)) == {("other", "t")}
    assert edges_of(graph(shop, target, days=30)) == {("old", "t")}


def test_a_quiet_time_makes_the_past_no_emptier_than_it_was_then(shop: Client) -> None:
    source, target = shop.table("s"), shop.table("t")
    send(shop, said(source, target, "a>a", firstSeen=100 * DAY))
    assert edges_of(graph(shop, target, days=30)) == edges_of(graph(shop, target, asOf=190 * DAY, days=30)) != set()


def test_a_column_was_called_then_what_it_had_been_called_when_it_was_seen_last(shop: Client) -> None:
    source, target = shop.table("s"), shop.table("t")
    send(shop, said(source, target, "a>a", firstSeen=10))
    at = now() + DAY
    happened(shop, "renameColumn", source, at, column="a", to="z")
    before = graph(shop, target, asOf=at + 5)["edges"]
    assert before[0]["contributions"][0]["columns"][0]["from"] == [f"{SCHEMA}.s.z"]
    send(shop, said(source, target, "a>a", firstSeen=at + 10))
    assert (
        graph(shop, target, asOf=at + 5)["edges"][0]["contributions"][0]["columns"]
        == before[0]["contributions"][0]["columns"]
    )


class TestDifference:
    """Two moments side by side."""

    def told(self, client: Client, start: int, end: int) -> dict[str, Any]:
        body = client.get("/headwater/diff", **{"from": start, "to": end})[1]
        return {one["kind"]: one for one in body["lineageChanges"]}

    def test_another_expression_is_a_change_with_both_and_what_it_reaches(self, shop: Client) -> None:
        one, two, three = (shop.table(name) for name in ("one", "two", "three"))
        send(shop, said(two, three, "a>a", firstSeen=9))
        for at, expression in ((10, "x + ?"), (20, "x * ?")):
            edge = said(one, two, "a>a b>b", producer="view:two", firstSeen=at)
            edge["contribution"]["columns"][0]["expression"] = expression
            send(shop, edge, replace=[redefinition(two, "view:two")])
        (change,) = self.told(shop, 15, 25).values()
        assert (change["kind"], change["before"], change["after"]) == ("columnEdgeChanged", ["x + ?"], ["x * ?"])
        assert change["toColumn"] == f"{SCHEMA}.two.a"
        assert [one["name"] for one in change["reaches"]["named"]] == [f"{SCHEMA}.two.a", f"{SCHEMA}.three.a"]
        assert self.told(shop, 10, 15) == self.told(shop, 20, 25) == {}

    def test_both_pictures_have_the_cards_that_are_near_at_either_moment(self, shop: Client) -> None:
        one, two, three = (shop.table(name) for name in ("one", "two", "three"))
        send(shop, said(one, two, "a>a", producer="view:two", firstSeen=10))
        send(
            shop,
            said(three, two, "a>a", producer="view:two", firstSeen=20),
            replace=[redefinition(two, "view:two")],
        )
        send(shop, said(one, three, "a>a", firstSeen=5))
        body = {"steps": [{"entity": f"{SCHEMA}.two", "upstream": 1, "downstream": 1}], "from": 15, "to": 25}
        status, answer = shop.post("/headwater/picture/difference", body)
        assert status == 200, answer
        assert edges_of(answer["before"]) == {("one", "two"), ("one", "three")}
        assert edges_of(answer["after"]) == {("three", "two"), ("one", "three")}
        assert [node["id"] for node in answer["before"]["nodes"]] == [node["id"] for node in answer["after"]["nodes"]]
        assert {node["name"] for node in answer["before"]["nodes"]} == {"one", "two", "three"}
        assert shop.post("/headwater/picture/difference", {**body, "to": 14})[0] == 400
        assert shop.post("/headwater/picture/difference", {**body, "steps": [{"entity": "no"}]})[0] == 404

    def test_the_moments_are_those_at_which_anything_changed(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        send(shop, said(one, two, "a>a", producer="view:two", firstSeen=10))
        send(shop, said(one, two, "b>b", producer="view:two", firstSeen=20), replace=[redefinition(two, "view:two")])
        found = shop.get("/headwater/moments")[1]["moments"]
        assert [(one["at"], one["changes"]) for one in found[:2]] == [(10, 1), (20, 2)]
        assert sum(one["changes"] for one in found) == 3 + 2 * 3 + 4  # edges; tables and columns; what they lie in
        few = shop.get("/headwater/moments", limit=2)[1]["moments"]
        assert sum(one["changes"] for one in few) == sum(one["changes"] for one in found)
        assert [one["at"] for one in few] == [found[(len(found) - 1) // 2]["at"], found[-1]["at"]]
