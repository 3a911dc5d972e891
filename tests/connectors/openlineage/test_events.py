"""Events say what the requests say, in OpenLineage's words, and a catalog that reads them says it again."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import attr
import pytest
from openlineage.client import OpenLineageClient
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
    Emitter,
    EventLimits,
    JobRun,
    Origin,
    RunResult,
    Transport,
    job_runs,
    open_emitter,
    outcome_event,
)
from ingestion.dialects.dataset_namespaces import NamespaceMap, ServiceAddress
from ingestion.errors import ConfigError, Rejected, TargetDown
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import DATA_MODEL, TableEntity
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
    return [json.loads(Serde.to_json(job.events[0])) for job in job_runs(requests_, ENTITIES, ORIGIN)]


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


def test_facets_name_their_producer_before_anything_was_sent() -> None:
    """A facet takes it when it is made: with another in a process's first events, these would be other runs."""
    (job,) = job_runs([said(ORDERS)], ENTITIES, ORIGIN)
    text = Serde.to_json(job.events[0])
    assert "OpenLineage/tree" not in text
    assert text.count('"_producer": "urn:headwater"') >= 4


@pytest.mark.parametrize(
    ("kind", "options", "entity", "expected"),
    [
        ("Glue", {"awsConfig": {"awsRegion": "eu-west-1", "assumeRoleArn": "arn:aws:iam::12:role/r"}},
         "s.default.sales.orders", ("arn:aws:glue:eu-west-1:12", "table/sales/orders")),
        ("Athena", {"awsConfig": {"awsRegion": "eu-west-1"}}, "s.default.sales.orders",
         ("awsathena://athena.eu-west-1.amazonaws.com", "AwsDataCatalog.sales.orders")),
        ("CustomDatabase", {"hostPort": "h:1"}, "s.default.sales.orders", ("customdatabase://h:1", "sales.orders")),
        ("Hive", {"hostPort": "meta:9083"}, "s.default.sales.orders", ("hive://meta:9083", "sales.orders")),
        ("Mysql", {"hostPort": "db"}, "s.default.web.orders", ("mysql://db:3306", "web.orders")),
        ("Postgres", {}, "s.shop.public.orders", ("s", "shop.public.orders")),
        ("Postgres", {}, "s.default.public.orders", ("s", "public.orders")),
        ("Postgres", {"hostPort": "db"}, "s.default.public.orders", ("postgres://db:5432", "")),
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
    called = replace(ORDERS, fully_qualified_name=entity)
    assert names.of(called) == expected
    assert names.has_name(called) is bool(expected[1])


@pytest.mark.parametrize(
    ("host", "namespace", "expected"),
    [
        ("shop.c7x.eu-west-1.redshift.amazonaws.com:5439", "arn:aws:redshift:eu-west-1:12",
         ("arn:aws:redshift:eu-west-1:12", "table/shop/lake/sales/orders")),
        ("wg.12.eu-west-1.redshift-serverless.amazonaws.com", "arn:aws:redshift-serverless:eu-west-1:12",
         ("arn:aws:redshift-serverless:eu-west-1:12", "table/wg/lake/sales/orders")),
        ("tunnel:5439", "arn:aws:redshift:eu-west-1:12", ("redshift://tunnel:5439", "lake.sales.orders")),
    ],
)  # fmt: skip
def test_tables_of_redshift_go_by_their_arn_where_that_is_asked_for_and_the_cluster_known(
    host: str, namespace: str, expected: tuple[str, str]
) -> None:
    known = NamespaceMap({namespace: "s"}, {"s": ServiceAddress("Redshift", {"hostPort": host})})
    assert DatasetNames(known).of(replace(ORDERS, fully_qualified_name="s.lake.sales.orders")) == expected
    assert known.services_of(namespace) == ("s",)
    assert known.services["s"].table_parts(["table/shop/lake/sales/orders"]) == ["lake", "sales", "orders"]


def test_each_service_of_a_run_has_its_own_namespace() -> None:
    given = NamespaceMap({"snowflake://acme-prod": "wh"}, {"shop": ServiceAddress("Postgres", {"hostPort": "db:5432"})})
    there = replace(DAILY, fully_qualified_name="wh.DB.S.DAILY")
    assert [DatasetNames(given).of(one) for one in (ORDERS, there)] == [
        ("postgres://db:5432", "db.public.orders"),
        ("snowflake://acme-prod", "DB.S.DAILY"),
    ]


@pytest.mark.parametrize(
    ("kind", "namespace", "expected"),
    [
        ("Athena", "arn:aws:glue:eu-west-1:12", "table/sales/orders"),
        ("Spark", "hive://meta:9083", "sales.orders"),
        ("Trino", "hive://meta:9083", "sales.orders"),
        ("Postgres", "postgresql://db", "lake.sales.orders"),
    ],
)
def test_a_name_is_written_as_the_namespace_has_it_that_was_given(kind: str, namespace: str, expected: str) -> None:
    names = DatasetNames(NamespaceMap({namespace: "s"}, {"s": ServiceAddress(kind)}))
    assert names.of(replace(ORDERS, fully_qualified_name="s.lake.sales.orders")) == (namespace, expected)


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


def test_what_a_dashboard_tool_has_goes_by_the_tool_and_its_whole_name() -> None:
    """Charts and dashboards have one part, models two: no name of a table is made of them."""
    names = DatasetNames(NamespaceMap({"looker://shop.example": "looker"}))
    found = {}
    for kind, fqn in (("chart", 'looker."Sales. GMV"'), ("dashboard", "looker.Sales"), (DATA_MODEL, "bi.model.orders")):
        asset = replace(table("x"), fully_qualified_name=fqn, type=kind)
        assert names.has_name(asset)
        found[kind] = names.of(asset)
    assert list(found.values()) == [
        ("looker://shop.example", '"Sales. GMV"'),
        ("looker://shop.example", "Sales"),
        ("bi", "model.orders"),
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
    sent = [json.loads(Serde.to_json(job.events[0])) for job in job_runs(REQUESTS, over_files, ORIGIN)]
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
    assert (again.digest, again.events[0].run.runId) == (first(REQUESTS).digest, first(REQUESTS).events[0].run.runId)
    other = first([said(ORDERS, column("orders.total", "daily.oid"))])
    assert other.events[0].run.runId != again.events[0].run.runId


def test_a_catalog_takes_the_events_and_says_the_same(tmp_path: Path) -> None:
    with opened(tmp_path / "catalog.db") as catalog:
        base = catalog.url.removesuffix("/api")
        transport = {"type": "http", "url": base, "endpoint": "api/v1/openlineage/lineage"}
        with open_emitter(Transport(transport)) as emitter:
            for _ in range(2):
                for job in job_runs(REQUESTS[:2], ENTITIES, ORIGIN):
                    emitter.emit(job.events[0])
        found = {(source.split(".")[-1], target.split(".")[-1]) for source, target in catalog.edges()}
        assert found == {("orders", "daily"), ("cities", "daily")}
        assert {(a, b) for _s, a, _t, b in catalog.column_edges()} == {("oid", "oid"), ("total", "n")}


def test_events_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    with open_emitter(Transport({"type": "file", "log_file_path": str(file), "append": True})) as emitter:
        for job in job_runs(REQUESTS, ENTITIES, ORIGIN):
            emitter.emit(job.events[0])
    assert [json.loads(line)["job"]["name"] for line in file.read_text().splitlines()] == ["query.f1", "query.f2"]


def into(number: int, *sources: TableEntity, columns: int = 0) -> list[AddLineageRequest]:
    """What one statement writes into a table of that number, `columns` of it from each of its sources."""
    target = table(f"t{number}")
    requests_ = []
    for source in sources:
        evidence = tuple(
            ColumnEvidence((f"{source.fully_qualified_name}.c{one}",), f"{target.fully_qualified_name}.c{one}",
                           Transformation(Subtype.IDENTITY), expression="c" * 20)
            for one in range(columns)
        )  # fmt: skip
        contribution = Contribution(
            Producer(ProducerKind.QUERY, "wide"), "QueryLineage", "INSERT", evidence, "sqlglot", 1.0, 1.0, 2.0, ("0",)
        )
        requests_.append(request_of(source.reference, target.reference, [contribution]))
    return requests_


def split(requests_: list[AddLineageRequest], limits: EventLimits) -> tuple[JobRun, list[dict[str, Any]]]:
    """The one job of the requests, and its events as they are sent."""
    known = [table(name) for name in ("orders", "cities", *(f"t{number}" for number in range(4)))]
    (job,) = job_runs(requests_, {one.id: one for one in known}, replace(ORIGIN, limits=limits))
    return job, [json.loads(Serde.to_json(event)) for event in job.events]


def columns_in(event: dict[str, Any]) -> int:
    facets = [output["facets"]["columnLineage"] for output in event["outputs"]]
    return sum(len(made["inputFields"]) for facet in facets for made in facet["fields"].values())


WIDE = [one for number in range(4) for one in into(number, ORDERS, CITIES, columns=30)]


@pytest.mark.parametrize(
    ("limits", "events_made"),
    [
        (EventLimits(), 1),
        (EventLimits(links=8), 1),
        (EventLimits(links=4), 2),
        (EventLimits(links=1), 8),
        (EventLimits(columns=120), 2),
        (EventLimits(columns=30), 8),
        (EventLimits(size=40_000), 2),
    ],
)
def test_an_event_that_is_too_much_is_split_by_its_outputs_then_by_its_inputs(
    limits: EventLimits, events_made: int
) -> None:
    job, sent = split(WIDE, limits)
    assert (len(sent), job.left_out, {event["job"]["name"] for event in sent}) == (events_made, 0, {"query.wide"})
    assert len({event["run"]["runId"] for event in sent}) == events_made
    assert sum(map(columns_in, sent)) == 4 * 2 * 30
    assert all(len(event["inputs"]) * len(event["outputs"]) <= (limits.links or 8) for event in sent)
    assert all(columns_in(event) <= (limits.columns or 240) for event in sent)
    again, same = split(list(reversed(WIDE)), limits)
    assert ([one["run"]["runId"] for one in same], again.digest) == ([one["run"]["runId"] for one in sent], job.digest)


def test_what_no_event_can_hold_goes_without_details_first_and_what_is_left_out_counts() -> None:
    whole = len(json.dumps(split(into(0, ORDERS, columns=200), EventLimits())[1][0]))
    job, (event,) = split(into(0, ORDERS, columns=200), EventLimits(size=whole - 3_000))
    assert (job.left_out, columns_in(event)) == (0, 200)
    assert "c" * 20 not in json.dumps(event)
    for limits in (EventLimits(size=20_000), EventLimits(columns=150)):
        job, (event,) = split(into(0, ORDERS, columns=200), limits)
        assert (job.left_out + columns_in(event), 0 < job.left_out < 150) == (200, True)


def test_outputs_of_other_inputs_go_apart_where_a_receiver_links_all_inputs_with_all_outputs() -> None:
    both = [*into(0, ORDERS), *into(1, CITIES), *into(2, ORDERS)]
    (whole,) = split(both, EventLimits())[1]
    assert len(whole["inputs"]) * len(whole["outputs"]) == 6
    apart = split(both, EventLimits(pairs=True))[1]
    found = [[[one["name"].split(".")[-1] for one in event[end]] for end in ("inputs", "outputs")] for event in apart]
    assert sorted((source, sorted(targets)) for (source,), targets in found) == [
        ("cities", ["t1"]),
        ("orders", ["t0", "t2"]),
    ]


@pytest.mark.parametrize(
    ("status", "expected"),
    [(400, Rejected), (401, ConfigError), (403, ConfigError), (404, ConfigError), (405, ConfigError),
     (413, Rejected), (422, Rejected), (429, TargetDown), (503, TargetDown)],
)  # fmt: skip
def test_a_receiver_that_refuses_or_fails_is_told_without_the_key(
    httpserver: HTTPServer, status: int, expected: type[Exception]
) -> None:
    httpserver.expect_request("/api/v1/lineage").respond_with_data("no", status=status)
    options = {
        "type": "http", "url": httpserver.url_for(""), "retry": {"total": 0},
        "auth": {"type": "api_key", "apiKey": "key-canary-7"},
    }  # fmt: skip
    with open_emitter(Transport(options)) as emitter, pytest.raises(expected) as caught:
        emitter.emit(next(job_runs(REQUESTS, ENTITIES, ORIGIN)).events[0])
    assert "key-canary-7" not in str(caught.value) + repr(Transport(options))


def test_a_receiver_that_is_not_there_is_down() -> None:
    options = {"type": "http", "url": "http://127.0.0.1:9", "retry": {"total": 0}, "timeout": 1}
    with open_emitter(Transport(options)) as emitter, pytest.raises(TargetDown):
        emitter.emit(next(job_runs(REQUESTS, ENTITIES, ORIGIN)).events[0])


@pytest.mark.parametrize("options", [{"type": "pigeon"}, {"type": "http"}, {"type": "file"}])
def test_a_transport_that_is_none_is_told_before_anything_is_sent(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"headwater\.openLineage"), open_emitter(Transport(options)):
        pass


class _OfGoogle(Exception):
    """As google.api_core has it: a status of HTTP as `code`."""

    def __init__(self, code: int) -> None:
        super().__init__("canary")
        self.code = code


def _of_boto(status: int) -> RuntimeError:
    """As the transport to DataZone has it: another error, caused by a client's with the answer."""
    cause = Exception("canary")
    cause.response = {"ResponseMetadata": {"HTTPStatusCode": status}}  # type: ignore[attr-defined]
    error = RuntimeError("canary")
    error.__cause__ = cause
    return error


class NoCredentialsError(Exception):
    """As botocore names it."""


def _without_credentials() -> RuntimeError:
    error = RuntimeError("canary")
    error.__cause__ = NoCredentialsError("canary")
    return error


@pytest.mark.parametrize(
    ("raised", "expected", "told"),
    [
        (_OfGoogle(400), Rejected, "400"),
        (_OfGoogle(403), ConfigError, "403"),
        (_OfGoogle(429), TargetDown, "429"),
        (_of_boto(400), Rejected, "400"),
        (_of_boto(403), ConfigError, "403"),
        (_of_boto(500), TargetDown, "500"),
        (_without_credentials(), ConfigError, "credentials"),
        (RuntimeError("canary"), TargetDown, "RuntimeError"),
        (ModuleNotFoundError("canary", name="boto3"), ConfigError, "boto3"),
    ],
)
def test_errors_of_other_clients_are_ours(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, expected: type[Exception], told: str
) -> None:
    class Client:
        def emit(self, _event: object) -> None:
            raise raised

    of_google = SimpleNamespace(GoogleAPIError=_OfGoogle)
    monkeypatch.setitem(sys.modules, "google.api_core.exceptions", cast(ModuleType, of_google))
    with pytest.raises(expected, match=told) as caught:
        Emitter(cast(OpenLineageClient, Client()), "there").emit(next(job_runs(REQUESTS, ENTITIES, ORIGIN)).events[0])
    assert "canary" not in str(caught.value)
