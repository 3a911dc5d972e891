"""OpenLineage in: run events become contributions in the one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.store.evidence.readers import known_reads
from ingestion.dialects.dataset_namespaces import NamespaceMap, ServiceAddress
from tests.support.http_client import Client
from tests.support.lineage_statements import edges_of, graph, pairs, said, send
from tests.support.literal_forms import filled


def field(namespace: str, name: str, column: str, *how: Any) -> Any:
    return {"namespace": namespace, "name": name, "field": column, "transformations": list(how)}


IDENTITY = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
FILTER = {"type": "INDIRECT", "subtype": "FILTER"}


def event(inputs: Any, outputs: Any, **more: Any) -> Any:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-01T10:00:00.123Z",
        "run": {"runId": "0190-run-1", "facets": {"anything": {"_producer": "x"}}},
        "job": {"namespace": "spark", "name": "daily", "facets": {}},
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def made_of(name: str, column: str = "", *how: Any, type: str = "DATASET") -> Any:
    """An input of the facet `lineage`."""
    source = {"namespace": PG, "name": name, "type": type, "transformations": list(how)}
    return {**source, "field": column} if column else source


def dataset(namespace: str, name: str, columns: str = "", **facets: Any) -> Any:
    fields = [{"name": column, "type": "integer"} for column in columns.split()]
    return {"namespace": namespace, "name": name, "facets": {"schema": {"fields": fields}, **facets}}


def post(client: Client, body: Any) -> Any:
    status, answer = client.post("/openlineage/lineage", body)
    assert status == 200, answer
    return answer


def table(client: Client, name: str) -> Any:
    status, body = client.get(f"/tables/name/{name}")
    assert status == 200, body
    return body


PG = "postgres://db:5432"


class TestUnknownDatasets:
    def test_are_registered_under_a_service_of_their_namespace(self, client: Client) -> None:
        lineage = {
            "fields": {"x": {"inputFields": [field(PG, "d.p.s", "a", IDENTITY), field(PG, "d.p.s", "b", FILTER)]}}
        }
        output = dataset(PG, "d.p.t", "x", columnLineage=lineage)
        assert post(client, event([dataset(PG, "d.p.s", "a b")], [output]))["lineageEdgesCreated"] == 1
        source, target = table(client, f"{PG}.d.p.s"), table(client, f"{PG}.d.p.t")
        assert source["serviceType"] == "Postgres"
        assert [(one["name"], one["dataType"]) for one in source["columns"]] == [("a", "BIGINT"), ("b", "BIGINT")]
        assert pairs(client.edge(source, target)) == ["a>x"]
        (said_so,) = graph(client, target)["edges"][0]["contributions"]
        assert said_so["producer"] == {"kind": "openlineage", "key": "spark/daily"}
        assert sorted((one["type"], one["subtype"]) for one in said_so["columns"]) == [
            ("DIRECT", "IDENTITY"),
            ("INDIRECT", "FILTER"),
        ]
        assert (said_so["firstSeen"], said_so["count"]) == (1793527200123, 1)

    def test_files_are_containers(self, client: Client) -> None:
        post(client, event([dataset("s3://bucket", "raw/orders", "a")], [dataset(PG, "d.p.t", "x")]))
        found = client.post(
            "/headwater/tables/lookup", {"service": "-", "names": [{"path": "s3a://bucket/raw/orders/"}]}
        )
        (container,) = found[1]["matches"][0]
        assert (container["type"], container["columns"][0]["name"]) == ("container", "a")

    def test_a_symlink_names_the_table_of_a_path(self, client: Client) -> None:
        link = {"identifiers": [{"namespace": "hive://meta:9083", "name": "sales.orders", "type": "TABLE"}]}
        warehouse = dataset("file", "/warehouse/sales.db/orders", "a", symlinks=link)
        post(client, event([warehouse], [dataset(PG, "d.p.t")]))
        assert (
            table(client, "hive://meta:9083.default.sales.orders")["locationPath"]
            == "file:///warehouse/sales.db/orders"
        )

    def test_secrets_of_a_path_are_not_kept(self, client: Client) -> None:
        post(client, event([dataset("s3://bucket", "p?sig=canary", "a")], [dataset(PG, "d.p.t")]))
        body = client.get("/containers", limit=5)[1]["data"][0]
        assert body["fullPath"] == "s3://bucket/p"

    def test_no_login_literal_or_signature_of_a_dataset_is_kept(self, client: Client) -> None:
        """Agents name a dataset by what they connect with, and a test by what it was given."""
        tested = {"assertions": [{"assertion": "accepted_values['canary']", "success": False, "column": "a"}]}
        fields = {"fields": [{"name": "a", "type": "enum('canary','x')"}]}
        jdbc = "jdbc:postgresql://u:canary@db/d?password=canary"
        read = [
            {**dataset("s3://key:canary@bucket", "p"), "facets": {"schema": fields, "dataQualityAssertions": tested}},
            dataset(jdbc, "s.t?token=canary", "a"),
            dataset("abfss://box@account", "of/ann@shop/p", "a"),
        ]
        lineage = {"fields": {"x": {"inputFields": [field(jdbc, "s.t?token=canary", "a", IDENTITY)]}}}
        post(client, event(read, [dataset(PG, "d.p.t", "x", columnLineage=lineage)]))
        kept = [client.get(f"/{kind}", limit=50)[1] for kind in ("tables", "containers", "dataQuality/testCases")]
        assert "canary" not in str(kept)
        assert {one["fullPath"] for one in kept[1]["data"]} == {"s3://bucket/p", "abfss://box@account/of/ann@shop/p"}
        edges = graph(client, table(client, f"{PG}.d.p.t"))["edges"]
        assert [one["columns"] for edge in edges for one in edge["contributions"] if one["columns"]] != []
        assert "canary" not in str(edges)

    @pytest.mark.parametrize(
        ("assertion", "kept"),
        [
            ("dbt_utils.not_null-proportion", "dbt_utils.not_null-proportion"),
            ("a9 > 4711000987 and b < 0.5", "a9 > ? and b < ?"),
        ],
    )
    def test_no_login_of_a_job_is_kept_and_no_number_of_a_test(self, client: Client, assertion: str, kept: str) -> None:
        tested = {"assertions": [{"assertion": assertion, "success": True, "column": "a"}]}
        read = {**dataset(PG, "d.p.s", "a"), "facets": {"dataQualityAssertions": tested}}
        job = {"namespace": "airflow://u:canary@host/x?token=canary", "name": "https://u:canary@git/job?k=canary"}
        post(client, event([read], [dataset(PG, "d.p.t", "x")], job=job))
        edges = graph(client, table(client, f"{PG}.d.p.t"))["edges"]
        assert "airflow://host/x/https://git/job" in str(edges) and "canary" not in str(edges)
        (test,) = client.get("/dataQuality/testCases", limit=50)[1]["data"]
        assert test["name"] == kept
        assert "canary" not in str(test) and "4711" not in str(test)


class TestKnownDatasets:
    def test_meet_in_one_graph_by_the_address_of_their_service(self, shop: Client) -> None:
        orders, report = shop.table("orders"), shop.table("report", "x")
        view = shop.table("v", "x")
        send(shop, said(report, view, "x>x", producer="view:v"))
        lineage = {"fields": {"x": {"inputFields": [field("postgres://h:1", "main.public.ORDERS", "a", IDENTITY)]}}}
        post(
            shop,
            event(
                [dataset("postgres://h:1", "main.public.ORDERS")],
                [dataset("postgres://h:1", "main.public.report", columnLineage=lineage)],
            ),
        )
        assert pairs(shop.edge(orders, report)) == ["a>x"]
        status, body = shop.get("/headwater/impact", entity=orders["fullyQualifiedName"], column="a", days=0)
        assert status == 200
        assert [one["column"] for one in body["impacted"]] == ["shop.main.public.report.x", "shop.main.public.v.x"]


class TestEvents:
    def simple(self, **more: Any) -> Any:
        return event([dataset(PG, "d.p.s", "a")], [dataset(PG, "d.p.t", "x")], **more)

    def count(self, client: Client) -> int:
        edges = graph(client, table(client, f"{PG}.d.p.t"))["edges"]
        return int(edges[0]["contributions"][0]["count"])

    def test_the_events_of_a_run_count_once(self, client: Client) -> None:
        for kind in ("START", "RUNNING", "COMPLETE", "COMPLETE"):
            post(client, self.simple(eventType=kind))
        assert self.count(client) == 1
        post(client, self.simple(run={"runId": "0190-run-2"}, eventTime="2026-11-02T10:00:00+01:00"))
        assert self.count(client) == 2

    def test_runs_that_failed_wrote_nothing(self, client: Client) -> None:
        for kind in ("FAIL", "ABORT"):
            assert post(client, self.simple(eventType=kind))["lineageEdgesCreated"] == 0
        assert client.get("/tables")[1]["data"] == []

    def test_a_run_with_several_outputs_joins_only_what_its_facets_name(self, client: Client) -> None:
        inputs = [dataset(PG, f"d.p.s{number}", "a") for number in (1, 2)]
        outputs = []
        for number in (1, 2):
            lineage = {"fields": {"x": {"inputFields": [field(PG, f"d.p.s{number}", "a")]}}}
            outputs.append(dataset(PG, f"d.p.t{number}", "x", columnLineage=lineage))
        assert post(client, event(inputs, outputs))["lineageEdgesCreated"] == 2

    def test_a_table_among_its_own_inputs_feeds_itself_where_columns_say_so(self, client: Client) -> None:
        assert post(client, event([dataset(PG, "d.p.t", "x")], [dataset(PG, "d.p.t", "x")]))["lineageEdgesCreated"] == 0
        lineage = {"fields": {"y": {"inputFields": [field(PG, "d.p.t", "x", IDENTITY)]}}}
        output = dataset(PG, "d.p.t", "x y", columnLineage=lineage)
        assert post(client, event([dataset(PG, "d.p.t", "x y")], [output]))["lineageEdgesCreated"] == 1

    def test_a_dataset_wide_field_influences_every_column(self, client: Client) -> None:
        lineage = {"fields": {}, "dataset": [field(PG, "d.p.s", "a", FILTER)]}
        post(client, event([dataset(PG, "d.p.s", "a")], [dataset(PG, "d.p.t", "x", columnLineage=lineage)]))
        (only,) = graph(client, table(client, f"{PG}.d.p.t"))["edges"][0]["contributions"]
        assert [(one["to"], one["type"]) for one in only["columns"]] == [(None, "INDIRECT")]

    def test_literals_of_a_jobs_sql_are_not_kept(self, client: Client, tmp_path: Path) -> None:
        for number, (query, kept) in enumerate(
            (
                ("insert into t select a from s where b = 'canary'", "insert into t select a from s where b = ?"),
                ("insert into t select 'canary", None),
            )
        ):
            sql = {"query": query, "dialect": "postgres" if number else "no such dialect"}
            post(client, self.simple(job={"namespace": "n", "name": f"j{number}", "facets": {"sql": sql}}))
            said_so = graph(client, table(client, f"{PG}.d.p.t"))["edges"][0]["contributions"]
            (found,) = [one for one in said_so if one["producer"]["key"] == f"n/j{number}"]
            assert found.get("sqlQuery") == kept
        assert all(b"canary" not in file.read_bytes() for file in tmp_path.iterdir())

    def test_no_form_of_a_literal_in_a_jobs_sql_is_kept(self, client: Client, tmp_path: Path) -> None:
        forms = [form for form in filled() if ";" in form.text][::3]
        events = []
        for number, form in enumerate(forms):
            dialect = form.dialect if number % 2 else "no such dialect"
            facets = {"sql": {"query": form.text, "dialect": dialect}}
            events.append(self.simple(job={"namespace": "n", "name": f"j{number}", "facets": facets}))
        status, body = client.post("/openlineage/lineage/batch", events)
        assert (status, body["summary"]["successful"]) == (200, len(forms))
        kept = b"".join(file.read_bytes() for file in tmp_path.iterdir()).lower()
        assert b"as select" in kept
        assert [one for form in forms for one in form.canaries if one.encode() in kept] == []

    def test_a_batch_files_what_it_can(self, client: Client) -> None:
        for path in ("/openlineage/lineage/batch", "/openlineage/batch"):
            status, body = client.post(path, [self.simple(), {"eventTime": "secret"}, self.simple(job={})])
            assert status == 200
            assert body["summary"] == {"received": 3, "successful": 1, "failed": 2}
            assert [one["index"] for one in body["failed_events"]] == [1, 2]
            assert "secret" not in str(body)
        assert self.count(client) == 1

    def test_an_event_that_is_not_valid_is_refused(self, client: Client) -> None:
        for broken in ({}, self.simple(eventTime="yesterday"), {**self.simple(), "outputs": [{"namespace": "x"}]}, []):
            assert client.post("/openlineage/lineage", broken)[0] == 400


class TestDefaultEndpoint:
    def test_takes_events_where_it_is_asked_for(self, tmp_path: Path) -> None:
        body = event([dataset(PG, "d.p.s", "a")], [dataset(PG, "d.p.t", "a")])
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, openlineage=True)) as address:
            client = Client(address.url)
            assert client.post("/lineage", body) == (200, {"status": "success", "lineageEdgesCreated": 1})
            assert post(client, body)["lineageEdgesCreated"] == 1
            assert client.put("/lineage", {})[0] == 400  # the contract's own call at the same path

    def test_is_not_there_where_nobody_asked(self, client: Client) -> None:
        assert client.post("/lineage", event([], []))[0] == 405


class TestEventsWithoutARun:
    def test_a_job_says_what_it_reads_and_writes_once(self, client: Client) -> None:
        lineage = {"fields": {"x": {"inputFields": [field(PG, "d.p.js", "a", IDENTITY)]}}}
        body = event([dataset(PG, "d.p.js", "a")], [dataset(PG, "d.p.jt", "x", columnLineage=lineage)])
        del body["run"], body["eventType"]
        for _ in range(2):
            assert post(client, body)["lineageEdgesCreated"] == 1
        target = table(client, f"{PG}.d.p.jt")
        assert pairs(client.edge(table(client, f"{PG}.d.p.js"), target)) == ["a>x"]
        (said_so,) = graph(client, target)["edges"][0]["contributions"]
        assert (said_so["producer"], said_so["count"]) == ({"kind": "openlineage", "key": "spark/daily"}, 1)

    def test_a_dataset_says_its_columns_and_what_they_are_made_from(self, client: Client) -> None:
        lineage = {"fields": {"x": {"inputFields": [field(PG, "d.p.ds", "a", IDENTITY)]}}}
        told = {"eventTime": "2026-11-01T10:00:00Z", "producer": "https://example.org", "schemaURL": "s"}
        plain = {**told, "dataset": dataset(PG, "d.p.dt", "x y")}
        assert post(client, plain)["lineageEdgesCreated"] == 0
        assert [one["name"] for one in table(client, f"{PG}.d.p.dt")["columns"]] == ["x", "y"]
        made = {**told, "dataset": dataset(PG, "d.p.dt", "x y", columnLineage=lineage)}
        batch = client.post("/openlineage/lineage/batch", [plain, made, {**told, "dataset": {}}, told])[1]
        assert (batch["summary"], batch["lineageEdgesCreated"]) == ({"received": 4, "successful": 2, "failed": 2}, 1)
        assert pairs(client.edge(table(client, f"{PG}.d.p.ds"), table(client, f"{PG}.d.p.dt"))) == ["a>x"]

    def test_a_dataset_says_by_the_younger_facet_what_it_and_its_fields_are_made_of(self, client: Client) -> None:
        lineage = {
            "inputs": [made_of("d.p.s"), made_of("d.p.u", "day", FILTER), made_of("d.p.whole")],
            "fields": {"x": {"inputs": [made_of("d.p.s", "a", IDENTITY), made_of("j", type="JOB"), made_of("d.p.v")]}},
        }
        body = event([], [])
        del body["run"], body["job"]
        post(client, {**body, "dataset": dataset(PG, "d.p.t", "x", lineage=lineage)})
        target = table(client, f"{PG}.d.p.t")
        columns = {
            tuple(one["from"]): (one["to"], one["type"])
            for edge in graph(client, target)["edges"]
            for one in edge["contributions"][0]["columns"]
        }
        assert {names[0].rpartition(".")[2]: what for names, what in columns.items()} == {
            "a": (f"{PG}.d.p.t.x", "DIRECT"),
            "day": (None, "INDIRECT"),
        }
        for name in ("s", "u", "v", "whole"):
            assert pairs(client.edge(table(client, f"{PG}.d.p.{name}"), target)) == (["a>x"] if name == "s" else [])

    def test_a_job_and_a_run_say_of_each_output_what_it_is_made_of(self, client: Client) -> None:
        """What a run lists of inputs and outputs is no pair of each with each, where the facet tells the pairs."""

        def entry(name: str, source: str) -> Any:
            fields = {"x": {"inputs": [made_of(source, "a", IDENTITY)]}}
            return {"namespace": PG, "name": name, "type": "DATASET", "inputs": [made_of(source)], "fields": fields}

        told = event([dataset(PG, "d.p.s", "a"), dataset(PG, "d.p.u", "a")], [dataset(PG, "d.p.t", "x")])
        told["job"]["facets"] = {"lineage": {"lineage": [entry("d.p.t", "d.p.s")]}}
        told["run"]["facets"] = {
            "lineage": {"lineage": [entry("d.p.w", "d.p.u"), {**entry("j", "d.p.s"), "type": "JOB"}]}
        }
        assert post(client, told)["lineageEdgesCreated"] == 2
        s, t, u, w = (table(client, f"{PG}.d.p.{name}") for name in "stuw")
        assert (pairs(client.edge(s, t)), pairs(client.edge(u, w))) == (["a>x"], ["a>x"])

    def test_a_dataset_that_is_said_to_be_made_of_nothing_is(self, client: Client) -> None:
        told = event([dataset(PG, "d.p.s", "a")], [dataset(PG, "d.p.t", "x", lineage={"inputs": []})])
        assert post(client, told)["lineageEdgesCreated"] == 0

    def test_what_is_no_event_is_refused_without_its_values(self, client: Client) -> None:
        for body in ({}, {"dataset": {"name": "canary"}}, {"job": "canary"}, {"run": {"runId": ["canary"]}}):
            status, answer = client.post("/openlineage/lineage", body)
            assert (status, "canary" in str(answer)) == (400, False)


SNOWFLAKE = {"name": "wh", "serviceType": "Snowflake", "connection": {"config": {"account": "ACME-PROD"}}}
PG_AT = {"config": {"hostPort": "h:1"}}
AIRFLOW, DBT = "snowflake://acme-prod", "snowflake://ACME-PROD"
HIVE = {"identifiers": [{"namespace": "hive://meta:9083", "name": "sales.orders", "type": "TABLE"}]}


def filed(client: Client, schema: str, name: str, *columns: str) -> Any:
    """A table as a log's names registered it."""
    known = [{"name": column, "dataType": "INT"} for column in columns]
    return client.made("/tables", {"name": name, "databaseSchema": schema, "columns": known})


