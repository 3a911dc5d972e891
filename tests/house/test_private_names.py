"""What a module keeps to itself begins with an underscore, and nothing else does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.house.source_tree import REPOSITORY, Module, modules, names

PLAIN_DECORATORS = frozenset({"dataclass", "cache", "lru_cache", "contextmanager"})
"""Any other decorator hands its function on, as a route or a command."""

ENTRIES = frozenset({"main", "answer", "open_sink", "open_source"})
"""Where a process begins: a program, and a module that a sandboxed process is given by its name. Where a room is
entered that an index has by its name.
"""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _decorator(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _definitions(module: Module) -> Iterator[Definition]:
    for node in module.tree.body:
        if isinstance(node, Definition) and {_decorator(each) for each in node.decorator_list} <= PLAIN_DECORATORS:
            yield node


@cache
def _names_used_elsewhere() -> frozenset[tuple[str, str]]:
    """Module and name of whatever another module or a test imports, or reaches as an attribute of the module."""
    tests = [ast.parse(file.read_text("utf-8")) for file in (REPOSITORY / "tests").rglob("*.py")]
    found = set()
    for tree in [*(module.tree for module in modules()), *tests]:
        homes = {name: name for name in names()}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {(node.module, alias.name) for alias in node.names}
                homes |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (home := homes.get(_dotted(node.value))) in names():
                found.add((home, node.attr))
    return frozenset(found)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def _words(*nodes: ast.AST | None) -> set[str]:
    return {word for node in nodes if node for word in re.findall(r"\w+", ast.unparse(node))}


def _in_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return _words(function.args, function.returns)


def _in_signatures(module: Module, private: frozenset[str]) -> set[str]:
    """The words of the public signatures, fields and bases: a class that stands there is known to callers."""
    found: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_private(node.name, private):
            found |= _in_signature(node)
        elif isinstance(node, ast.ClassDef) and not _is_private(node.name, private):
            found |= _words(*node.bases)
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    found |= _in_signature(part) if part.name == "__init__" or part.name[0] != "_" else set()
                elif isinstance(part, ast.AnnAssign) and not ast.unparse(part.target).startswith("_"):
                    found |= _words(part.annotation)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not ast.unparse(node).startswith("_"):
            found |= _words(node.value) if isinstance(node.value, ast.BinOp | ast.Subscript | ast.Name) else set()
    return found


def _is_private(name: str, private: frozenset[str]) -> bool:
    return name.startswith("_") or name in private


def _is_error(node: Definition) -> bool:
    """Whoever calls may meet it, imported or not."""
    return isinstance(node, ast.ClassDef) and any(
        "Exception" in word or "Error" in word for word in _words(*node.bases)
    )


def _kept_to_itself(module: Module) -> set[str]:
    """Public names that nobody else uses."""
    found = {
        node.name
        for node in _definitions(module)
        if node.name[0] != "_"
        and node.name not in ENTRIES
        and not _is_error(node)
        and (module.name, node.name) not in _names_used_elsewhere()
    }
    classes = {node.name for node in _definitions(module) if isinstance(node, ast.ClassDef)}
    while shown := found & classes & _in_signatures(module, frozenset(found)):
        found -= shown
    return found


def test_what_a_module_alone_uses_begins_with_an_underscore() -> None:
    assert {module.name: kept for module in modules() if (kept := _kept_to_itself(module))} == {}


def test_what_begins_with_an_underscore_is_used_in_its_module_alone() -> None:
    imported = [
        f"{module.path}:{node.lineno}: {alias.name}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert imported == []


def test_the_use_of_a_name_is_found() -> None:
    tree = ast.parse(
        "class Shown:\n    pass\n"
        "class Hidden:\n    pass\n"
        "class Broken(ValueError):\n    pass\n"
        "def hidden(value: Hidden) -> None:\n    pass\n"
        "@router.get('/')\ndef route(value: Shown) -> None:\n    pass\n"
        "def main() -> None:\n    hidden(Hidden())\n"
    )
    assert _kept_to_itself(Module("some", REPOSITORY / "some.py", tree)) == {"Hidden", "hidden"}
