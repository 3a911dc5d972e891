"""What engines record of lineage themselves is read as they mean it: the tables, the columns, and what is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.records import MALFORMED_EDGES
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import Flow, StatementLineage
from tests.support.query_log_exports import read_export, read_file

EXPORTS = Path(__file__).parent / "exports"


def lines_of_edges(edges: bytes | None) -> list[str]:
    """Each table or column pair that lineage has, as one text."""
    lineage = None if edges is None else loads(edges)
    assert lineage is None or isinstance(lineage, StatementLineage)
    return [] if lineage is None else sorted(line for flow in lineage.flows for line in _lines(flow))


def _lines(flow: Flow) -> Iterator[str]:
    if flow.target is None:  # it was only read
        return
    target = flow.target.name.parts
    for source in flow.sources:
        yield f"{_dotted(source.parts)} -> {_dotted(target)}"
    for output in flow.outputs:
        for reference in output.references:
            (ref,) = reference.sources
            how = reference.transformation.subtype.lower()
            yield f"{_dotted(ref.table.parts)}.{ref.column} -> {_dotted(target)}.{output.name} {how}"
    for reference in flow.indirect:
        (ref,) = reference.sources
        yield f"{_dotted(ref.table.parts)}.{ref.column} -> {_dotted(target)} {reference.transformation.subtype.lower()}"


def _dotted(parts: tuple[str, ...]) -> str:
    return ".".join(f"[{part}]" if "." in part else part for part in parts)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (
            "snowflake_access_history.jsonl",
            [
                [
                    "SHOP.SALES.ORDERS -> SHOP.SALES.DAILY",
                    "SHOP.SALES.ORDERS.AMOUNT -> SHOP.SALES.DAILY.TOTAL transformation",
                    "SHOP.SALES.ORDERS.DAY -> SHOP.SALES.DAILY.DAY transformation",
                    "SHOP.SALES.[Good.Customers] -> SHOP.SALES.DAILY",
                ],
                "no_write",
                "objects_modified: columns is no list of objects",
            ],
        ),
        (
            "snowflake_access_history.csv",
            [
                ["SHOP.SALES.S -> SHOP.SALES.T", "SHOP.SALES.S.A -> SHOP.SALES.T.A transformation"],
                ["SHOP.SALES.S_LOG -> SHOP.SALES.U", "SHOP.SALES.S_LOG.A -> SHOP.SALES.U.A transformation"],
                "objects_modified is not valid JSON",
            ],
        ),
        (
            "databricks_table_lineage.jsonl",
            [
                ["lake.sales.orders -> lake.sales.daily"],
                ["s3://landing/orders -> lake.sales.orders"],
                "no_write",
            ],
        ),
        (
            "databricks_column_lineage.csv",
            [
                [
                    "lake.sales.orders -> lake.sales.daily",
                    "lake.sales.orders.amount -> lake.sales.daily.total transformation",
                ],
                "no_write",
            ],
        ),
    ],
)
def test_a_row_of_lineage_alone_is_what_its_engine_means(file: str, expected: list[list[str] | str]) -> None:
    found = [
        record["problem"] or record["status"] or lines_of_edges(record["edges"]) for record in read_file(EXPORTS / file)
    ]
    # what cannot be read comes after what can
    assert found == expected
    assert {record["text"] for record in read_file(EXPORTS / file)} == {None}


def bigquery(destination: Any, referenced: Any, **more: Any) -> dict[str, Any]:
    job = {
        "query": "INSERT INTO d.t SELECT a FROM d.s", "job_id": "j", "creation_time": "2026-11-20 08:00:00 UTC",
        "state": "DONE", "project_id": "p", "destination_table": destination, "referenced_tables": referenced, **more,
    }  # fmt: skip
    (record,) = read_export(json.dumps(job).encode() + b"\n")
    return record


def table(dataset: str, name: str) -> dict[str, str]:
    return {"project_id": "p", "dataset_id": dataset, "table_id": name}


def test_a_job_of_bigquery_tells_its_tables_beside_its_text() -> None:
    record = bigquery(table("d", "t$20261120"), [table("d", "s"), table("d", "u"), table("_script", "tmp")])
    assert record["text"].startswith("INSERT")
    assert lines_of_edges(record["edges"]) == ["p.d.s -> p.d.t", "p.d.u -> p.d.t"]
    camel = {"projectId": "p", "datasetId": "d", "tableId": "s"}
    assert lines_of_edges(bigquery(table("d", "t"), [camel])["edges"]) == ["p.d.s -> p.d.t"]


@pytest.mark.parametrize(
    ("destination", "referenced", "more"),
    [
        (table("_1f2e", "anon7"), [table("d", "s")], {}),  # a query's hidden result
        (table("d", "t"), [], {}),  # out of the cache, or from no table
        (None, [table("d", "s")], {}),
        (table("d", "t"), [table("d", "s")], {"error_result": {"reason": "invalidQuery"}}),
    ],
)
def test_a_job_that_wrote_no_table_tells_none(destination: Any, referenced: Any, more: dict[str, Any]) -> None:
    assert bigquery(destination, referenced, **more)["edges"] is None


@pytest.mark.parametrize(
    ("file", "read", "not_told"),
    [
        ("databricks_column_lineage.csv", ["lake.sales.orders", "lake.sales.orders.amount"], False),
        ("databricks_table_lineage.jsonl", ["lake.sales.orders"], True),
        ("snowflake_access_history.jsonl", ["SHOP.SALES.ORDERS", "SHOP.SALES.ORDERS.DAY"], False),
    ],
)
def test_what_was_only_read_is_told_with_its_columns(file: str, read: list[str], not_told: bool) -> None:
    (record,) = [one for one in read_file(EXPORTS / file) if one["status"] == "no_write"]
    assert columns_read(record["edges"]) == (read, not_told)


def test_what_is_read_through_a_view_is_told_of_its_base_tables_too() -> None:
    def accessed(name: str, **more: Any) -> dict[str, Any]:
        return {"objectDomain": "Table", "objectName": f"SHOP.S.{name}", **more}

    direct = [accessed("V", columns=[{"columnName": "A"}]), accessed("COUNTED", columns=[])]
    row = {"DIRECT_OBJECTS_ACCESSED": direct, "BASE_OBJECTS_ACCESSED": [accessed("T", columns=[{"columnName": "B"}])]}
    (record,) = read_export(json.dumps({"QUERY_ID": "q", "OBJECTS_MODIFIED": [], **row}).encode() + b"\n")
    assert columns_read(record["edges"]) == (
        ["SHOP.S.COUNTED", "SHOP.S.T", "SHOP.S.T.B", "SHOP.S.V", "SHOP.S.V.A"],
        False,
    )


def columns_read(edges: bytes | None) -> tuple[list[str], bool]:
    """What lineage without a target says was read, and whether more columns may have been."""
    lineage = loads(edges or b"")
    assert isinstance(lineage, StatementLineage)
    assert lineage.targets == ()
    columns = [str(one) for flow in lineage.flows for use in flow.references() for one in use.sources]
    return sorted({*(table.dotted for table in lineage.sources), *columns}), bool(lineage.problems)


def test_lineage_that_is_broken_costs_no_text() -> None:
    record = bigquery(table("d", "t"), [{"table_id": "s"}])
    assert (record["edges"], record["problem"]) == (MALFORMED_EDGES, None)
    assert record["text"].startswith("INSERT")


def hive(edges: list[dict[str, Any]], vertices: list[str]) -> bytes | None:
    hooked = {
        "version": "1.0", "user": "etl", "timestamp": 1795161600, "duration": 10, "jobIds": ["j"], "engine": "tez",
        "database": "shop", "hash": "x", "queryText": "insert into t select a from s", "edges": edges,
        "vertices": [
            {"id": at, "vertexType": "TABLE" if name.count(".") == 1 else "COLUMN", "vertexId": name}
            for at, name in enumerate(vertices)
        ],
    }  # fmt: skip
    (record,) = read_export(json.dumps(hooked).encode() + b"\n")
    recorded: bytes | None = record["edges"]
    return recorded


def test_the_graph_of_hives_hook_is_columns_and_what_decides_on_rows() -> None:
    projection, predicate = {"edgeType": "PROJECTION"}, {"edgeType": "PREDICATE", "expression": "(s.b = 'secret')"}
    edges = [
        {"sources": [2], "targets": [0], **projection},
        {"sources": [2, 3], "targets": [1], "expression": "(s.a + s.b)", **projection},
        {"sources": [4], "targets": [1], "expression": "count(*)", **projection},
        {"sources": [3], "targets": [0, 1], **predicate},
    ]
    found = hive(edges, ["shop.T.a", "shop.t.n", "shop.s.a", "shop.s.b", "shop.u"])
    assert lines_of_edges(found) == [
        "shop.s -> shop.t",
        "shop.s.a -> shop.t.a identity",
        "shop.s.a -> shop.t.n transformation",
        "shop.s.b -> shop.t filter",
        "shop.s.b -> shop.t.n transformation",
        "shop.u -> shop.t",
    ]
    assert found is not None
    assert b"secret" not in found


def test_a_query_whose_result_no_table_keeps_has_none() -> None:
    assert hive([{"sources": [1], "targets": [0], "edgeType": "PROJECTION"}], ["a", "shop.s.a"]) is None


def test_an_edge_to_no_vertex_is_broken() -> None:
    assert hive([{"sources": [7], "targets": [0], "edgeType": "PROJECTION"}], ["shop.t.a"]) == MALFORMED_EDGES
