"""Entities of the catalog as OpenLineage names datasets: a namespace for where they are, a name for which it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import DatasetFacet, schema_dataset

from ingestion.entities import TableEntity
from ingestion.model import Column
from ingestion.names.fqn import split_fqn

_PARTS_OF_A_TABLE = 4


@dataclass(frozen=True, slots=True)
class DatasetNames:
    """How datasets are named: `namespace` is that of the tables, such as postgres://host:5432."""

    namespace: str

    def of(self, entity: TableEntity) -> tuple[str, str]:
        """The namespace and the name of an entity; a container's are its store and its path."""
        parts = split_fqn(entity.fully_qualified_name)
        if entity.type != "container":
            return self.namespace, ".".join(parts[1:_PARTS_OF_A_TABLE])
        store, _, path = "/".join(parts[1:]).partition("/")
        return (
            (f"{parts[0]}://{store}", path or "/") if parts[0] != "files" else ("file", f"{store}/{path}".rstrip("/"))
        )

    def input(self, entity: TableEntity) -> InputDataset:
        """The entity as something that is read."""
        namespace, name = self.of(entity)
        return InputDataset(namespace, name, facets=_facets(entity))

    def output(self, entity: TableEntity, **facets: DatasetFacet) -> OutputDataset:
        """The entity as something that is written."""
        namespace, name = self.of(entity)
        return OutputDataset(namespace, name, facets={**_facets(entity), **facets})


def column_name(entity: TableEntity, fqn: str) -> str:
    """The column that an FQN of the entity's names, a nested one with its path."""
    return ".".join(split_fqn(fqn)[len(split_fqn(entity.fully_qualified_name)) :])


def _facets(entity: TableEntity) -> dict[str, DatasetFacet]:
    if not entity.columns:
        return {}
    return {"schema": schema_dataset.SchemaDatasetFacet(fields=_fields(entity.columns))}


def _fields(columns: Sequence[Column]) -> list[schema_dataset.SchemaDatasetFacetFields]:
    return [
        schema_dataset.SchemaDatasetFacetFields(name=column.name, type=column.type or None, ordinal_position=number)
        for number, column in enumerate(columns, 1)
    ]
