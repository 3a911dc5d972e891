"""The writer against servers that have the calls and fields of one version of OpenMetadata, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from connectors.openmetadata.attachments import file_queries
from connectors.openmetadata.client import connect, views
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import Collection, QueryRecord
from connectors.openmetadata.http import RetryPolicy
from connectors.openmetadata.metrics import MetricFiling
from connectors.openmetadata.sink import RestSink
from connectors.sink import target_batches
from ingestion.metrics.collection import MetricCollection, QueryUse
from ingestion.metrics.report import FiledTable, MetricReport
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import EdgeSource, Replacement
from tests.connectors.openmetadata.conftest import VirtualTime
from tests.support.decompositions import decomposed
from tests.support.fault_server import Fault, Plan, half_a_body, html, misbehaving, nested, refused_with, reset
from tests.support.openmetadata_shop import Shop, shop_of


@pytest.fixture
def shop(request: pytest.FixtureRequest, virtual_time: VirtualTime) -> Iterator[Shop]:
    with shop_of(request.param, virtual_time.timing) as found:
        yield found


each_kind = pytest.mark.parametrize("shop", [(1, 5), (1, 9), (1, 12)], ids=["1.5", "1.9", "1.12"], indirect=True)


@each_kind
def test_an_edge_is_written_merged_and_left_alone(shop: Shop) -> None:
    assert shop.write(shop.said("orders", "sales", "id")).counts.new == 1
    assert shop.write(shop.said("orders", "sales", "id")).counts.unchanged == 1
    assert shop.write(shop.said("orders", "sales", "amount")).counts.merged == 1
    assert shop.columns("orders", "sales") == ["amount", "id"]
    service = shop.stub.entities["services/databaseServices"]["shop"]["serviceType"]
    assert service == ("StarRocks" if shop.stub.minor >= (1, 12) else "CustomDatabase")


@each_kind
def test_a_column_that_the_server_does_not_know_costs_itself_and_not_the_edge(shop: Shop) -> None:
    """`amount_gross` is not there; `amount` begins as a longer name does that is."""
    wanted = shop.said("orders", "sales", "id", "amount", "amount_gross")
    written = shop.write(wanted)
    assert (written.counts.new, written.counts.column_edges, written.counts.refused_columns) == (1, 2, 1)
    assert shop.columns("orders", "sales") == ["amount", "id"]
    assert shop.write(wanted).results[0].outcome is WriteOutcome.UNCHANGED
    more = shop.write(shop.said("orders", "sales", "amount_net", "gone", "gone_too"))
    assert (more.counts.merged, more.counts.refused_columns) == (1, 2)
    assert shop.columns("orders", "sales") == ["amount", "amount_net", "id"]


@pytest.mark.parametrize("shop", [(1, 9)], indirect=True)
def test_an_edge_of_too_many_unknown_columns_is_written_without_any(shop: Shop) -> None:
    written = shop.write(shop.said("orders", "sales", "id", *(f"c{number}" for number in range(100))))
    assert (written.counts.new, written.counts.refused_columns) == (1, 101)
    assert shop.columns("orders", "sales") == []
    assert len([call for call in shop.stub.received if (call.method, call.status) == ("PUT", 400)]) < 12


@each_kind
def test_what_a_version_cannot_hold_of_an_edge_is_left_out_and_counted(shop: Shop) -> None:
    request = shop.said("orders", "sales", "id", of=EdgeSource.CROSS_DATABASE)
    through = replace(request.contributions[0], temp_lineage_tables=(("orders", "tmp"), ("tmp", "sales")))
    counts = shop.write(replace(request, contributions=(through,))).counts
    old = shop.stub.minor < (1, 7)
    assert (counts.new, counts.without_hops, counts.other_source) == (1, 1, int(old))
    ((_ends, edge),) = shop.stub.edges.items()
    assert edge["source"] == ("QueryLineage" if old else "CrossDatabaseLineage")
    assert ("createdBy" in edge) is not old


@each_kind
def test_a_view_is_redefined_and_marked_where_there_is_such_a_mark(shop: Shop) -> None:
    order = Replacement(shop.table("v_sales").reference)
    shop.write(shop.said("orders", "v_sales", "id", of=EdgeSource.VIEW), replacing=(order,))
    written = shop.write(shop.said("sales", "v_sales", "id", of=EdgeSource.VIEW), replacing=(order,))
    assert (written.counts.new, written.counts.replaced) == (1, 1)
    assert written.counts.unmarked == int(shop.stub.minor < (1, 6))
    (view,) = views(shop.platform.http, "shop")
    assert view.get("processedLineage", False) is (shop.stub.minor >= (1, 6))


@each_kind
def test_queries_are_filed_and_lose_nothing_that_is_stored_of_them(shop: Shop) -> None:
    def record(text: str, table: str, user: str) -> QueryRecord:
        return QueryRecord(text, "shop", (shop.table(table).reference,), date=1_700_000_000.0, users=(user,))

    assert file_queries(shop.platform, "shop", [record("SELECT ?", "orders", "ann"), record("x", "sales", "bo")]) == 2
    assert file_queries(shop.platform, "shop", [record("SELECT ?", "sales", "bo"), record("x", "sales", "bo")]) == 1
    stored = {one["query"]: one for one in shop.stub.entities["queries"].values()}
    tables = {shop.table(name).id for name in ("orders", "sales")}
    assert {one["id"] for one in stored["SELECT ?"]["queryUsedIn"]} == tables
    assert stored["SELECT ?"]["usedBy"] == ["ann", "bo"]
    bulk = [call for call in shop.stub.received if call.path == f"{Collection.QUERIES}/bulk"]
    assert [call.status for call in bulk] == ([200, 200] if shop.stub.minor >= (1, 12) else [])


@pytest.mark.parametrize("shop", [(1, 5), (1, 9), (2, 0)], ids=["1.5", "1.9", "2.0"], indirect=True)
def test_metrics_are_filed_as_the_version_has_them_or_left_out_and_told(shop: Shop) -> None:
    orders = shop.table("orders")
    found = MetricCollection()
    found.add(decomposed("SELECT sum(amount) AS gmv FROM shop.orders"), QueryUse(3, ("ann",), 1_000))
    columns = {"amount": (f"{orders.fully_qualified_name}.amount", "int")}
    tables = {"shop.orders": FiledTable(str(orders.fully_qualified_name), columns)}
    filing = MetricFiling(shop.platform, "nightly", tables)
    filed, told = filing.file(MetricReport(found.metrics()))
    filing.withdraw(filed, found.metrics())
    (kept,) = shop.stub.entities["metrics"].values() if shop.stub.minor >= (1, 6) else ({},)
    assert ("measures" in kept) is (shop.stub.minor >= (2, 0))
    name = ".".join(map(str, shop.stub.minor))
    assert told == {
        "1.5": ["OpenMetadata 1.5 has no metrics: 1 are left out"],
        "2.0": [],
    }.get(name, [f"OpenMetadata {name} has no measures and dimensions of metrics: 1 metrics without them"])
    assert not [one for one in shop.stub.received if one.status == 405 or (one.status == 400 and one.method != "GET")]


@pytest.mark.parametrize("shop", [(1, 11)], indirect=True)
def test_where_a_patch_is_too_early_for_a_call_it_is_done_without(shop: Shop) -> None:
    records = [QueryRecord(f"SELECT {number}", "shop") for number in range(120)]
    shop.stub.received.clear()
    assert file_queries(shop.platform, "shop", records) == 120
    assert len(shop.stub.entities["queries"]) == 120
    refused = [call for call in shop.stub.received if call.status in (404, 405) and call.method != "GET"]
    assert [call.path for call in refused] == [f"{Collection.QUERIES}/bulk"]


@pytest.mark.parametrize("shop", [(1, 12)], indirect=True)
def test_of_long_queries_fewer_go_in_one_call(shop: Shop) -> None:
    records = [QueryRecord(f"SELECT {number}".ljust(3_000_000), "shop") for number in range(5)]
    shop.stub.received.clear()
    assert file_queries(shop.platform, "shop", records) == 5
    assert len(shop.stub.entities["queries"]) == 5
    assert len([call for call in shop.stub.received if call.path == f"{Collection.QUERIES}/bulk"]) == 3


@pytest.mark.parametrize("shop", [(1, 6)], indirect=True)
def test_faults_on_the_way_lose_nothing_and_write_nothing_twice(shop: Shop, virtual_time: VirtualTime) -> None:
    faults: list[Fault] = [reset, half_a_body, refused_with(503), html, refused_with(429, Retry_After="1"), nested]

    def every_other(path: str, number: int) -> Fault | None:
        return faults.pop() if number % 2 and faults and "lineage" in path else None

    ends = ("orders", "sales"), ("sales", "v_sales"), ("orders", "v_sales")
    requests = [shop.said(*pair, "id", "amount") for pair in ends]
    with misbehaving(shop.url, Plan(every_other)) as url:
        connection = Connection(url, jwt_token="us", read_seconds=0.3)
        platform = connect(connection, RetryPolicy(attempts=12), virtual_time.timing)
        written = RestSink(platform, "run", threads=1).write(target_batches(requests))
        platform.close()
    assert (written.counts.new, written.counts.rejected, faults) == (3, 0, [])
    assert all(shop.columns(*pair) == ["amount", "id"] for pair in ends)
    assert shop.write(*requests).counts.unchanged == 3
