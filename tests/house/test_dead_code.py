"""No code that nobody uses: neither the packages nor a test."""

from __future__ import annotations

import re

from vulture import Vulture

from tests.house.source_tree import PACKAGES, REPOSITORY

MINIMUM_CONFIDENCE = 60
HANDED_ON = ["@router.*", "@suite_router.*", "@app.*", "@policy.*", "@shows_errors"]
"""Routes and commands: FastAPI and Typer call them."""

WIRE_MODELS = re.compile(
    r"connectors/catalog/contract/\w*models\.py|workflows/config/models/\w+\.py"
    r"|connectors/(?:fields|source_settings|sink|(?:\w+/)+settings)\.py|ingestion/model/outcomes\.py"
)
"""Their fields are those of the contract and of the YAML, read by us or not; rows of outcomes go by their code."""

TEMPLATE_OBJECTS = "connectors/dbt/"
"""What they offer, dbt's templates ask for."""

CALLED_BY_OTHERS = {
    "__getattr__": "Python, for a name that a module has not",
    "asctime": "logging's formatters",
    "cert": "requests",
    "dispatch_table": "pickle",
    "list_commands": "Typer",
    "find_class": "pickle",
    "trust_env": "requests",
    "pool_classes_by_scheme": "urllib3",
    "response_class": "http.client",
    "ConnectionCls": "urllib3",
    "isolation_level": "sqlite3",
    "text_factory": "sqlite3",
    "should_exit": "uvicorn",
    "main_loop": "uvicorn",
    "WARN": "a value of --log-level",
    "DBT": "a value of the contract",
    "PIPELINE": "a value of the contract",
    "OPEN_LINEAGE": "a value of the contract",
    "whole_columns": "who uses the library",
}
"""Names that a library reads or calls, or that are values of an enumeration of the contract; and who uses them."""


def _unused() -> list[tuple[str, str, int]]:
    """Name, file and line of what is used nowhere."""
    vulture = Vulture(ignore_decorators=HANDED_ON)
    vulture.scavenge([str(REPOSITORY / folder) for folder in (*PACKAGES, "tests")])
    unused = vulture.get_unused_code(min_confidence=MINIMUM_CONFIDENCE)
    found = ((item.name, item.filename.relative_to(REPOSITORY).as_posix(), item.first_lineno) for item in unused)
    return [(name, file, line) for name, file, line in found if not file.startswith("tests/")]


def test_no_code_is_dead() -> None:
    unused = [(name, file, line) for name, file, line in _unused() if not WIRE_MODELS.fullmatch(file)]
    unused = [item for item in unused if not item[1].startswith(TEMPLATE_OBJECTS)]
    dead = [f"{file}:{line}: {name}" for name, file, line in unused if name not in CALLED_BY_OTHERS]
    assert dead == []
