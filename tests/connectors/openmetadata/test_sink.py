"""The sink against a platform whose PUT replaces, whose answers get lost, and beside which others write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests
import responses
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.openmetadata._edge_writer import additions
from connectors.openmetadata.client import LINEAGE, Platform
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.edges import HeldEdge
from connectors.openmetadata.http import Http
from connectors.openmetadata.sink import RestSink
from connectors.sink import DryRunSink, EdgeCounts, target_batches
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, ColumnLineage, LineageDetails, Replacement, request_of
from tests.connectors.openmetadata.conftest import VirtualTime

BASE = "http://om.example/api/v1"
Json = dict[str, Any]
Answer = tuple[int, dict[str, str], str]


def not_found() -> Answer:
    return 404, {}, json.dumps({"code": 404, "message": "lineage edge not found"})


@dataclass
class FakeOpenMetadata:
    """Edges by (from, to) as a plain OpenMetadata keeps them; `after` may interfere after any call."""

    edges: dict[tuple[str, str], Json] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    before: Callable[[str], None] = lambda _: None
    after: Callable[[str], None] = lambda _: None

    def answer(self, request: requests.PreparedRequest) -> Answer:
        path = str(request.url).removeprefix(BASE).split("?")[0]
        call = f"{request.method} {path}"
        self.calls.append(call)
        self.before(call)
        body = json.loads(request.body) if request.body else None
        answered = self._answer(str(request.method), path, body)
        self.after(call)
        return answered

    def _answer(self, method: str, path: str, body: Any) -> Answer:
        if match := re.fullmatch(r"/lineage/getLineageEdge/(\w+)/(\w+)", path):
            stored = self.edges.get((match[1], match[2]))
            return not_found() if stored is None else (200, {}, json.dumps({"edge": {**stored, "createdAt": 1}}))
        if path == "/lineage":
            edge = body["edge"]
            self.edges[edge["fromEntity"]["id"], edge["toEntity"]["id"]] = edge["lineageDetails"]
            return 200, {}, ""
        if match := re.fullmatch(r"/lineage/table/(\w+)/table/(\w+)", path):
            return self._change(method, (match[1], match[2]), body)
        if match := re.fullmatch(r"/lineage/table/(\w+)", path):
            into = [(edge, details) for edge, details in self.edges.items() if edge[1] == match[1]]
            nodes = [{"id": edge[0], "type": "table"} for edge, _ in into]
            graph = [{"fromEntity": edge[0], "toEntity": edge[1], "lineageDetails": details} for edge, details in into]
            answer = {"entity": {"id": match[1], "type": "table"}, "nodes": nodes, "upstreamEdges": graph}
            return 200, {}, json.dumps(answer)
        return 200, {}, "{}"

    def _change(self, method: str, edge: tuple[str, str], body: Any) -> Answer:
        if edge not in self.edges:
            return not_found()
        if method == "DELETE":
            del self.edges[edge]
            return 200, {}, ""
        details = self.edges[edge]
        for operation in body:
            name, _, last = operation["path"].removeprefix("/").partition("/")
            if last == "-":
                details[name].append(operation["value"])
            else:
                details[name] = operation["value"]
        return 200, {}, json.dumps(details)

    def pairs(self, edge: tuple[str, str]) -> list[str]:
        return sorted(mapping["toColumn"] for mapping in self.edges[edge]["columnsLineage"])


@pytest.fixture
def server() -> Iterator[FakeOpenMetadata]:
    fake = FakeOpenMetadata()
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for method in (responses.GET, responses.PUT, responses.PATCH, responses.DELETE):
            mock.add_callback(method, re.compile(f"{re.escape(BASE)}/.*"), callback=fake.answer)
        yield fake


def sink(virtual_time: VirtualTime, *capabilities: str, threads: int = 1) -> RestSink:
    http = Http(Connection("http://om.example/api", jwt_token="canary-token"), timing=virtual_time.timing)
    return RestSink(Platform(http, "2.0.7", frozenset(capabilities)), "run", threads)


def reference(name: str) -> EntityReference:
    return EntityReference(name, "table", name, f"s.d.p.{name}")


def said(source: str, target: str, *columns: str, view: bool = False) -> AddLineageRequest:
    evidence = tuple(
        ColumnEvidence((f"s.d.p.{source}.{column}",), column, Transformation(Subtype.IDENTITY)) for column in columns
    )
    producer = Producer(ProducerKind.VIEW if view else ProducerKind.QUERY, "key")
    of = "ViewLineage" if view else "QueryLineage"
    return request_of(reference(source), reference(target), [Contribution(producer, of, "SELECT ?", evidence)])


def mapping(column: str) -> Json:
    return {"fromColumns": [f"s.d.p.a.{column}"], "toColumn": column}


def stored(*columns: str, source: str = "QueryLineage", **others: Any) -> Json:
    return {"source": source, "columnsLineage": [mapping(column) for column in columns], **others}


def test_a_stored_edge_is_never_put_again(server: FakeOpenMetadata, virtual_time: VirtualTime) -> None:
    server.edges["a", "t"] = stored("x", pipeline={"id": "p", "type": "pipeline"}, sqlQuery="theirs")
    written = sink(virtual_time).write(target_batches([said("a", "t", "x", "y")]))
    assert written.results[0].outcome is WriteOutcome.MERGED
    assert server.pairs(("a", "t")) == ["x", "y"]
    assert (server.edges["a", "t"]["sqlQuery"], server.edges["a", "t"]["pipeline"]["id"]) == ("theirs", "p")
    assert not [call for call in server.calls if call.startswith("PUT")]


def test_an_edge_without_columns_gets_its_list_first(server: FakeOpenMetadata, virtual_time: VirtualTime) -> None:
    server.edges["a", "t"] = {"source": "Manual"}
    sink(virtual_time).write(target_batches([said("a", "t", "x")]))
    assert server.pairs(("a", "t")) == ["x"]
    assert server.edges["a", "t"]["source"] == "Manual"


def test_an_append_whose_answer_was_lost_is_not_repeated(server: FakeOpenMetadata, virtual_time: VirtualTime) -> None:
    server.edges["a", "t"] = stored("x")

    def lose(call: str) -> None:
        if call.startswith("PATCH"):
            server.after = lambda _: None
            raise requests.ConnectionError("reset")

    server.after = lose
    written = sink(virtual_time).write(target_batches([said("a", "t", "y")]))
    assert server.pairs(("a", "t")) == ["x", "y"]
    assert written.results[0].outcome is WriteOutcome.MERGED


def test_a_put_whose_answer_was_lost_is_still_a_new_edge(server: FakeOpenMetadata, virtual_time: VirtualTime) -> None:
    def lose(call: str) -> None:
        if call.startswith("PUT"):
            server.after = lambda _: None
            raise requests.ReadTimeout("slow")

    server.after = lose
    assert sink(virtual_time).write(target_batches([said("a", "t", "y")])).results[0].outcome is WriteOutcome.NEW
    assert server.pairs(("a", "t")) == ["y"]


@pytest.mark.parametrize(("existing", "call"), [(("x",), "PATCH"), ((), "PUT")])
def test_what_another_writer_replaced_in_between_is_written_again(
    existing: tuple[str, ...], call: str, server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    if existing:
        server.edges["a", "t"] = stored(*existing)

    def replace_it(seen: str) -> None:
        if seen.startswith(call):
            server.after = lambda _: None
            server.edges["a", "t"] = stored("theirs")

    server.after = replace_it
    sink(virtual_time).write(target_batches([said("a", "t", "ours")]))
    assert server.pairs(("a", "t")) == ["ours", "theirs"]


def test_only_view_edges_of_the_view_itself_are_deleted_and_only_after_the_new_ones_stand(
    server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    server.edges = {
        ("a", "v"): stored("x", "gone", source="ViewLineage", sqlQuery="old"),
        ("b", "v"): stored("x", source="ViewLineage"),
        ("m", "v"): stored("x", source="Manual"),
        ("q", "v"): stored("x", source="QueryLineage"),
        ("b", "w"): stored("x", source="ViewLineage"),
    }
    new = [said("a", "v", "x", view=True), said("c", "v", "x", view=True)]
    written = sink(virtual_time).write(target_batches(new, [Replacement(reference("v"))]))
    assert set(server.edges) == {("a", "v"), ("c", "v"), ("m", "v"), ("q", "v"), ("b", "w")}
    assert server.pairs(("a", "v")) == ["x"]
    assert server.edges["a", "v"]["sqlQuery"] == "SELECT ?"
    assert [result.outcome for result in written.results] == [WriteOutcome.REPLACED, WriteOutcome.NEW]
    deletes = [number for number, call in enumerate(server.calls) if call.startswith("DELETE")]
    puts = [number for number, call in enumerate(server.calls) if call.startswith("PUT /lineage")]
    assert [server.calls[number] for number in deletes] == ["DELETE /lineage/table/b/table/v"]
    assert max(puts) < min(deletes)
    assert server.calls[-1] == "PATCH /tables/v"


def test_a_view_defined_anew_over_nothing_loses_all_of_its_view_edges(
    server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    server.edges = {("b", "v"): stored("x", source="ViewLineage"), ("m", "v"): stored("x", source="Manual")}
    assert sink(virtual_time).write(target_batches([], [Replacement(reference("v"))])).counts.replaced == 1
    assert set(server.edges) == {("m", "v")}


def test_an_edge_that_the_server_cannot_bear_is_given_up_on_and_the_others_are_written(
    server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    answer = server._answer

    def poisoned(method: str, path: str, body: Any) -> Answer:
        if "poison" in f"{path} {body}":
            return 500, {}, json.dumps({"code": 500, "message": "NullPointerException"})
        return answer(method, path, body)

    server._answer = poisoned  # type: ignore[method-assign]
    work = [said(source, "t", "x") for source in ("a", "poison", "b")]
    written = sink(virtual_time).write(target_batches(work))
    assert [result.outcome for result in written.results] == [WriteOutcome.NEW, WriteOutcome.REJECTED, WriteOutcome.NEW]
    assert "HTTP 500: NullPointerException" in written.results[1].reason


@pytest.mark.parametrize("threads", [1, 4])
def test_a_token_that_expires_in_the_middle_stops_the_run(
    threads: int, server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    def expire(method: str, path: str, body: Any) -> Answer:
        return 401, {}, json.dumps({"code": 401, "message": "Expired token!"})

    work = [said(f"s{number}", f"t{number}", "x") for number in range(200)]
    sink(virtual_time).write(target_batches(work[:3]))
    server._answer = expire  # type: ignore[method-assign]
    before = len(server.calls)
    with pytest.raises(ConfigError, match="expired"):
        sink(virtual_time, threads=threads).write(target_batches(work))
    # each thread may be at one request of its own by then
    assert len(server.calls) - before <= threads


def test_a_target_that_goes_down_stops_the_run_and_writing_again_completes_it(
    server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    work = [said(f"s{number}", f"t{number}", "x", "y") for number in range(10)]
    sink(virtual_time).write(target_batches(work))
    whole, server.edges = server.edges, {}

    def go_down(_: str) -> None:
        if len(server.edges) == 5:
            raise requests.ConnectionError("refused")

    server.before = go_down
    with pytest.raises(TargetDown) as caught:
        sink(virtual_time).write(target_batches(work))
    assert caught.value.exit_code == 75
    assert len(server.edges) == 5
    server.before = lambda _: None
    sink(virtual_time).write(target_batches(work))
    assert server.edges == whole


class BulkServer:
    """The bulk call, refusing batches that hold `culprits` or are larger than `limit`."""

    def __init__(self, *culprits: str, limit: int = 10**9) -> None:
        self.culprits = set(culprits)
        self.limit = limit
        self.bodies: list[Json] = []
        self.written: list[str] = []
        self.replaced: list[str] = []

    def answer(self, request: requests.PreparedRequest) -> Answer:
        body = json.loads(str(request.body, "utf-8") if isinstance(request.body, bytes) else request.body or "")
        self.bodies.append(body)
        sources = [edge["fromEntity"]["id"] for edge in body["edges"]]
        if len(sources) > self.limit:
            return 413, {}, json.dumps({"code": 413, "message": "too large"})
        if self.culprits & set(sources):
            return 404, {}, json.dumps({"code": 404, "message": "table instance not found"})
        self.written += sources
        self.replaced += [scope["toEntity"]["id"] for scope in body["replace"]]
        return 200, {}, json.dumps({"new": len(sources), "columnEdges": len(sources)})


@pytest.fixture
def bulk() -> Iterator[BulkServer]:
    server = BulkServer()
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.add_callback(responses.POST, f"{BASE}/headwater/lineage", callback=server.answer)
        mock.add(responses.PATCH, re.compile(f"{re.escape(BASE)}/tables/.*"), json={})
        yield server


def test_one_write_is_one_call_and_the_culprit_is_found_by_halving(bulk: BulkServer, virtual_time: VirtualTime) -> None:
    bulk.culprits = {"s77"}
    work = [said(f"s{number}", f"t{number}", "x") for number in range(128)]
    written = sink(virtual_time, LINEAGE).write(target_batches(work))
    assert [result.accepted for result in written.results] == [number != 77 for number in range(128)]
    assert sorted(bulk.written) == sorted(f"s{number}" for number in range(128) if number != 77)
    assert len(bulk.bodies) == 1 + 2 * 7
    assert (written.counts.new, written.counts.rejected) == (127, 1)


def test_a_batch_that_is_too_large_is_halved(bulk: BulkServer, virtual_time: VirtualTime) -> None:
    bulk.limit = 20
    written = sink(virtual_time, LINEAGE).write(target_batches([said(f"s{number}", "t", "x") for number in range(64)]))
    assert all(result.accepted for result in written.results)
    assert len(bulk.written) == 64


@pytest.mark.parametrize("whole", [True, False])
def test_a_view_and_what_it_replaces_are_in_one_batch(bulk: BulkServer, virtual_time: VirtualTime, whole: bool) -> None:
    work = [said(f"s{number}", "v", "x", view=True) for number in range(10)]
    sink(virtual_time, LINEAGE).write(target_batches(work, [Replacement(reference("v"), at=5.0, whole=whole)]))
    (body,) = bulk.bodies
    assert len(body["edges"]) == 10
    order = {"producer": None, "toEntity": {"id": "v", "type": "table"}, "source": "ViewLineage", "at": 5000}
    assert body["replace"] == [{**order, "until": None, **({"processed": True} if whole else {})}]


def test_a_view_with_a_rejected_edge_replaces_nothing(bulk: BulkServer, virtual_time: VirtualTime) -> None:
    bulk.culprits = {"s3"}
    work = [said(f"s{number}", "v", "x", view=True) for number in range(8)]
    written = sink(virtual_time, LINEAGE).write(target_batches(work, [Replacement(reference("v"))]))
    assert written.counts.rejected == 1
    assert len(bulk.written) == 7
    assert bulk.replaced == []


def test_a_repeated_batch_has_the_same_id_and_another_batch_another(
    bulk: BulkServer, virtual_time: VirtualTime
) -> None:
    answer, lost = bulk.answer, iter([True])

    def lose_once(request: requests.PreparedRequest) -> Answer:
        answered = answer(request)
        if next(lost, False):
            raise requests.ConnectionError("reset")
        return answered

    with responses.RequestsMock() as mock:
        mock.add_callback(responses.POST, f"{BASE}/headwater/lineage", callback=lose_once)
        sinks = sink(virtual_time, LINEAGE)
        sinks.write(target_batches([said("a", "t", "x")]))
        sinks.write(target_batches([said("a", "t", "x")]))
    ids = [body["batchId"] for body in bulk.bodies]
    assert ids[0] == ids[1] != ids[2]


def test_the_body_carries_the_whole_contribution(bulk: BulkServer, virtual_time: VirtualTime) -> None:
    sink(virtual_time, LINEAGE).write(target_batches([said("a", "t", "x")]))
    (edge,) = bulk.bodies[0]["edges"]
    assert edge["fromEntity"] == {"id": "a", "type": "table"}
    assert edge["contribution"]["producer"] == {"kind": "query", "key": "key"}
    assert edge["contribution"]["columns"][0]["from"] == ["s.d.p.a.x"]


def test_a_dry_run_accepts_everything_and_changes_nothing() -> None:
    written = DryRunSink().write(target_batches([said("a", "t", "x", "y")], [Replacement(reference("v"))]))
    assert [result.outcome for result in written.results] == [WriteOutcome.UNCHANGED]
    assert written.counts == EdgeCounts(unchanged=1, column_edges=2)


def test_additions_only_add() -> None:
    wanted = LineageDetails(
        "SELECT ?", columns_lineage=(ColumnLineage(("a",), "x", "f(a)"), ColumnLineage(("b",), "y"))
    )
    known = LineageDetails("theirs", columns_lineage=(ColumnLineage(("a",), "x"),))
    assert additions(HeldEdge(known, has_columns=True), wanted) == [
        {"op": "add", "path": "/columnsLineage/-", "value": {"fromColumns": ["b"], "toColumn": "y"}}
    ]
    assert additions(HeldEdge(wanted, has_columns=True), wanted) == []


mishaps = st.sampled_from(["none", "none", "none", "unsent", "unanswered", "503", "rewritten"])
writes = st.tuples(
    st.sampled_from(["a", "b"]), st.sampled_from(["t", "u"]), st.lists(st.sampled_from("vwxyz"), min_size=1, max_size=3)
)


@settings(max_examples=60)
@given(st.lists(writes, min_size=1, max_size=8), st.lists(mishaps, max_size=40))
def test_whatever_goes_wrong_every_acknowledged_column_is_stored_once(
    work: list[tuple[str, str, list[str]]], schedule: list[str]
) -> None:
    fake, plan = FakeOpenMetadata(), iter(schedule)

    def answer(request: requests.PreparedRequest) -> Answer:
        mishap = next(plan, "none")
        if mishap == "unsent":
            raise requests.ConnectionError("refused")
        if mishap == "503":
            return 503, {"Retry-After": "1"}, ""
        answered = fake.answer(request)
        if mishap == "unanswered":
            raise requests.ReadTimeout("lost")
        if mishap == "rewritten" and request.method == "PATCH":
            # another client puts back what it had read before
            for edge in fake.edges:
                fake.edges[edge] = {**fake.edges[edge], "columnsLineage": fake.edges[edge]["columnsLineage"][:1]}
        return answered

    written: dict[tuple[str, str], set[str]] = {}
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for method in (responses.GET, responses.PUT, responses.PATCH):
            mock.add_callback(method, re.compile(f"{re.escape(BASE)}/.*"), callback=answer)
        target = sink(VirtualTime())
        for source, to, columns in work:
            before = {edge: fake.pairs(edge) for edge in fake.edges}
            try:
                (result,) = target.write(target_batches([said(source, to, *columns)])).results
            except TargetDown:
                break
            edge = (source, to)
            stored = fake.pairs(edge) if edge in fake.edges else []
            if result.accepted and not result.refused_columns:
                assert set(columns) <= set(stored)
            assert len(stored) == len(set(stored))
            written.setdefault(edge, set()).update(columns)
            assert all(set(pairs) <= written[known] for known, pairs in before.items())
