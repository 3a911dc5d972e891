"""What a policy is about: every column of a catalog with its labels, and what is said between columns."""

from __future__ import annotations

from pathlib import Path

from connectors.catalog.questions.answer import When
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.lineage.window import window
from ingestion.policies.plan import CatalogColumns, catalog_columns


def columns_of_file(file: Path, when: When) -> CatalogColumns:
    """Everything in a catalog's file. Raises ConfigError where there is none."""
    with open_catalog(file) as connection:
        tables = LocalTables(connection, window(connection, when.as_of, when.days).moment)
        names = [table.fqn for table in tables.all()]
        found = [*tables.dependencies(names), *tables.dependencies(names, upstream=True)]
        return catalog_columns(tables.documents(), dict.fromkeys(found))
