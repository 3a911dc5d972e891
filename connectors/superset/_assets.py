"""Superset's datasets, charts and dashboards as assets, each with the query that its columns are made by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from connectors.assets import Asset, AssetQuery, Assets, with_own_names
from connectors.dashboards.documents import AskedDatabase, LocatedDocument, documents_in
from connectors.dashboards.queries import (
    PLAIN_SQL,
    FilteringColumn,
    OutputColumn,
    column_text,
    dashboard_query,
    is_expression,
    label_without_values,
    query_text,
    subquery,
    unused_name,
)
from connectors.superset._charts import TEMPLATE, WITHOUT_QUERY, DatasetColumns, chart_query, form_data
from connectors.superset._documents import Documents, entries_with
from connectors.superset._filters import filtered_columns
from connectors.superset.settings import SupersetConfig
from ingestion.dialects import dialect_of
from ingestion.model.entities import CHART, DASHBOARD, DATA_MODEL
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome

_MODEL_TYPE = "SupersetDataModel"
_CHARTS: Mapping[str, str] = {
    **dict.fromkeys(("table", "pivot_table_v2", "ag-grid-table", "table_chart"), "Table"),
    **dict.fromkeys(("echarts_timeseries_bar", "dist_bar", "bar"), "Bar"),
    **dict.fromkeys(("echarts_timeseries_line", "line", "echarts_timeseries", "echarts_timeseries_smooth"), "Line"),
    **dict.fromkeys(("echarts_area", "area"), "Area"),
    **dict.fromkeys(("pie", "sunburst_v2"), "Pie"),
    **dict.fromkeys(("echarts_timeseries_scatter", "bubble", "bubble_v2"), "Scatter"),
    **dict.fromkeys(("histogram", "histogram_v2"), "Histogram"),
    "box_plot": "BoxPlot",
}
_VALUE = re.compile(
    r"\{\{\s*(?:current_username|current_user_id|current_user_email|url_param|from_dttm|to_dttm)\b"
    r"(?:\((?:\s*'[^'{}]*'\s*,?|\s*\"[^\"{}]*\"\s*,?|\s*\w+\s*=\s*\w+\s*,?)*\s*\))?\s*\}\}"
)
"""Macros of Superset's that are always one value, in the quotes around them or without."""


@dataclass(frozen=True, slots=True)
class _Dataset:
    """A dataset with its database, and what charts may ask it for."""

    located: LocatedDocument
    database: AskedDatabase
    offered: DatasetColumns
    templates: tuple[str, ...] = field(default=())


def assets_of(documents: Documents, settings: SupersetConfig) -> Assets:
    """All assets, and what to tell of columns and filters that are templates."""
    datasets = {
        key: _dataset(one, _database(one, documents, settings)) for key, one in sorted(documents.datasets.items())
    }
    models = {one.key: one for one in with_own_names(map(_model, datasets.values()))}
    found = tuple(_charts(documents, datasets, models))
    charts = {one.key: one for one in with_own_names(asset for asset, _templates in found)}
    shown = [_dashboard(one, charts, datasets, models) for _key, one in sorted(documents.dashboards.items())]
    items = (*models.values(), *charts.values(), *with_own_names(asset for asset, _unread in shown))
    templated = [f"{one.located.document['table_name']}.{name}" for one in datasets.values() for name in one.templates]
    templated += [one.title for one, templates in found if templates]
    notes: list[str] = []
    if templated:
        notes.append(
            f"{len(templated)} calculated columns, metrics or charts have templates, or no whole SQL, and left out: "
            + ", ".join(templated[:5])
        )
    if filters := sum(unread for _asset, unread in shown):
        notes.append(f"{filters} native filters name what was not read, a dataset, a column or SQL: left out")
    return Assets(settings.tool, settings.service, settings.tool, items, documents.unread, tuple(notes))


def _database(dataset: LocatedDocument, documents: Documents, settings: SupersetConfig) -> AskedDatabase:
    key = str(dataset.document.get("database_uuid") or dataset.document.get("database_id") or "")
    found = documents.databases.get(key) or AskedDatabase("", PLAIN_SQL)
    database = settings.database_names.get(found.name) or dataset.document.get("catalog") or found.database
    schema = dataset.document.get("schema") or found.schema
    return replace(found, database=str(database or ""), schema=str(schema or ""))


def _dataset(located: LocatedDocument, database: AskedDatabase) -> _Dataset:
    document = located.document
    columns = frozenset(one["column_name"] for one in entries_with(document.get("columns"), "column_name"))
    metrics: dict[str, str] = {}
    for one in entries_with(document.get("metrics"), "metric_name"):
        called = one["metric_name"]
        shown = label_without_values(called, str(one.get("expression") or ""), dialect_of(database.dialect))
        metrics[called] = unused_name(shown + (" (metric)" if called in columns else ""), metrics.values())
    templated = [
        one["column_name"] for one in entries_with(document.get("columns"), "column_name") if _is_template(one)
    ]
    templated += [
        metrics[one["metric_name"]] for one in entries_with(document.get("metrics"), "metric_name") if _is_template(one)
    ]
    return _Dataset(located, database, DatasetColumns(columns, metrics), tuple(templated))


