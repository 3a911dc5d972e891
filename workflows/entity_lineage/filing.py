"""Metrics in a catalog: filed with the columns that they are made of, and read from it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from connectors.catalog.local_queries import entities_named, existing_database, open_catalog
from connectors.catalog.store.lineage.column_names import column_names
from connectors.openmetadata.entities.consumers import Consumer, delete_others, file_consumer
from connectors.openmetadata.entities.crud import Collection, get_by_name, pages
from connectors.openmetadata.transport.platform import Platform
from ingestion.decomposition.metrics import Metric
from ingestion.decomposition.model import ViewField
from ingestion.lineage_request import EdgeSource
from ingestion.model import Json
from ingestion.names.fqn import build_fqn, encode_name
from workflows.config import EmbeddedCatalog
from workflows.entity_lineage.report import MetricReport
from workflows.target import platform_of

ORIGIN = "measuredIn"
"""The attribute of a metric that says which queries it was found in: none of another origin is touched."""
_ENTITY = "entityLineage"

_CatalogColumns = Mapping[str, tuple[str, Mapping[ViewField, str]]]
"""By table as the queries name it: its FQN, and the FQNs of its columns."""


def file_report(catalog: Path, report: MetricReport, origin: str) -> tuple[str, ...]:
    """Files the metrics of a report in a catalog's file; what to warn of.

    Those that `origin` had before and has not any more go, if the report is complete. Raises ConfigError where there is
    no such catalog.
    """
    shown_metrics = {one["name"]: one for one in report.to_json()["metrics"]}
    tables, warnings = _find_tables(catalog, report.metrics)
    kept: set[str] = set()
    with platform_of(EmbeddedCatalog(catalog)) as platform:
        for metric in report.metrics:
            if _belongs_to_others(platform, metric, origin):
                warnings.append(f"{metric.name} is a metric of the catalog already: it stays as it is")
                continue
            fqn, _ = file_consumer(
                platform.http, _consumer(metric, shown_metrics[metric.name], origin, tables), EdgeSource.QUERY
            )
            kept.add(fqn)
        if report.complete:
            delete_others(platform.http, Collection.METRICS, {"fields": "extension"}, kept, {ORIGIN: origin})
        else:
            warnings.append("no metric is withdrawn: what could not be read may have it still")
    return tuple(warnings)


def filed_metrics(catalog: Path) -> list[Json]:
    """The metrics that a catalog's file has from queries, as a report tells them. Raises ConfigError."""
    existing_database(catalog).close()
    with platform_of(EmbeddedCatalog(catalog)) as platform:
        listed = list(pages(platform.http, Collection.METRICS, {"fields": "extension"}))
    found = [(entity.get("extension") or {}).get(_ENTITY) for entity in listed]
    return [one for one in found if isinstance(one, dict)]


def _belongs_to_others(platform: Platform, metric: Metric, origin: str) -> bool:
    known = get_by_name(platform.http, Collection.METRICS, build_fqn(encode_name(metric.name)), ("extension",))
    return known is not None and (known.get("extension") or {}).get(ORIGIN) != origin


def _consumer(metric: Metric, shown: Json, origin: str, tables: _CatalogColumns) -> Consumer:
    measure = metric.measure
    described: Json = {"name": encode_name(metric.name), "expression": measure.expression.text}
    if measure.aggregation:
        described["aggregation"] = measure.aggregation.upper()
    request = {
        "name": encode_name(metric.name),
        "metricExpression": {"language": "SQL", "code": measure.expression.text},
        "measures": [described],
        "dimensions": [
            {
                "name": encode_name(one.name),
                "type": "TIME" if one.time else "CATEGORICAL",
                "expression": one.expression.text,
            }
            for one in metric.dimensions
        ],
        "extension": {ORIGIN: origin, _ENTITY: shown},
    }
    used: dict[str, list[str]] = {}
    for base in measure.expression.fields:
        fqn, columns = tables.get(base.table, ("", {}))
        if base in columns:
            used.setdefault(fqn, []).append(columns[base])
    reads = tuple(tables[table][0] for table in metric.view.tables if table in tables)
    columns_of = {fqn: tuple(columns) for fqn, columns in used.items()}
    return Consumer(Collection.METRICS, request, reads, columns_of, measure.expression.text)


def _find_tables(catalog: Path, metrics: tuple[Metric, ...]) -> tuple[_CatalogColumns, list[str]]:
    """Where the tables and columns of views are in the catalog, and a line for each table that is not surely there."""
    found: dict[str, tuple[str, Mapping[ViewField, str]]] = {}
    warnings: list[str] = []
    wanted = {table: None for metric in metrics for table in metric.view.tables}
    with ExitStack() as opened:
        connection = opened.enter_context(open_catalog(catalog))
        for table in wanted:
            rows = entities_named(connection, table)
            if len(rows) != 1:
                warnings.append(f"{table} is {'not' if not rows else 'more than one table'} in the catalog")
                continue
            (row,) = rows
            names = column_names(connection, row)
            columns = {
                base: f"{row.fqn}.{path}"
                for base in _fields_of(metrics, table)
                if (path := names.path(f"{row.fqn}.{build_fqn(base.column)}")) is not None
            }
            found[table] = (str(row.fqn), columns)
    return found, warnings


def _fields_of(metrics: tuple[Metric, ...], table: str) -> Iterator[ViewField]:
    for metric in metrics:
        yield from (base for base in metric.measure.expression.fields if base.table == table)
