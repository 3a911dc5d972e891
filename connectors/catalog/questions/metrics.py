"""The metrics of queries that a catalog has, and where the tables of others are in it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import entities_named, open_catalog
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, answer
from connectors.catalog.store.lineage.column_names import column_names
from connectors.catalog.store.schema import entities
from ingestion.metrics.collection import Metric
from ingestion.metrics.report import FILED_ENTITY, FiledMetrics, FiledTable, view_fields
from ingestion.model.fqn import build_fqn


def filed_metrics(file: Path) -> Answer[FiledMetrics]:
    """The metrics that a catalog's file has from queries, by name. Raises ConfigError where there is no such file."""
    query = select(entities).where(entities.c.type == "metric", entities.c.deleted.is_(False)).order_by(entities.c.fqn)
    with open_catalog(file) as connection:
        documents = [answer(row) for row in connection.execute(query)]
    found = [(document.get("extension") or {}).get(FILED_ENTITY) for document in documents]
    return Answer(tuple(one for one in found if isinstance(one, dict)))


def tables_of(file: Path, metrics: tuple[Metric, ...]) -> tuple[dict[str, FiledTable], list[str]]:
    """Where the tables and columns of views are in a catalog, and a line for each table that is not surely there.

    Raises ConfigError where `file` is no catalog.
    """
    found: dict[str, FiledTable] = {}
    warnings: list[str] = []
    fields = [base for of_view in view_fields(metrics).values() for base in of_view]
    with open_catalog(file) as connection:
        for table in dict.fromkeys(table for metric in metrics for table in metric.view.tables):
            rows = [row for row in entities_named(connection, table) if row.type == "table"]
            if len(rows) != 1:
                warnings.append(f"{table} is {'not' if not rows else 'more than one table'} in the catalog")
                continue
            (row,) = rows
            names, types = column_names(connection, row), _column_types(row)
            wanted = {base.column: f"{row.fqn}.{build_fqn(base.column)}" for base in fields if base.table == table}
            paths = {column: names.path(full) for column, full in wanted.items()}
            columns = {
                column: (f"{row.fqn}.{path}", types.get(path, "")) for column, path in paths.items() if path is not None
            }
            found[table] = FiledTable(str(row.fqn), columns)
    return found, warnings


def _column_types(row: EntityRow) -> dict[str, str]:
    walked = columns_of.walk(columns_of.of_entity(row.type, loads(row.document)))
    return {path: str(column.get("dataTypeDisplay") or column.get("dataType") or "") for path, _, column in walked}
