"""What a chart of Superset asks its dataset for: by its query context where it has one, else by its form data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.dashboards.documents import Document, documents_in
from connectors.dashboards.queries import (
    OutputColumn,
    column_text,
    is_expression,
    label_without_values,
    unused_name,
)
from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords

WITHOUT_QUERY = frozenset({"markup", "separator", "iframe", "divider", "markdown", "handlebars_static"})
"""Kinds of charts that show no data."""
_ONE_METRIC = keywords(
    "big_number big_number_total pie funnel gauge_chart word_cloud sankey sankey_v2 sankey_loop sunburst sunburst_v2 "
    "treemap_v2 country_map world_map heatmap heatmap_v2 chord graph_chart tree_chart waterfall "
    "big_number_period_over_period pop_kpi"
)
"""Kinds of charts that show `metric`: what stands under `metrics` is left over from another kind."""
_ONE_METRIC_KEYS = ("metric", "secondary_metric")
_METRIC_KEYS = ("metrics", "metrics_b", "percent_metrics", "secondary_metric", "timeseries_limit_metric")
_BUBBLES = frozenset({"bubble", "bubble_v2"})
_BUBBLE_KEYS = ("x", "y", "size")
_DIMENSION_KEYS = (
    *(
        "groupby",
        "columns",
        "x_axis",
        "series",
        "entity",
        "groupbyRows",
        "groupbyColumns",
        "groupby_b",
        "series_columns",
    ),
    *("source", "target", "source_category", "target_category", "id", "parent", "name", "dimension"),
    *("all_columns_x", "all_columns_y", "line_column", "geojson", "column", "breakpoint_column"),
)
_SPATIAL_KEYS = ("spatial", "start_spatial", "end_spatial")
_SPATIAL_PARTS = ("lonCol", "latCol", "lonlatCol", "geohashCol")
_RAW_KEYS = ("all_columns", "columns")
_TREND = frozenset({"big_number"})
_NO_DIMENSIONS = frozenset({"big_number_total", "pop_kpi", "big_number_period_over_period"})
TEMPLATE = re.compile(r"\{[{%#]")
"""Where one of Jinja's begins."""


@dataclass(frozen=True, slots=True)
class DatasetColumns:
    """What a dataset offers: the names of its columns, and by the names of its metrics the columns that hold them."""

    columns: frozenset[str]
    metrics: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChartQuery:
    """The columns that a chart shows, the conditions that decide, the columns that it groups by; `templates` are left
    out.
    """

    outputs: tuple[OutputColumn, ...] = ()
    deciding: tuple[str, ...] = ()
    grouping: tuple[str, ...] = ()
    templates: int = 0


@dataclass(slots=True)
class _Collected:
    """What was found so far, each once."""

    offered: DatasetColumns
    dialect: Dialect
    outputs: dict[str, str] = field(default_factory=dict)
    deciding: dict[str, None] = field(default_factory=dict)
    grouping: dict[str, None] = field(default_factory=dict)
    has_metrics: bool = False
    templates: int = 0

    def dimension(self, given: object) -> None:
        """A column by its name, or one that the chart makes up."""
        if isinstance(given, str) and given in self.offered.columns:
            text = column_text(given, self.dialect)
            self._put(given, text)
            self.grouping[text] = None
        elif isinstance(given, dict) and isinstance(given.get("sqlExpression"), str):
            text = self.expression(given["sqlExpression"])
            if text:
                self._put(self._label(given), text)
                self.grouping[text] = None

    def metric(self, given: object) -> None:
        """A metric of the dataset by its name, or one that the chart makes up."""
        if isinstance(given, str):
            column = self.offered.metrics.get(given)
            if column is not None:
                self._put(column, column_text(column, self.dialect))
                self.has_metrics = True
            return
        found = self._own_metric(given) if isinstance(given, dict) else None
        if found is not None:
            self._put(found.name, found.expression)
            self.has_metrics = True

    def _put(self, name: str, text: str) -> None:
        """A column under its name, or another where that is of another text already."""
        taken = {one for one, other in self.outputs.items() if other != text}
        self.outputs[unused_name(name, taken)] = text

    def _label(self, given: Mapping[str, Any]) -> str:
        """What a column or a metric that the chart makes up is called."""
        expression = str(given.get("sqlExpression") or "")
        label = str(given.get("label") or expression or "metric")
        return label_without_values(label, expression, self.dialect)

    def _own_metric(self, given: Mapping[str, Any]) -> OutputColumn | None:
        if isinstance(given.get("sqlExpression"), str) and given.get("expressionType") == "SQL":
            text = self.expression(given["sqlExpression"])
            return OutputColumn(text, self._label(given)) if text else None
        column = (given.get("column") or {}).get("column_name") if isinstance(given.get("column"), dict) else None
        if not isinstance(column, str) or column not in self.offered.columns:
            return None
        aggregate = str(given.get("aggregate") or "MAX")
        distinct = "DISTINCT " if aggregate == "COUNT_DISTINCT" else ""
        function = "COUNT" if distinct else aggregate
        if not function.isidentifier():
            return None
        text = f"{function}({distinct}{column_text(column, self.dialect)})"
        return OutputColumn(text, self._label(given))

    def expression(self, text: str) -> str:
        """A text of SQL, "" where it is a template, or does not end what it begins."""
        if TEMPLATE.search(text) or not is_expression(text, self.dialect):
            self.templates += 1
            return ""
        return f"({text}\n)" if "--" in text else f"({text})"

    def filter(self, subject: object) -> None:
        """A condition over a column, or over a text of SQL."""
        if isinstance(subject, str) and subject in self.offered.columns:
            self.deciding[f"NOT {column_text(subject, self.dialect)} IS NULL"] = None

    def condition(self, text: object) -> None:
        """A condition in SQL."""
        if isinstance(text, str) and text.strip():
            expression = self.expression(text)
            if expression:
                self.deciding[expression] = None

    def query(self) -> ChartQuery:
        outputs = tuple(OutputColumn(text, name) for name, text in self.outputs.items())
        grouping = tuple(self.grouping) if self.has_metrics else ()
        return ChartQuery(outputs, tuple(self.deciding), grouping, self.templates)


