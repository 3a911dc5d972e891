"""OpenLineage in, as engines themselves send it: Flink's agent with topics, Trino's listener with other catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion.dialects.dataset_namespaces import NamespaceMap, ServiceAddress
from tests.support.http_client import Client
from tests.support.lineage_statements import graph

BROKER, PG, TRINO = "kafka://broker-1:9092", "postgres://db:5432", "trino://coordinator:8080"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    services = {
        "shop": ServiceAddress("Postgres", {"hostPort": "db:5432"}),
        "sql": ServiceAddress("Trino", {"hostPort": "coordinator:8080"}),
    }
    names = NamespaceMap({}, services, {"sql": {"files": ("lake",), "orders_db": ("shop", "store")}})
    file = tmp_path_factory.mktemp("events") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0, namespaces=names)) as address:
        made = Client(address.url)
        for kind, name, more in (
            ("services/databaseServices", "shop", {"serviceType": "Postgres"}),
            ("services/messagingServices", "events", {"serviceType": "Kafka", "connection": OF_EVENTS}),
            ("databases", "store", {"service": "shop"}),
        ):
            status, answer = made.put(f"/{kind}", {"name": name, **more})
            assert status in (200, 201), answer
        yield made


OF_EVENTS = {"config": {"type": "Kafka", "bootstrapServers": "broker-9:9092,broker-1:9092"}}


def dataset(namespace: str, name: str, *columns: str, **facets: Any) -> dict[str, Any]:
    fields = [{"name": column, "type": "STRING", "description": ""} for column in columns]
    return {"namespace": namespace, "name": name, "facets": {"schema": {"fields": fields}, **facets}}


def send(client: Client, integration: str, job: str, inputs: Any, outputs: Any, sql: str = "", kind: str = "") -> Any:
    facets: dict[str, Any] = {"jobType": {"processingType": "BATCH", "integration": integration, "jobType": "QUERY"}}
    if sql:
        facets["sql"] = {"query": sql}
    body = {
        "eventType": kind or "COMPLETE",
        "eventTime": "2026-11-01T10:00:00Z",
        "run": {"runId": f"run of {job}", "facets": {"processing_engine": {"name": integration, "version": "1"}}},
        "job": {"namespace": "jobs", "name": job, "facets": facets},
        "producer": "https://example.org",
        "inputs": inputs,
        "outputs": outputs,
    }
    status, answer = client.post("/openlineage/lineage", body)
    assert status == 200, answer
    return answer


def into(client: Client, kind: str, name: str) -> set[str]:
    """The full names of what flows into an entity."""
    status, body = client.get(f"/lineage/{kind}/name/{name}", upstreamDepth=1, downstreamDepth=0)
    assert status == 200, body
    return {one["fullyQualifiedName"] for one in body["nodes"]} - {name}


def test_a_topic_is_one_whatever_a_job_of_flink_calls_its_table(client: Client) -> None:
    def named(table: str) -> Any:
        return {"identifiers": [{"namespace": BROKER, "name": f"default_catalog.default.{table}", "type": "TABLE"}]}

    raw = dataset(BROKER, "shop.orders.v1", "id", "total", symlinks=named("orders_in"))
    send(client, "FLINK", "clean", [raw], [dataset(BROKER, "clean", "id", symlinks=named("out"))], kind="START")
    send(
        client, "FLINK", "keep", [dataset(BROKER, "clean", symlinks=named("inbox"))], [dataset(PG, "store.kept", "id")]
    )
    assert into(client, "topic", "events.clean") == {'events."shop.orders.v1"'}
    status, topic = client.get('/topics/name/events."shop.orders.v1"')
    assert (status, [one["name"] for one in topic["messageSchema"]["schemaFields"]]) == (200, ["id", "total"])
    # a driver's URL tells Flink the database of a table, and no schema
    assert into(client, "table", "shop.store.public.kept") == {"events.clean"}


def test_a_cluster_that_nobody_knows_is_called_by_its_address(client: Client) -> None:
    send(client, "FLINK", "copy", [dataset("kafka://else", "a")], [dataset("kafka://else:9092", "b")])
    assert into(client, "topic", "else:9092.b") == {"else:9092.a"}


def test_tables_of_the_catalogs_of_trino_are_those_of_the_services_behind_them(client: Client) -> None:
    target = dataset(TRINO, "mine.mart.daily", "day")
    inputs = [dataset(TRINO, "orders_db.public.kept", "id"), dataset(TRINO, "files.sales.orders", "day")]
    for number, day in enumerate(("'1'", "'2'")):
        text = f"INSERT INTO mine.mart.daily SELECT day FROM files.sales.orders WHERE day = {day}"
        answer = send(client, "TRINO", f"20261101_10000{number}_00007_abcde", inputs, [target], text)
        assert "unjoined" not in answer
    assert into(client, "table", "sql.mine.mart.daily") == {"shop.store.public.kept", "lake.default.sales.orders"}
    found = graph(client, {"fullyQualifiedName": "sql.mine.mart.daily"}, upstream=1, downstream=0)
    said = [one for edge in found["edges"] for one in edge["contributions"]]
    # each query is a job of its own there, by its id
    assert len({one["producer"]["key"] for one in said}) == 1
    assert {one["count"] for one in said} == {2}
