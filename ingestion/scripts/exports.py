"""The lineage of a parser as other libraries have it: plain values for JSON, a graph, a table of rows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from ingestion.errors import ConfigError
from ingestion.model import Json, Problem, TableName
from ingestion.scripts.column_edges import ColumnEdge

if TYPE_CHECKING:
    import networkx
    import pandas

JSON_VERSION = 1


class TextLineage(Protocol):
    """What LineageParser tells of a text."""

    @property
    def source_tables(self) -> Sequence[TableName]: ...
    @property
    def target_tables(self) -> Sequence[TableName]: ...
    @property
    def intermediate_tables(self) -> Sequence[TableName]: ...
    @property
    def table_lineage(self) -> Sequence[tuple[TableName, TableName]]: ...
    @property
    def edges(self) -> Sequence[ColumnEdge]: ...
    @property
    def problems(self) -> Sequence[Problem]: ...
    @property
    def failures(self) -> Sequence[str]: ...


def to_dict(lineage: TextLineage) -> Json:
    """Names by role, the edges of columns and tables, what stays unresolved and what could not be read."""
    return {
        "version": JSON_VERSION,
        "source_tables": [str(name) for name in lineage.source_tables],
        "target_tables": [str(name) for name in lineage.target_tables],
        "intermediate_tables": [str(name) for name in lineage.intermediate_tables],
        "column_lineage": [edge.to_dict() for edge in lineage.edges],
        "table_lineage": [{"source": str(source), "target": str(target)} for source, target in lineage.table_lineage],
        "problems": [problem_text(problem) for problem in lineage.problems],
        "failures": list(lineage.failures),
    }


def problem_text(problem: Problem) -> str:
    """A problem as people read it: `ambiguous column: a`."""
    return f"{problem.kind.value.replace('_', ' ')}: {problem.subject}"


def to_networkx(lineage: TextLineage) -> networkx.MultiDiGraph[str]:
    """A graph with a node a column and an edge a ColumnEdge; a table spelled in two ways is one."""
    graph: networkx.MultiDiGraph[str] = _library("networkx", "to_networkx").MultiDiGraph()
    labels: dict[tuple[TableName | None, str], str] = {}
    for edge in lineage.edges:
        ends = []
        for end in (edge.source, edge.target):
            label = labels.setdefault((end.table, end.column), str(end))
            if label not in graph:
                graph.add_node(label, table=None if end.table is None else str(end.table), column=end.column)
            ends.append(label)
        graph.add_edge(*ends, **_how(edge))
    return graph


def to_pandas(lineage: TextLineage) -> pandas.DataFrame:
    """A row an edge: both columns, each with its table (None for a bare SELECT's), and how one makes the other."""
    rows = [
        {
            "source_table": str(edge.source.table),
            "source_column": edge.source.column,
            "target_table": None if edge.target.table is None else str(edge.target.table),
            "target_column": edge.target.column,
            **_how(edge),
        }
        for edge in lineage.edges
    ]
    columns = ("source_table", "source_column", "target_table", "target_column", *_HOW)
    return _library("pandas", "to_pandas").DataFrame(rows, columns=columns)


_HOW = ("type", "subtype", "masking", "expression", "certain")


def _how(edge: ColumnEdge) -> dict[str, Any]:
    known = edge.to_dict()
    return {key: known[key] for key in _HOW}


def _library(name: str, method: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(f"{method} needs {name}, which is not installed: pip install {name}") from None
