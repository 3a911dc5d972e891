# ruff: noqa: N815 — the names are the wire's
"""What clients may send of what reads tables or owns them: dashboards, metrics, teams."""

from __future__ import annotations

from typing import Any, Literal

from connectors.catalog.contract.models import Create, Extended, Fqn, Many, Model, Name, Text, Word


class CreateDashboard(Extended):
    """A dashboard, notebook or report of a dashboard service."""

    service: Fqn
    dashboardType: Word | None = None
    project: Text | None = None


class MetricExpression(Model):
    """How a metric is computed."""

    language: Word | None = None
    code: Text | None = None


class MetricDimension(Model):
    """What a metric is split by."""

    name: Name
    type: Literal["CATEGORICAL", "TIME"] | None = None


class MetricMeasure(Model):
    """What a metric is made of."""

    name: Name
    aggregation: Word | None = None
    description: Text | None = None
    expression: Text | None = None


class CreateMetric(Create):
    """A metric, which hangs under nothing."""

    extension: dict[str, Any] | None = None
    metricType: Word | None = None
    metricExpression: MetricExpression | None = None
    dimensions: Many[MetricDimension] | None = None
    measures: Many[MetricMeasure] | None = None
    granularity: Word | None = None
    unitOfMeasurement: Word | None = None


class CreateTeam(Create):
    """Who owns things: a group of people."""

    teamType: Word = "Group"
    email: Word | None = None