def _is_template(one: Mapping[str, object]) -> bool:
    """Whether what it is made of cannot be told: a template, or what does not end what it begins."""
    text = str(one.get("expression") or "")
    return bool(TEMPLATE.search(text)) or not is_expression(text, dialect_of(PLAIN_SQL))


def _model(dataset: _Dataset) -> Asset:
    document, database = dataset.located.document, dataset.database
    dialect = dialect_of(database.dialect)
    sql = document.get("sql")
    if isinstance(sql, str) and sql.strip():
        origin = subquery(_VALUE.sub("0", sql), "virtual_table")
    else:
        levels = [document.get("catalog"), document.get("schema"), document["table_name"]]
        origin = ".".join(column_text(str(level), dialect) for level in levels if level)
    outputs = tuple(_outputs(dataset))
    text = query_text(outputs, origin, dialect) if outputs else f"SELECT * FROM {origin}"
    types = {
        one["column_name"]: str(one.get("type") or "") for one in entries_with(document.get("columns"), "column_name")
    }
    names = (*sorted(dataset.offered.columns), *dataset.offered.metrics.values())
    return Asset(
        DATA_MODEL,
        dataset.located.key,
        str(document["table_name"]),
        dataset.located.location,
        AssetQuery(text, database.dialect, database.database, database.schema),
        columns=tuple(Column(name, types.get(name, "")) for name in names),
        owners=_owners(document),
        description=str(document.get("description") or ""),
        subtype=_MODEL_TYPE,
    )


def _outputs(dataset: _Dataset) -> Iterator[OutputColumn]:
    document, dialect = dataset.located.document, dialect_of(dataset.database.dialect)
    for one in entries_with(document.get("columns"), "column_name"):
        if not _is_template(one):
            expression = one.get("expression")
            text = f"({expression})" if expression else column_text(one["column_name"], dialect)
            yield OutputColumn(text, one["column_name"])
    for one in entries_with(document.get("metrics"), "metric_name"):
        if one.get("expression") and not _is_template(one):
            yield OutputColumn(f"({one['expression']})", dataset.offered.metrics[one["metric_name"]])


def _charts(
    documents: Documents, datasets: Mapping[str, _Dataset], models: Mapping[str, Asset]
) -> Iterator[tuple[Asset, int]]:
    """Each chart, and how many templates are left out of it."""
    for key, located in sorted(documents.charts.items()):
        chart = located.document
        viz = str(form_data(chart).get("viz_type") or "")
        asset = Asset(
            CHART,
            key,
            str(chart["slice_name"]),
            located.location,
            owners=_owners(chart),
            description=str(chart.get("description") or ""),
            url=str(chart.get("address") or ""),
            subtype=_CHARTS.get(viz, "Other"),
        )
        dataset = datasets.get(str(chart.get("dataset_uuid") or chart.get("datasource_id") or ""))
        if viz in WITHOUT_QUERY:
            yield replace(asset, end=Outcome.NO_QUERY), 0
        elif dataset is None:
            yield replace(asset, end=Outcome.NO_DATASET), 0
        else:
            dialect = dialect_of(dataset.database.dialect)
            asked = chart_query(chart, dataset.offered, dialect)
            origin = models[dataset.located.key].relation_text(dataset.database.dialect)
            text = query_text(asked.outputs, origin, dialect, asked.deciding, asked.grouping)
            columns = tuple(Column(one.name) for one in asked.outputs)
            query = AssetQuery(text, dataset.database.dialect)
            yield replace(asset, query=query, columns=columns), asked.templates


def _dashboard(
    located: LocatedDocument,
    charts: Mapping[str, Asset],
    datasets: Mapping[str, _Dataset],
    models: Mapping[str, Asset],
) -> tuple[Asset, int]:
    """A dashboard, and how many of its filters read what is not known."""
    document = located.document
    members = tuple(dict.fromkeys(key for key in _members(document) if key in charts))
    filtered, unread = filtered_columns(document, {key: one.offered for key, one in datasets.items()})
    filters = [FilteringColumn(models[one.dataset].relation_text(PLAIN_SQL), one.column) for one in filtered]
    query = dashboard_query([charts[key] for key in members], filters)
    asset = Asset(
        DASHBOARD,
        located.key,
        str(document["dashboard_title"]),
        located.location,
        query,
        end="" if query is not None else Outcome.NO_QUERY,
        members=members,
        owners=_owners(document),
        description=str(document.get("description") or ""),
        url=str(document.get("address") or ""),
        subtype="Dashboard",
    )
    return asset, unread


def _members(document: Mapping[str, object]) -> Iterator[str]:
    """The keys of a dashboard's charts: as the API lists them, or by their places."""
    listed = document.get("charts")
    yield from (str(one) for one in listed) if isinstance(listed, list) else ()
    position = document.get("position")
    for part in position.values() if isinstance(position, dict) else ():
        meta = part.get("meta") if isinstance(part, dict) else None
        if isinstance(meta, dict) and meta.get("uuid"):
            yield str(meta["uuid"])


def _owners(document: Mapping[str, object]) -> tuple[str, ...]:
    """The names of people, as they are read; an export has none."""
    found = (_person(one) for one in documents_in(document.get("owners")))
    return tuple(dict.fromkeys(filter(None, found)))


def _person(one: Mapping[str, object]) -> str:
    return " ".join(str(one[key]) for key in ("first_name", "last_name") if one.get(key)) or str(
        one.get("username") or ""
    )
