"""The client against the embedded catalog over HTTP, both with its bulk calls and as the plain platform it also is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.openmetadata import _edge_writer, client, edges, entities
from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import Collection, QueryRecord, TableDefinition
from connectors.openmetadata.registration import register
from connectors.openmetadata.sink import RestSink
from connectors.sink import WriteReport, target_batches
from ingestion.errors import ConfigError
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import EntityReference, TableEntity
from ingestion.model.lineage import Column, Subtype, TableName, Transformation
from ingestion.model.namespaces import Namespace
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import (
    AddLineageRequest,
    ColumnLineage,
    EdgeSource,
    EntitiesEdge,
    LineageDetails,
    Replacement,
    request_of,
)
from ingestion.model.storage_paths import canonical_path
from ingestion.resolution import Ambiguous, Resolved, Resolver, SearchScope, Unresolved

TABLES = ("orders", "items", "customers", "report", "we.ird")


@pytest.fixture(params=["bulk", "plain"])
def platform(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """One to which nobody else writes meanwhile, so that it has not to be waited for."""
    monkeypatch.setattr(_edge_writer, "SETTLING_SECONDS", 0.05)
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0)) as address:
        found = connect(Connection(address.url))
        assert found.capabilities
        if request.param == "plain":
            found = replace(found, capabilities=frozenset())
        register(found, shop(*TABLES))
        yield found
        found.close()


def shop(*tables: str) -> dict[str, list[dict[str, object]]]:
    columns = (Column("id", "integer"), Column("amount", "numeric(12,2)"), Column("note", "varchar(20)"))
    return {
        "services": [{"type": "databaseService", "name": "svc", "serviceType": "Postgres"}],
        "databases": [{"name": "db", "service": "svc"}],
        "schemas": [{"name": "public", "database": "svc.db"}],
        "tables": [TableDefinition("svc.db.public", name, columns).to_json() for name in tables],
    }


def table(platform: Platform, name: str) -> TableEntity:
    found = Resolver(CatalogSearch(platform), SearchScope("svc")).resolve(TableName((name,)), Namespace())
    assert isinstance(found, Resolved), found
    return found.entity


def said(
    source: TableEntity, target: TableEntity, *pairs: tuple[str, str, str], key: str = "q1", kind: str = "query"
) -> AddLineageRequest:
    """A request whose one contribution says that pairs (from, to, expression) are DIRECT."""
    columns = tuple(
        ColumnEvidence(
            (f"{source.fully_qualified_name}.{from_column}",),
            f"{target.fully_qualified_name}.{to_column}",
            Transformation(Subtype.TRANSFORMATION if expression else Subtype.IDENTITY),
            expression,
        )
        for from_column, to_column, expression in pairs
    )
    producer = Producer(ProducerKind(kind), key)
    of = EdgeSource.VIEW if kind == "view" else EdgeSource.QUERY
    contribution = Contribution(
        producer, of, f"SELECT {key}", columns, "sqlglot", 1.0, 1_700_000_000.0, 1_700_000_001.0, ("0123456789abcdef",)
    )
    return request_of(source.reference, target.reference, [contribution])


def write(platform: Platform, *requests: AddLineageRequest, replacing: tuple[Replacement, ...] = ()) -> WriteReport:
    return RestSink(platform, str(uuid4())).write(target_batches(requests, replacing))


def pairs_between(
    platform: Platform, source: TableEntity, target: TableEntity
) -> dict[tuple[str, str], str | None] | None:
    """Stored column pairs with their function; None without an edge."""
    stored = edges.get_edge(platform.http, source.reference, target.reference)
    if stored is None:
        return None
    return {
        (from_column.rsplit(".", 1)[1], mapping.to_column.rsplit(".", 1)[1]): mapping.function
        for mapping in stored.details.columns_lineage
        for from_column in mapping.from_columns
    }


def test_what_is_registered_is_found_with_its_columns(platform: Platform) -> None:
    assert table(platform, "orders").columns == (
        Column("id", "integer"),
        Column("amount", "numeric(12,2)"),
        Column("note", "varchar(20)"),
    )
    quoted = table(platform, "we.ird")
    assert quoted.fully_qualified_name == 'svc.db.public."we.ird"'
    assert quoted.name == "we.ird"
    assert register(platform, shop("orders")) == 0


def test_names_resolve_over_the_wire_and_misses_are_asked_once(platform: Platform) -> None:
    resolver = Resolver(CatalogSearch(platform), SearchScope("svc"))
    names = [(TableName((name,)), Namespace("db", ("public",))) for name in (*TABLES, "nowhere")] * 3
    found = resolver.resolve_all(names)
    assert [isinstance(item, Resolved) for item in found] == [True] * 5 + [False] + [True] * 5 + [False] + [
        True
    ] * 5 + [False]
    counts = resolver.counts
    if platform.capabilities:
        assert (counts.bulk_lookups, counts.field_searches, counts.fqn_lookups) == (1, 0, 0)
    else:
        assert (counts.bulk_lookups, counts.field_searches, counts.fqn_lookups) == (0, 6, 6)
    assert isinstance(resolver.resolve(TableName(("ORDERS",)), Namespace()), Resolved)
    assert isinstance(resolver.resolve(TableName(("o*",)), Namespace()), Unresolved)


def test_a_name_in_more_schemas_than_the_search_shows_is_ambiguous_unless_the_session_says_which(
    platform: Platform,
) -> None:
    groups = shop()
    groups["schemas"] = [{"name": f"s{number:02}", "database": "svc.db"} for number in range(15)]
    groups["tables"] = [
        TableDefinition(f"svc.db.s{number:02}", "events", (Column("id", "int"),)).to_json() for number in range(15)
    ]
    register(platform, groups)
    resolver = Resolver(CatalogSearch(platform), SearchScope("svc"))
    everywhere = resolver.resolve(TableName(("events",)), Namespace())
    assert isinstance(everywhere, Ambiguous)
    assert everywhere.complete is bool(platform.capabilities)
    assert len(everywhere.candidates) == (15 if platform.capabilities else 10)
    found = resolver.resolve(TableName(("events",)), Namespace("db", ("s14", "s00")))
    assert isinstance(found, Resolved)
    assert found.entity.schema == "s14"


@pytest.mark.parametrize("path", ["gcs://bucket/raw", "file:/data/o", "wasbs://c@a/x/"])
def test_a_container_is_found_by_the_very_path_that_it_was_registered_with(platform: Platform, path: str) -> None:
    containers: dict[str, list[dict[str, object]]] = {
        "services": [{"type": "storageService", "name": "lake", "serviceType": "S3"}],
        "containers": [{"name": "raw", "service": "lake", "fullPath": path}],
    }
    register(platform, containers)
    for spelling in (path, canonical_path(path)):
        (found,) = CatalogSearch(platform).path_lookup(spelling)
        assert found.fully_qualified_name == "lake.raw"


def test_a_container_is_found_by_its_path(platform: Platform) -> None:
    containers: dict[str, list[dict[str, object]]] = {
        "services": [{"type": "storageService", "name": "lake", "serviceType": "S3"}],
        "containers": [
            {
                "name": "raw",
                "service": "lake",
                "fullPath": "s3://bucket/raw",
                "dataModel": {"columns": [{"name": "id", "dataType": "INT"}]},
            }
        ],
    }
    assert register(platform, containers) == 2
    (found,) = CatalogSearch(platform).path_lookup("s3a://bucket/raw/")
    assert (found.type, found.fully_qualified_name) == ("container", "lake.raw")
    assert found.column_fqns["ID"] == "lake.raw.id"
    assert CatalogSearch(platform).path_lookup("s3://bucket/other") == []


def test_a_request_is_new_then_unchanged_then_merged(platform: Platform) -> None:
    orders, report = table(platform, "orders"), table(platform, "report")
    first = said(orders, report, ("id", "id", ""))
    assert write(platform, first).counts.new == 1
    again = write(platform, first)
    assert (again.counts.new, again.counts.merged, again.counts.unchanged) == (0, 0, 1)
    more = said(orders, report, ("amount", "amount", "sum(amount)"), key="q2")
    assert write(platform, more).counts.merged == 1
    assert pairs_between(platform, orders, report) == {("id", "id"): None, ("amount", "amount"): "sum(amount)"}


def test_results_come_in_the_order_of_the_requests(platform: Platform) -> None:
    report = table(platform, "report")
    requests = [
        said(table(platform, name), report, ("id", "id", "")) for name in ("items", "orders", "customers", "we.ird")
    ]
    results = write(platform, *requests).results
    assert [result.request for result in results] == requests
    assert all(result.accepted for result in results)


def test_only_the_culprit_is_rejected(platform: Platform) -> None:
    report = table(platform, "report")
    ghost = replace(report, id="00000000-0000-0000-0000-000000000000", fully_qualified_name="svc.db.public.ghost")
    good = [said(table(platform, name), report, ("id", "id", "")) for name in ("orders", "items", "customers")]
    bad = said(table(platform, "orders"), ghost, ("id", "id", ""))
    written = write(platform, good[0], bad, *good[1:])
    (rejected,) = (result for result in written.results if not result.accepted)
    assert rejected.request == bad
    assert written.counts.rejected == 1
    assert "not found" in rejected.reason
    for request in good:
        assert edges.get_edge(platform.http, request.from_entity, request.to_entity) is not None


def test_a_foreign_and_a_manual_edge_keep_what_they_have(platform: Platform) -> None:
    orders, report = table(platform, "orders"), table(platform, "report")
    foreign = LineageDetails(
        sql_query="drawn by hand",
        source=EdgeSource.MANUAL,
        columns_lineage=(
            ColumnLineage((f"{orders.fully_qualified_name}.note",), f"{report.fully_qualified_name}.note"),
        ),
        description="ask Ann",
    )
    platform.http.send(edges.put_edge(EntitiesEdge(orders.reference, report.reference, foreign)))
    write(platform, said(orders, report, ("id", "id", "")))
    stored = edges.get_edge(platform.http, orders.reference, report.reference)
    assert stored is not None
    assert (stored.details.source, stored.details.description) == ("Manual", "ask Ann")
    assert pairs_between(platform, orders, report) == {("note", "note"): None, ("id", "id"): None}
    if not platform.capabilities:
        assert stored.details.sql_query == "drawn by hand"


def test_a_redefined_view_loses_its_old_lineage_and_nothing_else_does(platform: Platform) -> None:
    orders, items, customers = (table(platform, name) for name in ("orders", "items", "customers"))
    view = table(platform, "report")
    replacing = (Replacement(view.reference),)
    write(
        platform,
        said(orders, view, ("id", "id", ""), ("amount", "amount", ""), key="v", kind="view"),
        said(items, view, ("id", "note", ""), key="v", kind="view"),
        replacing=replacing,
    )
    write(platform, said(customers, view, ("note", "note", ""), key="q9"))
    later = said(orders, view, ("note", "amount", "length(note)"), key="v", kind="view")
    later = replace(
        later,
        contributions=tuple(
            replace(c, first_seen=1_700_000_100.0, last_seen=1_700_000_100.0) for c in later.contributions
        ),
    )
    report = write(platform, later, replacing=replacing)
    assert report.counts.replaced >= 1
    assert pairs_between(platform, orders, view) == {("note", "amount"): "length(note)"}
    assert pairs_between(platform, items, view) is None
    assert pairs_between(platform, customers, view) == {("note", "note"): None}
    assert write(platform, later, replacing=replacing).counts.replaced == 0
    unread = [hit["fullyQualifiedName"] for hit in client.views(platform.http, "svc") if not hit["processedLineage"]]
    assert view.fully_qualified_name not in unread


def of_routine(platform: Platform, name: str, request: AddLineageRequest, at: float) -> AddLineageRequest:
    """The same, as the word of a procedure that the platform has."""
    code = {"language": "SQL", "code": "BEGIN END"}
    routine = {"name": name, "databaseSchema": "svc.db.public", "storedProcedureCode": code}
    pipeline = entities.put(platform.http, Collection.PROCEDURES, routine)
    producer = Producer(ProducerKind.PROCEDURE, f"db.public.{name}")
    said_so = (
        replace(c, producer=producer, pipeline=pipeline, first_seen=at, last_seen=at) for c in request.contributions
    )
    return request_of(request.from_entity, request.to_entity, said_so)


def test_a_redefined_procedure_loses_its_old_lineage_and_nothing_else_does(platform: Platform) -> None:
    orders, items, customers = (table(platform, name) for name in ("orders", "items", "customers"))
    report, day = table(platform, "report"), 86_400.0
    write(
        platform,
        of_routine(platform, "load", said(orders, report, ("id", "id", ""), ("amount", "amount", "")), day),
        of_routine(platform, "load", said(items, report, ("id", "note", "")), day),
        of_routine(platform, "other", said(customers, report, ("note", "note", "")), day),
    )
    anew = of_routine(platform, "load", said(orders, report, ("note", "amount", "length(note)")), 2 * day)
    producer = Producer(ProducerKind.PROCEDURE, "db.public.load")
    order = Replacement(report.reference, EdgeSource.QUERY, producer, day, 2 * day)
    assert write(platform, anew, replacing=(order,)).counts.replaced >= 1
    assert pairs_between(platform, orders, report) == {("note", "amount"): "length(note)"}
    assert pairs_between(platform, items, report) is None
    assert pairs_between(platform, customers, report) == {("note", "note"): None}
    stored = edges.get_edge(platform.http, orders.reference, report.reference)
    assert stored is not None
    assert stored.details.pipeline is not None
    assert stored.details.pipeline.fully_qualified_name == "svc.db.public.load"
    write(platform, replacing=(order,))
    assert pairs_between(platform, orders, report) is None


def test_an_edge_that_a_query_still_says_loses_no_more_than_the_procedure(platform: Platform) -> None:
    orders, report, day = table(platform, "orders"), table(platform, "report"), 86_400.0
    write(platform, of_routine(platform, "load", said(orders, report, ("id", "id", "")), day))
    query = said(orders, report, ("note", "note", ""), key="q2")
    producer = Producer(ProducerKind.PROCEDURE, "db.public.load")
    order = Replacement(report.reference, EdgeSource.QUERY, producer, day, 2 * day)
    write(platform, query, replacing=(order,))
    assert pairs_between(platform, orders, report) == {("note", "note"): None}
    stored = edges.get_edge(platform.http, orders.reference, report.reference)
    assert stored is not None
    assert stored.details.pipeline is None


def test_where_others_may_have_said_the_same_a_plain_platform_keeps_the_edge(platform: Platform) -> None:
    orders, report, day = table(platform, "orders"), table(platform, "report"), 86_400.0
    write(platform, of_routine(platform, "load", said(orders, report, ("id", "id", "")), day))
    producer = Producer(ProducerKind.PROCEDURE, "db.public.load")
    shared = Replacement(report.reference, EdgeSource.QUERY, producer, day, 2 * day, shared=True)
    write(platform, replacing=(shared,))
    kept = pairs_between(platform, orders, report)
    # Headwater's own catalog keeps contributions apart, and needs no such care.
    assert kept == (None if platform.capabilities else {("id", "id"): None})


def test_a_view_that_reads_what_nobody_knows_is_not_marked_as_done(platform: Platform) -> None:
    orders, view = table(platform, "orders"), table(platform, "report")
    definition = TableDefinition("svc.db.public", "report", (Column("id", "integer"),), "View", "select id from orders")
    entities.put(platform.http, entities.Collection.TABLES, definition.to_json())
    request = said(orders, view, ("id", "id", ""), key="v", kind="view")
    write(platform, request, replacing=(Replacement(view.reference, whole=False),))
    unread = [
        hit["fullyQualifiedName"] for hit in client.views(platform.http, "svc") if not hit.get("processedLineage")
    ]
    assert view.fully_qualified_name in unread
    write(platform, request, replacing=(Replacement(view.reference),))
    unread = [
        hit["fullyQualifiedName"] for hit in client.views(platform.http, "svc") if not hit.get("processedLineage")
    ]
    assert view.fully_qualified_name not in unread


def test_a_view_whose_new_lineage_is_rejected_keeps_the_old(platform: Platform) -> None:
    orders, view = table(platform, "orders"), table(platform, "report")
    replacing = (Replacement(view.reference),)
    write(platform, said(orders, view, ("id", "id", ""), key="v", kind="view"), replacing=replacing)
    ghost = replace(orders, id="00000000-0000-0000-0000-000000000000", fully_qualified_name="svc.db.public.ghost")
    written = write(platform, said(ghost, view, ("id", "id", ""), key="v", kind="view"), replacing=replacing)
    assert not written.results[0].accepted
    assert pairs_between(platform, orders, view) == {("id", "id"): None}


def test_columns_that_the_target_does_not_have_are_told(platform: Platform) -> None:
    orders, report = table(platform, "orders"), table(platform, "report")
    request = said(orders, report, ("id", "id", ""), ("id", "nope", ""))
    written = write(platform, request)
    assert written.results[0].accepted
    assert pairs_between(platform, orders, report) == {("id", "id"): None}
    if not platform.capabilities:
        assert written.results[0].refused_columns == 1
        assert write(platform, request).results[0].outcome is WriteOutcome.UNCHANGED


def test_concurrent_writers_lose_nothing_of_each_other(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_edge_writer, "SETTLING_SECONDS", 1.0)
    orders, report = table(platform, "orders"), table(platform, "report")
    write(platform, said(orders, report, ("id", "id", "")))
    start = threading.Barrier(2)

    def run(key: str, column: str) -> WriteReport:
        start.wait(10)
        request = said(orders, report, (column, "note", ""), key=key)
        return RestSink(platform, key).write(target_batches([request]))

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run, "a", "note"), pool.submit(run, "b", "amount")]:
            assert done.result().counts.rejected == 0
    assert set(pairs_between(platform, orders, report) or ()) == {("id", "id"), ("note", "note"), ("amount", "note")}


def test_edges_are_read_patched_and_deleted(platform: Platform) -> None:
    orders, report = table(platform, "orders").reference, table(platform, "report").reference
    assert edges.get_edge(platform.http, orders, report) is None
    platform.http.send(edges.put_edge(EntitiesEdge(orders, report, LineageDetails(sql_query="SELECT ?"))))
    around = edges.graph(platform.http, report)
    assert around is not None
    assert [(edge.from_id, edge.to_id) for edge in around.upstream] == [(orders.id, report.id)]
    assert around.nodes[orders.id].fully_qualified_name == "svc.db.public.orders"
    assert edges.delete_edge(platform.http, orders, report)
    assert not edges.delete_edge(platform.http, orders, report)
    assert edges.graph(platform.http, EntityReference("00000000-0000-0000-0000-000000000000", "table")) is None


def test_a_query_is_filed_once(platform: Platform) -> None:
    record = QueryRecord("SELECT ?", "svc", (table(platform, "orders").reference,), duration=1.5, date=1_700_000_000.0)
    filed = entities.put(platform.http, entities.Collection.QUERIES, record.to_json())
    assert entities.put(platform.http, entities.Collection.QUERIES, record.to_json()) == filed


def test_listings_are_read_to_their_last_page(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "PAGE", 2)
    names = [
        page["name"] for page in entities.pages(platform.http, Collection.TABLES, {"databaseSchema": "svc.db.public"})
    ]
    assert sorted(names) == sorted(TABLES)


def test_views_are_paged_and_a_processed_one_says_so(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "PAGE", 2)
    for number in range(5):
        view = TableDefinition("svc.db.public", f"v{number}", (Column("a", "int"),), "View", "SELECT a FROM orders")
        entities.put(platform.http, entities.Collection.TABLES, view.to_json())
    third = entities.find_reference(platform.http, Collection.TABLES, "svc.db.public.v3")
    assert third is not None
    entities.mark_processed(platform.http, Collection.TABLES, third.id)
    found = {
        hit["fullyQualifiedName"].rsplit(".", 1)[1]: hit.get("processedLineage", False)
        for hit in client.views(platform.http, "svc")
    }
    assert found == {"v0": False, "v1": False, "v2": False, "v3": True, "v4": False}


def test_a_wrong_token_is_said_so(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "catalog.db", port=0, token="right")) as address:
        with pytest.raises(ConfigError, match="expired or wrong"):
            connect(Connection(address.url, jwt_token="wrong"))
        connect(Connection(address.url, jwt_token="right")).close()
