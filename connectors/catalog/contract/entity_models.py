# ruff: noqa: N815 — the names are the wire's
"""What clients may send of what runs and reads, of who owns what, and of tests."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from connectors.catalog.contract.models import (
    ColumnRequest,
    Count,
    Create,
    Derived,
    Extended,
    Fqn,
    Id,
    Many,
    Millis,
    Model,
    Name,
    Ref,
    Stored,
    Tag,
    Text,
    Unkept,
    Word,
)

# What runs and reads: pipelines, queries, ingestions; dashboards, metrics.


class CreateDashboard(Extended):
    """A dashboard, notebook or report of a dashboard service."""

    service: Fqn
    dashboardType: Word | None = None
    project: Text | None = None
    charts: Many[Fqn | Ref] | None = None
    dataModels: Many[Fqn | Ref] | None = None


class CreateChart(Extended):
    """A chart of a dashboard service."""

    service: Fqn
    chartType: Word | None = None
    dashboards: Many[Fqn | Ref] | None = None


class CreateDashboardModel(Extended):
    """What a dashboard service puts between tables and charts: a view, an explore, a data source, with its columns."""

    service: Fqn
    dataModelType: Word
    columns: Many[ColumnRequest]
    sql: Text | None = None
    project: Text | None = None
    serviceType: Derived = None


class MetricExpression(Stored):
    """How a metric is computed."""

    language: Word | None = None
    code: Text | None = None


class MetricDimension(Stored):
    """What a metric is split by."""

    name: Name
    type: Literal["CATEGORICAL", "TIME"] | None = None
    description: Text | None = None
    expression: Text | None = None
    fullyQualifiedName: Derived = None


class MetricMeasure(Stored):
    """What a metric is made of."""

    name: Name
    aggregation: Word | None = None
    description: Text | None = None
    expression: Text | None = None
    fullyQualifiedName: Derived = None


class CreateMetric(Create):
    """A metric, which hangs under nothing."""

    extension: dict[str, Any] | None = None
    metricType: Word | None = None
    metricExpression: MetricExpression | None = None
    dimensions: Many[MetricDimension] | None = None
    measures: Many[MetricMeasure] | None = None
    filters: list[Any] | None = None
    granularity: Word | None = None
    unitOfMeasurement: Word | None = None
    customUnitOfMeasurement: Word | None = None
    relatedMetrics: Many[Fqn | Ref] | None = None
    reviewers: Many[Ref] | None = None
    provider: Word | None = None
    certification: dict[str, Any] | None = None
    assets: Unkept = None


class Task(Stored):
    """A task of a pipeline."""

    name: Name
    displayName: Text | None = None
    fullyQualifiedName: Fqn | None = None
    description: Text | None = None
    sourceUrl: Text | None = None
    taskType: Word | None = None
    downstreamTasks: Many[Name] | None = None
    taskSQL: Text | None = None
    startDate: Word | None = None
    endDate: Word | None = None
    tags: Many[Tag] | None = None
    owners: Many[Ref] | None = None


class CreatePipeline(Extended):
    """A pipeline or job of a pipeline service."""

    service: Fqn
    concurrency: Annotated[int, Field(ge=0, le=2**31)] | None = None
    pipelineLocation: Text | None = None
    startDate: Word | None = None
    scheduleInterval: Word | None = None
    tasks: Many[Task] | None = None
    state: Word | None = None
    endDate: Word | None = None


class CreateQuery(Stored):
    """A query of a database service; its name is the MD5 of its text when it has none."""

    query: Text
    service: Fqn
    name: Name | None = None
    displayName: Text | None = None
    description: Text | None = None
    owners: Many[Ref] | None = None
    tags: Many[Tag] | None = None
    duration: Annotated[float, Field(ge=0, le=2**53)] | None = None
    queryDate: Annotated[int, Field(ge=0, le=2**53)] | None = None
    query_type: Word | None = None
    exclude_usage: bool | None = None
    queryUsedIn: Many[Ref] | None = None
    users: Many[Fqn | Ref] | None = None
    usedBy: Many[Word] | None = None
    triggeredBy: Ref | None = None
    processedLineage: bool | None = None
    domains: Many[Fqn | Ref] | None = None
    dialect: Derived = None  # answers of the contract have no place for it
    checksum: Derived = None


class CreateIngestionPipeline(Create):
    """The record of a scheduled ingestion, for clients that report their progress."""

    service: Ref
    pipelineType: Word
    sourceConfig: dict[str, Any] = {}
    airflowConfig: dict[str, Any] = {}
    loggerLevel: Word | None = None
    raiseOnError: bool | None = None
    enabled: bool | None = None
    enableStreamableLogs: bool | None = None
    provider: Word | None = None
    processingEngine: Ref | None = None


# Who owns things and what is said of them: people, tags, domains.


class CreateTeam(Create):
    """Who owns things: a group of people."""

    teamType: Word = "Group"
    email: Word | None = None
    externalId: Word | None = None
    profile: dict[str, Any] | None = None
    isJoinable: bool | None = None
    parents: Many[Fqn | Ref] | None = None
    children: Many[Fqn | Ref] | None = None
    users: Many[Fqn | Ref] | None = None
    defaultRoles: Unkept = None
    policies: Unkept = None
    defaultPersona: Unkept = None


class CreateUser(Create):
    """Somebody who owns things or runs queries. The catalog signs nobody in: it takes no password and no role."""

    email: Word
    externalId: Word | None = None
    scimUserName: Word | None = None
    timezone: Word | None = None
    isBot: bool = False
    isAdmin: bool = False
    profile: dict[str, Any] | None = None
    teams: Many[Fqn | Ref] | None = None
    roles: Unkept = None
    personas: Unkept = None
    defaultPersona: Unkept = None
    authenticationMechanism: Unkept = None
    botName: Unkept = None
    createPasswordType: Unkept = None
    password: Unkept = None
    confirmPassword: Unkept = None


class _Labels(Create):
    """What classifications and tags have in common."""

    provider: Word = "user"
    mutuallyExclusive: bool | None = None
    reviewers: Many[Ref] | None = None
    disabled: bool | None = None


class CreateClassification(_Labels):
    """A family of tags."""

    autoClassificationConfig: dict[str, Any] | None = None


class CreateTag(_Labels):
    """A tag of a classification, or of another tag."""

    classification: Fqn | None = None
    parent: Fqn | Ref | None = None
    style: dict[str, Any] | None = None
    deprecated: bool | None = None
    recognizers: list[Any] | None = None
    autoClassificationEnabled: bool | None = None
    autoClassificationPriority: int | None = None
    associatedTags: Unkept = None


class CreateDomain(Create):
    """A part of the business that assets belong to; domains may lie in domains."""

    domainType: Word
    parent: Fqn | Ref | None = None
    style: dict[str, Any] | None = None
    experts: Many[Fqn | Ref] | None = None
    extension: dict[str, Any] | None = None
    certification: dict[str, Any] | None = None
    fullyQualifiedName: Derived = None


class Assets(Model):
    """What to put into a domain, or to take out of it."""

    assets: Annotated[Many[Ref], Field(max_length=1_000)]


# Tests of tables and columns, and their results.


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
