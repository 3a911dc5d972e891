"""Metrics as dbt's semantic models and metrics: the YAML that MetricFlow reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from ingestion.metrics.collection import Metric, TableUse, free_name
from ingestion.metrics.model import MASK, Dimension, Measure, ViewField, masked_text
from ingestion.metrics.report import MetricReport, view_names
from ingestion.model.lineage import Json

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
_QUALIFIED = re.compile(r"\b[A-Za-z_]\w*\.[A-Za-z_]")
"""A column with the alias of its relation, which the one model of a semantic model does not know."""
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_TEMPLATE_MARKS = ("{{", "{%", "{#")
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

    def fill(self, masked: str, name: str) -> str:
        """The masked text with a variable of dbt for each literal."""
        first, *others = masked.split(MASK)
        written = first
        for rest in others:
            variable = f"{name}_{sum(one.startswith(f'{name}_') for one in self.found) + 1}"
            self.found[variable] = masked_text(masked)
            written += f"{{{{ var('{variable}') }}}}{rest}"
        return written


def metricflow_yaml(report: MetricReport) -> str:
    """The metrics as YAML for a dbt project, with comments on what is to be added and on what is left out."""
    variables = _Variables()
    models: list[Json] = []
    metrics: list[Json] = []
    comments: list[str] = []
    taken: set[str] = set()
    found = []
    uses = {use.table: use for use in report.tables}
    for key, name in view_names(report.metrics).items():
        of_view = [one for one in report.metrics if one.view.key == key]
        model = _SemanticModel(free_name(_name_for(name), taken), of_view, variables, taken)
        model.use = uses.get(of_view[0].view.tables[0]) if model.is_table() else None
        found.append(model)
    taken.update(*(model.own_names() for model in found))
    for model in found:
        for one in model.of_view:
            try:
                metrics += model.metrics_of(one)
            except _LeftOut as reason:
                comments.append(f"left out: {one.name}: {reason}")
        if model.measures:
            models.append(model.to_json())
            comments += model.view_comments()
    comments += [f"vars: {name}: a literal of {text}" for name, text in variables.found.items()]
    own = {model.of_view[0].view.tables[0] for model in found if model.measures and model.is_table()}
    for table in report.tables:
        if table.table not in own and (table.dimensions or table.keys):
            models.append(_table_model(table, taken))
            comments.append(f"{models[-1]['name']}: no query tells its primary entity, what its rows are told apart by")
    document = {"semantic_models": models, "metrics": metrics}
    shown = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return "".join(f"# {_one_line(line)}\n" for line in comments) + shown


def _table_model(use: TableUse, taken: set[str]) -> Json:
    """The semantic model of a table that queries join or group by and of which no metric is: no measures."""
    name = free_name(_name_for(use.table.rpartition(".")[2]), taken)
    row = free_name(f"{name}_row", taken)
    own: set[str] = {name, row}
    entities = _entities(use, own)
    dimensions = [
        _dimension_json(free_name(_name_for(column), own), one)
        for column, one in use.dimensions.items()
        if column not in use.keys and not any(mark in column for mark in _TEMPLATE_MARKS)
    ]
    found: Json = {"name": name, "model": f"ref('{use.table.rpartition('.')[2]}')", "primary_entity": row}
    return {**found, **({"entities": entities} if entities else {}), "dimensions": dimensions}


def _entities(use: TableUse | None, taken: set[str]) -> list[Json]:
    """What joins a table to others. Whether it tells the rows of one apart no query says: it is foreign in each."""
    found = []
    for key in use.keys if use is not None else ():
        name = _name_for(key)
        if name not in taken and not any(mark in key for mark in _TEMPLATE_MARKS):
            taken.add(name)
            found.append({"name": name, "type": "foreign", "expr": key})
    return found


def _dimension_json(name: str, one: Dimension) -> Json:
    found: dict[str, Any] = {"name": name, "type": "time" if one.time else "categorical", "expr": one.expression.text}
    if one.time:
        found["type_params"] = {"time_granularity": one.grain or _FINEST}
    return found


def _one_line(text: str) -> str:
    """The text without what would end a comment."""
    return "".join(one if one.isprintable() else " " for one in text)


@dataclass(slots=True)
class _SemanticModel:
    """The semantic model of a view: its dimensions, and the measures that its metrics need.

    `taken` are all names of the document: MetricFlow takes none twice. `use` is what queries show of its table.
    """

    name: str
    of_view: list[Metric]
    variables: _Variables
    taken: set[str]
    use: TableUse | None = None
    measures: dict[str, Json] = field(default_factory=dict)

    def to_json(self) -> Json:
        entities = _entities(self.use, {self.name, *self.own_names(), *self.measures})
        return {
            "name": self.name,
            "model": f"ref('{self._relation()}')",
            "defaults": {"agg_time_dimension": self._time()},
            "primary_entity": self._entity(),
            **({"entities": entities} if entities else {}),
            "dimensions": [_dimension_json(name, one) for name, one in self._dimensions().items()],
            "measures": list(self.measures.values()),
        }

    def own_names(self) -> Iterator[str]:
        """The names that it has whatever its metrics are: those of its dimensions and its entity."""
        yield from self._dimensions()
        yield self._entity()

    def _entity(self) -> str:
        return f"{self.name}_row"

    def metrics_of(self, metric: Metric) -> Iterator[Json]:
        """The metric, and those that it is derived of. Raises _LeftOut."""
        if self._time() is None:
            raise _LeftOut("no query groups or filters its view by a time, which MetricFlow asks for")
        if not metric.measure.composite:
            self._check(metric, metric.measure)
            yield self._simple(metric, metric.measure, free_name(_name_for(metric.name), self.taken))
            return
        if not metric.measure.parts:
            raise _LeftOut("it is made of columns that no aggregate is of")
        for part in metric.measure.parts:
            self._check(metric, part)
        own = free_name(_name_for(metric.name), self.taken)
        inputs = []
        for part in metric.measure.parts:
            name = free_name(_name_for(f"{own}_{part.name}"), self.taken)
            yield self._simple(metric, part, name)
            inputs.append({"name": name, "alias": part.name})
        params = {"expr": self.variables.fill(metric.measure.formula, own), "metrics": inputs}
        yield {"name": own, "label": metric.name, "type": "derived", "type_params": params}

    def _check(self, metric: Metric, measure: Measure) -> None:
        """Raises _LeftOut where a measure of a metric has no form."""
        if measure.over_groups:
            raise _LeftOut("it measures groups of an inner query")
        if measure.aggregation not in _AGGREGATIONS:
            raise _LeftOut(f"MetricFlow has no aggregation for {measure.expression.text}")
        if any(one.of_groups for one in metric.filters):
            raise _LeftOut("it chooses groups (HAVING)")
        texts = [*(one.masked for one in metric.filters), measure.argument]
        if any(_QUALIFIED.search(text) for text in texts):
            raise _LeftOut("two tables of its view have columns of one name")
        if any(mark in text for text in (metric.name, *texts) for mark in _TEMPLATE_MARKS):
            raise _LeftOut("a name has what dbt takes for a template")

    def _simple(self, metric: Metric, measure: Measure, name: str) -> Json:
        texts = [one.masked for one in metric.filters]
        argument = "1" if measure.argument == _EVERY_ROW else measure.argument
        expression = self.variables.fill(argument, name)
        if texts:
            conditions = " AND ".join(f"({self.variables.fill(text, name)})" for text in texts)
            expression = f"CASE WHEN {conditions} THEN {expression} END"
        self.measures[name] = {"name": name, "agg": _AGGREGATIONS[measure.aggregation], "expr": expression}
        return {"name": name, "label": name.replace("_", " "), "type": "simple", "type_params": {"measure": name}}

    def _dimensions(self) -> dict[str, Dimension]:
        by_key: dict[str, Dimension] = {}
        for metric in self.of_view:
            for one in metric.dimensions:
                text = one.expression.masked
                unfit = _QUALIFIED.search(text) or any(mark in text for mark in (MASK, *_TEMPLATE_MARKS))
                if not unfit and not one.expression.of_groups:
                    by_key.setdefault(one.expression.key, one)
        taken = {self.name, self._entity()}
        return {free_name(_name_for(one.name), taken): one for one in by_key.values()}

    def _time(self) -> str | None:
        return next((name for name, one in self._dimensions().items() if one.time), None)

    def _relation(self) -> str:
        tables = self.of_view[0].view.tables
        return tables[0].rpartition(".")[2] if self.is_table() else self.name

    def is_table(self) -> bool:
        """Whether its view is one table, so that no model of its own is needed."""
        view = self.of_view[0].view
        return len(view.tables) == 1 and "(" not in view.sql and " AS " not in view.sql

    def view_comments(self) -> Iterator[str]:
        """The model that a view of several tables needs: a semantic model is of one."""
        if not self.is_table():
            fields: dict[ViewField, None] = {}
            for metric in self.of_view:
                used = [metric.measure.expression, *(one.expression for one in metric.dimensions)]
                fields.update(dict.fromkeys(one for expression in used for one in expression.fields))
            columns = ", ".join(f"{one.table}.{one.column}" for one in fields)
            yield f"model {self.name}.sql is to give {columns} of: {self.of_view[0].view.sql}"
