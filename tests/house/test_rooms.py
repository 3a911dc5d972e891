"""The plan of the house: small folders, no prefix that stands for a folder, and no circles of imports."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.house.source_tree import REPOSITORY, Module, circles, modules

MOST_MODULES = 12


def _by_folder() -> dict[str, list[str]]:
    folders: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        if module.path.name != "__init__.py":
            folders[module.path.parent.as_posix()].append(module.path.stem)
    return folders


@pytest.mark.parametrize("folder", sorted(_by_folder()))
def test_a_folder_can_be_taken_in_at_a_glance(folder: str) -> None:
    held = _by_folder()[folder]
    assert len(held) <= MOST_MODULES, sorted(held)


@pytest.mark.parametrize("folder", sorted(_by_folder()))
def test_no_prefix_stands_where_a_folder_belongs(folder: str) -> None:
    prefixes = Counter(stem.partition("_")[0] for stem in _by_folder()[folder] if "_" in stem)
    assert [prefix for prefix, count in prefixes.items() if count >= 3] == []


def test_every_folder_is_a_package() -> None:
    """Executors get the packages as a zip of Python files: a folder without `__init__.py` is not there for them."""
    folders = {folder for module in modules() for folder in module.path.parents} - {Path()}
    assert [folder for folder in sorted(folders) if not (REPOSITORY / folder / "__init__.py").is_file()] == []


def test_relative_imports_hide_no_arrow() -> None:
    """The arrows are read off absolute imports."""
    relative = [
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_circles_are_found() -> None:
    """Also those that go through a third, and none where arrows only meet."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "d"}}) == [["a", "b", "c"]]
    assert circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}}) == []


def test_imports_for_type_checking_and_inside_functions_are_arrows() -> None:
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from ingestion.model.lineage import Flow\n"
        "def late() -> None:\n    from ingestion import errors\n"
    )
    assert set(Module("some", Path("some.py"), tree).imports()) == {"ingestion.model.lineage", "ingestion.errors"}


def test_files_import_each_other_in_no_circle() -> None:
    arrows = {module.name: set(module.imports()) for module in modules()}
    assert circles(arrows) == []


def test_rooms_import_each_other_in_no_circle() -> None:
    room_of = {module.name: module.room for module in modules()}
    arrows: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        arrows[module.room] |= {room_of[name] for name in module.imports()}
    assert circles(arrows) == []
