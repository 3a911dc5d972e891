"""Lineage itself: text to statements to lineage to requests, without network, disk or Spark.

The public names load on first use: a parser process imports this package too, and must start in no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingestion.masking import QueryMasker
    from ingestion.scripts.lineage_graph import LineageGraph, lineage_graph
    from ingestion.scripts.lineage_parser import ColumnEdge, LineageParser

__all__ = ["ColumnEdge", "LineageGraph", "LineageParser", "QueryMasker", "lineage_graph"]

_HOMES = {
    "ColumnEdge": "ingestion.scripts.lineage_parser",
    "LineageGraph": "ingestion.scripts.lineage_graph",
    "LineageParser": "ingestion.scripts.lineage_parser",
    "QueryMasker": "ingestion.masking",
    "lineage_graph": "ingestion.scripts.lineage_graph",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(home), name)
