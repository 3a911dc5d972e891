"""Power BI's models and reports as assets.

Each table of a model is a data model, all measures of a model are one more, which has its name; each visual that shows
data is a chart, each report a dashboard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.assets import Asset, Assets, with_own_names
from connectors.dashboards.queries import dashboard_query, unused_name
from connectors.powerbi._dax import DaxModel, DaxValue, NotDax
from connectors.powerbi._made import Made, ModelRows, RowOrigin, Term, join_made
from connectors.powerbi._project import PowerBiProject
from connectors.powerbi._reports import PowerBiReport, ReportField, ReportVisual
from connectors.powerbi._tables import Losses, ModelAssets, PowerBiSettings, with_query
from connectors.powerbi.settings import PowerBiConfig
from ingestion.model.entities import CHART, DASHBOARD
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome

_CHARTS: Mapping[str, str] = {
    "areaChart": "Area",
    "barChart": "Bar",
    "clusteredBarChart": "Bar",
    "clusteredColumnChart": "Bar",
    "columnChart": "Bar",
    "donutChart": "Pie",
    "hundredPercentStackedBarChart": "Bar",
    "hundredPercentStackedColumnChart": "Bar",
    "lineChart": "Line",
    "pieChart": "Pie",
    "pivotTable": "Table",
    "scatterChart": "Scatter",
    "stackedAreaChart": "Area",
    "tableEx": "Table",
}
_NAMES_IN_TITLE = 3
_SHOWN = 5


def assets_of(project: PowerBiProject, settings: PowerBiConfig, dialect: str) -> Assets:
    """All assets of projects, and what is left out; `dialect`: of SQL over connections that do not tell theirs."""
    losses, known = Losses(), PowerBiSettings(dialect, settings.database_names)
    models = [ModelAssets(one, known, losses) for one in project.models]
    named = {one.key: one for one in with_own_names(asset for model in models for asset in model.blank())}
    for model in models:
        model.take(named)
        model.remote = lambda name, table: _remote(models, name, table)
    tables = tuple(asset for model in models for asset in model.whole())
    reports = [_ReportAssets(one, _model_of(one, models)) for one in project.reports]
    charts = {one.key: one for one in with_own_names(asset for report in reports for asset in report.charts())}
    boards = with_own_names(report.dashboard(charts) for report in reports)
    notes = tuple(_notes(losses, reports))
    items = (*tables, *charts.values(), *boards)
    return Assets(settings.tool, settings.service, settings.tool, items, project.unread, notes)


def _remote(models: Iterable[ModelAssets], name: str, table: str) -> Asset | None:
    found = [one for one in models if one.model.name == name and table in one.tables]
    return found[0].tables[table] if len(found) == 1 else None


def _model_of(report: PowerBiReport, models: Iterable[ModelAssets]) -> ModelAssets | None:
    """The model that a report shows: by its path, or the only one of that name."""
    if report.model:
        found = [one for one in models if one.model.folder == report.model]
    else:
        found = [one for one in models if one.model.name == report.catalog]
    return found[0] if len(found) == 1 else None


def _notes(losses: Losses, reports: Iterable[_ReportAssets]) -> Iterator[str]:
    lost, hidden = Counter[str](), 0
    for one in reports:
        lost.update(one.lost)
        hidden += one.without_data
    for counted, text in (
        (losses.sources, "tables are made of no database, but by"),
        (losses.steps, "columns are without lineage, behind steps that are not followed"),
        (losses.names, "names in DAX mean nothing in their models, or expressions are no DAX"),
        (losses.remote, "tables are of models that were not read"),
        (lost, "fields of visuals are in no model that was read, and left out"),
    ):
        found = +counted
        if found:
            shown = ", ".join(f"{name} ({count})" for name, count in found.most_common(_SHOWN))
            yield f"{found.total()} {text}: {shown}"
    if hidden:
        yield f"{hidden} visuals show no data, and are no charts: texts, pictures, buttons"


@dataclass(slots=True)
class _ReportAssets:
    """A report over a model; `lost` are the fields that the model does not have, `without_data` how many show none."""

    report: PowerBiReport
    model: ModelAssets | None
    lost: Counter[str] = field(default_factory=Counter)
    without_data: int = 0
    own_measures: frozenset[str] = frozenset()
    _measures: RowOrigin | None = None
    _dax: DaxModel | None = None

    def __post_init__(self) -> None:
        if self.model is None:
            return
        if self.model.measures is not None:
            self._measures = RowOrigin(asset=self.model.measures)
        self._dax = self.model.dax
        if self.report.measures:
            own = {name.lower(): (text, "") for name, text in self.report.measures.items()}
            self._dax, self.own_measures = DaxModel(self.model.model, own), frozenset(own)

    def charts(self) -> Iterator[Asset]:
        """Each visual that shows data, under a title that no other of the report has."""
        visuals = [one for one in self.report.visuals if one.shown]
        self.without_data = len(self.report.visuals) - len(visuals)
        titles = Counter(map(self._title, visuals))
        for one in visuals:
            title = self._title(one)
            yield self._chart(one, f"{title} ({one.name})" if titles[title] > 1 else title)

    def _title(self, one: ReportVisual) -> str:
        shown = ", ".join(dict.fromkeys(each.label for each in one.shown[:_NAMES_IN_TITLE]))
        return "/".join(filter(None, (self.report.name, one.page, one.title or f"{one.kind} {shown}")))

    def _chart(self, one: ReportVisual, title: str) -> Asset:
        key = f"{self.report.folder}/{one.page}/{one.name}"
        asset = Asset(CHART, key, title, one.location, subtype=_CHARTS.get(one.kind, "Other"))
        if self.model is None:
            return replace(asset, end=Outcome.NO_DATASET)
        outputs: list[tuple[str, Made]] = []
        tables: list[str] = []
        for shown in one.shown:
            parts = [made for each in shown.fields if (made := self._made_of(each, tables)) is not None]
            if parts:
                made = parts[0] if len(shown.fields) == 1 else join_made(parts)
                outputs.append((unused_name(shown.label, [name for name, _made in outputs]), made))
            else:
                self.lost[self.report.name] += 1
        if not outputs:
            return replace(asset, end=Outcome.NO_DATASET)
        deciding = [made.as_condition() for each in one.deciding if (made := self._made_of(each, tables)) is not None]
        rows = ModelRows(conditions=(*self._relationships(tables), *deciding))
        origins = dict.fromkeys(term.origin for made in rows.conditions for term in (*made.values, *made.deciding))
        found = with_query(asset, replace(rows, origins=tuple(origins)), outputs)
        return replace(found, columns=tuple(Column(name) for name, _made in outputs))

    def _made_of(self, one: ReportField, tables: list[str]) -> Made | None:
        """What a field is made of; the tables that it is read from are added to those that are known."""
        model = self.model
        if model is None:
            return None
        if one.kind == "Measure":
            return self._measure(model, one, tables)
        name = one.name
        if one.kind == "Level":
            table = next((each for each in model.model.tables if each.name == one.entity), None)
            name = table.hierarchies.get(one.hierarchy, {}).get(name, "") if table is not None else ""
        column = model.dax.column(one.entity, name)
        origin = model.origin(column.table) if column is not None else None
        if column is None or origin is None:
            return None
        tables.append(column.table)
        made = Made((Term(origin, column.column),), is_whole=True)
        return made.aggregate_by(one.aggregate) if one.aggregate else made

    def _measure(self, model: ModelAssets, one: ReportField, tables: list[str]) -> Made | None:
        try:
            value = self._dax.measure(one.name) if self._dax is not None else None
        except NotDax:
            value = DaxValue()
        if value is None:
            return None
        tables += value.tables
        if one.name.lower() in self.own_measures:
            return model.made_of(value)
        if self._measures is None or model.measures is None:
            return None
        name = next((each.name for each in model.measures.columns if each.name.lower() == one.name.lower()), one.name)
        return Made((Term(self._measures, name),), is_whole=True)

    def _relationships(self, tables: list[str]) -> Iterator[Made]:
        """The joins by which the tables that a visual reads come together, also by way of others."""
        if self.model is None or not tables:
            return
        wanted = dict.fromkeys(tables)
        ways = _ways(self.model, tables[0])
        kept: dict[tuple[tuple[str, str], tuple[str, str]], None] = {}
        for table in wanted:
            at = table
            while at in ways:
                one, other = ways[at]
                kept[one, other] = None
                at = one[0]
        for one, other in kept:
            terms = [
                Term(origin, column)
                for table, column in (one, other)
                if (origin := self.model.origin(table)) is not None
            ]
            if len(terms) == 2:
                yield Made(tuple(terms))

    def dashboard(self, charts: Mapping[str, Asset]) -> Asset:
        """The report, with the charts as they are called among those of all reports."""
        keys = [f"{self.report.folder}/{one.page}/{one.name}" for one in self.report.visuals if one.shown]
        members = [charts[key] for key in dict.fromkeys(keys) if key in charts]
        return Asset(
            DASHBOARD,
            self.report.folder,
            self.report.name,
            self.report.location,
            dashboard_query(members),
            end="" if members else Outcome.NO_QUERY,
            members=tuple(one.key for one in members),
            subtype="Report",
        )


def _ways(model: ModelAssets, begin: str) -> Mapping[str, tuple[tuple[str, str], tuple[str, str]]]:
    """By each table that relationships lead to from one: the last of the joins, the nearer end of it first."""
    beside: dict[str, list[tuple[tuple[str, str], tuple[str, str]]]] = {}
    for each in model.model.relationships:
        beside.setdefault(each.one[0], []).append((each.one, each.other))
        beside.setdefault(each.other[0], []).append((each.other, each.one))
    found: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {}
    waiting, seen = [begin], {begin}
    while waiting:
        at = waiting.pop(0)
        for one, other in beside.get(at, ()):
            if other[0] not in seen:
                seen.add(other[0])
                found[other[0]] = one, other
                waiting.append(other[0])
    return found
