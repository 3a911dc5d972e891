"""catalog.json: the columns that the warehouse has, as `dbt docs generate` asked it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from connectors.dbt.target.json_stream import Artifact, mapping_of, text_of
from ingestion.model import Column


def read_columns(file: Path) -> dict[str, tuple[Column, ...]]:
    """All columns of each node and source in their order, by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "catalog")
    found: dict[str, tuple[Column, ...]] = {}
    for unique_id, entry in chain(artifact.entries("nodes"), artifact.entries("sources")):
        columns = [mapping_of(column) for column in mapping_of(entry.get("columns")).values()]
        columns.sort(key=lambda column: index if isinstance(index := column.get("index"), int | float) else 0)
        found[unique_id] = tuple(Column(text_of(one.get("name")), text_of(one.get("type"))) for one in columns)
    return found
