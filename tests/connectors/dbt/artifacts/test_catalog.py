"""catalog.json: the columns of the warehouse in their order."""

from __future__ import annotations

import json

from connectors.dbt.artifacts import read_columns, read_manifest
from tests.support.dbt_project import BUILT


def test_the_columns_are_those_that_the_warehouse_describes() -> None:
    nodes = read_manifest(BUILT / "manifest.json").nodes
    described = json.loads((BUILT / "described.json").read_text())
    found = {
        ".".join(nodes[node].relation_key[1:]): columns
        for node, columns in read_columns(BUILT / "catalog.json").items()
    }
    assert {table: [column.name for column in columns] for table, columns in found.items()} == described
    assert [c.type for c in found["main_marts.prices_v1"]] == ["VARCHAR", "DOUBLE"]
