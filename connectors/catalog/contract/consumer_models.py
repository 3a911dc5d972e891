# ruff: noqa: N815 — the names are the wire's
"""What clients may send of what runs and of what reads: pipelines, queries, ingestions; dashboards, metrics."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from connectors.catalog.contract.models import (
    ColumnRequest,
    Create,
    Derived,
    Extended,
    Fqn,
    Many,
    Name,
    Ref,
    Stored,
    Tag,
    Text,
    Unkept,
    Word,
)


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
