"""Bulk calls: all or nothing, once per batch, contributions side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http_client import Client, ref
from tests.support.lineage_statements import graph, happened, pairs, redefinition, said, send

Tables = tuple[Client, Any, Any]


@pytest.fixture
def tables(shop: Client) -> Tables:
    return shop, shop.table("s", "a b c"), shop.table("t", "a b c")


def test_the_extension_is_discoverable(client: Client) -> None:
    status, body = client.get("/headwater")
    assert status == 200
    assert {"bulkLineage", "bulkLookup", "bulkTables"} <= set(body["capabilities"])


class TestLookup:
    def look_up(self, client: Client, *names: Any) -> list[list[str]]:
        status, body = client.post("/headwater/tables/lookup", {"service": "SHOP", "names": list(names)})
        assert status == 200
        return [[one["fullyQualifiedName"] for one in match] for match in body["matches"]]

    def test_every_match_of_every_name_whatever_its_case(self, shop: Client) -> None:
        shop.table("Orders")
        shop.table("ORDERS", schema="shop.main.other")
        both = ["shop.main.other.ORDERS", "shop.main.public.Orders"]
        assert self.look_up(
            shop,
            {"database": None, "schema": None, "table": "orders"},
            {"database": "MAIN", "schema": "Public", "table": "orders"},
            {"database": "else", "table": "orders"},
            {"table": "nothing"},
            {},
        ) == [both, both[1:], [], [], []]

    def test_each_way_to_give_a_part_of_a_name_and_names_that_need_quotes(self, shop: Client) -> None:
        shop.table("Odd.Name", schema="shop.main.public")
        shop.table("Odd.Name", schema="shop.main.other")
        public, other = 'shop.main.public."Odd.Name"', 'shop.main.other."Odd.Name"'
        assert self.look_up(
            shop,
            {"database": "MAIN", "schema": "PUBLIC", "table": "odd.name"},
            {"database": "main", "table": "ODD.NAME"},
            {"schema": "Other", "table": "odd.name"},
            {"table": "odd.name"},
            {"database": "main", "schema": "public", "table": '"odd.name"'},
        ) == [[public], [other, public], [other], [other, public], []]

    def test_thousands_of_names_in_one_call(self, shop: Client) -> None:
        shop.table("t")
        found = self.look_up(shop, *({"table": f"t{number}"} for number in range(3_000)), {"table": "T"})
        assert found[-1] == ["shop.main.public.t"]
        assert not any(found[:-1])

    def test_columns_and_storage_come_along(self, shop: Client) -> None:
        shop.table("t", tableType="External", locationPath="s3a://b/t/")
        names = [{"table": "t"}, {"path": "s3://b/t"}]
        body = shop.post("/headwater/tables/lookup", {"service": "shop", "names": names})[1]
        table = body["matches"][0][0]
        assert (table["tableType"], table["storagePath"], table["type"]) == ("External", "s3a://b/t/", "table")
        assert table["columns"][0] == {"name": "a", "dataType": "INT", "fullyQualifiedName": "shop.main.public.t.a"}
        assert body["matches"][1] == [table]

    def test_without_columns_it_says_which_entity_it_is(self, shop: Client) -> None:
        made = shop.table("t", tableType="External", locationPath="s3a://b/t/")
        names = {"service": "shop", "names": [{"table": "t"}], "columns": False}
        answer = shop.post("/headwater/tables/lookup", names)[1]
        expected = {"id": made["id"], "type": "table", "fullyQualifiedName": "shop.main.public.t"}
        assert answer == {"matches": [[expected]]}

    def test_deleted_tables_are_not_found(self, shop: Client) -> None:
        shop.delete(f"/tables/{shop.table('t')['id']}")
        assert self.look_up(shop, {"table": "t"}) == [[]]


class TestRegister:
    def request(self, *columns: str, **more: Any) -> Any:
        table = {"name": "t", "databaseSchema": "s.d.p", "columns": [{"name": c, "dataType": "INT"} for c in columns]}
        return {
            "services": [{"name": "s", "serviceType": "Postgres"}],
            "databases": [{"name": "d", "service": "s"}],
            "schemas": [{"name": "p", "database": "s.d"}],
            "tables": [table],
            **more,
        }

    def columns(self, client: Client) -> list[str]:
        return [column["name"] for column in client.get("/tables/name/s.d.p.t")[1]["columns"]]

    def test_parents_and_children_in_one_call(self, client: Client) -> None:
        storage = {"name": "lake", "serviceType": "S3", "type": "storageService"}
        request = self.request("a", containers=[{"name": "c", "service": "lake"}])
        request["services"].append(storage)
        status, body = client.post("/headwater/tables", request)
        assert status == 200
        assert body["tables"] == [
            {"id": client.get("/tables/name/s.d.p.t")[1]["id"], "fullyQualifiedName": "s.d.p.t", "created": True}
        ]
        again = client.post("/headwater/tables", request)[1]
        assert not any(one["created"] for group in again.values() for one in group)

    def test_known_columns_are_never_lost_unless_asked(self, client: Client) -> None:
        client.post("/headwater/tables", self.request("a", "b"))
        client.post("/headwater/tables", self.request("b", "c"))
        assert self.columns(client) == ["a", "b", "c"]
        client.post("/headwater/tables", self.request())
        assert self.columns(client) == ["a", "b", "c"]
        client.post("/headwater/tables", self.request("c", replaceColumns=True))
        assert self.columns(client) == ["c"]

    def test_all_or_nothing(self, client: Client) -> None:
        request = self.request("a")
        request["tables"].append({"name": "u", "databaseSchema": "no.such.schema", "columns": []})
        assert client.post("/headwater/tables", request)[0] == 404
        assert client.get("/services/databaseServices")[1]["data"] == []

    def test_an_older_definition_adds_columns_but_does_not_retype(self, client: Client) -> None:
        client.post("/headwater/tables", self.request("a", at=2_000))
        older = self.request("a", "old", at=1_000)
        older["tables"][0]["columns"][0]["dataType"] = "STRING"
        client.post("/headwater/tables", older)
        columns = client.get("/tables/name/s.d.p.t")[1]["columns"]
        assert [(one["name"], one["dataType"]) for one in columns] == [("a", "INT"), ("old", "INT")]

    def test_an_older_type_is_the_columns_past(self, client: Client) -> None:
        client.post("/headwater/tables", self.request("a", "b", at=9_000))
        for at, kind in ((1_000, "INT"), (3_000, "VARCHAR"), (3_000, "VARCHAR"), (2_000, "INT"), (5_000, "UNKNOWN")):
            older = self.request("a", at=at)
            older["tables"][0]["columns"][0]["dataType"] = kind
            client.post("/headwater/tables", older)
        told = client.get("/headwater/history", entity="s.d.p.t")[1]["changes"]
        shapes = [(one["column"], one["at"], one["value"]["dataType"]) for one in told if one["name"] == "shape"]
        of_a = [(1_000, "INT"), (3_000, "VARCHAR"), (9_000, "INT")]
        assert sorted(shapes) == [*(("a", *shape) for shape in of_a), ("b", 9_000, "INT")]
        columns = client.get("/tables/name/s.d.p.t")[1]["columns"]
        assert [(one["name"], one["dataType"]) for one in columns] == [("a", "INT"), ("b", "INT")]


class TestLineage:
    def test_counts_tell_what_became_of_each_edge(self, tables: Tables) -> None:
        client, source, target = tables
        first = said(source, target, "a>a b>b", records=["aaaaaaaa"], firstSeen=1, lastSeen=1)
        assert send(client, first) == {"new": 1, "merged": 0, "unchanged": 0, "replaced": 0, "columnEdges": 2}
        assert send(client, first) == {"new": 0, "merged": 0, "unchanged": 1, "replaced": 0, "columnEdges": 2}
        other = said(source, target, "c>c", producer="query:other")
        assert send(client, other, other)["merged"] == 1
        assert pairs(client.edge(source, target)) == ["a>a", "b>b", "c>c"]

    @pytest.mark.parametrize("kind", ["drop", "rename", "replace"])
    def test_what_was_told_before_is_not_new_though_its_name_changed_since(self, tables: Tables, kind: str) -> None:
        client, source, target = tables
        first = said(source, target, "a>a", records=["aaaaaaaa"], firstSeen=10, lastSeen=10)
        other = {"other": ref(client.table("moved", "a"))} if kind == "rename" else {}
        send(client, first)
        happened(client, kind, target, 20, **other)
        assert client.edge(source, target) is None
        again = send(client, first)
        assert (again["new"], again["merged"], again["unchanged"]) == (0, 0, 1)
        later = send(client, said(source, target, "a>a", records=["bbbbbbbb"], firstSeen=30, lastSeen=30))
        assert (later["new"], later["unchanged"]) == (1, 0)
        assert pairs(client.edge(source, target)) == ["a>a"]

    def test_a_batch_is_applied_once(self, tables: Tables) -> None:
        client, source, target = tables
        edge = said(source, target, "a>a", count=5, firstSeen=1)
        assert send(client, edge, batch="x") == send(client, edge, batch="x")
        (only,) = graph(client, target)["edges"][0]["contributions"]
        assert only["count"] == 5
        body = {"batchId": "x", "edges": [said(source, target, "b>b")]}
        assert client.post("/headwater/lineage", body)[0] == 409

    def test_all_or_nothing(self, tables: Tables) -> None:
        client, source, target = tables
        nobody = {"id": "00000000-0000-0000-0000-000000000000", "fullyQualifiedName": "n"}
        body = {"batchId": "x", "edges": [said(source, target, "a>a"), said(source, nobody)]}
        assert client.post("/headwater/lineage", body)[0] == 404
        assert client.edge(source, target) is None
        body["edges"].pop()
        assert client.post("/headwater/lineage", body)[0] == 200

    def test_only_certain_direct_columns_go_over_the_wire(self, tables: Tables) -> None:
        client, source, target = tables
        edge = said(source, target, "a>a b~b c~", sqlQuery="insert", parser="sqlglot", confidence=0.9)
        edge["contribution"]["columns"].append({**edge["contribution"]["columns"][0], "certain": False})
        edge["contribution"]["columns"][0]["expression"] = "upper(s.a)"
        send(client, edge)
        wire = client.edge(source, target)
        assert [one["function"] for one in wire["columnsLineage"]] == ["upper(s.a)"]
        (full,) = graph(client, target)["edges"][0]["contributions"]
        assert (full["parser"], full["confidence"], full["sqlQuery"]) == ("sqlglot", 0.9, "insert")
        kinds = sorted((one["type"], one["certain"], one["to"] is None) for one in full["columns"])
        assert kinds == [
            ("DIRECT", False, False),
            ("DIRECT", True, False),
            ("INDIRECT", True, False),
            ("INDIRECT", True, True),
        ]

    def test_repeated_records_count_once(self, tables: Tables) -> None:
        client, source, target = tables
        for records in (["aaaaaaaa", "bbbbbbbb"], ["BBBBBBBB", "cccccccc"], ["aaaaaaaa"]):
            send(client, said(source, target, "a>a", records=records, firstSeen=1, lastSeen=9))
        (only,) = graph(client, target)["edges"][0]["contributions"]
        assert (only["count"], only["firstSeen"], only["lastSeen"]) == (3, 1, 9)

    def test_unknown_columns_are_left_out(self, tables: Tables) -> None:
        client, source, target = tables
        assert send(client, said(source, target, "a>a nope>a a>nope"))["columnEdges"] == 1


class TestReplace:
    def test_a_redefined_view_loses_what_it_does_not_say_any_more(self, tables: Tables) -> None:
        client, source, view = tables
        other = client.table("o", "a b c")
        send(client, said(source, view, "a>a b>b", producer="view:t", firstSeen=10))
        answer = send(
            client,
            said(source, view, "a>a", producer="view:t", firstSeen=20),
            said(other, view, "b>b", producer="view:t", firstSeen=20),
            replace=[redefinition(view, "view:t")],
        )
        assert (answer["new"], answer["merged"], answer["replaced"]) == (1, 1, 1)
        assert pairs(client.edge(source, view)) == ["a>a"]
        answer = send(
            client, said(other, view, "b>b", producer="view:t", firstSeen=30), replace=[redefinition(view, "view:t")]
        )
        assert answer["replaced"] == 1
        assert client.edge(source, view) is None
        assert pairs(client.edge(other, view)) == ["b>b"]

    def test_a_batch_marks_views_whose_lineage_is_done_once(self, tables: Tables) -> None:
        client, source, view = tables

        def versions() -> list[tuple[float, bool]]:
            documents = (json.loads(one) for one in client.get(f"/tables/{view['id']}/versions")[1]["versions"])
            return [(one["version"], one.get("processedLineage", False)) for one in documents]

        for processed, expected in (
            (False, [(0.1, False)]),
            (True, [(0.2, True), (0.1, False)]),
            (True, [(0.2, True), (0.1, False)]),
        ):
            send(client, said(source, view, "a>a"), replace=[{**redefinition(view), "processed": processed}])
            assert versions() == expected

    def test_other_producers_and_manual_edges_are_not_touched(self, tables: Tables) -> None:
        client, source, view = tables
        send(client, said(source, view, "a>a", producer="query:q"), said(source, view, "b>b", producer="view:t"))
        client.lineage(source, view, source="Manual", columnsLineage=[])
        send(client, said(source, view, "c>c", producer="manual:someone", source="ViewLineage"))
        send(client, replace=[redefinition(view)])
        assert pairs(client.edge(source, view)) == ["a>a", "c>c"]

    def test_the_past_stays_readable(self, tables: Tables) -> None:
        client, source, view = tables
        send(client, said(source, view, "a>a", producer="view:t", firstSeen=10))
        send(client, said(source, view, "b>b", producer="view:t", firstSeen=20), replace=[redefinition(view, "view:t")])

        def at(moment: int) -> list[str]:
            edges = graph(client, view, asOf=moment)["edges"]
            return [c["to"][-1] for edge in edges for one in edge["contributions"] for c in one["columns"]]

        assert (at(9), at(15), at(20), at(99)) == ([], ["a"], ["b"], ["b"])

    def test_late_batches_give_the_same_store(self, tables: Tables) -> None:
        client, source, view = tables
        old = said(source, view, "a>a", producer="view:t", firstSeen=10)
        new = said(source, view, "b>b", producer="view:t", firstSeen=20)
        send(client, new, replace=[redefinition(view, "view:t")])
        send(client, old, replace=[redefinition(view, "view:t")])
        assert pairs(client.edge(source, view)) == ["b>b"]

    def test_a_missing_target_is_not_found(self, shop: Client) -> None:
        nobody = {"id": "00000000-0000-0000-0000-000000000000"}
        body = {"batchId": "x", "edges": [], "replace": [redefinition(nobody)]}
        assert shop.post("/headwater/lineage", body)[0] == 404


class TestBesideTheWire:
    def test_a_foreign_put_replaces_its_own_word_only(self, tables: Tables) -> None:
        client, source, target = tables
        send(client, said(source, target, "a>a", sqlQuery="ours"))
        client.lineage(source, target, sqlQuery="theirs", columnsLineage=[])
        edge = client.edge(source, target)
        assert (pairs(edge), edge["sqlQuery"]) == (["a>a"], "theirs")
        client.lineage(source, target)
        assert pairs(client.edge(source, target)) == ["a>a"]

    def test_a_foreign_patch_does_not_take_over_what_others_say(self, tables: Tables) -> None:
        client, source, view = tables
        name = view["fullyQualifiedName"]
        send(client, said(source, view, "a>a", producer="view:t", sqlQuery="ours"))
        value = {"fromColumns": [f"{source['fullyQualifiedName']}.b"], "toColumn": f"{name}.b"}
        path = f"/lineage/table/{source['id']}/table/{view['id']}"
        details = client.patch(path, [{"op": "add", "path": "/columnsLineage/1", "value": value}])[1]
        assert pairs(details) == ["a>a", "b>b"]
        send(client, replace=[redefinition(view, "view:t")])
        assert pairs(client.edge(source, view)) == ["b>b"]

    def test_a_deleted_edge_stays_deleted_for_the_same_records(self, tables: Tables) -> None:
        client, source, target = tables
        old = said(source, target, "a>a", records=["aaaaaaaa"], firstSeen=5)
        send(client, old)
        client.delete(f"/lineage/table/{source['id']}/table/{target['id']}")
        send(client, old)
        assert client.edge(source, target) is None
        send(client, said(source, target, "a>a", records=["bbbbbbbb"]))
        assert pairs(client.edge(source, target)) == ["a>a"]

    def test_an_edge_from_the_future_can_be_deleted_and_put_again(self, tables: Tables) -> None:
        client, source, target = tables
        send(client, said(source, target, "a>a", lastSeen=2**52))
        client.delete(f"/lineage/table/{source['id']}/table/{target['id']}")
        assert client.edge(source, target) is None
        client.lineage(source, target, sqlQuery="now")
        assert client.edge(source, target)["sqlQuery"] == "now"
        client.lineage(source, target, sqlQuery="then")
        assert client.edge(source, target)["sqlQuery"] == "then"


def test_usage_counts_records_once(shop: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    table = shop.table("t")
    for records, new in ((["aaaaaaaa", "bbbbbbbb"], 2), (["bbbbbbbb"], 0)):
        items = [{"entity": ref(table), "records": records, "at": 7}]
        assert shop.post("/headwater/usage", {"items": items}) == (200, {"new": new})
    assert graph(shop, table)["nodes"][0]["usage"] == {"reads": 2, "lastRead": 7}
    monkeypatch.setattr("connectors.catalog.store.entities.usage._MOST_READS", 1)
    assert graph(shop, table)["nodes"][0]["usage"] == {"reads": 1, "lastRead": 7, "more": True}


def test_a_load_is_filed_once_and_its_rows_when_they_are_told(shop: Client) -> None:
    table = shop.table("t")
    load = {"entity": ref(table), "at": 7, "run": "aaaaaaaa", "status": "complete", "statement": "f"}
    failed = {**load, "run": "bbbbbbbb", "status": "failed", "error": "22012"}
    for loads, new in (([load, failed], 2), ([{**load, "rows": 5}, failed], 0)):
        assert shop.post("/headwater/loads", {"loads": loads}) == (200, {"filed": 2, "new": new})


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"error": "22012"}, 200),
        ({"error": "it's 'canary'"}, 400),
        ({"error": "CANARY_SECRET_4711"}, 400),
        ({"error": "22012", "status": "complete"}, 400),
        ({"entity": {"id": "0" * 8, "type": "table"}}, 404),
    ],
)
def test_a_message_is_no_code_and_a_load_is_of_an_entity(shop: Client, change: dict[str, Any], status: int) -> None:
    load = {"entity": ref(shop.table("t")), "at": 7, "run": "aaaaaaaa", "status": "failed", "statement": "f"}
    answered, body = shop.post("/headwater/loads", {"loads": [{**load, **change}]})
    assert answered == status
    assert "canary" not in str(body).lower()
