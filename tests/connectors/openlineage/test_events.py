"""Events say what the requests say, in OpenLineage's words, and a catalog that reads them says it again."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import attr
import pytest
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    extraction_error_run,
    job_type_job,
    parent_run,
    schema_dataset,
    sql_job,
    symlinks_dataset,
)
from openlineage.client.serde import Serde
from pytest_httpserver import HTTPServer

from connectors.openlineage import (
    DatasetNames,
    JobRun,
    Origin,
    RunResult,
    Transport,
    job_runs,
    open_emitter,
    outcome_event,
)
from ingestion.dialects.dataset_namespaces import NamespaceMap, ServiceAddress
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column, Subtype, Transformation
from ingestion.model.requests import AddLineageRequest, request_of
from tests.support.catalog_contents import opened

FACETS = {
    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet,
    "schema": schema_dataset.SchemaDatasetFacet,
    "symlinks": symlinks_dataset.SymlinksDatasetFacet,
    "sql": sql_job.SQLJobFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "parent": parent_run.ParentRunFacet,
    "extractionError": extraction_error_run.ExtractionErrorRunFacet,
}
ORIGIN = Origin("shop.nightly", "r1", "shop", "postgres", DatasetNames(NamespaceMap({"postgres://db:5432": "shop"})))


def table(name: str, *columns: str) -> TableEntity:
    fqn = f"shop.db.public.{name}"
    known = tuple(Column(column, "int") for column in columns)
    return TableEntity(str(uuid.uuid5(uuid.NAMESPACE_URL, fqn)), fqn, "shop", "db", "public", name, known)


ORDERS, CITIES, DAILY = table("orders", "oid", "total"), table("cities", "cid"), table("daily", "oid", "n")
LAKE = replace(table("lake"), fully_qualified_name='s3."lake/raw/o.parquet"', type="container")
ENTITIES = {entity.id: entity for entity in (ORDERS, CITIES, DAILY, LAKE)}


def said(source: TableEntity, *columns: ColumnEvidence, key: str = "f1", last: float = 2_000.0) -> AddLineageRequest:
    contribution = Contribution(
        Producer(ProducerKind.QUERY, key), "QueryLineage", "INSERT INTO daily SELECT ? FROM orders", columns,
        "sqlglot", 1.0, 1_000.0, last, ("0123456789abcdef",),
    )  # fmt: skip
    return request_of(source.reference, DAILY.reference, [contribution])


def column(source: str, to: str, subtype: Subtype = Subtype.IDENTITY, **more: Any) -> ColumnEvidence:
    to_column = f"shop.db.public.{to}" if to else ""
    return ColumnEvidence((f"shop.db.public.{source}",), to_column, Transformation(subtype), **more)


REQUESTS = [
    said(
        ORDERS,
        column("orders.oid", "daily.oid"),
        column("orders.total", "daily.n", Subtype.AGGREGATION, expression="sum(orders.total)"),
        column("orders.total", "", Subtype.FILTER),
        column("orders.oid", "daily.n", certain=False),
    ),
    said(CITIES, column("cities.cid", "", Subtype.JOIN)),
    said(LAKE, key="f2"),
]


def events(requests_: list[AddLineageRequest] = REQUESTS) -> list[dict[str, Any]]:
    return [json.loads(Serde.to_json(job.event)) for job in job_runs(requests_, ENTITIES, ORIGIN)]


def facets_in(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    datasets = [*event["inputs"], *event["outputs"]]
    for holder in (event["run"], event["job"], *datasets):
        yield from (holder.get("facets") or {}).items()


def test_one_event_for_each_producer_with_all_its_inputs() -> None:
    first, second = events()
    assert first["job"]["name"] == "query.f1"
    assert {(one["namespace"], one["name"]) for one in first["inputs"]} == {
        ("postgres://db:5432", "db.public.orders"),
        ("postgres://db:5432", "db.public.cities"),
    }
    assert [one["name"] for one in first["outputs"]] == ["db.public.daily"]
    assert [(one["namespace"], one["name"]) for one in second["inputs"]] == [("s3://lake", "raw/o.parquet")]


@pytest.mark.parametrize(
    ("kind", "options", "entity", "expected"),
    [
        ("Glue", {"awsConfig": {"awsRegion": "eu-west-1", "assumeRoleArn": "arn:aws:iam::12:role/r"}},
         "s.default.sales.orders", ("arn:aws:glue:eu-west-1:12", "table/sales/orders")),
        ("Hive", {"hostPort": "meta:9083"}, "s.default.sales.orders", ("hive://meta:9083", "sales.orders")),
        ("Mysql", {"hostPort": "db"}, "s.default.web.orders", ("mysql://db:3306", "web.orders")),
        ("Postgres", {}, "s.shop.public.orders", ("s", "shop.public.orders")),
        ("Snowflake", {"account": "ACME-PROD"}, "s.DB.S.ORDERS", ("snowflake://ACME-PROD", "DB.S.ORDERS")),
        ("Spark", {"hostPort": "h:10001"}, "s.default.sales.orders", ("spark://h:10001", "sales.orders")),
        ("Spark", {"hostPort": "h:10001"}, "s.ice.sales.orders", ("spark://h:10001", "ice.sales.orders")),
        ("Synapse", {"hostPort": "w:1433"}, "s.pool.dbo.orders", ("sqlserver://w:1433", "dbo.orders")),
        ("Teradata", {"hostPort": "td"}, "s.default.fin.orders", ("teradata://td:1025", "fin.orders")),
    ],
)  # fmt: skip
def test_a_table_is_called_as_its_platform_has_it(
    kind: str, options: dict[str, Any], entity: str, expected: tuple[str, str]
) -> None:
    names = DatasetNames(NamespaceMap({}, {"s": ServiceAddress(kind, options)}))
    assert names.of(replace(ORDERS, fully_qualified_name=entity)) == expected


def test_each_service_of_a_run_has_its_own_namespace() -> None:
    given = NamespaceMap({"snowflake://acme-prod": "wh"}, {"shop": ServiceAddress("Postgres", {"hostPort": "db:5432"})})
    there = replace(DAILY, fully_qualified_name="wh.DB.S.DAILY")
    assert [DatasetNames(given).of(one) for one in (ORDERS, there)] == [
        ("postgres://db:5432", "db.public.orders"),
        ("snowflake://acme-prod", "DB.S.DAILY"),
    ]


def test_a_table_over_files_goes_by_their_place_too() -> None:
    facets = DatasetNames().input(replace(ORDERS, path="s3://lake/sales/orders?sig=canary")).facets or {}
    (other,) = Serde.to_dict(facets["symlinks"])["identifiers"]
    assert other == {"namespace": "s3://lake", "name": "sales/orders", "type": "LOCATION"}


def test_containers_are_called_by_the_scheme_of_their_store() -> None:
    of_azure = replace(LAKE, fully_qualified_name='abfs."raw@acc.dfs.core.windows.net/x"')
    named = replace(LAKE, fully_qualified_name='lake_prod."lake/x"')
    names = DatasetNames(NamespaceMap({}, {"lake_prod": ServiceAddress("S3")}))
    assert [names.of(one) for one in (of_azure, named)] == [
        ("abfss://raw@acc.dfs.core.windows.net", "x"),
        ("s3://lake", "x"),
    ]


def test_columns_with_their_transformations_and_what_bears_on_the_whole() -> None:
    facet = events()[0]["outputs"][0]["facets"]["columnLineage"]
    assert set(facet["fields"]) == {"oid", "n"}
    (total,) = facet["fields"]["n"]["inputFields"]
    assert (total["name"], total["field"]) == ("db.public.orders", "total")
    assert total["transformations"] == [
        {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(orders.total)", "masking": False}
    ]
    whole = {(one["field"], one["transformations"][0]["subtype"]) for one in facet["dataset"]}
    assert whole == {("total", "FILTER"), ("cid", "JOIN")}


def test_a_table_that_feeds_itself_is_input_and_output() -> None:
    own = said(DAILY, column("daily.oid", "daily.n", Subtype.TRANSFORMATION, expression="daily.oid + ?"))
    (event,) = events([own])
    assert [one["name"] for one in (*event["inputs"], *event["outputs"])] == ["db.public.daily"] * 2
    (made,) = event["outputs"][0]["facets"]["columnLineage"]["fields"]["n"]["inputFields"]
    assert (made["name"], made["field"]) == ("db.public.daily", "oid")


def test_what_is_not_certain_is_no_field() -> None:
    inputs = events()[0]["outputs"][0]["facets"]["columnLineage"]["fields"]["n"]["inputFields"]
    assert "oid" not in [one["field"] for one in inputs]


def test_the_statement_its_dialect_and_the_run_it_belongs_to() -> None:
    event = events()[0]
    assert event["job"]["facets"]["sql"]["query"].startswith("INSERT INTO daily SELECT ?")
    assert event["job"]["facets"]["sql"]["dialect"] == "postgres"
    assert event["run"]["facets"]["parent"]["job"]["name"] == "shop.nightly"
    assert datetime.fromisoformat(event["eventTime"]).timestamp() == 2_000.0


def test_every_facet_is_of_its_published_version_and_has_no_key_that_it_does_not_know() -> None:
    over_files = {**ENTITIES, ORDERS.id: replace(ORDERS, path="s3://lake/orders")}
    sent = [json.loads(Serde.to_json(job.event)) for job in job_runs(REQUESTS, over_files, ORIGIN)]
    everything = [*sent, json.loads(Serde.to_json(outcome_event(ORIGIN, RunResult(9, {"timeout": 2}), 3_000.0)))]
    seen = set()
    for event in everything:
        uuid.UUID(event["run"]["runId"])
        assert event["schemaURL"].endswith("OpenLineage.json#/$defs/RunEvent")
        for name, facet in facets_in(event):
            seen.add(name)
            known = {field.name for field in attr.fields(FACETS[name])}
            assert set(facet) <= known, name
            assert facet["_schemaURL"] == FACETS[name]._get_schema()
    assert seen == set(FACETS)


def test_the_outcome_tells_how_much_was_given_up_on() -> None:
    event = json.loads(Serde.to_json(outcome_event(ORIGIN, RunResult(10, {"timeout": 2, "ill_formed": 1}), 3_000.0)))
    facet = event["run"]["facets"]["extractionError"]
    assert (facet["totalTasks"], facet["failedTasks"]) == (10, 3)
    assert [error["errorMessage"] for error in facet["errors"]] == ["ill_formed: 1 statements", "timeout: 2 statements"]


def test_equal_content_is_the_same_run_and_other_content_another() -> None:
    def first(requests_: list[AddLineageRequest], origin: Origin = ORIGIN) -> JobRun:
        return next(job_runs(requests_, ENTITIES, origin))

    again = first(list(reversed(REQUESTS)), replace(ORIGIN, run_id="r2"))
    assert (again.digest, again.event.run.runId) == (first(REQUESTS).digest, first(REQUESTS).event.run.runId)
    other = first([said(ORDERS, column("orders.total", "daily.oid"))])
    assert other.event.run.runId != again.event.run.runId


def test_a_catalog_takes_the_events_and_says_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "catalog.db") as catalog:
        base = catalog.url.removesuffix("/api")
        transport = {"type": "http", "url": base, "endpoint": "api/v1/openlineage/lineage"}
        with open_emitter(Transport(transport)) as emitter:
            for _ in range(2):
                for job in job_runs(REQUESTS[:2], ENTITIES, ORIGIN):
                    emitter.emit(job.event)
        found = {(source.split(".")[-1], target.split(".")[-1]) for source, target in catalog.edges()}
        assert found == {("orders", "daily"), ("cities", "daily")}
        assert {(a, b) for _s, a, _t, b in catalog.column_edges()} == {("oid", "oid"), ("total", "n")}


def test_events_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with open_emitter(Transport({"type": "file", "log_file_path": str(file), "append": True})) as emitter:
        for job in job_runs(REQUESTS, ENTITIES, ORIGIN):
            emitter.emit(job.event)
    assert [json.loads(line)["job"]["name"] for line in file.read_text().splitlines()] == ["query.f1", "query.f2"]


@pytest.mark.parametrize(("status", "expected"), [(401, ConfigError), (422, ConfigError), (503, TargetDown)])
def test_a_receiver_that_refuses_or_fails_is_told_without_the_key(
    httpserver: HTTPServer, status: int, expected: type[Exception]
) -> None:
    httpserver.expect_request("/api/v1/lineage").respond_with_data("no", status=status)
    options = {
        "type": "http", "url": httpserver.url_for(""), "retry": {"total": 0},
        "auth": {"type": "api_key", "apiKey": "key-canary-7"},
    }  # fmt: skip
    with open_emitter(Transport(options)) as emitter, pytest.raises(expected) as caught:
        emitter.emit(next(job_runs(REQUESTS, ENTITIES, ORIGIN)).event)
    assert "key-canary-7" not in str(caught.value) + repr(Transport(options))


def test_a_receiver_that_is_not_there_is_down() -> None:
    options = {"type": "http", "url": "http://127.0.0.1:9", "retry": {"total": 0}, "timeout": 1}
    with open_emitter(Transport(options)) as emitter, pytest.raises(TargetDown):
        emitter.emit(next(job_runs(REQUESTS, ENTITIES, ORIGIN)).event)


@pytest.mark.parametrize("options", [{"type": "pigeon"}, {"type": "http"}, {"type": "file"}])
def test_a_transport_that_is_none_is_told_before_anything_is_sent(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"headwater\.openLineage"), open_emitter(Transport(options)):
        pass
