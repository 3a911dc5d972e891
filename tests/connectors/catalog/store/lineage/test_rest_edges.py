"""Lineage over the contract's calls: one row per edge for its clients, whatever else is said about it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.support.http_client import Client, escaped, ref

PUBLIC = "shop.main.public"


def mapping(source: str, target: str, **more: Any) -> Any:
    """A mapping between columns of tables of the public schema, written `table.column`."""
    return {"fromColumns": [f"{PUBLIC}.{source}"], "toColumn": f"{PUBLIC}.{target}", **more}


def path(source: Any, target: Any) -> str:
    return f"/lineage/table/{source['id']}/table/{target['id']}"


def by_name(source: Any, target: Any) -> str:
    names = escaped(source["fullyQualifiedName"]), escaped(target["fullyQualifiedName"])
    return f"/lineage/table/name/{names[0]}/table/name/{names[1]}"


@pytest.fixture
def tables(shop: Client) -> tuple[Client, Any, Any]:
    return shop, shop.table("s"), shop.table("t")


Tables = tuple[Client, Any, Any]


class TestPut:
    def test_answers_200_with_an_empty_body(self, tables: Tables) -> None:
        client, source, target = tables
        ends = {"fromEntity": ref(source), "toEntity": ref(target)}
        assert client.put("/lineage", {"edge": ends}) == (200, None)
        assert client.put(by_name(source, target), {"sqlQuery": "q", "source": "ViewLineage"}) == (200, None)

    def test_details_are_read_flat_under_edge_by_id_and_by_name(self, tables: Tables) -> None:
        client, source, target = tables
        hops = [{"fromEntity": "x", "toEntity": "y"}]
        client.lineage(
            source,
            target,
            sqlQuery="insert",
            source="QueryLineage",
            columnsLineage=[mapping("s.a", "t.b", function="upper(a)")],
            tempLineageTables=hops,
        )
        edge = client.edge(source, target)
        assert edge["columnsLineage"] == [mapping("s.a", "t.b", function="upper(a)")]
        assert (edge["sqlQuery"], edge["source"], edge["tempLineageTables"]) == ("insert", "QueryLineage", hops)
        assert {"createdAt", "createdBy", "updatedAt", "updatedBy"} <= set(edge)
        assert client.get(by_name(source, target).replace("/lineage/", "/lineage/getLineageEdge/"))[1]["edge"] == edge

    def test_replaces_what_was_put_before(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target, sqlQuery="one", columnsLineage=[mapping("s.a", "t.a")])
        client.lineage(source, target, source="ViewLineage", columnsLineage=[mapping("s.b", "t.b")])
        edge = client.edge(source, target)
        assert (edge["columnsLineage"], edge["source"]) == ([mapping("s.b", "t.b")], "ViewLineage")
        assert "sqlQuery" not in edge

    def test_drops_columns_that_are_not_there_and_keeps_the_edge(self, tables: Tables) -> None:
        client, source, target = tables
        both = {"fromColumns": [f"{PUBLIC}.s.nope", f"{PUBLIC}.s.a"], "toColumn": f"{PUBLIC}.t.a"}
        wrong = [mapping("s.a", "t.nope"), mapping("s.nope", "t.a"), mapping("t.a", "t.b"), both, {}]
        client.lineage(source, target, columnsLineage=wrong)
        assert client.edge(source, target)["columnsLineage"] == [mapping("s.a", "t.a")]
        client.lineage(source, target, columnsLineage=wrong[:3])
        assert client.edge(source, target)["columnsLineage"] == []

    def test_a_mapping_sent_twice_is_stored_once(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target, columnsLineage=[mapping("s.a", "t.a")] * 3)
        assert client.edge(source, target)["columnsLineage"] == [mapping("s.a", "t.a")]

    def test_columns_are_found_whatever_their_case(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target, columnsLineage=[mapping("s.A", "t.B")])
        assert client.edge(source, target)["columnsLineage"] == [mapping("s.a", "t.b")]

    def test_a_missing_end_or_pipeline_is_not_found(self, tables: Tables) -> None:
        client, source, target = tables
        nobody = {"id": "00000000-0000-0000-0000-000000000000", "type": "table"}
        for edge in (
            {"fromEntity": nobody, "toEntity": ref(target)},
            {"fromEntity": ref(source), "toEntity": {**ref(target), "type": "dashboard"}},
            {"fromEntity": ref(source), "toEntity": ref(target), "lineageDetails": {"pipeline": nobody}},
        ):
            status, body = client.put("/lineage", {"edge": edge})
            assert (status, body["code"]) == (404, 404)
        assert client.edge(source, target) is None

    def test_a_pipeline_is_expanded(self, tables: Tables) -> None:
        client, source, target = tables
        procedure = client.made("/storedProcedures", {"name": "p", "databaseSchema": PUBLIC})
        client.lineage(source, target, pipeline={"id": procedure["id"], "type": "storedProcedure"})
        assert client.edge(source, target)["pipeline"]["fullyQualifiedName"] == f"{PUBLIC}.p"

    def test_an_edge_may_lead_back_to_its_own_table(self, tables: Tables) -> None:
        client, table, _ = tables
        client.lineage(table, table, columnsLineage=[mapping("s.a", "s.b")])
        assert client.edge(table, table)["columnsLineage"] == [mapping("s.a", "s.b")]

    def test_an_unknown_source_is_refused(self, tables: Tables) -> None:
        client, source, target = tables
        assert client.put(by_name(source, target), {"source": "Guess"})[0] == 400


class TestPatch:
    def patch(self, tables: Tables, *operations: Any) -> tuple[int, Any]:
        client, source, target = tables
        return client.patch(path(source, target), list(operations))

    def test_adds_replaces_and_removes(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target, source="QueryLineage", columnsLineage=[mapping("s.a", "t.a")])
        status, details = self.patch(
            tables,
            {"op": "add", "path": "/columnsLineage/1", "value": mapping("s.b", "t.b")},
            {"op": "add", "path": "/sqlQuery", "value": "q"},
        )
        assert (status, details["sqlQuery"], details["source"]) == (200, "q", "QueryLineage")
        assert details["columnsLineage"] == [mapping("s.a", "t.a"), mapping("s.b", "t.b")]
        status, details = self.patch(
            tables,
            {"op": "remove", "path": "/columnsLineage/0"},
            {"op": "replace", "path": "/sqlQuery", "value": "r"},
        )
        assert (details["columnsLineage"], details["sqlQuery"]) == ([mapping("s.b", "t.b")], "r")
        assert client.edge(source, target) == details

    def test_by_name(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target)
        value = {"op": "add", "path": "/columnsLineage", "value": [mapping("s.a", "t.b")]}
        assert client.patch(by_name(source, target), [value])[1]["columnsLineage"] == [mapping("s.a", "t.b")]

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "replace", "path": "/source", "value": "Manual"},
            {"op": "add", "path": "", "value": {}},
            {"op": "copy", "from": "/createdBy", "path": "/sqlQuery"},
            {"op": "add", "path": "/sqlQueryX", "value": "x"},
            {"op": "remove", "path": "/columnsLineage/7"},
        ],
    )
    def test_other_paths_are_refused(self, tables: Tables, operation: Any) -> None:
        client, source, target = tables
        client.lineage(source, target, sqlQuery="q")
        before = client.edge(source, target)
        assert self.patch(tables, operation)[0] == 400
        assert client.edge(source, target) == before

    @pytest.mark.parametrize("value", [3, "text", {"fromColumns": 7}, [1], None])
    def test_values_of_another_shape_are_refused(self, tables: Tables, value: Any) -> None:
        client, source, target = tables
        client.lineage(source, target)
        assert self.patch(tables, {"op": "add", "path": "/columnsLineage/0", "value": value})[0] == 400

    def test_columns_that_are_not_there_are_dropped(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target)
        wrong = {"op": "add", "path": "/columnsLineage/0", "value": mapping("s.a", "t.nope")}
        assert self.patch(tables, wrong)[1]["columnsLineage"] == []

    def test_an_edge_that_is_not_there_is_not_found(self, tables: Tables) -> None:
        assert self.patch(tables, {"op": "add", "path": "/sqlQuery", "value": "q"})[0] == 404


class TestDelete:
    def test_by_id_and_by_name(self, tables: Tables) -> None:
        client, source, target = tables
        for where in (path(source, target), by_name(source, target)):
            client.lineage(source, target)
            assert client.delete(where)[0] == 200
            assert client.edge(source, target) is None
            status, body = client.delete(where)
            assert (status, body["code"]) == (404, 404)

    def test_by_source_ends_the_edges_into_an_entity_only(self, tables: Tables) -> None:
        client, source, target = tables
        other = client.table("o")
        client.lineage(source, target, source="ViewLineage")
        client.lineage(other, target, source="QueryLineage")
        client.lineage(target, other, source="ViewLineage")
        assert client.delete(f"/lineage/table/{target['id']}/type/ViewLineage")[0] == 200
        assert client.edge(source, target) is None
        assert client.edge(other, target) is not None
        assert client.edge(target, other) is not None
        name = escaped(target["fullyQualifiedName"])
        assert client.delete(f"/lineage/source/name/table/{name}/type/QueryLineage")[0] == 200
        assert client.edge(other, target) is None

    def test_by_source_of_a_pipeline(self, tables: Tables) -> None:
        client, source, target = tables
        client.made("/services/pipelineServices", {"name": "air", "serviceType": "Airflow"})
        pipeline = client.made("/pipelines", {"name": "p", "service": "air"})
        client.lineage(source, target, source="PipelineLineage", pipeline=ref(pipeline, "pipeline"))
        client.lineage(target, source, source="QueryLineage", pipeline=ref(pipeline, "pipeline"))
        assert client.delete(f"/lineage/pipeline/{pipeline['id']}/type/PipelineLineage")[0] == 200
        assert client.edge(source, target) is None
        assert client.edge(target, source) is not None

    def test_what_was_deleted_can_be_put_again(self, tables: Tables) -> None:
        client, source, target = tables
        for _ in range(3):
            client.lineage(source, target, sqlQuery="q")
            assert client.edge(source, target)["sqlQuery"] == "q"
            client.delete(path(source, target))
            assert client.edge(source, target) is None


class TestGraph:
    def graph(self, client: Client, root: Any, up: int, down: int) -> Any:
        params = {"upstreamDepth": up, "downstreamDepth": down}
        status, body = client.get(f"/lineage/table/{root['id']}", **params)
        assert status == 200
        name = escaped(root["fullyQualifiedName"])
        assert client.get(f"/lineage/table/name/{name}", **params)[1] == body
        return body

    def test_depths_bound_each_side(self, shop: Client) -> None:
        chain = [shop.table(name) for name in "abcde"]
        for source, target in pairwise(chain):
            shop.lineage(source, target, columnsLineage=[])
        ids = [table["id"] for table in chain]
        body = self.graph(shop, chain[2], 1, 2)
        assert set(body) == {"entity", "nodes", "upstreamEdges", "downstreamEdges"}
        assert {node["id"] for node in body["nodes"]} == {ids[1], ids[3], ids[4]}
        assert [(edge["fromEntity"], edge["toEntity"]) for edge in body["upstreamEdges"]] == [(ids[1], ids[2])]
        assert {edge["toEntity"] for edge in body["downstreamEdges"]} == {ids[3], ids[4]}
        assert all("lineageDetails" in edge for edge in body["downstreamEdges"])
        assert self.graph(shop, chain[0], 0, 0)["nodes"] == []

    def test_cycles_end(self, shop: Client) -> None:
        one, two = shop.table("one"), shop.table("two")
        shop.lineage(one, two)
        shop.lineage(two, one)
        body = self.graph(shop, one, 3, 3)
        assert [node["id"] for node in body["nodes"]] == [two["id"]]

    def test_deleted_entities_are_left_out(self, tables: Tables) -> None:
        client, source, target = tables
        client.lineage(source, target)
        client.delete(f"/tables/{source['id']}")
        body = self.graph(client, target, 1, 1)
        assert (body["nodes"], body["upstreamEdges"]) == ([], [])
        client.put("/tables/restore", {"id": source["id"]})
        assert len(self.graph(client, target, 1, 1)["upstreamEdges"]) == 1

    def test_a_missing_root_is_not_found(self, shop: Client) -> None:
        assert shop.get("/lineage/table/name/shop.main.public.nope")[0] == 404
        assert shop.get("/lineage/nosuchtype/name/x")[0] == 404
