"""Corrections by hand: what people add, confirm and reject, and what no later run brings back."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.http_client import Client
from tests.support.lineage_statements import edges_of, graph, happened, pairs, redefinition, said, send

PREFIX = "shop.main.public."


def end(text: str) -> Any:
    table, _, column = text.partition(".")
    return {"entity": PREFIX + table, "column": column or None}


def correct(client: Client, verdict: str, edge: str, **more: Any) -> tuple[int, Any]:
    """A correction of "table.column>table.column", or "table>table"."""
    source, target = edge.split(">")
    body = {"verdict": verdict, "from": end(source), "to": end(target), "reason": "seen", "author": "ann", **more}
    return client.post("/headwater/corrections", body)


def corrected(client: Client, verdict: str, edge: str, **more: Any) -> Any:
    status, answer = correct(client, verdict, edge, **more)
    assert status == 200, answer
    return answer


def undone(client: Client, correction: Any) -> Any:
    status, answer = client.post(f"/headwater/corrections/{correction['id']}/undo", {"reason": "no", "author": "bob"})
    assert status == 200, answer
    return answer


def now() -> int:
    time.sleep(0.002)
    return time.time_ns() // 1_000_000


def links(client: Client, root: Any, **when: Any) -> set[str]:
    """The pairs of columns of a graph, as "s.a>t.b", a question mark behind those that are not certain."""
    found = set()
    for edge in graph(client, root, **when)["edges"]:
        for contribution in edge["contributions"]:
            for column in contribution["columns"]:
                mark = "" if column["certain"] else "?"
                target = (column["to"] or "").removeprefix(PREFIX)
                found |= {f"{source.removeprefix(PREFIX)}>{target}{mark}" for source in column["from"]}
    return found


def openlineage(source: Any, target: Any) -> Any:
    """An event of a job that makes the column a, and b and c too, of those columns of one table in another."""
    (namespace, name), (_, made) = (one["fullyQualifiedName"].split(".", 1) for one in (source, target))
    fields = {
        column: {"inputFields": [{"namespace": namespace, "name": name, "field": column}]} for column in ("a", "b")
    }
    facet = {"_producer": "p", "_schemaURL": "s", "fields": fields}
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-20T08:00:00Z",
        "producer": "p",
        "schemaURL": "s",
        "run": {"runId": "0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d4e"},
        "job": {"namespace": "jobs", "name": "load"},
        "inputs": [{"namespace": namespace, "name": name}],
        "outputs": [{"namespace": namespace, "name": made, "facets": {"columnLineage": facet}}],
    }


def writes(client: Client, source: Any, target: Any) -> dict[str, tuple[str, Any]]:
    """What each call that writes the edge a>a, b>b answers: its warning, and its body."""
    names = [one["fullyQualifiedName"] for one in (source, target)]
    mappings = [{"fromColumns": [f"{names[0]}.{column}"], "toColumn": f"{names[1]}.{column}"} for column in ("a", "b")]
    ends = {name: {"id": one["id"], "type": "table"} for name, one in (("fromEntity", source), ("toEntity", target))}
    details = {"columnsLineage": mappings}
    batch = {"batchId": str(now()), "edges": [said(source, target, "a>a b>b")], "replace": []}
    event = openlineage(source, target)
    by_name = f"/lineage/table/name/{names[0]}/table/name/{names[1]}"
    calls = {
        "put": ("PUT", "/lineage", {"edge": ends | {"lineageDetails": details}}),
        "put by name": ("PUT", by_name, details),
        "patch": ("PATCH", by_name, [{"op": "add", "path": "/columnsLineage", "value": mappings}]),
        "bulk": ("POST", "/headwater/lineage", batch),
        "bulk again": ("POST", "/headwater/lineage", batch),
        "event": ("POST", "/openlineage/lineage", event),
        "events": ("POST", "/openlineage/lineage/batch", [event, event]),
    }
    answers = {}
    for call, (method, path, body) in calls.items():
        kind = {"Content-Type": "application/json-patch+json"} if method == "PATCH" else None
        answer = client.session.request(method, client.url + path, json=body, headers=kind, timeout=10)
        assert answer.status_code in {200, 404 if call == "patch" else 200}, answer.text
        answers[call] = answer.headers.get("warning", ""), answer.json() if answer.content else None
    return answers


class TestRejection:
    def test_who_writes_rejected_lineage_by_any_call_is_told_which_of_it_nobody_reads(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        assert {warning for warning, _ in writes(shop, source, target).values()} == {""}
        columns = corrected(shop, "rejected", "s.a>t.a")
        told = writes(shop, source, target)
        pair = f"{PREFIX}s.a -> {PREFIX}t.a"
        expected = f'299 - "stored, but nobody reads {pair}: a person rejected it (headwater/corrections)"'
        assert {call: warning for call, (warning, _) in told.items()} == dict.fromkeys(told, expected)
        rejected = [{"from": f"{PREFIX}s.a", "to": f"{PREFIX}t.a"}]
        assert [told[call][1]["rejected"] for call in ("bulk", "bulk again", "event", "events")] == [rejected] * 4
        assert pairs(shop.edge(source, target)) == ["b>b"]
        edge = corrected(shop, "rejected", "s>t")
        told = writes(shop, source, target)
        del told["patch"]  # 404: there is no edge that could be patched
        whole = expected.replace(pair, f"{PREFIX}s -> {PREFIX}t")
        assert {call: warning for call, (warning, _) in told.items()} == dict.fromkeys(told, whole)
        assert shop.edge(source, target) is None
        undone(shop, edge)
        undone(shop, columns)
        assert {warning for warning, _ in writes(shop, source, target).values()} == {""}
        assert pairs(shop.edge(source, target)) == ["a>a", "b>b"]

    def test_a_warning_is_a_header_whatever_the_names(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table('"ü\\""\r\nx')
        shop.lineage(source, target)
        corrected(shop, "rejected", "s>t", to={"entity": target["fullyQualifiedName"], "column": None})
        ends = {"fromEntity": {"id": source["id"], "type": "table"}, "toEntity": {"id": target["id"], "type": "table"}}
        answer = shop.session.put(f"{shop.url}/lineage", json={"edge": ends}, timeout=10)
        warning = answer.headers["warning"]
        assert warning.isascii() and warning.isprintable()
        assert "<U+00FC>" in warning and warning.count('"') - warning.count('\\"') == 2

    def test_a_rejected_edge_is_read_nowhere_and_no_later_batch_brings_it_back(self, shop: Client) -> None:
        source, target, after = shop.table("s"), shop.table("t"), shop.table("u")
        send(shop, said(source, target, "a>a", firstSeen=10), said(target, after, "a>a", firstSeen=10))
        before = now()
        corrected(shop, "rejected", "s>t", reason="a test of ours")
        for at in (20, now() + 60_000):  # in the past, and later than the rejection
            send(shop, said(source, target, "a>a b>b", firstSeen=at, records=[f"{at:020x}"]))
            send(shop, said(source, target, "b>b", producer="view:t", firstSeen=at), replace=[redefinition(target)])
            shop.lineage(source, target, source="QueryLineage")
            assert edges_of(graph(shop, target)) == {("t", "u")}
            assert shop.edge(source, target) is None
        assert shop.get("/headwater/impact", entity=f"{PREFIX}s", days=0)[1]["impacted"] == []
        assert shop.get(f"/lineage/table/{target['id']}")[1]["upstreamEdges"] == []
        assert edges_of(graph(shop, target, asOf=before)) == {("s", "t"), ("t", "u")}

    def test_what_was_said_meanwhile_is_there_when_it_is_undone(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a", firstSeen=10))
        correction = corrected(shop, "rejected", "s>t")
        send(shop, said(source, target, "b>b", producer="query:2", firstSeen=20))
        between = now()
        answer = undone(shop, correction)
        assert (answer["undone"]["author"], answer["undone"]["reason"]) == ("bob", "no")
        assert pairs(shop.edge(source, target)) == ["a>a", "b>b"]
        assert edges_of(graph(shop, target, asOf=between)) == set()

    def test_pairs_of_columns_are_rejected_one_by_one(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a b>a b~", firstSeen=10))
        before = now()
        first = corrected(shop, "rejected", "s.b>t.a")
        assert links(shop, target) == {"s.a>t.a", "s.b>"}
        corrected(shop, "rejected", "s.b>t")
        send(shop, said(source, target, "a>a b>a b~ b>b", firstSeen=now(), producer="query:2"))
        assert links(shop, target) == {"s.a>t.a", "s.b>t.b"}
        assert shop.get("/headwater/impact", entity=f"{PREFIX}s", column="b", days=0)[1]["counts"]["direct"] == 1
        assert links(shop, target, asOf=before) == {"s.a>t.a", "s.b>t.a", "s.b>"}
        undone(shop, first)
        assert links(shop, target) == {"s.a>t.a", "s.b>t.a", "s.b>t.b"}
        changes = shop.get("/headwater/diff", **{"from": before, "to": now()})[1]["lineageChanges"]
        assert {(one["kind"], one["fromColumn"].removeprefix(PREFIX)) for one in changes} == {
            ("columnEdgeRemoved", "s.b"),
            ("columnEdgeAdded", "s.b"),
        }

    @pytest.mark.parametrize("edge", ["s>t", "s.a>t.a"])
    def test_a_rejection_goes_on_under_new_names_and_stays_under_the_old(self, shop: Client, edge: str) -> None:
        tables = {name: shop.table(name) for name in ("s", "t", "t_old", "t_new")}
        send(shop, said(tables["s"], tables["t"], "a>a", firstSeen=10))
        corrected(shop, "rejected", edge)
        happened(shop, "rename", tables["t"], now(), other={"id": tables["t_old"]["id"], "type": "table"})
        happened(shop, "rename", tables["t_new"], now(), other={"id": tables["t"]["id"], "type": "table"})
        for name in ("t", "t_old"):
            send(shop, said(tables["s"], tables[name], "a>a b>b", firstSeen=now()))
        assert "s.a>t.a" not in links(shop, tables["s"])
        assert "s.a>t_old.a" not in links(shop, tables["s"])
        assert ("s.b>t.b" in links(shop, tables["s"])) == ("." in edge)

    def test_a_table_that_is_made_anew_each_night_stays_without_it(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        send(shop, said(source, target, "a>a", firstSeen=10))
        corrected(shop, "rejected", "s>t")
        happened(shop, "drop", target, now())
        shop.table("t")
        send(shop, said(source, target, "a>a", firstSeen=now()))
        assert edges_of(graph(shop, source)) == set()


class TestManualEdges:
    def test_an_edge_that_is_added_stays_whatever_a_run_says_and_tells_who_added_it(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        corrected(shop, "added", "s.a>t.b", reason="by the <b>nightly</b> export", author="ann")
        corrected(shop, "added", "s>t")
        send(shop, replace=[redefinition(target, source="ViewLineage"), redefinition(target, source="Manual")])
        edge = shop.edge(source, target)
        assert (pairs(edge), edge["source"]) == (["a>b"], "Manual")
        texts = {one["description"]: one["author"] for one in graph(shop, target)["edges"][0]["contributions"]}
        assert texts == {"by the <b>nightly</b> export": "ann", "seen": "ann"}

    def test_it_ends_when_it_is_undone(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        correction = corrected(shop, "added", "s.a>t.b")
        during = now()
        undone(shop, correction)
        assert shop.edge(source, target) is None
        assert edges_of(graph(shop, target, asOf=during)) == {("s", "t")}

    def test_one_of_several_candidates_is_confirmed(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        edge = said(source, target, "a>a", firstSeen=10)
        edge["contribution"]["columns"][0] |= {"certain": False, "subtype": "AGGREGATION", "expression": "SUM(a)"}
        send(shop, edge)
        assert pairs(shop.edge(source, target)) == []
        correction = corrected(shop, "confirmed", "s.a>t.a")
        assert shop.edge(source, target)["columnsLineage"][0]["function"] == "SUM(a)"
        assert links(shop, target) == {"s.a>t.a?", "s.a>t.a"}
        undone(shop, correction)
        assert pairs(shop.edge(source, target)) == []


class TestRefusals:
    def test_the_same_again_is_what_stands_and_the_contrary_is_refused(self, shop: Client) -> None:
        send(shop, said(shop.table("s"), shop.table("t"), "a>a", firstSeen=10))
        first = corrected(shop, "rejected", "s>t")
        assert corrected(shop, "rejected", "S>T".lower())["id"] == first["id"]
        status, answer = correct(shop, "added", "s>t")
        assert (status, f"undo correction {first['id']} first" in answer["message"]) == (409, True)
        undone(shop, first)
        assert shop.post(f"/headwater/corrections/{first['id']}/undo", {"reason": "again"})[0] == 409
        corrected(shop, "added", "s>t")
        assert correct(shop, "rejected", "s>t")[0] == 409

    @pytest.mark.parametrize(
        ("verdict", "edge", "more", "status"),
        [
            ("rejected", "s>t", {}, 404),
            ("confirmed", "s.a>t.a", {}, 404),
            ("added", "s.a>t.nope", {}, 404),
            ("added", "s>nope", {}, 404),
            ("added", "s>s", {}, 400),
            ("added", "s>t.a", {}, 400),
            ("added", "s>t", {"reason": "  "}, 400),
            ("added", "s>t", {"reason": "x" * 2_001}, 400),
            ("added", "s>t", {"author": "x" * 201}, 400),
            ("forgotten", "s>t", {}, 400),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, shop: Client, verdict: str, edge: str, more: Any, status: int
    ) -> None:
        shop.table("s"), shop.table("t")
        assert correct(shop, verdict, edge, **more)[0] == status
        assert shop.get("/headwater/corrections")[1] == {"corrections": [], "rejectedEdges": []}

    def test_all_of_them_are_listed_with_who_and_why(self, shop: Client) -> None:
        source, target, other = shop.table("s"), shop.table("t"), shop.table("u")
        send(shop, said(source, target, "a>a", firstSeen=10))
        corrected(shop, "added", "s.a>u.a", reason="\u202egnorw <script>", author="'; drop table")
        undone(shop, corrected(shop, "rejected", "s.a>t.a"))
        corrected(shop, "rejected", "s>t")
        body = shop.get("/headwater/corrections")[1]
        told = [(one["verdict"], one["to"]["entity"][-1], bool(one["undone"])) for one in body["corrections"]]
        assert told == [("rejected", "t", False), ("rejected", "t", True), ("added", "u", False)]
        assert body["corrections"][2]["reason"] == "\u202egnorw <script>"
        assert body["corrections"][2]["author"] == "'; drop table"
        assert body["rejectedEdges"] == [{"fromEntity": source["id"], "toEntity": target["id"]}]
        history = shop.get("/headwater/history", entity=target["fullyQualifiedName"])[1]["corrections"]
        ends = {"from": source["fullyQualifiedName"], "to": target["fullyQualifiedName"]}
        edge = shop.get("/headwater/edge", **ends)[1]
        assert [one["verdict"] for one in history] == ["rejected", "rejected"]
        assert edge["corrections"] == history
        assert edge["contributions"][0]["until"] == history[0]["at"]
        of_other = shop.get("/headwater/corrections", entity=other["fullyQualifiedName"])[1]["corrections"]
        assert [one["verdict"] for one in of_other] == ["added"]
