"""A page's document of as many tables as one likes, in layers, each made of two of the layer before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

_SCHEMAS = ("raw", "stage", "core", "mart", "report")
_COLUMNS = 8


def layered_document(layers: Sequence[int]) -> dict[str, Any]:
    """So many tables in each layer: `shop.main.raw.stock_0_0` and so on, of eight columns, of which four are joined."""
    tables = [[_table(layer, number) for number in range(count)] for layer, count in enumerate(layers)]
    edges = []
    for sources, targets in pairwise(tables):
        for number, target in enumerate(targets):
            chosen = {number * 7 % len(sources), number * 13 % len(sources)}
            edges += [_edge(sources[one], target) for one in sorted(chosen)]
    return {"roots": [], "window": {}, "nodes": [one for row in tables for one in row], "edges": edges}


def layered_view(document: dict[str, Any]) -> str:
    """The address of all its tables, around the first of the middle layer."""
    names = [node["fullyQualifiedName"] for node in document["nodes"]]
    middle = names[len(names) // 2]
    return "&".join(f"t=0.0.{name}" for name in (middle, *names))


def _table(layer: int, number: int) -> dict[str, Any]:
    schema, name = _SCHEMAS[layer], f"{('stock', 'orders', 'payments')[number % 3]}_{layer}_{number}"
    columns = [{"path": f"c{one}", "name": f"amount_{one}", "dataType": "INT"} for one in range(_COLUMNS)]
    place = {"service": "shop", "database": "main", "databaseSchema": schema}
    named = {"id": f"{layer}-{number}", "name": name, "fullyQualifiedName": f"shop.main.{schema}.{name}"}
    return {**named, **place, "type": "table", "columns": columns}


def _edge(source: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    pairs = [
        {
            "from": [f"{source['fullyQualifiedName']}.c{one}"],
            "to": f"{target['fullyQualifiedName']}.c{one}",
            "type": "DIRECT",
            "subtype": "IDENTITY",
        }
        for one in range(0, _COLUMNS, 2)
    ]
    said = {"producer": {"kind": "query", "key": target["id"]}, "source": "QueryLineage", "columns": pairs}
    return {"from": source["id"], "to": target["id"], "contributions": [said]}
