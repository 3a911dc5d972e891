# ruff: noqa: N815 — the names are the wire's
"""What clients may send of tests of tables and columns, and of their results."""

from __future__ import annotations

from typing import Literal

from connectors.catalog.contract.models import Count, Create, Fqn, Many, Millis, Model, Name, Ref, Text, Word


class CreateTestDefinition(Create):
    """A kind of test."""

    description: Text
    entityType: Literal["TABLE", "COLUMN"]
    testPlatforms: Many[Word]
    supportedDataTypes: Many[Word] | None = None


class CreateTestSuite(Create):
    """The tests of one table, or a selection of tests."""

    basic: bool | None = None
    basicEntityReference: Fqn | Ref | None = None


class ParameterValue(Model):
    """A parameter of a test."""

    name: Name
    value: Text | None = None


class CreateTestCase(Create):
    """A test of what `entityLink` names: `<#E::table::FQN>` or `<#E::table::FQN::columns::NAME>`."""

    entityLink: Fqn
    testDefinition: Fqn | Ref
    parameterValues: Many[ParameterValue] | None = None


class TestResultValue(Model):
    """A figure that a test found."""

    name: Word | None = None
    value: Word | None = None


class TestResult(Model):
    """What became of a test at a time (milliseconds)."""

    timestamp: Millis
    testCaseStatus: Literal["Success", "Failed", "Aborted", "Queued"]
    result: Text | None = None
    testResultValue: Many[TestResultValue] | None = None
    failedRows: Count | None = None
    passedRows: Count | None = None
