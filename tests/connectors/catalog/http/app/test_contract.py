"""The platform's REST contract over real HTTP: every call a lineage client makes, with its rules."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion.errors import ConfigError
from tests.support.http_client import Client, escaped, ref

PUBLIC = "shop.main.public"


class TestSystem:
    def test_version_is_what_clients_compare_with(self, client: Client) -> None:
        status, body = client.get("/system/version")
        assert (status, body["version"]) == (200, "2.0.7")

    def test_version_is_configurable(self, tmp_path: Path) -> None:
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, version="1.9.1")) as address:
            assert Client(address.url).get("/system/version")[1]["version"] == "1.9.1"

    def test_a_connection_test_has_no_steps(self, client: Client) -> None:
        status, body = client.get("/services/testConnectionDefinitions/name/Mysql.testConnectionDefinition")
        assert (status, body) == (200, {"name": "Mysql", "steps": []})

    def test_unknown_paths_and_methods_answer_with_a_code(self, client: Client) -> None:
        for method, path in (("GET", "/nothing"), ("POST", "/tables/bulk"), ("GET", "/lineage")):
            status, body = client.call(method, path)
            assert status in (404, 405)
            assert body["code"] == status

    def test_bodies_that_are_not_valid_answer_with_a_code_and_no_value(self, client: Client) -> None:
        status, body = client.put("/tables", {"name": ["secret-literal"]})
        assert status == body["code"] == 400
        assert "secret-literal" not in json.dumps(body)


class TestServices:
    def test_connection_type_follows_from_the_service_type(self, client: Client) -> None:
        request = {"name": "pg", "serviceType": "Postgres", "connection": {"config": {"username": "u"}}}
        status, body = client.put("/services/databaseServices", request)
        assert status == 201
        assert body["connection"]["config"] == {"type": "Postgres", "username": "u"}

    def test_a_repeated_put_keeps_the_id(self, client: Client) -> None:
        request = {"name": "pg", "serviceType": "Postgres"}
        first, second = (client.put("/services/databaseServices", request) for _ in range(2))
        assert (first[0], second[0]) == (201, 200)
        assert first[1]["id"] == second[1]["id"]
        assert first[1]["version"] == second[1]["version"] == 0.1

    def test_secrets_of_a_connection_are_not_kept(self, client: Client, tmp_path: Path) -> None:
        config = {"password": "canary-1", "nested": {"awsSecretAccessKey": "canary-2"}, "list": [{"token": "canary-3"}]}
        client.made(
            "/services/databaseServices", {"name": "s", "serviceType": "Mysql", "connection": {"config": config}}
        )
        assert "canary" not in json.dumps(client.get("/services/databaseServices/name/s")[1])
        assert all(b"canary" not in file.read_bytes() for file in tmp_path.iterdir())

    def test_storage_and_pipeline_services_have_the_same_shape(self, client: Client) -> None:
        for collection, kind in (("storageServices", "S3"), ("pipelineServices", "Airflow")):
            body = client.made(f"/services/{collection}", {"name": "s", "serviceType": kind})
            assert (body["serviceType"], body["fullyQualifiedName"], body["deleted"]) == (kind, "s", False)

    def test_services_are_listed(self, shop: Client) -> None:
        assert [one["name"] for one in shop.get("/services/databaseServices")[1]["data"]] == ["shop"]


class TestEntities:
    def test_a_table_carries_its_ancestors_and_column_names(self, shop: Client) -> None:
        table = shop.table("orders", "id total", tableType="Regular", schemaDefinition="create table orders")
        assert table["fullyQualifiedName"] == "shop.main.public.orders"
        assert table["database"]["name"] == "main"
        assert table["databaseSchema"]["fullyQualifiedName"] == PUBLIC
        assert (table["service"]["type"], table["serviceType"]) == ("databaseService", "Postgres")
        assert [one["fullyQualifiedName"] for one in table["columns"]] == [
            "shop.main.public.orders.id",
            "shop.main.public.orders.total",
        ]

    def test_answers_have_no_key_that_clients_forbid(self, shop: Client) -> None:
        table = shop.table("t", "a")
        allowed = {"id", "name", "fullyQualifiedName", "version", "updatedAt", "updatedBy", "deleted", "columns"}
        assert set(table) <= allowed | {"databaseSchema", "database", "service", "serviceType"}
        assert set(table["columns"][0]) == {"name", "dataType", "fullyQualifiedName"}
        query = shop.made("/queries", {"query": "select 1", "service": "shop"})
        assert "deleted" not in query

    def test_parts_with_dots_are_quoted_in_names_of_tables_and_columns(self, shop: Client) -> None:
        schema = shop.made("/databaseSchemas", {"name": "we.ird", "database": "shop.main"})
        assert schema["fullyQualifiedName"] == 'shop.main."we.ird"'
        columns = [{"name": "x.y", "dataType": "STRUCT", "children": [{"name": "z", "dataType": "INT"}]}]
        request = {"name": "t", "columns": columns, "databaseSchema": schema["fullyQualifiedName"]}
        column = shop.made("/tables", request)["columns"][0]
        assert column["fullyQualifiedName"] == 'shop.main."we.ird".t."x.y"'
        assert column["children"][0]["fullyQualifiedName"] == 'shop.main."we.ird".t."x.y".z'

    @pytest.mark.parametrize(
        "name", ["sl/ash", "per%cent", "per%2Fcent", "sp ace", "ünï", "a__reserved__colon__b", "q?m#h&x", "tab\tle"]
    )
    def test_any_name_is_stored_verbatim_and_found_again(self, shop: Client, name: str) -> None:
        table = shop.table(name)
        status, found = shop.get(f"/tables/name/{escaped(table['fullyQualifiedName'])}")
        assert (status, found["name"], found["id"]) == (200, name, table["id"])
        other = shop.table("other")
        shop.lineage(table, other, sqlQuery="x")
        path = f"/lineage/getLineageEdge/table/name/{escaped(table['fullyQualifiedName'])}/table/name/"
        assert shop.get(path + escaped(other["fullyQualifiedName"]))[0] == 200

    def test_procedures_and_containers(self, shop: Client) -> None:
        code = {"language": "SQL", "code": "begin end"}
        procedure = shop.made("/storedProcedures", {"name": "p", "storedProcedureCode": code, "databaseSchema": PUBLIC})
        assert (procedure["storedProcedureCode"], procedure["database"]["name"]) == (code, "main")
        shop.made("/services/storageServices", {"name": "lake", "serviceType": "S3"})
        columns = [{"name": "a", "dataType": "INT"}]
        request = {"name": "b", "service": "lake", "fullPath": "s3://b/p", "dataModel": {"columns": columns}}
        container = shop.made("/containers", request)
        assert container["dataModel"]["columns"][0]["fullyQualifiedName"] == "lake.b.a"
        child = shop.made("/containers", {"name": "c", "service": "lake", "parent": ref(container, "container")})
        assert child["fullyQualifiedName"] == "lake.b.c"

    def test_a_missing_parent_is_not_found(self, client: Client) -> None:
        status, body = client.put("/databases", {"name": "d", "service": "nowhere"})
        assert (status, body["code"]) == (404, 404)

    def test_a_missing_entity_is_not_found(self, shop: Client) -> None:
        for path in ("/tables/name/shop.main.public.nope", "/tables/00000000-0000-0000-0000-000000000000"):
            status, body = shop.get(path)
            assert (status, body["code"]) == (404, 404)
            assert "not found" in body["message"]

    def test_entities_are_read_by_id_too(self, shop: Client) -> None:
        table = shop.table("t")
        assert shop.get(f"/tables/{table['id']}", fields="columns,owners")[1] == table

    def test_lists_page_by_cursors_that_need_no_escaping(self, shop: Client) -> None:
        for number in range(5):
            shop.table(f"t {number}/ü")
        seen, after = [], None
        while True:
            page = shop.get("/tables", limit=2, **({"after": after} if after else {}))[1]
            assert page["paging"]["total"] == 5
            seen += [one["name"] for one in page["data"]]
            before = page["paging"].get("before")
            after = page["paging"].get("after")
            if after is None:
                break
            assert escaped(after) == after
        assert seen == sorted(seen)
        assert len(seen) == 5
        back = shop.get("/tables", limit=2, before=before)[1]
        assert [one["name"] for one in back["data"]] == seen[2:4]

    def test_lists_are_narrowed_by_ancestor(self, shop: Client) -> None:
        shop.table("a")
        shop.table("b", schema="shop.main.other")
        for key, value, names in (
            ("databaseSchema", PUBLIC, ["a"]),
            ("database", "shop.main", ["b", "a"]),
            ("service", "shop", ["b", "a"]),
            ("service", "sho", []),
        ):
            assert [one["name"] for one in shop.get("/tables", **{key: value})[1]["data"]] == names

    def test_a_wrong_cursor_is_refused(self, shop: Client) -> None:
        assert shop.get("/tables", after="%%%")[0] == 400

    def test_bulk_put_reports_each_request(self, shop: Client) -> None:
        good = {"name": "t", "columns": [], "databaseSchema": PUBLIC}
        path = "/tables/bulk?async=false&overrideMetadata=false"
        status, body = shop.put(path, [good, {**good, "databaseSchema": "no.where.at"}, {"columns": []}])
        assert (status, body["status"]) == (200, "partialSuccess")
        assert (body["numberOfRowsProcessed"], body["numberOfRowsPassed"], body["numberOfRowsFailed"]) == (3, 1, 2)
        assert body["successRequest"] == [{"request": "shop.main.public.t", "message": "", "status": 201}]
        assert [one["status"] for one in body["failedRequest"]] == [404, 400]
        assert shop.put(path, [good])[1]["status"] == "success"
        assert shop.put(path, [{}])[1]["status"] == "failure"


class TestChanges:
    def test_json_patch_by_id_and_by_unquoted_name(self, shop: Client) -> None:
        view = shop.table("v", tableType="View", schemaDefinition="select")
        flag = [{"op": "add", "path": "/processedLineage", "value": True}]
        status, body = shop.patch(f"/tables/name/{view['fullyQualifiedName']}", flag)
        assert (status, body["processedLineage"]) == (200, True)
        text = [{"op": "add", "path": "/description", "value": "said"}]
        status, body = shop.patch(f"/tables/{view['id']}", text)
        assert (status, body["description"], body["processedLineage"]) == (200, "said", True)
        column = [{"op": "add", "path": "/columns/0/description", "value": "first"}]
        assert shop.patch(f"/tables/{view['id']}", column)[1]["columns"][0]["description"] == "first"
        gone = [{"op": "remove", "path": "/description"}]
        assert "description" not in shop.patch(f"/tables/{view['id']}", gone)[1]

    @pytest.mark.parametrize("place", ["", "/columns/0"])
    @pytest.mark.parametrize(
        ("path", "value"),
        [("/tags/0", {"tagFQN": "PII.Sensitive"}), ("/tags/-", {"tagFQN": "PII.Sensitive"})],
    )
    def test_the_first_item_of_an_absent_list_can_be_patched_in(
        self, shop: Client, place: str, path: str, value: object
    ) -> None:
        table = shop.table("t")
        status, body = shop.patch(f"/tables/{table['id']}", [{"op": "add", "path": place + path, "value": value}])
        assert status == 200, body
        stored = shop.get(f"/tables/{table['id']}")[1]
        holder = stored["columns"][0] if place else stored
        assert [tag["tagFQN"] for tag in holder["tags"]] == ["PII.Sensitive"]

    @pytest.mark.parametrize("operation", ["add", "replace"])
    def test_an_absent_list_can_be_patched_whole(self, shop: Client, operation: str) -> None:
        table, owner = shop.table("t"), [{"id": "1", "type": "user"}]
        assert shop.patch(f"/tables/{table['id']}", [{"op": operation, "path": "/owners", "value": owner}])[0] == 200
        more = [{"op": "add", "path": "/owners/0", "value": {"id": "2", "type": "team"}}]
        assert [one["id"] for one in shop.patch(f"/tables/{table['id']}", more)[1]["owners"]] == ["2", "1"]
        other = shop.table("other")
        first = [{"op": "add", "path": "/owners/0", "value": owner[0]}]
        assert shop.patch(f"/tables/{other['id']}", first)[1]["owners"] == owner

    def test_a_view_that_is_redefined_is_not_processed_any_more(self, shop: Client) -> None:
        view = shop.table("v", tableType="View", schemaDefinition="one")
        shop.patch(f"/tables/{view['id']}", [{"op": "add", "path": "/processedLineage", "value": True}])
        assert shop.table("v", tableType="View", schemaDefinition="one")["processedLineage"] is True
        assert "processedLineage" not in shop.table("v", tableType="View", schemaDefinition="two")

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "remove", "path": "/nothing/there"},
            {"op": "add", "path": "no-slash", "value": 1},
            {"op": "add", "path": "/tags/1", "value": {"tagFQN": "PII.Sensitive"}},
            {"op": "add", "path": "/columns/9/tags/0", "value": {"tagFQN": "PII.Sensitive"}},
            {"op": "add", "path": "/nothing/0", "value": 1},
            {"op": "replace", "path": "", "value": 3},
            {"op": "add", "path": "/columns", "value": "text"},
            {"op": "move", "path": "/description"},
        ],
    )
    def test_a_patch_that_does_not_apply_is_refused_and_changes_nothing(self, shop: Client, operation: object) -> None:
        table = shop.table("t")
        assert shop.patch(f"/tables/{table['id']}", [operation])[0] == 400
        assert shop.get(f"/tables/{table['id']}")[1] == table

    def test_soft_deletion_hides_until_restored(self, shop: Client) -> None:
        table = shop.table("t")
        assert shop.delete(f"/tables/{table['id']}", recursive=False, hardDelete=False)[0] == 200
        assert shop.get(f"/tables/{table['id']}")[0] == 404
        assert shop.get(f"/tables/{table['id']}", include="all")[1]["deleted"] is True
        assert shop.put("/tables/restore", {"id": table["id"]})[1]["deleted"] is False
        assert shop.get(f"/tables/{table['id']}")[0] == 200

    def test_hard_deletion_takes_edges_and_children_along(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        shop.lineage(source, target)
        assert shop.delete(f"/tables/{source['id']}", hardDelete=True, recursive=False)[0] == 200
        assert shop.get(f"/tables/{source['id']}", include="all")[0] == 404
        shop.table("s")
        assert shop.edge(source, target) is None
        schema = shop.get(f"/databaseSchemas/name/{PUBLIC}")[1]
        assert shop.delete(f"/databaseSchemas/{schema['id']}", hardDelete=True)[0] == 400
        assert shop.delete(f"/databaseSchemas/async/{schema['id']}", hardDelete=True, recursive=True)[0] == 200
        assert shop.get(f"/tables/{target['id']}", include="all")[0] == 404

    def test_stale_entities_of_a_scope_are_soft_deleted(self, shop: Client) -> None:
        kept, gone = shop.table("kept"), shop.table("gone")
        elsewhere = shop.table("gone", schema="shop.main.other")
        body = {"scopeFqn": PUBLIC, "scopeEntityType": "databaseSchema", "seenFqns": [kept["fullyQualifiedName"]]}
        assert shop.call("DELETE", "/tables/deleteStale", body)[0] == 200
        found = {one["id"] for one in shop.get("/tables", limit=10)[1]["data"]}
        assert found == {kept["id"], elsewhere["id"]}
        assert shop.get(f"/tables/{gone['id']}", include="deleted")[0] == 200


class TestQueries:
    def test_a_query_is_named_by_its_checksum_and_stored_once(self, shop: Client) -> None:
        table = shop.table("t")
        text = "insert into t select 1"
        request = {"query": text, "service": "shop", "processedLineage": True, "queryUsedIn": [ref(table)]}
        checksum = hashlib.md5(text.encode()).hexdigest()
        first, second = shop.made("/queries", request), shop.made("/queries", request)
        assert first == second
        assert (first["name"], first["checksum"], first["fullyQualifiedName"]) == (
            checksum,
            checksum,
            f"shop.{checksum}",
        )
        assert (first["processedLineage"], first["service"]["name"]) == (True, "shop")
        bulk = shop.put("/queries/bulk?async=false&overrideMetadata=false", [request, {**request, "query": "x"}])[1]
        assert (bulk["status"], [one["status"] for one in bulk["successRequest"]]) == ("success", [200, 201])

    def test_queries_are_listed_by_the_entity_they_touch(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        query = shop.made("/queries", {"query": "q", "service": "shop", "queryUsedIn": [ref(one)]})
        assert shop.put(f"/queries/{query['id']}/usage", [ref(two)])[0] == 200
        for table in (one, two):
            assert [q["id"] for q in shop.get("/queries", entityId=table["id"])[1]["data"]] == [query["id"]]
        assert shop.get("/queries", entityId="other")[1]["data"] == []
        for part in ("users", "usedBy"):
            assert shop.put(f"/queries/{query['id']}/{part}", ["somebody"])[1]["usedBy"] == ["somebody"]

    def test_processed_queries_are_found_by_checksum(self, shop: Client) -> None:
        table = shop.table("t")
        query = shop.made(
            "/queries", {"query": "q", "service": "shop", "processedLineage": True, "queryUsedIn": [ref(table)]}
        )
        must = [
            {"terms": {"checksum.keyword": [query["checksum"], "other"]}},
            {"term": {"processedLineage": True}},
            {"term": {"service.name.keyword": "shop"}},
        ]
        status, body = shop.get(
            "/search/query",
            q="",
            index="query_search_index",
            size=10,
            include_source_fields=["checksum", "queryUsedIn"],
            query_filter=json.dumps({"query": {"bool": {"must": must}}}),
        )
        assert status == 200
        assert [hit["_source"] for hit in body["hits"]["hits"]] == [
            {"checksum": query["checksum"], "queryUsedIn": [ref(table)]}
        ]


class TestSearch:
    def field(self, shop: Client, value: str, **more: object) -> list[str]:
        params = {"fieldName": "fullyQualifiedName", "fieldValue": value, "index": "table_search_index", **more}
        status, body = shop.get("/search/fieldQuery", **params)
        assert status == 200
        assert body["hits"]["total"] == {"relation": "eq", "value": len(body["hits"]["hits"])}
        return [hit["_source"]["fullyQualifiedName"] for hit in body["hits"]["hits"]]

    def test_wildcards_cross_dots_and_ignore_case(self, shop: Client) -> None:
        shop.table("Orders")
        shop.table("orders_old")
        shop.table("Orders", schema="shop.main.other")
        both = ["shop.main.other.Orders", "shop.main.public.Orders"]
        assert self.field(shop, "SHOP.*.*.orders") == both
        assert self.field(shop, "shop.*.orders") == both
        assert self.field(shop, "shop.main.public.order?") == ["shop.main.public.Orders"]
        assert self.field(shop, "shop.*.nothing") == []
        assert len(self.field(shop, "*")) == 3

    def test_patterns_are_no_syntax_of_the_store(self, shop: Client) -> None:
        shop.table("a[b]c")
        shop.table("100%_x")
        assert self.field(shop, "shop.*.a[b]c") == ["shop.main.public.a[b]c"]
        assert self.field(shop, "shop.*.[a-z]*") == []
        assert self.field(shop, "shop.*.100%_x") == ["shop.main.public.100%_x"]
        assert self.field(shop, "' or 1=1 --") == []

    def test_at_most_ten_hits_as_the_platform_gives(self, shop: Client) -> None:
        for number in range(12):
            shop.table(f"t{number}")
        assert len(self.field(shop, "shop.*", size=100)) == 10

    def test_deleted_entities_are_filtered(self, shop: Client) -> None:
        table = shop.table("t")
        shop.delete(f"/tables/{table['id']}")
        assert self.field(shop, "shop.*.t", deleted="false") == []
        assert self.field(shop, "shop.*.t", deleted="true") == [table["fullyQualifiedName"]]

    def test_containers_are_found_by_path(self, shop: Client) -> None:
        shop.made("/services/storageServices", {"name": "lake", "serviceType": "S3"})
        shop.made("/containers", {"name": "c", "service": "lake", "fullPath": "s3://bucket/Path"})
        for path in ("s3://bucket/Path", "s3a://bucket/Path/"):
            assert self.field(shop, path, fieldName="fullPath", index="container_search_index") == ["lake.c"]
        assert self.field(shop, "s3://bucket", fieldName="fullPath", index="container_search_index") == []

    def test_aliases_and_unknown_indexes_find_nothing(self, shop: Client) -> None:
        shop.table("t")
        assert self.field(shop, "t", fieldName="aliases.keyword") == []
        assert self.field(shop, "*", index="topic_search_index") == []

    def views(self, shop: Client, clause: object, **more: object) -> list[str]:
        params = {"q": "", "size": 100, "deleted": "false", "index": "table_search_index", **more}
        params["query_filter"] = json.dumps({"query": clause})
        status, body = shop.get("/search/query", **params)
        assert status == 200, body
        return [hit["_source"]["fullyQualifiedName"].split(".")[-1] for hit in body["hits"]["hits"]]

    def test_the_filter_subset(self, shop: Client) -> None:
        done = shop.table("done", tableType="View", schemaDefinition="d")
        shop.patch(f"/tables/{done['id']}", [{"op": "add", "path": "/processedLineage", "value": True}])
        shop.table("open", tableType="View", schemaDefinition="d")
        plain = shop.table("plain", tableType="Regular")
        view = {"term": {"tableType": "View"}}
        fresh = {"bool": {"must_not": {"exists": {"field": "processedLineage"}}}}
        for clause, names in (
            (view, ["done", "open"]),
            ({"bool": {"must": [view, {"term": {"service.name.keyword": "SHOP"}}]}}, ["done", "open"]),
            ({"bool": {"must": [view], "must_not": [{"term": {"processedLineage": True}}]}}, ["open"]),
            ({"bool": {"must": view, "should": [fresh], "minimum_should_match": 1}}, ["open"]),
            ({"bool": {"should": [{"term": {"processedLineage": False}}, fresh]}}, ["open", "plain"]),
            ({"bool": {"must": [{"exists": {"field": "schemaDefinition"}}]}}, ["done", "open"]),
            ({"terms": {"tableType": ["View", "Regular"]}}, ["done", "open", "plain"]),
            ({"term": {"service.name.keyword": {"value": "else"}}}, []),
            ({"ids": {"values": [plain["id"]]}}, ["plain"]),
            ({"terms": {"_id": [plain["id"]]}}, ["plain"]),
            ({"term": {"deleted": True}}, []),
            ({"term": {"a.field.nobody.has": "x"}}, []),
            ({"match_all": {}}, ["done", "open", "plain"]),
        ):
            assert self.views(shop, clause) == names, clause

    @pytest.mark.parametrize("text", ["{", "[]", '{"query": {"script": {}}}', '{"query": {"bool": 3}}', '{"query": 1}'])
    def test_other_filters_are_refused(self, shop: Client, text: str) -> None:
        assert shop.get("/search/query", q="", index="table_search_index", query_filter=text)[0] == 400

    def test_search_after_pages_to_an_empty_answer(self, shop: Client) -> None:
        for number in range(5):
            shop.table(f"v{number}", tableType="View", schemaDefinition=f"d{number}")
        seen, after = [], {}
        while True:
            params = {"q": "", "size": 2, "index": "table_search_index", "sort_field": "fullyQualifiedName"}
            params |= {
                "sort_order": "desc",
                "include_source_fields": ["schemaDefinition", "fullyQualifiedName"],
                **after,
            }
            hits = shop.get("/search/query", **params)[1]["hits"]["hits"]
            if not hits:
                break
            seen += [hit["_source"]["schemaDefinition"] for hit in hits]
            after = {"search_after": hits[-1]["sort"][0]}
        assert seen == ["d4", "d3", "d2", "d1", "d0"]

    def test_upstream_ids_are_found_by_target_ids(self, shop: Client) -> None:
        source, target = shop.table("s"), shop.table("t")
        shop.lineage(source, target)
        found = shop.get(
            "/search/query",
            q="",
            index="table_search_index",
            include_source_fields="upstreamLineage.fromEntity.id",
            query_filter=json.dumps({"query": {"ids": {"values": [target["id"]]}}}),
        )[1]
        assert [hit["_source"] for hit in found["hits"]["hits"]] == [
            {"upstreamLineage": [{"fromEntity": {"id": source["id"]}}]}
        ]


class TestIngestionPipelines:
    def test_status_progress_and_metrics_are_kept(self, shop: Client) -> None:
        service = shop.get("/services/databaseServices/name/shop")[1]
        request = {"name": "lineage", "pipelineType": "lineage", "service": ref(service, "databaseService")}
        pipeline = shop.made("/services/ingestionPipelines", {**request, "sourceConfig": {"config": {}}})
        name = pipeline["fullyQualifiedName"]
        assert shop.get(f"/services/ingestionPipelines/name/{name}")[1]["id"] == pipeline["id"]
        state = {"runId": "r1", "pipelineState": "running"}
        assert shop.put(f"/services/ingestionPipelines/{name}/pipelineStatus", state)[0] == 200
        assert shop.put(f"/services/ingestionPipelines/progress/{name}/r1", {"done": 1})[0] == 200
        assert shop.post(f"/services/ingestionPipelines/metrics/{name}/r1", {"m": 1})[0] == 200
        assert shop.get(f"/services/ingestionPipelines/{name}/pipelineStatus/r1")[1] == state
        assert shop.get(f"/services/ingestionPipelines/{name}/pipelineStatus")[1]["data"] == [state]
        assert shop.get(f"/services/ingestionPipelines/{name}/pipelineStatus/r2") == (200, None)


class TestToken:
    def test_a_wrong_token_is_refused_with_a_code(self, tmp_path: Path) -> None:
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, token="right")) as address:
            assert Client(address.url, "right").get("/system/version")[0] == 200
            for token in ("wrong", "", "right2", "rïght"):
                status, body = Client(address.url, token.encode("utf-8").decode("latin-1")).get("/tables")
                assert (status, body["code"]) == (401, 401)
            assert requests.get(f"{address.url}/v1/tables", timeout=5).status_code == 401
            assert requests.get(address.url.removesuffix("/api") + "/healthz", timeout=5).status_code == 200

    def test_other_addresses_demand_a_token(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="token"), running_catalog(CatalogConfig(tmp_path / "c.db", "0.0.0.0", 0)):
            pass

    def test_the_token_is_in_no_text_of_the_config(self, tmp_path: Path) -> None:
        assert "canary" not in repr(CatalogConfig(tmp_path / "c.db", token="canary"))
