# ruff: noqa: N815 — the names are the wire's
"""What clients may send of tests of tables and columns, and of their results."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from connectors.catalog.contract.models import (
    Count,
    Create,
    Derived,
    Fqn,
    Id,
    Many,
    Millis,
    Name,
    Ref,
    Stored,
    Text,
    Unkept,
    Word,
)


class CreateTestDefinition(Create):
    """A kind of test."""

    description: Text
    entityType: Literal["TABLE", "COLUMN"]
    testPlatforms: Many[Word]
    supportedDataTypes: Many[Word] | None = None
    parameterDefinition: list[Any] | None = None
    dataQualityDimension: Word | None = None
    supportedServices: Many[Word] | None = None
    sqlExpression: Text | None = None
    validatorClass: Word | None = None
    provider: Word | None = None
    enabled: bool | None = None


class CreateTestSuite(Create):
    """The tests of one table, or a selection of tests."""

    basic: bool | None = None
    basicEntityReference: Fqn | Ref | None = None
    executableEntityReference: Fqn | Ref | None = None
    reviewers: Many[Ref] | None = None
    dataContract: Unkept = None


class ParameterValue(Stored):
    """A parameter of a test."""

    name: Name
    value: Text | None = None


class CreateTestCase(Create):
    """A test of what `entityLink` names: `<#E::table::FQN>` or `<#E::table::FQN::columns::NAME>`."""

    entityLink: Fqn
    testDefinition: Fqn | Ref
    parameterValues: Many[ParameterValue] | None = None
    reviewers: Many[Ref] | None = None
    computePassedFailedRowCount: bool | None = None
    useDynamicAssertion: bool | None = None
    dimensionColumns: Many[Name] | None = None
    topDimensions: Count | None = None
    inspectionQuery: Text | None = None


class TestResultValue(Stored):
    """A figure that a test found."""

    name: Word | None = None
    value: Word | None = None
    predictedValue: Word | None = None


class TestResult(Stored):
    """What became of a test at a time (milliseconds)."""

    timestamp: Millis
    testCaseStatus: Literal["Success", "Failed", "Aborted", "Queued"]
    result: Text | None = None
    testResultValue: Many[TestResultValue] | None = None
    failedRows: Count | None = None
    passedRows: Count | None = None
    passedRowsPercentage: float | None = None
    failedRowsPercentage: float | None = None
    minBound: float | None = None
    maxBound: float | None = None
    id: Word | None = None
    testCaseFQN: Fqn | None = None
    incidentId: Word | None = None
    dimensionResults: list[Any] | None = None
    sampleData: Unkept = None
    testCase: Derived = None
    testDefinition: Derived = None


class ChosenTests(Stored):
    """Tests to add to a suite that selects tests."""

    testSuiteId: Id
    testCaseIds: Annotated[Many[Id], Field(max_length=10_000)]
