"""Columns with their labels and dependencies, out of a catalog's file or over the platform's REST API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from connectors.catalog.local_queries import When, open_catalog
from connectors.catalog.local_tables import LocalTables
from connectors.catalog.store.entities.columns import of_document, walk
from connectors.catalog.store.evidence.column_dependencies import ColumnDependency
from connectors.catalog.store.queries.window import window
from connectors.openmetadata.edges import Graph, graph
from connectors.openmetadata.entities.crud import Collection, pages
from connectors.openmetadata.transport.platform import Platform
from ingestion.entities import EntityReference
from ingestion.model import Json
from ingestion.policies.values import ColumnNode
from workflows.policy.plan import CatalogColumns, TagLabel, path_in


def columns_of_file(file: Path, when: When) -> CatalogColumns:
    """Everything in a catalog's file. Raises ConfigError where there is none."""
    with open_catalog(file) as connection:
        tables = LocalTables(connection, window(connection, when.as_of, when.days).moment)
        names = [table.fqn for table in tables.all()]
        found = [*tables.dependencies(names), *tables.dependencies(names, upstream=True)]
        return _columns(tables.documents(), dict.fromkeys(found))


def columns_of_platform(platform: Platform) -> CatalogColumns:
    """Everything on a platform: of its lineage what OpenMetadata's contract has, certain pairs with their expressions.

    Raises TargetDown and ConfigError.
    """
    documents = list(pages(platform.http, Collection.TABLES, {"fields": "columns,tags"}))
    found: dict[ColumnDependency, None] = {}
    for document in documents:
        name = str(document["fullyQualifiedName"])
        around = graph(platform.http, EntityReference(str(document["id"]), "table", fully_qualified_name=name), 1, 0)
        found.update(dict.fromkeys(_dependencies(around) if around is not None else ()))
    return _columns(documents, found)


def _columns(documents: Iterable[Json], dependencies: Iterable[ColumnDependency]) -> CatalogColumns:
    labels: dict[ColumnNode, tuple[TagLabel, ...]] = {}
    table_types = {}
    for document in documents:
        table = str(document["fullyQualifiedName"])
        table_types[table] = str(document.get("tableType") or "Regular")
        for path, _position, column in walk(of_document(document)):
            stored = column.get("tags") or ()
            labels[table, path] = tuple(TagLabel(str(label["tagFQN"]), path_in(label)) for label in stored)
    return CatalogColumns(labels, table_types, tuple(dependencies))


@dataclass(frozen=True, slots=True)
class _End:
    """A table of a graph: a column's full name begins with its name."""

    name: str

    def column(self, full: str) -> ColumnNode:
        return self.name, full.removeprefix(f"{self.name}.")


def _dependencies(around: Graph) -> Iterator[ColumnDependency]:
    for edge in around.upstream:
        source, target = (around.nodes[end].fully_qualified_name or "" for end in (edge.from_id, edge.to_id))
        pairs = edge.details.columns_lineage
        if not pairs:
            yield ColumnDependency((source, None), (target, None), "TABLE")
        for pair in pairs:
            for column in pair.from_columns:
                ends = _End(source).column(column), _End(target).column(pair.to_column)
                yield ColumnDependency(*ends, "DIRECT", expression=pair.function or "")
