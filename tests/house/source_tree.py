"""The three packages as syntax trees, and who imports whom: what the rules of the house are checked on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("ingestion", "connectors", "workflows")


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, its path below the repository and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def room(self) -> str:
        """The package that holds it; what lies at the top of the three is a room of its own."""
        if self.name.count(".") == 1 and not self.is_package and len(self.path.parts) == 2:
            return self.name
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def imports(self) -> Iterator[str]:
        """The dotted names of our modules that it imports, those for type checking and inside functions too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found = whole if whole in names() else node.module
                    if found in names():
                        yield found
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in names())

    def identifiers(self) -> Iterator[str]:
        """The names that it gives and uses: of variables, attributes, parameters, functions and classes."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name


@cache
def names() -> frozenset[str]:
    """The dotted names of all modules."""
    return frozenset(_dotted(path) for path in _paths())


def packages() -> list[str]:
    """The dotted names of all packages."""
    return [_dotted(path) for path in _paths() if path.name == "__init__.py"]


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the three packages."""
    return tuple(Module(_dotted(path), path, ast.parse((REPOSITORY / path).read_text("utf-8"))) for path in _paths())


@cache
def _paths() -> tuple[Path, ...]:
    return tuple(
        path.relative_to(REPOSITORY) for package in PACKAGES for path in sorted((REPOSITORY / package).rglob("*.py"))
    )


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def words_of(identifier: str) -> list[str]:
    """The words of an identifier in lower case: `_dead_letters`, `DeadLetters` and `DEAD_LETTERS` have the same."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)]


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of names that reach one another."""
    graph = nx.DiGraph([(start, end) for start, ends in arrows.items() for end in ends if start != end])
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)
