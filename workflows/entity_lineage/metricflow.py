"""Metrics as dbt's semantic models and metrics: the YAML that MetricFlow reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from ingestion.decomposition.metrics import Metric
from ingestion.decomposition.model import Dimension, Measure, ViewField
from ingestion.model import Json
from workflows.entity_lineage.report import MetricReport, view_names

_AGGREGATIONS = {
    "sum": "sum",
    "avg": "average",
    "count": "count",
    "count_distinct": "count_distinct",
    "min": "min",
    "max": "max",
    "median": "median",
}
_EVERY_ROW = "*"
_GRAINS = frozenset(
    ("nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")
)
"""What MetricFlow does not take for a name."""
_QUALIFIED = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]")
"""A column with the alias of its relation, which the one model of a semantic model does not know."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_FINEST = "day"
"""The grain of a time of which no query says one."""


class _LeftOut(Exception):
    """The metric has no form in MetricFlow: why."""


def _name_for(name: str) -> str:
    """A name that MetricFlow takes: lower case, two characters at least, no doubled underscore, no grain of time."""
    plain = _NOT_IN_NAMES.sub("_", name.lower()).strip("_")
    if not plain[:1].isalpha():
        plain = f"m_{plain}"
    return f"{plain}_value" if len(plain) < 2 or plain in _GRAINS else plain.rstrip("_")


@dataclass(slots=True)
class _Variables:
    """The variables that stand for literals, which are not known here, with the expression that each stands in."""

    found: dict[str, str] = field(default_factory=dict)

    def fill(self, text: str, name: str) -> str:
        """The text with a variable of dbt for each literal that was masked."""
        first, *others = text.split("?")
        written = first
        for rest in others:
            variable = f"{name}_{sum(one.startswith(f'{name}_') for one in self.found) + 1}"
            self.found[variable] = text
            written += f"{{{{ var('{variable}') }}}}{rest}"
        return written


def metricflow_yaml(report: MetricReport) -> str:
    """The metrics as YAML for a dbt project, with comments on what is to be added and on what is left out."""
    variables = _Variables()
    models: list[Json] = []
    metrics: list[Json] = []
    comments: list[str] = []
    for key, name in view_names(report.metrics).items():
        of_view = [one for one in report.metrics if one.view.key == key]
        model = _SemanticModel(_name_for(name), of_view, variables)
        for one in of_view:
            try:
                metrics += model.metrics_of(one)
            except _LeftOut as reason:
                comments.append(f"left out: {one.name}: {reason}")
        if model.measures:
            models.append(model.to_json())
            comments += model.view_comments()
    comments += [f"vars: {name}: a literal of {text}" for name, text in variables.found.items()]
    document = {"semantic_models": models, "metrics": metrics}
    shown = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return "".join(f"# {line}\n" for line in comments) + shown


@dataclass(slots=True)
class _SemanticModel:
    """The semantic model of a view: its dimensions, and the measures that its metrics need."""

    name: str
    of_view: list[Metric]
    variables: _Variables
    measures: dict[str, Json] = field(default_factory=dict)

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "model": f"ref('{self._relation()}')",
            "defaults": {"agg_time_dimension": self._time()},
            "primary_entity": f"{self.name}_row",
            "dimensions": [self._dimension(name, one) for name, one in self._dimensions().items()],
            "measures": list(self.measures.values()),
        }

    def metrics_of(self, metric: Metric) -> Iterator[Json]:
        """The metric, and those that it is derived of. Raises _LeftOut."""
        if self._time() is None:
            raise _LeftOut("no query groups or filters its view by a time, which MetricFlow asks for")
        if not metric.measure.composite:
            yield self._simple(metric, metric.measure, _name_for(metric.name))
            return
        if not metric.measure.parts:
            raise _LeftOut("it is made of columns that no aggregate is of")
        own = _name_for(metric.name)
        inputs = []
        for part in metric.measure.parts:
            name = _name_for(f"{own}_{part.name}")
            yield self._simple(metric, part, name)
            inputs.append({"name": name, "alias": part.name})
        params = {"expr": self.variables.fill(metric.measure.formula, own), "metrics": inputs}
        yield {"name": own, "label": metric.name, "type": "derived", "type_params": params}

    def _simple(self, metric: Metric, measure: Measure, name: str) -> Json:
        aggregation = _AGGREGATIONS.get(measure.aggregation)
        if aggregation is None:
            raise _LeftOut(f"MetricFlow has no aggregation for {measure.expression.text}")
        if any(one.of_groups for one in metric.filters):
            raise _LeftOut("it chooses groups (HAVING)")
        texts = [one.text for one in metric.filters]
        if any(_QUALIFIED.search(text) for text in (*texts, measure.argument)):
            raise _LeftOut("two tables of its view have columns of one name")
        argument = "1" if measure.argument == _EVERY_ROW else measure.argument
        expression = self.variables.fill(argument, name)
        if texts:
            conditions = " AND ".join(f"({self.variables.fill(text, name)})" for text in texts)
            expression = f"CASE WHEN {conditions} THEN {expression} END"
        self.measures[name] = {"name": name, "agg": aggregation, "expr": expression}
        return {"name": name, "label": name.replace("_", " "), "type": "simple", "type_params": {"measure": name}}

    def _dimensions(self) -> dict[str, Dimension]:
        found: dict[str, Dimension] = {}
        for metric in self.of_view:
            for one in metric.dimensions:
                text = one.expression.text
                if "?" not in text and not one.expression.of_groups and not _QUALIFIED.search(text):
                    found.setdefault(_name_for(one.name), one)
        return found

    def _time(self) -> str | None:
        return next((name for name, one in self._dimensions().items() if one.time), None)

    def _dimension(self, name: str, one: Dimension) -> Json:
        found: dict[str, Any] = {"name": name, "type": "time" if one.time else "categorical"}
        found["expr"] = one.expression.text
        if one.time:
            found["type_params"] = {"time_granularity": one.grain or _FINEST}
        return found

    def _relation(self) -> str:
        tables = self.of_view[0].view.tables
        return tables[0].rpartition(".")[2] if self._is_table() else self.name

    def _is_table(self) -> bool:
        view = self.of_view[0].view
        return len(view.tables) == 1 and "(" not in view.sql and " AS " not in view.sql

    def view_comments(self) -> Iterator[str]:
        """The model that a view of several tables needs: a semantic model is of one."""
        if not self._is_table():
            fields: dict[ViewField, None] = {}
            for metric in self.of_view:
                used = [metric.measure.expression, *(one.expression for one in metric.dimensions)]
                fields.update(dict.fromkeys(one for expression in used for one in expression.fields))
            columns = ", ".join(f"{one.table}.{one.column}" for one in fields)
            yield f"model {self.name}.sql is to give {columns} of: {self.of_view[0].view.sql}"
