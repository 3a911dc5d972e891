"""Lineage itself: text to statements to lineage to requests, without network, disk or Spark.

The public names load on first use: a parser process imports this package too, and must start in no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingestion.lineage_parser import ColumnEdge, LineageParser
    from ingestion.masking import QueryMasker
    from ingestion.sql_graph import LineageGraph, lineage_graph

__all__ = ["ColumnEdge", "LineageGraph", "LineageParser", "QueryMasker", "lineage_graph"]

_HOMES = {
    "ColumnEdge": "ingestion.lineage_parser",
    "LineageGraph": "ingestion.sql_graph",
    "LineageParser": "ingestion.lineage_parser",
    "QueryMasker": "ingestion.masking",
    "lineage_graph": "ingestion.sql_graph",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(home), name)
