"""The column lineage that dbt 2 leaves beside its manifest: the newest of a node counts, as the word of another."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.dbt.column_index import ColumnIndex, read_column_index, recorded_definitions
from connectors.dbt.projects import project_from_manifest
from connectors.dbt.source import model_definitions
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.sandbox.process import Limits
from tests.support.dbt_project import BUILT

LINES, BEANS, ORDERS = "model.roastery.orders", "source.roastery.shop.beans", "model.roastery.stg_orders"
EPHEMERAL, CUSTOMERS = "model.roastery.order_lines", "model.roastery.stg_customers"

Edge = tuple[str, str | None, str, str, str]


def write(target: Path, number: int, stamp: int, *edges: Edge, version: int = 1) -> Path:
    """A file of the index as dbt writes it."""
    names = ("to_node_unique_id", "to_column_name", "from_node_unique_id", "from_column_name", "lineage_kind")
    rows: list[dict[str, Any]] = [{**dict(zip(names, edge, strict=True)), "ingested_at": stamp} for edge in edges]
    file = target / "compiled_state" / "cll" / f"v{version}_{number}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file


def told(index: ColumnIndex) -> set[str]:
    """What the index says of the models of a project that was built."""
    project = project_from_manifest(BUILT / "manifest.json", None, Limits(), BUILT / "catalog.json")
    found = set()
    for definition in recorded_definitions(index, project.nodes, project.dialect):
        lineage = loads(definition.lineage or b"")
        assert isinstance(lineage, StatementLineage)
        for flow in lineage.flows:
            for output in flow.outputs:
                found |= {
                    f"{one.sources[0].table.table}.{one.sources[0].column} {one.transformation.subtype} "
                    f"{definition.full_name[2]}.{output.name}"
                    for one in output.references
                }
    return found


def test_the_newest_file_of_a_node_counts_and_only_values_do(tmp_path: Path) -> None:
    kept = (CUSTOMERS, "id", "source.roastery.shop.customers", "ID", "copy")
    write(tmp_path, 0, 1, (LINES, "total", ORDERS, "gone", "copy"), kept)
    decides = (LINES, None, BEANS, "id", "scan"), (LINES, "total", BEANS, "id", "join_key")
    write(tmp_path, 3, 2, (LINES, "TOTAL", ORDERS, "price", "transform"), *decides)
    assert told(read_column_index(tmp_path)) == {
        "raw_customers.id IDENTITY stg_customers.id",
        "stg_orders.price TRANSFORMATION orders.total",
    }


def test_an_ephemeral_model_stands_for_what_it_is_made_of(tmp_path: Path) -> None:
    behind = (EPHEMERAL, "margin", ORDERS, "price", "transform"), (EPHEMERAL, "margin", EPHEMERAL, "margin", "copy")
    write(tmp_path, 0, 1, (LINES, "margin", EPHEMERAL, "margin", "copy"), *behind)
    assert told(read_column_index(tmp_path)) == {"stg_orders.price TRANSFORMATION orders.margin"}


def test_a_project_without_an_index_says_nothing_of_one(tmp_path: Path) -> None:
    assert read_column_index(tmp_path) == ColumnIndex()


@pytest.mark.parametrize("content", [b"", b"PAR1 cut", "a,b\n"], ids=["empty", "cut", "foreign"])
def test_a_file_that_is_none_of_dbts_is_told_and_the_others_are_read(tmp_path: Path, content: bytes | str) -> None:
    file = write(tmp_path, 1, 1, (LINES, "total", ORDERS, "price", "copy")).with_name("v1_2.parquet")
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    index = read_column_index(tmp_path)
    assert (len(index.notes), "v1_2.parquet cannot be read" in index.notes[0]) == (1, True)
    assert told(index) == {"stg_orders.price IDENTITY orders.total"}


def test_names_that_are_no_text_are_those_of_no_file_of_dbts(tmp_path: Path) -> None:
    file = write(tmp_path, 0, 1, (LINES, "total", ORDERS, "price", "copy"))
    table = pq.read_table(file)
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    pq.write_table(table.set_column(1, "to_column_name", broken), file)
    index = read_column_index(tmp_path)
    assert (dict(index.columns), "v1_0.parquet cannot be read" in index.notes[0]) == ({}, True)


def test_rows_without_a_time_are_told(tmp_path: Path) -> None:
    file = write(tmp_path, 0, 1, (LINES, "total", ORDERS, "price", "copy"))
    table = pq.read_table(file)
    at = table.column_names.index("ingested_at")
    pq.write_table(table.set_column(at, "ingested_at", pa.array(["today"])), file)
    index = read_column_index(tmp_path)
    assert (dict(index.columns), "v1_0.parquet: 1 rows have no time" in index.notes[0]) == ({}, True)


def test_other_columns_and_a_version_that_is_not_known_are_told(tmp_path: Path) -> None:
    write(tmp_path, 1, 1, (LINES, "total", ORDERS, "price", "copy"), version=7)
    pq.write_table(pa.table({"other": [1]}), tmp_path / "compiled_state" / "cll" / "v1_1.parquet")
    index = read_column_index(tmp_path)
    assert not index.columns
    assert ["version 7" in index.notes[0], "v1_1.parquet cannot be read" in index.notes[1]] == [True, True]


def test_a_project_has_the_index_beside_its_manifest_as_definitions_of_their_own(tmp_path: Path) -> None:
    shutil.copy(BUILT / "manifest.json", tmp_path)
    ours = list(model_definitions(project_from_manifest(tmp_path / "manifest.json", None, Limits())))
    write(tmp_path, 0, 1_700_000_000_000_000_000, (LINES, "total", ORDERS, "price", "copy"))
    *same, last = model_definitions(project_from_manifest(tmp_path / "manifest.json", None, Limits()))
    assert same == ours
    assert (last.text, last.full_name[2], last.at) == ("", "orders", pytest.approx(1_700_000_000))