def chart_query(chart: Document, offered: DatasetColumns, dialect: Dialect) -> ChartQuery:
    """What a chart asks for."""
    collected = _Collected(offered, dialect)
    queries = _queries(chart.get("query_context"))
    if queries:
        for one in queries:
            _of_query(one, collected)
    else:
        _of_form(form_data(chart), collected)
    return collected.query()


def form_data(chart: Document) -> Document:
    """A chart's `params`, which are text in the API's answers."""
    params = chart.get("params")
    found = form_value(params) if isinstance(params, str) else params
    viz = chart.get("viz_type")
    return {**found, "viz_type": viz or found.get("viz_type")} if isinstance(found, dict) else {"viz_type": viz}


def form_value(text: str) -> Any:
    """The value of a JSON text within a document; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _queries(context: object) -> list[Document]:
    found = form_value(context) if isinstance(context, str) else context
    queries = found.get("queries") if isinstance(found, dict) else None
    return [*documents_in(queries)]


def _of_query(query: Document, collected: _Collected) -> None:
    for key in ("columns", "groupby", "series_columns"):
        for one in _several(query.get(key)):
            collected.dimension(one)
    for one in _several(query.get("metrics")):
        collected.metric(one)
    for one in _several(query.get("filters")):
        if isinstance(one, dict):
            collected.filter(one.get("col"))
    collected.filter(query.get("granularity"))
    extras = query.get("extras")
    if isinstance(extras, dict):
        collected.condition(extras.get("where"))
        # what is asked of groups names metrics by their aggregates, which these show as well


def _of_form(form: Document, collected: _Collected) -> None:
    viz = str(form.get("viz_type") or "")
    raw = form.get("query_mode") == "raw" or (
        form.get("query_mode") is None and bool(form.get("all_columns")) and not _any(form, ("groupby", *_METRIC_KEYS))
    )
    for key in _RAW_KEYS if raw else _dimension_keys(viz):
        for one in _several(form.get(key)):
            collected.dimension(one)
    for key in _SPATIAL_KEYS:
        spatial = form.get(key)
        if isinstance(spatial, dict):
            for part in _SPATIAL_PARTS:
                collected.dimension(spatial.get(part))
    for key in () if raw else _metric_keys(form, viz):
        for one in _several(form.get(key)):
            collected.metric(one)
    for one in _several(form.get("adhoc_filters")):
        if isinstance(one, dict):
            _of_filter(one, collected)
    if form.get("time_range") not in (None, "", "No filter"):
        collected.filter(form.get("granularity_sqla"))


def _of_filter(one: Document, collected: _Collected) -> None:
    if one.get("expressionType") == "SQL":
        if one.get("clause") != "HAVING":
            collected.condition(one.get("sqlExpression"))
    else:
        collected.filter(one.get("subject"))


def _dimension_keys(viz: str) -> Iterable[str]:
    if viz in _NO_DIMENSIONS:
        return ()
    return ("x_axis", "granularity_sqla") if viz in _TREND else _DIMENSION_KEYS


def _metric_keys(form: Document, viz: str) -> Iterable[str]:
    if viz in _BUBBLES:
        return _BUBBLE_KEYS
    if viz in _ONE_METRIC and _any(form, ("metric",)):
        return _ONE_METRIC_KEYS
    return _METRIC_KEYS if _any(form, ("metrics", "metrics_b", "percent_metrics")) else ("metric", *_METRIC_KEYS)


def _any(form: Document, keys: Iterable[str]) -> bool:
    return any(form.get(key) for key in keys)


def _several(given: object) -> Iterator[object]:
    """The entries of a list, or what stands in the place of one."""
    if isinstance(given, list):
        yield from given
    elif given:
        yield given