def passed(namespace: str, source: str, target: str, column: str, job: str) -> Any:
    """An event of one column that is handed on."""
    lineage = {"fields": {column: {"inputFields": [field(namespace, source, column, IDENTITY)]}}}
    datasets = [dataset(namespace, source, column)], [dataset(namespace, target, column, columnLineage=lineage)]
    return event(*datasets, job={"namespace": "jobs", "name": job, "facets": {}})


def runs_of(job: str, columns: str) -> list[Any]:
    """A run a day of a job that fills x out of a column: which, a letter a day tells."""
    events = []
    for day, column in enumerate(columns, 1):
        lineage = {"fields": {"x": {"inputFields": [field(PG, "d.p.s", column, IDENTITY)]}}}
        outputs = [dataset(PG, "d.p.t", "x", columnLineage=lineage)]
        one = event([dataset(PG, "d.p.s", "a b")], outputs, job={"namespace": "n", "name": job, "facets": {}})
        events.append({**one, "eventTime": f"2026-11-{day:02}T02:00:00Z", "run": {"runId": f"{job}-{day}"}})
    return events


class TestJobsThatWereRewritten:
    def told(self, client: Client, **moment: Any) -> list[str]:
        """What x is made of."""
        status, body = client.get("/headwater/graph", root=f"{PG}.d.p.t", upstream=1, days=0, **moment)
        assert status == 200, body
        said_so = [one for edge in body["edges"] for one in edge["contributions"]]
        read = {column for one in said_so for pair in one["columns"] for column in pair["from"]}
        return sorted(".".join(column.split(".")[-2:]) for column in read)

    def test_the_newer_word_of_a_job_supersedes_the_older(self, client: Client) -> None:
        events = runs_of("rewritten", "aaaaabbb")
        status, body = client.post("/openlineage/lineage/batch", events[5:] + events[:5])  # in whatever order
        assert (status, body["summary"]["failed"]) == (200, 0)
        assert self.told(client) == ["s.b"]
        assert self.told(client, asOf=1_793_707_200_000) == ["s.a"]

    def test_words_that_both_come_stay(self, client: Client) -> None:
        for one in runs_of("both", "abababab"):
            post(client, one)
        assert self.told(client) == ["s.a", "s.b"]

    def test_another_job_supersedes_nothing_nor_does_any_where_that_is_turned_off(
        self, client: Client, tmp_path: Path
    ) -> None:
        for one in [*runs_of("first", "aaaaa"), *runs_of("second", "bbbbbbbb")[5:]]:
            post(client, one)
        assert self.told(client) == ["s.a", "s.b"]
        with running_catalog(CatalogConfig(tmp_path / "kept.db", port=0, keep_rewritten=True)) as address:
            keeping = Client(address.url)
            keeping.post("/openlineage/lineage/batch", runs_of("rewritten", "aaaaabbb"))
            assert self.told(keeping) == ["s.a", "s.b"]


