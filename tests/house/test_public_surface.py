"""What others may build on: these names, and no fewer or more without a thought."""

from __future__ import annotations

import ast

import pytest

import ingestion
from tests.house.source_tree import modules

SURFACE = {
    "connectors.records": {"RECORD_SCHEMA", "UNSUPPORTED", "MALFORMED_EDGES", "RecordWork", "RecordReading"},
    "connectors.sink": {
        *("TargetBatch", "WriteResult", "EdgeCounts", "WriteReport", "Sink", "target_batches"),
        *("Catalog", "DryRunSink", "KeyedSink", "SinkRun", "SinkSettings"),
        *("EdgeRemover", "PresentEdge", "NOT_OURS", "UNANSWERED"),
    },
}


def test_the_names_of_the_library() -> None:
    assert set(ingestion.__all__) == {
        *("ColumnEdge", "LineageGraph", "LineageParser", "QueryMasker", "lineage_graph", "__version__"),
        *("ColumnRef", "LineageType", "Problem", "ProblemKind", "Subtype", "TableName", "TargetColumn"),
        *("LineageError", "ConfigError", "RecordError", "ParserUnavailable"),
        *("ParseTimeout", "ParseMemory", "ParseCrash", "Unparsable", "Templated", "TooLarge"),
    }
    for name in set(ingestion.__all__) - {"__version__"}:
        assert getattr(ingestion, name).__name__ == name


@pytest.mark.parametrize("name", SURFACE)
def test_the_names_of_the_two_borders(name: str) -> None:
    (module,) = (each for each in modules() if each.name == name)
    defined: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    assert {each for each in defined if not each.startswith("_")} == SURFACE[name]
