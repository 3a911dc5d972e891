"""Two writers at once onto a platform without a bulk call: what both were told is written is there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.openmetadata import _edge_writer as edge_writer
from connectors.openmetadata.client import Platform
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import Call, Http
from connectors.openmetadata.sink import RestSink
from connectors.sink import WriteReport, target_batches
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, request_of
from tests.connectors.openmetadata.conftest import VirtualTime
from tests.connectors.openmetadata.test_sink import Answer, FakeOpenMetadata, said, server, sink, stored
from tests.support.fault_server import Plan, followed_by, misbehaving

__all__ = ["server"]

EDGES, ROUNDS = 12, 2


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("catalog") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        http = Http(Connection(address.url))
        tables = [
            {"name": name, "databaseSchema": "s.d.p", "columns": [{"name": c, "dataType": "INT"} for c in "ab"]}
            for name in ("source", "mended", "other", *(f"t{number}" for number in range(ROUNDS * EDGES)))
        ]
        parents = {
            "services": [{"name": "s", "serviceType": "Postgres"}],
            "databases": [{"name": "d", "service": "s"}],
            "schemas": [{"name": "p", "database": "s.d"}],
        }
        http.send(Call("POST", "headwater/tables", body={**parents, "tables": tables}))
        http.close()
        yield address.url


class Writer:
    """A run's sink onto a catalog that is spoken to as a plain OpenMetadata."""

    def __init__(self, url: str, column: str) -> None:
        self.http = Http(Connection(url))
        self.sink = RestSink(Platform(self.http, "2.0.7"), column, threads=4)
        self.column = column

    def entity(self, name: str) -> EntityReference:
        fqn = f"s.d.p.{name}"
        return EntityReference(self.http.get(f"tables/name/{fqn}")["id"], "table", name, fqn)

    def write(self, targets: list[str]) -> WriteReport:
        source = self.entity("source")
        return self.sink.write(target_batches(self.said(source, self.entity(name)) for name in targets))

    def said(self, source: EntityReference, target: EntityReference) -> AddLineageRequest:
        columns = (f"{source.fully_qualified_name}.{self.column}",), f"{target.fully_qualified_name}.{self.column}"
        evidence = ColumnEvidence(*columns, Transformation(Subtype.IDENTITY))
        producer = Producer(ProducerKind.QUERY, self.column)
        return request_of(source, target, [Contribution(producer, "QueryLineage", "SELECT ?", (evidence,))])

    def stored(self, name: str) -> set[str]:
        edge = self.http.get(f"lineage/getLineageEdge/table/name/s.d.p.source/table/name/s.d.p.{name}")["edge"]
        return {mapping["toColumn"].rpartition(".")[2] for mapping in edge["columnsLineage"]}


def test_no_column_is_lost_to_another_writer(catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_writer, "SETTLING_SECONDS", 0.3)
    writers = [Writer(catalog, "a"), Writer(catalog, "b")]
    for number in range(ROUNDS):
        targets = [f"t{number * EDGES + one}" for one in range(EDGES)]
        begin = threading.Barrier(2)

        def write(writer: Writer, names: list[str] = targets, begin: threading.Barrier = begin) -> WriteReport:
            begin.wait()
            return writer.write(names)

        with ThreadPoolExecutor(2) as pool:
            reports = list(pool.map(write, writers))
        assert all(result.accepted for report in reports for result in report.results)
        lost = {name: found for name in targets if (found := writers[0].stored(name)) != {"a", "b"}}
        assert not lost


def test_an_edge_from_a_table_to_itself_is_stored_and_added_to(catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_writer, "SETTLING_SECONDS", 0.05)
    for column in "ab":
        writer = Writer(catalog, column)
        own = writer.entity("source")
        assert all(one.accepted for one in writer.sink.write(target_batches([writer.said(own, own)])).results)
    assert writer.stored("source") == {"a", "b"}


