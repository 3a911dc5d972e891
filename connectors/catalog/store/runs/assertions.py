"""OpenLineage's assertions about data as tests of tables and columns, each with its result."""

from __future__ import annotations

from sqlalchemy import Connection

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.openlineage_models import Assertion, Dataset, RunEvent
from connectors.catalog.store.entities.entities import EntityRow, find
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.entities.tests import file_result
from connectors.catalog.store.runs.datasets import Datasets
from connectors.catalog.store.runs.outcomes import moment_of
from ingestion.names import fqn

_PLATFORM = "openlineage"
_RUN = ("COMPLETE", "FAIL")
"""Events that tell how tests ended: of the others some tell the same too early."""


def file_assertions(connection: Connection, event: RunEvent) -> None:
    """Files the tests that an event tells of; the same event twice counts once. Containers have no tests."""
    tested = [dataset for dataset in (*event.inputs, *event.outputs) if dataset.assertions]
    if not tested or event.eventType not in _RUN:
        return
    at = moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = Datasets(connection, registration)
    filed = []
    for dataset in tested:
        row = datasets.entity(dataset, {one.column for one in dataset.assertions if one.column is not None})
        if row.type == "table":
            filed += [(_register(registration, row, one), one.success) for one in _distinct(dataset)]
    registration.finish()
    for name, success in filed:
        test = find(connection, "testCase", name)
        assert test is not None
        file_result(connection, test, {"timestamp": at, "testCaseStatus": "Success" if success else "Failed"})


def _distinct(dataset: Dataset) -> list[Assertion]:
    """Of several assertions of one name on one column there is one test: it holds where all of them do."""
    found: dict[tuple[str, str | None], Assertion] = {}
    for one in dataset.assertions:
        known = found.get((one.assertion, one.column))
        found[one.assertion, one.column] = one if known is None or known.success else known
    return list(found.values())


def _register(registration: Registration, table: EntityRow, one: Assertion) -> str:
    """The full name of the test in the catalog."""
    path = fqn.join(table.fqn, one.column) if one.column else table.fqn
    if find(registration.connection, "testCase", fqn.join(path, one.assertion)) is not None:
        return fqn.join(path, one.assertion)
    kind = f"{_PLATFORM}_{'column' if one.column else 'table'}_{one.assertion}"
    definition = {
        "name": kind,
        "description": "A test that a job told of.",
        "entityType": "COLUMN" if one.column else "TABLE",
        "testPlatforms": [_PLATFORM],
    }
    registration.put(BY_TYPE["testDefinition"], definition)
    column = f"::columns::{fqn.encode_name(one.column)}" if one.column else ""
    link = f"<#E::table::{table.fqn}{column}>"
    request = {"name": one.assertion, "entityLink": link, "testDefinition": kind}
    return registration.put(BY_TYPE["testCase"], request).fqn
