"""One fact, one place: no two constants, and no two functions, that are alike."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.house.source_tree import modules

NO_FACTS = frozenset({"logger", "router", "metadata"})
"""Objects that each module has of its own."""


def test_no_constant_is_written_twice() -> None:
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if (
                    name not in NO_FACTS
                    and not isinstance(node.value, ast.Constant)
                    and "TypeVar" not in ast.dump(node.value)
                ):
                    values[name, ast.dump(node.value)].append(module.name)
    assert {name: homes for (name, _value), homes in values.items() if len(homes) > 1} == {}


def test_no_function_is_written_twice() -> None:
    bodies: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno and node.end_lineno - node.lineno > 4:
                statements = [item for item in node.body if not _is_docstring(item)]
                body = "".join(ast.dump(item) for item in statements)
                if len(body) > 300:
                    bodies[body].append(f"{module.name}.{node.name}")
    assert [homes for homes in bodies.values() if len(homes) > 1] == []


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
