"""Metrics of SQL files in a catalog's own file: filed there, and listed again."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from connectors.catalog.questions.file import entities_named, existing_database, open_catalog
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.lineage.column_names import column_names
from connectors.openmetadata.metrics import FiledTable, MetricFiling, listed_metrics
from ingestion.metrics.collection import Metric
from ingestion.metrics.report import MetricReport, view_fields
from ingestion.model.fqn import build_fqn
from ingestion.model.lineage import Json
from workflows.config import EmbeddedCatalog
from workflows.target import platform_of


def file_report(catalog: Path, report: MetricReport, origin: str) -> tuple[str, ...]:
    """Files the metrics of a report in a catalog's file; what to warn of.

    Those that `origin` had before and has not any more go, if the report is complete. Raises ConfigError where there is
    no such catalog.
    """
    tables, warnings = _find_tables(catalog, report.metrics)
    with platform_of(EmbeddedCatalog(catalog)) as platform:
        filing = MetricFiling(platform, origin, tables)
        filed, more = filing.file(report)
        warnings += more
        if report.complete:
            filing.withdraw(filed, report.metrics)
        else:
            warnings.append("no metric is withdrawn: what could not be read may have it still")
    return tuple(warnings)


def filed_metrics(catalog: Path) -> list[Json]:
    """The metrics that a catalog's file has from queries, as a report tells them. Raises ConfigError."""
    existing_database(catalog).close()
    with platform_of(EmbeddedCatalog(catalog)) as platform:
        return listed_metrics(platform)


def _find_tables(catalog: Path, metrics: tuple[Metric, ...]) -> tuple[dict[str, FiledTable], list[str]]:
    """Where the tables and columns of views are in the catalog, and a line for each table that is not surely there."""
    found: dict[str, FiledTable] = {}
    warnings: list[str] = []
    fields = [base for of_view in view_fields(metrics).values() for base in of_view]
    with ExitStack() as opened:
        connection = opened.enter_context(open_catalog(catalog))
        for table in {table: None for metric in metrics for table in metric.view.tables}:
            rows = [row for row in entities_named(connection, table) if row.type == "table"]
            if len(rows) != 1:
                warnings.append(f"{table} is {'not' if not rows else 'more than one table'} in the catalog")
                continue
            (row,) = rows
            names = column_names(connection, row)
            walked = columns_of.walk(columns_of.of_entity(row.type, loads(row.document)))
            types = {
                path: str(column.get("dataTypeDisplay") or column.get("dataType") or "") for path, _, column in walked
            }
            columns = {
                base.column: (f"{row.fqn}.{path}", types.get(path, ""))
                for base in fields
                if base.table == table and (path := names.path(f"{row.fqn}.{build_fqn(base.column)}")) is not None
            }
            found[table] = FiledTable(str(row.fqn), columns)
    return found, warnings
