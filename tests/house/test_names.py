"""Names: one class a name, the field's terms instead of a language of our own, nothing looked up by a made-up name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.house.source_tree import Module, modules

WIRE_ROOMS = ("connectors.catalog.contract", "workflows.config.models")
"""Their classes bear the names of the contract and of the YAML."""

OUR_OWN_WORDS = frozenset(
    {
        *("Undertaker", "Speaker", "Rebound", "Harvest", "Surroundings", "World", "Demands", "Drain", "Survey"),
        *("Deliverer", "Said", "Happening", "Gate", "undertaker", "speaker", "harvest", "surroundings"),
    }
)
"""Words that say nothing to who knows the field; the terms in their place are in the documentation's glossary."""


def _classes() -> Iterator[tuple[str, Module]]:
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                yield node.name, module


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, module in _classes():
        if not module.name.startswith(WIRE_ROOMS):
            homes[name].append(module.name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def _identifiers(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_identifiers_are_terms_of_the_field() -> None:
    found = {(module.name, name) for module in modules() for name in _identifiers(module) if name in OUR_OWN_WORDS}
    assert found == set()


def test_no_attribute_is_looked_up_by_a_name_that_is_put_together() -> None:
    found = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.JoinedStr)
    ]
    assert found == []
