"""The store remembers: windows, names that end and move, columns that change, impact and differences."""

from __future__ import annotations

import time
from typing import Any

from tests.support.http_client import Client, ref
from tests.support.lineage_statements import DAY, edges_of, graph, happened, pairs, redefinition, said, send

NOW = time.time_ns() // 1_000_000


def impact(client: Client, entity: Any, column: str | None = None, **more: Any) -> dict[str, str]:
    """What is downstream by name (last two parts for columns), with its type."""
    params = {"entity": entity["fullyQualifiedName"], "days": 0, **more} | ({"column": column} if column else {})
    status, body = client.get("/headwater/impact", **params)
    assert status == 200, body
    found = {}
    for one in body["impacted"]:
        assert one["path"][0] == body["root"]
        assert len(one["path"]) == one["depth"] + 1 == len(one["hops"]) + 1
        name = one["column"] or one["entity"]["fullyQualifiedName"]
        found[name.removeprefix("shop.main.public.")] = one["type"]
    return found


class TestWindow:
    def test_old_observations_are_left_out_unless_asked_for(self, shop: Client) -> None:
        old, new, target = shop.table("old"), shop.table("new"), shop.table("t")
        view = shop.table("v")
        send(
            shop,
            said(old, target, "a>a", lastSeen=NOW - 40 * DAY),
            said(new, target, "a>a", lastSeen=NOW - DAY),
            said(target, view, "a>a", producer="view:v", lastSeen=NOW - 400 * DAY),
        )
        assert edges_of(graph(shop, target, days=30)) == {("new", "t"), ("t", "v")}
        assert edges_of(graph(shop, target, days=0)) == {("new", "t"), ("old", "t"), ("t", "v")}
        assert edges_of(graph(shop, target, asOf=NOW - 39 * DAY, days=30)) == {("old", "t"), ("t", "v")}

    def test_the_default_window_ends_at_the_newest_observation(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a", lastSeen=1_000 * DAY))
        body = graph(shop, target, days=30)
        assert edges_of(body) == {("s", "t")}
        assert body["window"]["until"] == 1_000 * DAY

    def test_the_wire_reads_what_is_in_force_whatever_its_age(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a", lastSeen=5))
        assert pairs(shop.edge(source, target)) == ["a>a"]


class TestNames:
    def test_drop_ends_lineage_at_its_time(self, shop: Client) -> None:
        source, target, after = shop.table("s"), shop.table("t"), shop.table("u")
        send(shop, said(source, target, "a>a", firstSeen=10), said(target, after, "a>a", firstSeen=11))
        assert happened(shop, "drop", target, 20) == {"filed": 1, "new": 1}
        assert happened(shop, "drop", target, 20) == {"filed": 1, "new": 0}
        assert shop.get(f"/tables/{target['id']}")[0] == 404
        assert edges_of(graph(shop, after)) == set()
        assert edges_of(graph(shop, after, asOf=15)) == {("s", "t"), ("t", "u")}

    def test_a_name_that_is_written_again_lives_again(self, shop: Client) -> None:
        source, target, after = shop.table("s"), shop.table("t"), shop.table("u")
        send(shop, said(source, target, "a>a", firstSeen=10), said(target, after, "a>a", firstSeen=11))
        happened(shop, "drop", target, 20)
        shop.table("t")
        send(shop, said(source, target, "b>b", producer="query:2", firstSeen=30))
        assert shop.get(f"/tables/{target['id']}")[0] == 200
        assert pairs(shop.edge(source, target)) == ["b>b"]
        assert pairs(shop.edge(target, after)) == ["a>a"]

    def test_a_name_that_is_read_again_lives_again(self, shop: Client) -> None:
        source, target, after = shop.table("s"), shop.table("t"), shop.table("u")
        send(shop, said(source, target, "a>a", firstSeen=10))
        happened(shop, "drop", source, 20)
        assert edges_of(graph(shop, target)) == set()
        send(shop, said(source, after, "a>a", firstSeen=30))
        assert edges_of(graph(shop, source)) == {("s", "t"), ("s", "u")}
        assert edges_of(graph(shop, target, asOf=25)) == set()

    def test_a_drop_that_arrives_late_does_not_hide_a_table_that_is_there(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a", firstSeen=30))
        happened(shop, "drop", target, 20)
        assert pairs(shop.edge(source, target)) == ["a>a"]

    def test_a_drop_that_is_sent_again_after_a_registration_hides_again(self, shop: Client) -> None:
        table = shop.table("t")
        happened(shop, "drop", table, 20)
        again = {"tables": [{"name": "t", "databaseSchema": "shop.main.public", "columns": []}]}
        shop.post("/headwater/tables", again)
        assert shop.get(f"/tables/{table['id']}")[0] == 200
        happened(shop, "drop", table, 20)
        assert shop.get(f"/tables/{table['id']}")[0] == 404

    def test_rename_moves_lineage_to_the_new_name(self, shop: Client) -> None:
        source, fresh, target, after = (shop.table(name) for name in ("s", "t_new", "t", "u"))
        send(shop, said(source, fresh, "a>a", firstSeen=10), said(target, after, "a>a", firstSeen=5))
        happened(shop, "drop", target, 19)
        happened(shop, "rename", fresh, 20, other=ref(target))
        assert edges_of(graph(shop, source)) == {("s", "t"), ("t", "u")}
        assert edges_of(graph(shop, source, asOf=15)) == {("s", "t_new")}
        assert edges_of(graph(shop, after, asOf=15)) == {("t", "u")}
        assert shop.get(f"/tables/{fresh['id']}")[0] == 404

    def test_rename_hands_the_columns_over(self, shop: Client) -> None:
        fresh, target = shop.table("t_new", "a b"), shop.table("t", "")
        happened(shop, "rename", fresh, 20, other=ref(target))
        assert [one["name"] for one in shop.get(f"/tables/{target['id']}")[1]["columns"]] == ["a", "b"]

    def test_a_daily_swap_of_a_staging_table_in_any_order(self, shop: Client) -> None:
        source, stage, target = (shop.table(name) for name in ("s", "stage", "t"))
        for day in (3, 1, 2):
            send(shop, said(source, stage, "a>a", firstSeen=day * DAY, records=[f"{day:08d}"]))
            happened(shop, "rename", stage, day * DAY + 20, other=ref(target))
            happened(shop, "drop", target, day * DAY + 10)
        assert edges_of(graph(shop, source)) == {("s", "t")}
        assert edges_of(graph(shop, source, asOf=3 * DAY + 5)) == {("s", "stage"), ("s", "t")}

    def test_swap_exchanges_lineage(self, shop: Client) -> None:
        left, right, one, two = (shop.table(name) for name in ("l", "r", "one", "two"))
        send(shop, said(left, one, "a>a", firstSeen=10), said(right, two, "a>a", firstSeen=10))
        happened(shop, "swap", one, 20, other=ref(two))
        happened(shop, "swap", two, 20, other=ref(one))
        assert edges_of(graph(shop, left)) == {("l", "two")}
        assert edges_of(graph(shop, right)) == {("r", "one")}
        assert edges_of(graph(shop, left, asOf=15)) == {("l", "one")}

    def test_events_about_unknown_entities_are_refused(self, shop: Client) -> None:
        table = shop.table("t")
        nobody = {"id": "00000000-0000-0000-0000-000000000000", "type": "table"}
        for event, status in (
            ({"kind": "drop", "entity": nobody, "at": 1}, 404),
            ({"kind": "rename", "entity": ref(table), "at": 1}, 400),
            ({"kind": "swap", "entity": ref(table), "other": ref(table), "at": 1}, 400),
            ({"kind": "explode", "entity": ref(table), "at": 1}, 400),
        ):
            assert shop.post("/headwater/names", {"events": [event]})[0] == status


class TestColumns:
    def test_a_renamed_column_is_read_under_its_new_name(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>b", firstSeen=10, sqlQuery="q"))
        at = NOW + DAY
        happened(shop, "renameColumn", source, at, column="A", to="z")
        assert pairs(shop.edge(source, target)) == ["z>b"]
        assert shop.edge(source, target)["sqlQuery"] == "q"
        assert [one["name"] for one in shop.get(f"/tables/{source['id']}")[1]["columns"]] == ["z", "b"]
        before = graph(shop, target, asOf=at - 1)
        assert before["edges"][0]["contributions"][0]["columns"][0]["from"] == ["shop.main.public.s.a"]

    def test_a_dropped_column_takes_its_mappings_along(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a b>b", firstSeen=10))
        happened(shop, "dropColumn", source, NOW + DAY, column="a")
        assert pairs(shop.edge(source, target)) == ["b>b"]
        assert [one["name"] for one in shop.get(f"/tables/{source['id']}")[1]["columns"]] == ["b"]

    def test_attributes_are_kept_over_time(self, shop: Client) -> None:
        table = shop.table("t", "a b", description="first")
        columns = [{"name": "b", "dataType": "VARCHAR", "dataLength": 9}, {"name": "a", "dataType": "INT"}]
        shop.made(
            "/tables", {"name": "t", "databaseSchema": "shop.main.public", "columns": columns, "description": "x"}
        )
        body = shop.get("/headwater/history", entity=table["fullyQualifiedName"])[1]
        texts = [one["value"] for one in body["changes"] if one["name"] == "description"]
        shapes = [one["value"] for one in body["changes"] if one["name"] == "shape" and one["column"] == "b"]
        assert texts == ["first", "x"]
        assert shapes == [
            {"position": 2, "dataType": "INT", "standardType": "INTEGER"},
            {"position": 1, "dataType": "VARCHAR(9)", "standardType": "STRING"},
        ]

    def test_cards_of_the_past_have_the_columns_of_the_past(self, shop: Client) -> None:
        body = {"name": "t", "databaseSchema": "shop.main.public"}
        for at, names in ((10, "ab"), (20, "bc")):
            columns = [{"name": name, "dataType": "INT"} for name in names]
            request = {"tables": [{**body, "columns": columns}], "at": at, "replaceColumns": True}
            shop.post("/headwater/tables", request)
        table = shop.get("/tables/name/shop.main.public.t")[1]

        def names_at(**when: int) -> list[str]:
            return [column["name"] for column in graph(shop, table, **when)["nodes"][0]["columns"]]

        assert (names_at(asOf=15), names_at(asOf=25), names_at()) == (["a", "b"], ["b", "c"], ["b", "c"])


class TestImpact:
    def test_direct_and_indirect_are_told_apart(self, shop: Client) -> None:
        one, two, three, four = (shop.table(name) for name in ("one", "two", "three", "four"))
        send(shop, said(one, two, "a>a b~b"), said(two, three, "a>a b>b"), said(three, four, ""))
        assert impact(shop, one, "a") == {"two.a": "DIRECT", "three.a": "DIRECT", "four": "TABLE"}
        assert impact(shop, one, "B") == {"two.b": "INDIRECT", "three.b": "INDIRECT", "four": "TABLE"}
        assert impact(shop, one)["three.b"] == "INDIRECT"
        assert impact(shop, four) == {}

    def test_a_filter_reaches_every_column_of_its_target(self, shop: Client) -> None:
        one, two, three = (shop.table(name) for name in ("one", "two", "three"))
        send(shop, said(one, two, "a~"), said(two, three, "b>b"))
        assert impact(shop, one, "a") == {"two": "INDIRECT", "three.b": "INDIRECT"}

    def test_the_strongest_tie_wins_and_paths_are_shortest(self, shop: Client) -> None:
        one, two, three = (shop.table(name) for name in ("one", "two", "three"))
        send(shop, said(one, three, "a~a"), said(one, two, "a>a"), said(two, three, "a>a"))
        body = shop.get("/headwater/impact", entity="SHOP.main.public.one", column="shop.main.public.one.a")[1]
        found = {item["column"]: (item["type"], item["path"]) for item in body["impacted"]}
        prefix = "shop.main.public"
        assert found[f"{prefix}.three.a"] == ("DIRECT", [f"{prefix}.{name}.a" for name in ("one", "two", "three")])
        assert body["counts"] == {"direct": 2, "indirect": 0, "table": 0, "entities": 2}

    def test_cycles_and_layers_do_not_explode(self, shop: Client) -> None:
        layers = [[shop.table(f"l{depth}_{number}") for number in range(3)] for depth in range(6)]
        edges = []
        for upper, lower in zip(layers, [*layers[1:], layers[0]], strict=True):
            edges += [said(source, target, "a>a") for source in upper for target in lower]
        send(shop, *edges)
        assert len(impact(shop, layers[0][0], "a")) == 17

    def test_as_of(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        send(shop, said(one, two, "a>a", producer="view:two", firstSeen=10))
        send(shop, replace=[redefinition(two, "view:two", at=20)])
        assert impact(shop, one, "a", asOf=15) == {"two.a": "DIRECT"}
        assert impact(shop, one, "a") == {}

    def test_unknown_names_are_not_found(self, shop: Client) -> None:
        shop.table("t")
        assert shop.get("/headwater/impact", entity="shop.main.public.nope")[0] == 404
        assert shop.get("/headwater/impact", entity="shop.main.public.t", column="nope")[0] == 404


class TestDiff:
    def diff(self, client: Client, start: int, end: int) -> Any:
        status, body = client.get("/headwater/diff", **{"from": start, "to": end})
        assert status == 200, body
        return body

    def define(self, client: Client, at: int, columns: Any) -> None:
        table = {"name": "t", "databaseSchema": "shop.main.public"}
        table["columns"] = [{"name": name, "dataType": kind} for name, kind in columns.items()]
        body = {"tables": [table], "at": at, "replaceColumns": True}
        assert client.post("/headwater/tables", body)[0] == 200

    def test_schema_changes_with_what_they_reach(self, shop: Client) -> None:
        self.define(shop, 10, {"gone": "INT", "kept": "INT", "typed": "INT", "unused": "INT"})
        table = shop.get("/tables/name/shop.main.public.t")[1]
        target = shop.table("u", "gone typed")
        send(shop, said(table, target, "gone>gone typed>typed", firstSeen=11, producer="view:u"))
        self.define(shop, 20, {"kept": "INT", "typed": "STRING", "fresh": "INT"})
        body = self.diff(shop, 15, 25)
        changes = {(one["kind"], one["column"].rsplit(".")[-1]): one for one in body["schemaChanges"]}
        assert set(changes) == {
            ("columnDropped", "gone"),
            ("columnDropped", "unused"),
            ("columnRetyped", "typed"),
            ("columnAdded", "fresh"),
        }
        assert body["breaking"] is True
        assert changes["columnDropped", "unused"]["breaking"] is False
        dropped = changes["columnDropped", "gone"]
        assert dropped["breaking"] is True
        assert dropped["reaches"]["named"] == [{"name": "shop.main.public.u.gone", "type": "DIRECT"}]
        retyped = changes["columnRetyped", "typed"]
        assert (retyped["before"]["standardType"], retyped["after"]["standardType"]) == ("INTEGER", "STRING")
        assert self.diff(shop, 25, 30)["schemaChanges"] == []

    def test_a_renamed_column_is_no_drop(self, shop: Client) -> None:
        self.define(shop, 10, {"a": "INT"})
        table = shop.get("/tables/name/shop.main.public.t")[1]
        happened(shop, "renameColumn", table, 20, column="a", to="b")
        (change,) = self.diff(shop, 15, 25)["schemaChanges"]
        assert (change["kind"], change["before"], change["after"]) == ("columnRenamed", "a", "b")

    def test_dropped_and_renamed_tables(self, shop: Client) -> None:
        self.define(shop, 10, {"a": "INT"})
        table, new = shop.get("/tables/name/shop.main.public.t")[1], shop.table("new")
        target = shop.table("u")
        send(shop, said(table, target, "a>a", firstSeen=11))
        happened(shop, "rename", table, 20, other=ref(new))
        changes = self.diff(shop, 15, 25)["schemaChanges"]
        (renamed,) = [one for one in changes if one["kind"] == "entityRenamed"]
        assert (renamed["after"], renamed["breaking"]) == ("shop.main.public.new", True)
        happened(shop, "drop", new, 30)
        (dropped,) = [one for one in self.diff(shop, 26, 35)["schemaChanges"] if one["kind"] == "entityDropped"]
        assert dropped["entity"]["fullyQualifiedName"] == "shop.main.public.new"

    def test_lineage_changes(self, shop: Client) -> None:
        one, two, three = (shop.table(name) for name in ("one", "two", "three"))
        send(shop, said(one, two, "a>a b>b", producer="view:two", firstSeen=10), said(two, three, "a>a", firstSeen=10))
        send(
            shop,
            said(one, two, "b>b a>b", producer="view:two", firstSeen=20),
            said(one, three, "b>b", firstSeen=21),
            replace=[redefinition(two, "view:two")],
        )
        body = self.diff(shop, 15, 25)
        found = {
            (c["kind"], c.get("fromColumn", c["from"])[17:], c.get("toColumn", c["to"])[17:])
            for c in body["lineageChanges"]
        }
        assert found == {
            ("columnEdgeRemoved", "one.a", "two.a"),
            ("columnEdgeAdded", "one.a", "two.b"),
            ("edgeAdded", "one", "three"),
        }
        (removed,) = [c for c in body["lineageChanges"] if c["kind"] == "columnEdgeRemoved"]
        assert [one["name"][17:] for one in removed["reaches"]["named"]] == ["two.a", "three.a"]

    def test_the_end_is_not_before_the_start(self, shop: Client) -> None:
        assert shop.get("/headwater/diff", **{"from": 2, "to": 1})[0] == 400


class TestExplorer:
    def test_cards_tell_how_many_neighbours_are_hidden(self, shop: Client) -> None:
        tables = [shop.table(name) for name in "abcd"]
        send(shop, *(said(tables[i], tables[i + 1], "a>a") for i in range(3)))
        body = graph(shop, tables[1], upstream=1, downstream=1)
        hidden = {node["name"]: node["hidden"] for node in body["nodes"]}
        assert hidden == {
            "a": {"upstream": 0, "downstream": 0},
            "b": {"upstream": 0, "downstream": 0},
            "c": {"upstream": 0, "downstream": 1},
        }
        assert graph(shop, tables[1], limit=2)["truncated"] is True

    def test_an_edge_tells_everything_that_was_ever_said(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        send(shop, said(one, two, "a>a", producer="view:two", firstSeen=10))
        send(shop, said(one, two, "b>b", producer="view:two", firstSeen=20), replace=[redefinition(two, "view:two")])
        names = {"from": one["fullyQualifiedName"], "to": two["fullyQualifiedName"]}
        body = shop.get("/headwater/edge", **names)[1]
        assert [(c["since"], c["until"]) for c in body["contributions"]] == [(10, 20), (20, None)]

    def test_search_finds_tables_and_columns_by_any_part(self, shop: Client) -> None:
        shop.table("orders", "order_id total x")
        shop.table('we"ird*', "a")

        def found(text: str) -> list[str]:
            results = shop.get("/headwater/search", q=text)[1]["results"]
            return [one.get("column") or one["entity"]["fullyQualifiedName"] for one in results]

        prefix = "shop.main.public"
        assert found("ORDER") == [f"{prefix}.orders", f"{prefix}.orders.order_id"]
        assert found("rders.tot") == [f"{prefix}.orders.total"]
        assert found("x") == [f"{prefix}.orders.x"]
        assert found('"ird*') == [f'{prefix}."we\\"ird*"']
        for text in ("", '"', "NEAR(", "order OR", "a* AND", "%", "' or 1=1"):
            found(text)
        assert found("no such thing") == []

    def test_overview_counts_what_is_in_force(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        send(shop, said(one, two, "a>a b>b"), said(one, two, "a>b", producer="view:two"))
        body = shop.get("/headwater/overview")[1]
        assert (body["edges"], body["columnEdges"], body["contributions"]) == (1, 3, {"query": 1, "view": 1})
        assert body["entities"]["table"] == 2
