"""A log is read again where code that reads it has changed, and for no other change."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest

import ingestion
from ingestion.parsing.sandbox.process import CHILD_MODULE
from ingestion.parsing.tiers import MODULES
from workflows.state.reading_code import READING_CODE, code_digest, source_files

HOME = Path(ingestion.__file__).parents[1]
PACKAGES = ("ingestion", "connectors", "workflows")
ROOTS = (
    CHILD_MODULE,
    *MODULES.values(),
    "ingestion.plans.lineage",
    "connectors.spark.history",  # events to records
    "connectors.platforms.bigquery",  # what engines say to lineage
    "connectors.platforms.databricks",
    "connectors.platforms.hive",
    "connectors.platforms.snowflake",
    "workflows.run.read.statements",  # records to statements
    "workflows.run.parse.tasks",  # statements to templates
)


def reached(roots: Iterable[str]) -> set[str]:
    """The modules that these import, directly or through others; what is imported for types alone is none."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    found, waiting = set[str](), [*roots]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += graph.find_modules_directly_imported_by(module)
    return found


def module_of(file: Path) -> str:
    name = ".".join(file.relative_to(HOME).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_the_digest_covers_what_a_parse_and_an_evaluation_import_and_nothing_else() -> None:
    files = {module_of(file): file for file in source_files(READING_CODE, HOME)}
    read = reached(ROOTS)
    assert sorted(read - files.keys()) == []
    rooms = {module for module, file in files.items() if file.name == "__init__.py"}  # made when a module in them is
    assert sorted(files.keys() - read - rooms) == []
    assert len(READING_CODE) == len(set(READING_CODE))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("code")
    for package in PACKAGES:
        shutil.copytree(HOME / package, home / package, ignore=shutil.ignore_patterns("__pycache__"))
    return home


@pytest.mark.parametrize(
    ("changed", "is_read_again"),
    [
        ("ingestion/scripts/explanation.py", False),
        ("ingestion/binding/binder.py", False),
        ("workflows/cli.py", False),
        ("ingestion/plans/lineage.py", True),
        ("ingestion/plans/_tree.py", True),
        ("ingestion/parsing/fallback/_sqlfluff_tree.py", True),
        ("ingestion/dialects/functions.py", True),
        ("connectors/spark/_application_log.py", True),
        ("workflows/run/read/statements.py", True),
    ],
)
def test_a_log_is_read_again_where_code_that_reads_has_changed(copied: Path, changed: str, is_read_again: bool) -> None:
    before = code_digest(source_files(READING_CODE, copied), copied)
    file = copied / changed
    file.write_text(file.read_text() + "# a comment\n")
    assert (code_digest(source_files(READING_CODE, copied), copied) != before) is is_read_again


def test_a_module_that_is_listed_and_not_there_is_told() -> None:
    with pytest.raises(FileNotFoundError, match=r"ingestion\.no_such_room"):
        list(source_files(["ingestion.no_such_room"], HOME))
