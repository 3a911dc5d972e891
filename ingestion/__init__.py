"""Lineage itself: text to statements to lineage to requests, without network, disk or Spark.

The public names load on first use: a parser process imports this package too, and must start in no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingestion.errors import (
        ConfigError,
        LineageError,
        ParseCrash,
        ParseMemory,
        ParserUnavailable,
        ParseTimeout,
        RecordError,
        Templated,
        TooLarge,
        Unparsable,
    )
    from ingestion.graph import LineageGraph, lineage_graph
    from ingestion.model.lineage import ColumnRef, LineageType, Problem, Subtype, TableName
    from ingestion.model.outcomes import ProblemKind
    from ingestion.parser import ColumnEdge, LineageParser, TargetColumn
    from ingestion.statements.masking import QueryMasker

    __version__: str

__all__ = [
    "ColumnEdge",
    "ColumnRef",
    "ConfigError",
    "LineageError",
    "LineageGraph",
    "LineageParser",
    "LineageType",
    "ParseCrash",
    "ParseMemory",
    "ParseTimeout",
    "ParserUnavailable",
    "Problem",
    "ProblemKind",
    "QueryMasker",
    "RecordError",
    "Subtype",
    "TableName",
    "TargetColumn",
    "Templated",
    "TooLarge",
    "Unparsable",
    "__version__",
    "lineage_graph",
]

_HOMES = {
    "ingestion.errors": (
        *("ConfigError", "LineageError", "ParseCrash", "ParseMemory", "ParseTimeout", "ParserUnavailable"),
        *("RecordError", "Templated", "TooLarge", "Unparsable"),
    ),
    "ingestion.statements.masking": ("QueryMasker",),
    "ingestion.model.lineage": ("ColumnRef", "LineageType", "Problem", "Subtype", "TableName"),
    "ingestion.model.outcomes": ("ProblemKind",),
    "ingestion.graph": ("LineageGraph", "lineage_graph"),
    "ingestion.parser": ("ColumnEdge", "LineageParser", "TargetColumn"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    home = _HOME_OF.get(name)
    if home is None:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(home), name)


def _version() -> str:
    """The distribution's version; "unknown" where the packages came without it, as they do to Spark's executors."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("headwater")
    except PackageNotFoundError:
        return "unknown"
