"""Who may import whom: each module in a layer of a contract, no circles, and what a room keeps to itself."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGES, REPOSITORY, Module, circles, modules, names, packages


def _rooms_of_rooms() -> list[str]:
    """The three packages, and each package that holds packages: within it a contract says who may import whom."""
    return sorted({*PACKAGES, *(name.rpartition(".")[0] for name in packages() if "." in name)})


def _layers() -> dict[str, list[str]]:
    """What the contracts name, by the package whose modules and rooms they put in layers."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    return {
        container: [name.strip() for layer in contract["layers"] for name in layer.split("|")]
        for contract in settings["tool"]["importlinter"]["contracts"]
        for container in contract.get("containers", ())
    }


@pytest.mark.parametrize("room", _rooms_of_rooms())
def test_every_module_lies_in_a_layer_of_a_contract(room: str) -> None:
    """That the layers are kept is a check of import-linter."""
    held = {name.removeprefix(f"{room}.").partition(".")[0] for name in names() if name.startswith(f"{room}.")}
    assert sorted(_layers().get(room, ())) == sorted(held)


def test_no_prefix_stands_where_a_folder_belongs() -> None:
    prefixes: Counter[tuple[str, str]] = Counter()
    for module in modules():
        first, _, more = module.path.stem.strip("_").partition("_")
        prefixes[module.path.parent.as_posix(), first] += bool(more)
    assert [where for where, count in prefixes.items() if count >= 3] == []


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
        "if TYPE_CHECKING:\n    from ingestion.model import Flow\n"
        "def late() -> None:\n    from ingestion import errors\n"
    )
    assert set(Module("some", Path("some.py"), tree).imports()) == {"ingestion.model", "ingestion.errors"}


def test_files_import_each_other_in_no_circle() -> None:
    arrows = {module.name: set(module.imports()) for module in modules()}
    assert circles(arrows) == []


def test_rooms_import_each_other_in_no_circle() -> None:
    room_of = {module.name: module.room for module in modules()}
    arrows: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        arrows[module.room] |= {room_of[name] for name in module.imports()}
    assert circles(arrows) == []


def _private_to(name: str) -> str:
    """The package outside of which nobody imports a module: that of the first of its parts that is private."""
    parts = name.split(".")
    private = [number for number, part in enumerate(parts) if part.startswith("_") and not part.endswith("__")]
    return ".".join(parts[: private[0]]) if private else ""


def test_a_private_module_is_imported_in_its_package_alone() -> None:
    found = [
        f"{module.name} imports {name}"
        for module in modules()
        for name in module.imports()
        if (home := _private_to(name)) and module.name != home and not module.name.startswith(f"{home}.")
    ]
    assert found == []


def test_what_is_private_is_told_by_its_name() -> None:
    private = {"a.b._c": "a.b", "a._b.c": "a", "a.b.c": "", "workflows.__main__": ""}
    assert {name: _private_to(name) for name in private} == private
