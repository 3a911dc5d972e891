"""Metrics as they are told: as text, and as JSON with the edges from columns to view fields to measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from ingestion.metrics.collection import Metric, QueryUse, TableUse, free_name, variants
from ingestion.metrics.model import Dimension, ViewField
from ingestion.model.lineage import Json

_REPORT_VERSION = 1
FiledMetrics = tuple[Json, ...]
"""Metrics as a report told them when they were filed in a catalog."""
FILED_ENTITY = "entityLineage"
"""The attribute of a filed metric that holds what a report tells of it."""


class _EntityEdge(NamedTuple):
    """One step from a table to a measure: a base column to a view's field, or such a field to a measure."""

    source: str
    target: str
    expression: str


@dataclass(frozen=True, slots=True)
class MetricReport:
    """Metrics, and what was not taken apart: by reason, with how often and where.

    `without_query` counts statements that have no query, `without_measure` queries that only group; `tables` are what
    all queries show of base tables; `failures` are those that no parser could read. Unless it is
    `complete`, there may be metrics that are not in it because something could not be read.
    """

    metrics: tuple[Metric, ...]
    refused: Mapping[str, QueryUse] = field(default_factory=dict)
    without_query: int = 0
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    complete: bool = True
    tables: tuple[TableUse, ...] = ()
    without_measure: int = 0

    def to_json(self) -> Json:
        """The report as JSON: `version`, `metrics`, `lineage`, `not_taken_apart`, `without_query`, `failures`."""
        differing = variants(self.metrics)
        names = view_names(self.metrics)
        return {
            "version": _REPORT_VERSION,
            "metrics": [_metric(one, names, differing, self._others(one)) for one in self.metrics],
            "lineage": [edge._asdict() for edge in _entity_edges(self.metrics)],
            "not_taken_apart": [
                {"reason": reason, "queries": use.runs, "places": list(use.locations)}
                for reason, use in self.refused.items()
            ],
            "without_query": self.without_query,
            "without_measure": self.without_measure,
            "failures": list(self.failures),
            "notes": list(self.notes),
        }

    def _others(self, metric: Metric) -> list[str]:
        """The near-duplicates of a metric."""
        return [one.name for one in self.metrics if one.family == metric.family and one is not metric]


@dataclass(frozen=True, slots=True)
class FiledTable:
    """A table in a catalog: its FQN, and by column the FQN and the type there."""

    fqn: str
    columns: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def reportable_metrics(metrics: Iterable[Metric]) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """The metrics of which a report can be made, and a line for each of the others: one costs no other."""
    good: list[Metric] = []
    failures: list[str] = []
    for one in metrics:
        try:
            MetricReport((one,)).to_json()
            _entity_edges((one,))
        except Exception as error:  # noqa: BLE001 - the boundary of a metric
            locations = ", ".join(one.use.locations)
            failures.append(f"{locations}: {one.name} cannot be reported ({type(error).__name__})")
        else:
            good.append(one)
    return tuple(good), tuple(failures)


def view_names(metrics: tuple[Metric, ...]) -> dict[str, str]:
    """A name of its own for each view, by its key."""
    found: dict[str, str] = {}
    for one in metrics:
        name, number = one.view.name, 1
        while one.view.key not in found and name in found.values():
            number += 1
            name = f"{one.view.name}_{number}"
        found.setdefault(one.view.key, name)
    return found


def view_fields(metrics: tuple[Metric, ...]) -> dict[str, dict[ViewField, str]]:
    """The fields of each view (by its key) that its metrics use, each with a name of its own in the view.

    A field is called as the dimension is that it is, else as its column.
    """
    called: dict[tuple[str, ViewField], str] = {}
    used: dict[str, dict[ViewField, None]] = {}
    for one in metrics:
        fields = used.setdefault(one.view.key, {})
        fields.update(dict.fromkeys(one.measure.expression.fields))
        for dimension in one.dimensions:
            bases = dimension.expression.fields
            fields.update(dict.fromkeys(bases))
            if bases and dimension.expression.text == bases[-1].column:
                called.setdefault((one.view.key, bases[0]), dimension.name)
    found: dict[str, dict[ViewField, str]] = {}
    for view, fields in used.items():
        taken: set[str] = set()
        found[view] = {base: free_name(called.get((view, base), base.column), taken) for base in fields}
    return found


def _entity_edges(metrics: tuple[Metric, ...]) -> tuple[_EntityEdge, ...]:
    """Column -> field of a view -> measure, each once, in the order of the metrics."""
    names, fields_of = view_names(metrics), view_fields(metrics)
    found: dict[_EntityEdge, None] = {}
    for one in metrics:
        view, fields = names[one.view.key], fields_of[one.view.key]
        used = [field for dimension in one.dimensions for field in dimension.expression.fields]
        for base in (*one.measure.expression.fields, *used):
            found[_EntityEdge(f"{base.table}.{base.column}", f"{view}.{fields[base]}", base.column)] = None
        for base in one.measure.expression.fields:
            found[_EntityEdge(f"{view}.{fields[base]}", one.name, one.measure.expression.text)] = None
    return tuple(found)


def _metric(one: Metric, names: Mapping[str, str], differing: Mapping[str, tuple[str, ...]], others: list[str]) -> Json:
    return {
        "name": one.name,
        "expression": one.measure.expression.text,
        "composite": one.measure.composite,
        "view": {"name": names[one.view.key], "sql": one.view.sql, "tables": list(one.view.tables)},
        "dimensions": [_dimension(dimension) for dimension in one.dimensions],
        "filters": [condition.text for condition in one.filters],
        **({"any_literal": True} if one.any_literal else {}),
        "runs": one.use.runs,
        "users": list(one.use.users),
        "last_run": _moment(one.use.last),
        "places": list(one.use.locations),
        "variant_of": others,
        "variant": list(differing.get(one.name, ())),
    }


def _dimension(one: Dimension) -> Json:
    found: Json = {"name": one.name, "expression": one.expression.text, "groups": one.groups, "filters": one.filters}
    if one.time:
        found["time"] = True
    if one.grain:
        found["grain"] = one.grain
    return found


def _moment(millis: int | None) -> str | None:
    return None if millis is None else datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