class TestOneGraphWithTheLog:
    def test_agents_and_the_log_are_witnesses_of_one_edge(self, client: Client) -> None:
        client.made("/services/databaseServices", SNOWFLAKE)
        client.made("/databases", {"name": "DB", "service": "wh"})
        client.made("/databaseSchemas", {"name": "MARTS", "database": "wh.DB"})
        source, target = (filed(client, "wh.DB.MARTS", name, "ID") for name in ("ORDERS", "DAILY"))
        send(client, said(source, target, "ID>ID"))
        for namespace, names, job in (
            (AIRFLOW, ("DB.MARTS.ORDERS", "DB.MARTS.DAILY"), "airflow"),
            (DBT, ("db.marts.orders", "db.marts.daily"), "dbt"),
        ):
            answer = post(client, passed(namespace, *names, "ID" if job == "airflow" else "id", job))
            assert answer == {"status": "success", "lineageEdgesCreated": 1}
        assert len(client.get("/tables", limit=10)[1]["data"]) == 2
        assert pairs(client.edge(source, target)) == ["ID>ID"]
        (edge,) = graph(client, target)["edges"]
        witnesses = {(one["producer"]["kind"], one["producer"]["key"]) for one in edge["contributions"]}
        assert witnesses == {("query", "q"), ("openlineage", "jobs/airflow"), ("openlineage", "jobs/dbt")}

    def test_a_new_table_is_called_as_its_platform_calls_what_nobody_quotes(self, client: Client) -> None:
        client.made("/services/databaseServices", SNOWFLAKE)
        client.made("/services/databaseServices", {"name": "pg", "serviceType": "Postgres", "connection": PG_AT})
        post(client, passed(DBT, "db.marts.orders", "DB.Marts.Daily", "id", "j"))  # the second is known in its case
        post(client, passed(DBT, "db.marts.more", "Db.Marts.Daily", "id", "k"))
        post(client, passed("postgres://h:1", "SHOP.PUBLIC.ORDERS", "shop.public.Daily", "id", "l"))
        tables = sorted(one["fullyQualifiedName"] for one in client.get("/tables", limit=10)[1]["data"])
        assert tables == [
            *("pg.shop.public.Daily", "pg.shop.public.orders"),
            *("wh.DB.MARTS.Daily", "wh.DB.MARTS.MORE", "wh.DB.MARTS.ORDERS"),
        ]

    def test_names_that_differ_in_case_alone_are_the_one_that_is_written_so(self, shop: Client) -> None:
        filed(shop, "shop.main.public", "Orders", "a"), filed(shop, "shop.main.public", "orders", "a")
        post(shop, passed("postgres://h:1", "main.public.Orders", "main.public.t", "a", "j"))
        (source,) = [
            node["name"] for node in graph(shop, table(shop, "shop.main.public.t"))["nodes"] if node["name"] != "t"
        ]
        assert source == "Orders"

    def test_the_table_that_a_symlink_names_goes_before_the_path(self, tmp_path: Path) -> None:
        names = NamespaceMap({"hive://meta:9083": "lake"}, {"lake": ServiceAddress("Hive")})
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, namespaces=names)) as address:
            client = Client(address.url)
            at = "file", "/warehouse/sales.db/orders"
            post(client, event([dataset(*at, "a")], [dataset(PG, "d.p.before", "a")]))
            post(client, event([dataset(*at, "a", symlinks=HIVE)], [dataset(PG, "d.p.t", "a")]))
            assert table(client, "lake.default.sales.orders")["serviceType"] == "Hive"
            container = client.get("/containers", limit=5)[1]["data"]
            assert [one["fullPath"] for one in container] == ["file:///warehouse/sales.db/orders"]

    def test_a_path_that_was_learned_of_a_table_is_that_table(self, shop: Client) -> None:
        known = filed(shop, "shop.main.public", "orders", "a")
        link = {"identifiers": [{"namespace": "postgresql://h:1", "name": "public.orders", "type": "TABLE"}]}
        at = "s3a://lake", "orders"
        post(shop, event([dataset(*at, "a", symlinks=link)], [dataset("postgres://h:1", "main.public.t", "a")]))
        post(shop, event([dataset(*at, "a")], [dataset("postgres://h:1", "main.public.u", "a")]))
        assert {target for source, target in edges_of(graph(shop, known)) if source == "orders"} == {"t", "u"}
        assert shop.get("/containers", limit=5)[1]["data"] == []

    def test_the_database_of_a_new_table_is_the_only_one_that_its_service_has(self, shop: Client) -> None:
        post(shop, passed("postgres://h:1", "other.a", "other.b", "a", "j"))
        assert table(shop, "shop.main.other.a")["service"]["name"] == "shop"

    def test_a_new_table_without_a_schema_is_in_that_which_its_platform_looks_in_first(self, shop: Client) -> None:
        post(shop, passed("postgres://h:1", "a", "b", "c", "j"))
        post(shop, passed("postgres://h:1", "public.a", "main.public.b", "c", "j"))
        post(shop, passed("postgresql://other:1", "a", "s.b", "c", "k"))
        tables = sorted(one["fullyQualifiedName"] for one in shop.get("/tables", limit=10)[1]["data"])
        other = "postgresql://other:1.default"
        assert tables == [f"{other}.public.a", f"{other}.s.b", "shop.main.public.a", "shop.main.public.b"]

    def test_one_namespace_in_several_spellings_is_one_service(self, client: Client) -> None:
        for number, namespace in enumerate(("postgres://db:5432", "postgresql://DB", "postgres://u@db:5432")):
            post(client, passed(namespace, "d.p.s", f"d.p.t{number}", "a", f"j{number}"))
        (service,) = client.get("/services/databaseServices", limit=5)[1]["data"]
        assert service["name"] == "postgres://db:5432"

    def test_what_cannot_be_joined_is_told_with_the_line_that_would(self, client: Client) -> None:
        client.made("/services/databaseServices", SNOWFLAKE)
        other = passed("snowflake://xy12345.eu-west-1.aws", "d.s.a", "d.s.b", "a", "j")
        for _ in range(2):
            (told,) = post(client, other)["unjoined"]
            assert told["line"] == (
                'headwater: {openLineage: {namespaces: {"snowflake://xy12345.eu-west-1.aws": "wh"}}}'
            )
        batch = client.post("/openlineage/lineage/batch", [other, passed(PG, "d.p.s", "d.p.t", "a", "j")])[1]
        assert [one["namespace"] for one in batch["unjoined"]] == ["snowflake://xy12345.eu-west-1.aws"]

    def test_a_service_that_is_called_as_its_system_may_be_what_a_namespace_is(self, client: Client) -> None:
        client.made("/services/databaseServices", {"name": "snowflake", "serviceType": "Snowflake"})
        (told,) = post(client, passed(AIRFLOW, "d.s.a", "d.s.b", "a", "j"))["unjoined"]
        assert told["line"].endswith(f'{{namespaces: {{"{AIRFLOW}": "snowflake"}}}}}}')

    def test_a_name_without_a_schema_is_no_table_of_just_any(self, shop: Client) -> None:
        shop.made("/databaseSchemas", {"name": "raw", "database": "shop.main"})
        staged, plain = filed(shop, "shop.main.raw", "staged", "a"), filed(shop, "shop.main.public", "plain", "a")
        for source in ("plain", "staged"):
            post(shop, passed("postgres://h:1", source, "main.public.t", "a", source))
        assert (edges_of(graph(shop, plain)), edges_of(graph(shop, staged))) == ({("plain", "t")}, set())

    def test_an_address_of_several_services_is_the_one_that_has_the_table(self, client: Client) -> None:
        for name, project in (("b1", "p1"), ("b2", "p2")):
            client.made("/services/databaseServices", {"name": name, "serviceType": "BigQuery"})
            client.made("/databases", {"name": project, "service": name})
            client.made("/databaseSchemas", {"name": "d", "database": f"{name}.{project}"})
        known = filed(client, "b2.p2.d", "t", "a")
        post(client, passed("bigquery", "p2.d.t$20260101", "p2.d.T", "a", "j"))
        assert {target for _, target in edges_of(graph(client, known))} == {"T"}  # it keeps the case of names
        assert table(client, "bigquery.p2.d.T")["service"]["name"] == "bigquery"

    def test_a_table_that_an_event_spells_in_two_ways_is_one_input(self, client: Client) -> None:
        lineage = {"fields": {"id": {"inputFields": [field(AIRFLOW, "DB.marts.orders", "id", IDENTITY)]}}}
        inputs, outputs = [dataset(AIRFLOW, "DB.MARTS.ORDERS")], [dataset(AIRFLOW, "DB.MARTS.D", columnLineage=lineage)]
        assert post(client, event(inputs, outputs))["lineageEdgesCreated"] == 1
        names = f"{AIRFLOW}.DB.MARTS.ORDERS", f"{AIRFLOW}.DB.MARTS.D"
        assert pairs(client.edge(*(table(client, name) for name in names))) == ["id>id"]

    def test_the_warehouse_of_a_spark_without_a_metastore_may_be_a_service_over_files(self, client: Client) -> None:
        client.made("/services/databaseServices", {"name": "lake", "serviceType": "Hive"})
        link = {"identifiers": [{"namespace": "file:/data/wh", "name": "sales.orders", "type": "TABLE"}]}
        told = event([dataset("file", "/data/wh/sales.db/orders", "a", symlinks=link)], [dataset(PG, "d.p.t", "a")])
        (unjoined,) = post(client, told)["unjoined"]
        assert unjoined["line"] == 'headwater: {openLineage: {namespaces: {"file:/data/wh": "lake"}}}'
        assert table(client, "file:/data/wh.default.sales.orders")["locationPath"] == "file:///data/wh/sales.db/orders"

    def test_a_log_whose_database_nobody_named_is_told_of_the_line_that_names_it(self, shop: Client) -> None:
        shop.made("/databases", {"name": "default", "service": "shop"})
        shop.made("/databaseSchemas", {"name": "web", "database": "shop.default"})
        filed(shop, "shop.default.web", "orders", "a")
        for _ in range(2):
            (told,) = post(shop, passed("postgres://h:1", "live.web.orders", "live.web.t", "a", "j"))["unjoined"]
            assert told == {"namespace": "postgres://h:1", "line": 'headwater: {defaults: {database: "live"}}'}
        assert "unjoined" not in post(shop, passed("postgres://h:1", "live.web.u", "live.web.v", "a", "j"))


