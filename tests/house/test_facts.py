"""One fact, one place: no two constants, and no two functions, that are alike."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.house.source_tree import Module, modules

NO_FACTS = frozenset({"logger", "router", "metadata"})
"""Objects that each module has of its own."""

SHORT = 150
"""Characters of a function's syntax tree up to which two may be alike: they hand on what another does."""


ALIKE = {
    frozenset({"ingestion.model.lineage.table", "ingestion.model.namespaces.table"}): (
        "a name as it is written and a name as it is known: the last part of either is its table"
    ),
    frozenset(
        {
            "connectors.catalog.store.lineage.inserts.edge",
            "connectors.catalog.store.lineage.reads.edge",
            "connectors.catalog.store.lineage.rejections.edge",
        }
    ): "rows of three tables, each of which has the two ends of an edge",
    frozenset({"connectors.catalog.http._lineage.patch", "connectors.catalog.http._lineage.patch_by_name"}): (
        "two routes, which differ in how their parameters are read"
    ),
    frozenset({"connectors.catalog.http._queries.used_by", "connectors.catalog.http._queries.users"}): (
        "two routes, which differ in what is read of their bodies"
    ),
    frozenset(
        {
            "connectors.catalog.store.entities.registration.query_digest",
            "connectors.openmetadata.attachments._checksum",
        }
    ): "how OpenMetadata names a query, to a server and to a client of which neither knows the other",
    frozenset({"connectors.dbt._template_values.__init__"}): (
        "the sandbox opens the members of one of the two classes and not of the other"
    ),
    frozenset({"connectors.sql_files.manifest_diff._table", "workflows.run.publish.dbt_project._schema"}): (
        "of a column its table, of a table its schema: each the name without its last part"
    ),
    frozenset({"workflows.runtime.progress.seconds_by_stage"}): "two kinds of progress, each with a clock",
}
"""Functions whose bodies are the same and that are two: why."""


def _constants(module: Module) -> Iterator[tuple[str, str]]:
    """The names at the top of a module that a value is given to, with what it is, as text."""
    for node in module.tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and value is not None and target.id not in NO_FACTS:
            text = ast.unparse(value)
            if "TypeVar(" not in text:
                yield target.id, text


def test_no_constant_is_written_twice() -> None:
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in modules():
        for constant in _constants(module):
            values[constant].append(module.name)
    assert {name: homes for (name, _value), homes in values.items() if len(homes) > 1} == {}


def test_no_function_is_written_twice() -> None:
    bodies: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef):
                body = _normal_body(node)
                if len(body) > SHORT:
                    bodies[body].append(f"{module.name}.{node.name}")
    twice = {frozenset(homes) for homes in bodies.values() if len(homes) > 1}
    assert twice == ALIKE.keys()


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
