"""One fact, one place: no two constants, and no two functions, that are alike."""

from __future__ import annotations

import ast
import re
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
                body = _normal_body(node)
                if len(body) > 300:
                    bodies[body].append(f"{module.name}.{node.name}")
    assert [homes for homes in bodies.values() if len(homes) > 1] == []


def test_functions_that_differ_in_local_names_alone_are_alike() -> None:
    tree = ast.parse(
        "def f(a):\n    b = a + 1\n    return g(b)\n"
        "def h(x):\n    y = x + 1\n    return g(y)\n"
        "def f(a):\n    return g(a + 1)\n"
    )
    first, second, other = (_normal_body(node) for node in tree.body if isinstance(node, ast.FunctionDef))
    assert first == second != other


def _normal_body(function: ast.FunctionDef) -> str:
    """The body without its docstring, its parameters and local names numbered."""
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    stored = (n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    numbers = {name: number for number, name in enumerate(dict.fromkeys([*(one.arg for one in given), *stored]))}
    body = "".join(ast.dump(item) for item in function.body if not _is_docstring(item))
    return re.sub(r"(?<=id=')\w+", lambda name: str(numbers.get(name[0], name[0])), body)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
