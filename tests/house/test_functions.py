"""Functions: one can be taken in at a glance, and its docstring says what its parameters are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.house.source_tree import Module, modules

MANY = 3
"""Parameters from which on a docstring has to speak of one by its name: what it is, or in which unit."""

MOST_LINES = 40
"""Of what a function does, without its signature and its docstring."""


def _public(node: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef]:
    for item in node.body:
        if isinstance(item, ast.ClassDef) and not item.name.startswith("_"):
            yield from _public(item)
        elif isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            yield item


def _is_explained_by_its_decorator(node: ast.FunctionDef) -> bool:
    """Whether it is a route or a command, whose parameters have types that say what they are."""
    return any(ast.unparse(decorator).startswith(("router.", "shows_errors")) for decorator in node.decorator_list)


def _parameters(node: ast.FunctionDef) -> list[str]:
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [one.arg for one in given if one.arg not in ("self", "cls")]


def _says_nothing(node: ast.FunctionDef) -> bool:
    parameters = _parameters(node)
    if len(parameters) < MANY or _is_explained_by_its_decorator(node):
        return False
    docstring = ast.get_docstring(node) or ""
    return not any(re.search(rf"\b{_words(name)}", docstring, re.IGNORECASE) for name in parameters)


def _words(name: str) -> str:
    """The name, or its words: `max_depth`, "max depth"; and of a plural the singular."""
    return re.escape(name.rstrip("s")).replace("_", "[_ ]")


def _silent(module: Module) -> Iterator[str]:
    for node in _public(module.tree):
        if _says_nothing(node):
            yield f"{module.name}.{node.name}({', '.join(_parameters(node))})"


def test_a_function_of_many_parameters_says_what_one_of_them_is() -> None:
    assert [name for module in modules() for name in _silent(module)] == []


def test_a_silent_docstring_is_found() -> None:
    silent = 'def f(a, span_ms, b):\n    """Does it."""\n'
    explained = 'def f(a, span_ms, b):\n    """Does it for `span_ms` milliseconds."""\n'
    few = 'def f(a, b):\n    """Does it."""\n'
    texts = (silent, explained, few)
    assert [len([n for n in _public(ast.parse(text)) if _says_nothing(n)]) for text in texts] == [1, 0, 0]


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_what_a_function_does_can_be_taken_in_at_a_glance() -> None:
    lines = {
        f"{module.name}.{node.name}": _lines(node)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: number for name, number in lines.items() if number > MOST_LINES} == {}
