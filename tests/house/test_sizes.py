"""What can be taken in at a glance: short files and short functions."""

from __future__ import annotations

import ast

from tests.house.source_tree import REPOSITORY, modules

MOST_LINES = 300
MOST_LINES_OF_A_FUNCTION = 40
"""With its signature and its docstring."""

LONG_FUNCTIONS: dict[str, int] = {
    "ingestion.analysis._stars.pivot_rows": 43,
    "ingestion.parsing.sqlglot.queries.table_functions.translate_function": 46,
}
"""Functions that are longer, likewise."""


def test_a_file_is_short() -> None:
    lines = {module.path.as_posix(): (REPOSITORY / module.path).read_text("utf-8").count("\n") for module in modules()}
    assert {path: n for path, n in lines.items() if n > MOST_LINES} == {}


def test_a_function_is_short() -> None:
    lines = [
        (f"{module.name}.{node.name}", node.end_lineno - node.lineno + 1)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    assert [(name, n) for name, n in lines if n > LONG_FUNCTIONS.get(name, MOST_LINES_OF_A_FUNCTION)] == []
    long = {name for name, n in lines if n > MOST_LINES_OF_A_FUNCTION}
    assert LONG_FUNCTIONS.keys() - long == set(), "these need no exception any more"