class TestWhatWritesNothing:
    def test_is_a_reader_of_what_the_catalog_has(self, tmp_path: Path) -> None:
        file = tmp_path / "catalog.db"
        job = {"namespace": "spark", "name": "report"}
        read, failed = event([dataset(PG, "d.p.s"), dataset(PG, "d.p.other")], [], job=job), {"eventType": "FAIL"}
        tests = {"dataQualityAssertions": {"assertions": [{"assertion": "fresh", "success": True}]}}
        with running_catalog(CatalogConfig(file, port=0)) as address:
            client = Client(address.url)
            post(client, event([dataset(PG, "d.p.s", "a"), dataset(PG, "d.p.r")], [dataset(PG, "d.p.t", "x")]))
            post(client, event([dataset(PG, "d.p.s")], []))  # the same job, which has told what it writes
            post(client, {**read, **failed})
            post(client, event([dataset(PG, "d.p.r", **tests)], [], job={"namespace": "dbt", "name": "tests"}))
            post(client, read)
            status, answer = client.post("/openlineage/lineage/batch", [{**read, "eventTime": "2026-11-02T10:00:00Z"}])
            assert (status, answer["summary"]["successful"]) == (200, 1)
            source = table(client, f"{PG}.d.p.s")
            assert client.get(f"/tables/name/{PG}.d.p.other")[0] == 404
        with open_catalog(file) as connection:
            (one,) = known_reads(connection)
        at = 1_793_613_600_000  # the later of the two
        assert (one.entity, one.path, one.how, one.reader, one.last) == (
            source["id"],
            "",
            "unknown",
            "spark/report",
            at,
        )