def test_what_another_put_in_its_place_over_http_is_mended(catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_writer, "SETTLING_SECONDS", 0.05)
    theirs = {"columnsLineage": [{"fromColumns": ["s.d.p.source.b"], "toColumn": "s.d.p.mended.b"}]}
    writer = Writer(catalog, "a")
    by_name = "/api/v1/lineage/table/name/s.d.p.source/table/name/s.d.p.mended"
    put = "/api/v1/lineage"
    patch = f"/api/v1/lineage/table/{writer.entity('source').id}/table/{writer.entity('mended').id}"
    plan = Plan(lambda path, number: followed_by(by_name, theirs) if path in (put, patch) and number == 1 else None)
    with misbehaving(catalog, plan) as url:
        results = [*Writer(url, "a").write(["mended"]).results, *Writer(url, "a").write(["other"]).results]
    assert (plan.calls[put], plan.calls[patch]) == (2, 2)
    assert [result.outcome for result in results] == [WriteOutcome.NEW, WriteOutcome.NEW]
    assert (writer.stored("mended"), writer.stored("other")) == ({"a", "b"}, {"a"})


@dataclass
class Overwriting(VirtualTime):
    """Time in which another client, that had read the edge before, writes it: `times` waits long."""

    server: FakeOpenMetadata = field(default_factory=FakeOpenMetadata)
    times: int = 1

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if len(self.slept) <= self.times:
            self.server.edges["a", "t"] = stored("theirs")


def test_what_is_overwritten_after_it_was_read_back_is_mended(server: FakeOpenMetadata) -> None:
    (result,) = sink(Overwriting(server=server, times=2)).write(target_batches([said("a", "t", "x", "y")])).results
    assert result.outcome is WriteOutcome.NEW
    assert server.pairs(("a", "t")) == ["theirs", "x", "y"]


def test_what_never_settles_is_not_acknowledged(server: FakeOpenMetadata) -> None:
    (result,) = sink(Overwriting(server=server, times=1_000)).write(target_batches([said("a", "t", "x")])).results
    assert result.outcome is WriteOutcome.REJECTED
    assert "run again" in result.reason


def test_an_edge_that_another_changes_at_every_write_is_not_acknowledged(
    server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    def wipe(call: str) -> None:
        if call.startswith(("PUT", "PATCH")):
            server.edges["a", "t"] = stored("theirs")

    server.after = wipe
    written = sink(virtual_time).write(target_batches([said("a", "t", "x"), said("b", "u", "x")]))
    assert [result.outcome for result in written.results] == [WriteOutcome.REJECTED, WriteOutcome.NEW]
    assert "run again" in written.results[0].reason


def test_an_edge_that_is_deleted_after_it_was_written_stays_deleted(server: FakeOpenMetadata) -> None:
    time = VirtualTime()

    def delete(call: str) -> None:
        if time.slept:
            server.edges.clear()

    server.before = delete
    assert sink(time).write(target_batches([said("a", "t", "x")])).results[0].accepted
    assert not server.edges


def test_what_stands_already_is_not_waited_for(server: FakeOpenMetadata, virtual_time: VirtualTime) -> None:
    server.edges["a", "t"] = stored("x", sqlQuery="SELECT ?")
    assert sink(virtual_time).write(target_batches([said("a", "t", "x")])).results[0].outcome is WriteOutcome.UNCHANGED
    assert virtual_time.slept == []


@pytest.mark.parametrize("telling", [True, False])
def test_columns_that_the_platform_does_not_take_are_no_loss(
    telling: bool, server: FakeOpenMetadata, virtual_time: VirtualTime
) -> None:
    answer = server._answer

    def refusing(method: str, path: str, body: Any) -> Answer:
        status, headers, text = answer(method, path, body)
        for details in server.edges.values():
            details["columnsLineage"] = [one for one in details["columnsLineage"] if one["toColumn"] != "unknown"]
        if method == "PATCH":
            text = json.dumps(server.edges["a", "t"]) if telling else ""
        return status, headers, text

    server._answer = refusing  # type: ignore[method-assign]
    (result,) = sink(virtual_time).write(target_batches([said("a", "t", "x", "unknown")])).results
    assert (result.outcome, result.refused_columns) == (WriteOutcome.NEW, 1)
    assert server.pairs(("a", "t")) == ["x"]
