"""Tests of tables and columns, and what became of them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum

from connectors.openmetadata.entities.crud import Collection, pages
from connectors.openmetadata.transport.http import Call, Http, path_of
from ingestion.model import Json
from ingestion.names.fqn import build_fqn, encode_name

_RESULTS = f"{Collection.TEST_CASES}/testCaseResults"


class TestStatus(StrEnum):
    """OpenMetadata's words: `ABORTED` is a test that could not be carried out."""

    SUCCESS = "Success"
    FAILED = "Failed"
    ABORTED = "Aborted"


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What became of a test `at` a moment (seconds since the epoch), with the figures that it found."""

    status: TestStatus
    at: float
    text: str = ""
    failed_rows: int | None = None
    values: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> Json:
        json: Json = {"timestamp": round(self.at * 1000), "testCaseStatus": str(self.status)}
        if self.text:
            json["result"] = self.text
        if self.failed_rows is not None:
            json["failedRows"] = self.failed_rows
        if self.values:
            json["testResultValue"] = [{"name": name, "value": value} for name, value in self.values]
        return json


@dataclass(frozen=True, slots=True)
class TestCase:
    """A test of a table (FQN) or of its `column`, which is one of the kind `definition`; `name` is unique there."""

    table: str
    column: str
    name: str
    definition: str
    outcome: TestOutcome | None = None

    @property
    def link(self) -> str:
        column = f"::columns::{encode_name(self.column)}" if self.column else ""
        return f"<#E::table::{self.table}{column}>"

    @property
    def fqn(self) -> str:
        parts = (self.column, self.name) if self.column else (self.name,)
        return f"{self.table}.{build_fqn(*parts)}"


def register_definitions(http: Http, kinds: Iterable[tuple[str, bool]], platform: str) -> None:
    """Makes the kinds of test of a tool (`platform`), each for columns or for tables."""
    for name, of_column in kinds:
        body = {
            "name": name,
            "description": f"A test of {platform}.",
            "entityType": "COLUMN" if of_column else "TABLE",
            "testPlatforms": [platform],
        }
        http.send(Call("PUT", str(Collection.TEST_DEFINITIONS), body=body))


def file_test(http: Http, test: TestCase) -> None:
    """Files a test and its outcome. Raises Rejected where its table, or its kind, is not there."""
    body = {"name": test.name, "entityLink": test.link, "testDefinition": test.definition}
    http.send(Call("PUT", str(Collection.TEST_CASES), body=body))
    if test.outcome is not None:
        http.send(Call("POST", f"{_RESULTS}/{path_of(test.fqn)}", body=test.outcome.to_json(), answered=False))


def delete_other_tests(http: Http, service: str, kept: Container[str], prefix: str) -> int:
    """Deletes the tests of a service's tables whose kind begins with `prefix` and that are not `kept` (FQNs)."""
    others = [
        str(test["id"])
        for test in pages(http, Collection.TEST_CASES, {"entityFQN": service})
        if test["fullyQualifiedName"] not in kept and str(test["testDefinition"].get("name", "")).startswith(prefix)
    ]
    for identifier in others:
        http.send(Call("DELETE", f"{Collection.TEST_CASES}/{path_of(identifier)}", answered=False))
    return len(others)
