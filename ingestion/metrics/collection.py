"""Metrics: what queries of one view, one measure and the same filters have in common, and who runs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ingestion.metrics.model import Dimension, EntityExpression, Measure, QueryMetrics, View

Identity = tuple[str, str, frozenset[str]]
"""View, measure, filters: by their keys."""


@dataclass(frozen=True, slots=True)
class QueryUse:
    """Who ran a query, how often, when last (milliseconds since the epoch), and where its text stands."""

    runs: int = 1
    users: tuple[str, ...] = ()
    last: int | None = None
    locations: tuple[str, ...] = ()

    def with_more(self, other: QueryUse) -> QueryUse:
        """Both uses as one."""
        times = [moment for moment in (self.last, other.last) if moment is not None]
        return QueryUse(
            self.runs + other.runs,
            tuple(sorted({*self.users, *other.users})),
            max(times, default=None),
            tuple(dict.fromkeys((*self.locations, *other.locations))),
        )


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure over a view, of the rows that `filters` choose. `dimensions` are those of all queries that use it.

    With `any_literal` the filters stand for all of their form, whatever the literals in them.
    """

    name: str
    view: View
    measure: Measure
    filters: tuple[EntityExpression, ...]
    dimensions: tuple[Dimension, ...]
    use: QueryUse
    any_literal: bool = False

    @property
    def identity(self) -> Identity:
        return self.view.key, self.measure.expression.key, frozenset(one.key for one in self.filters)

    @property
    def family(self) -> tuple[str, str]:
        """What metrics have in common that differ in their filters alone."""
        return self.identity[:2]


@dataclass(frozen=True, slots=True)
class TableUse:
    """What queries show of a base table: columns that they group or filter by as they are, and those that join it."""

    table: str
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class MetricCollection:
    """Gathers metrics and what queries show of tables, and counts what could not be taken apart by its reason.

    `without_measure` counts the queries that only group.
    """

    _metrics: dict[Identity, Metric] = field(default_factory=dict)
    refused: dict[str, QueryUse] = field(default_factory=dict)
    without_measure: int = 0
    tables: dict[str, TableUse] = field(default_factory=dict)

    def add(self, found: QueryMetrics, use: QueryUse) -> None:
        """Add the measures of a query; of a metric that is known its use and its dimensions grow."""
        self.without_measure += 0 if found.measures else use.runs
        for shown in _table_uses(found):
            before = self.tables.get(shown.table, shown)
            dimensions = {**shown.dimensions, **before.dimensions}
            times = {name: one for name, one in shown.dimensions.items() if one.time}
            keys = tuple(dict.fromkeys((*before.keys, *shown.keys)))
            self.tables[shown.table] = TableUse(shown.table, {**dimensions, **times}, keys)
        for measure in found.measures:
            metric = Metric(
                measure.name, found.view, measure, found.filters, found.dimensions, use, any_literal=found.any_literal
            )
            known = self._metrics.get(metric.identity)
            self._metrics[metric.identity] = metric if known is None else _merge(known, metric)

    def refuse(self, reason: str, use: QueryUse) -> None:
        """Count a query that could not be taken apart."""
        known = self.refused.get(reason)
        self.refused[reason] = use if known is None else known.with_more(use)

    def metrics(self, names: Mapping[Identity, str] | None = None) -> tuple[Metric, ...]:
        """All metrics, each under a name of its own, those of one family side by side, in the order they were met.

        Those that have `names` already keep them.
        """
        names = names or {}
        families: dict[tuple[str, str], list[Metric]] = {}
        for metric in self._metrics.values():
            families.setdefault(metric.family, []).append(metric)
        taken = {name for identity, name in names.items() if identity in self._metrics}
        return tuple(
            replace(one, name=names.get(one.identity) or free_name(one.name, taken))
            for family in families.values()
            for one in family
        )


def _table_uses(found: QueryMetrics) -> Iterator[TableUse]:
    keys: dict[str, dict[str, None]] = {table: {} for table in found.view.tables}
    for one in (side for pair in found.joins for side in pair):
        keys.setdefault(one.table, {})[one.column] = None
    plain: dict[str, dict[str, Dimension]] = {table: {} for table in found.view.tables}
    for dimension in found.dimensions:
        bases = dimension.expression.fields
        if len(bases) == 1 and dimension.column is not None:
            bare = replace(dimension.expression, masked=dimension.column)
            shown = replace(dimension, name=bases[0].column, expression=bare)
            plain.setdefault(bases[0].table, {})[bases[0].column] = shown
    yield from (TableUse(table, plain.get(table, {}), tuple(keys.get(table, ()))) for table in {**keys, **plain})


def _merge(known: Metric, other: Metric) -> Metric:
    """One metric of two queries. Names and the view are shown as the query has them that is run most."""
    first, second = (known, other) if known.use.runs >= other.use.runs else (other, known)
    by_key: dict[str, Dimension] = {}
    for one in (*first.dimensions, *second.dimensions):
        met = by_key.get(one.expression.key, one)
        by_key[one.expression.key] = replace(
            met, groups=met.groups or one.groups, filters=met.filters or one.filters, time=met.time or one.time
        )
    return replace(first, dimensions=tuple(by_key.values()), use=known.use.with_more(other.use))


def free_name(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken; `taken` has it from now on."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


def variants(metrics: Iterable[Metric]) -> Mapping[str, tuple[str, ...]]:
    """For each metric that has near-duplicates, by its name: its filters that not all of them have.

    Filters of one text that differ in their literals are told apart by a number: `status = ?`, `status = ? (2)`.
    """
    families: dict[tuple[str, str], list[Metric]] = {}
    for metric in metrics:
        families.setdefault(metric.family, []).append(metric)
    return {
        metric.name: tuple(shown)
        for family in families.values()
        if len(family) > 1
        for metric, shown in zip(family, _differences(family), strict=True)
    }


def _differences(family: list[Metric]) -> list[list[str]]:
    shared = frozenset[str].intersection(*(metric.identity[2] for metric in family))
    numbers: dict[str, dict[str, int]] = {}
    found: list[list[str]] = []
    for metric in family:
        shown = []
        for one in metric.filters:
            if one.key not in shared:
                of_text = numbers.setdefault(one.text, {})
                number = of_text.setdefault(one.key, len(of_text) + 1)
                mark = "any" if metric.any_literal else str(number)
                shown.append(one.text if mark == "1" else f"{one.text} ({mark})")
        found.append(shown)
    return found
