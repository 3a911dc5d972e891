"""Each source file has tests of its name, or a line here says which test of behaviour covers it."""

from __future__ import annotations

import ast

from tests.house.covered_elsewhere import COVERED_BY
from tests.house.source_tree import REPOSITORY, Module, modules


def _has_code(module: Module) -> bool:
    """Whether there is something to be tested: a package's file may only hand on what its modules have."""
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in module.tree.body)


def _has_tests_of_its_name(module: Module) -> bool:
    """`a/b/c.py` has tests/a/b/test_c.py or tests of any name in tests/a/b/c/; a package has those of its folder."""
    *rooms, name = module.name.split(".")
    folder = REPOSITORY.joinpath("tests", *rooms)
    name = name.strip("_")
    if (folder / f"test_{name}.py").is_file():
        return True
    return any((folder / name).glob("test_*.py")) or any((folder / f"_{name}").glob("test_*.py"))


def _bare() -> set[str]:
    return {module.name for module in modules() if _has_code(module) and not _has_tests_of_its_name(module)}


def test_each_file_has_tests_of_its_name_or_is_covered_elsewhere() -> None:
    covered = [name for held in COVERED_BY.values() for name in held]
    assert sorted(_bare() - set(covered)) == []
    assert sorted(set(covered) - _bare()) == [], "these have tests of their names, or are gone"
    assert len(set(covered)) == len(covered)


def test_what_covers_files_elsewhere_is_there() -> None:
    assert [test for test in COVERED_BY if not (REPOSITORY / "tests" / test).is_file()] == []
