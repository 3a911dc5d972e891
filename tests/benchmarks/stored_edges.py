"""The edges in a catalog's file, read from it as a whole: of a hundred thousand tables the API is asked one by one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ingestion.model.fqn import split_fqn

TableEdges = set[tuple[str, str]]
ColumnEdges = set[tuple[str, str, str, str]]

_OPEN = (
    'select i.from_id, i.to_id, v.content from intervals i join versions v on v.id = i.version_id where i."end" is null'
)


def stored_edges(file: Path) -> tuple[TableEdges, ColumnEdges]:
    """Table edges, and certain direct column edges, that are in force; tables are schema.table in lower case."""
    tables: TableEdges = set()
    columns: ColumnEdges = set()
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        names = {
            key: ".".join(split_fqn(fqn)[2:]).lower()
            for key, fqn in connection.execute("select id, fqn from entities where type = 'table'")
        }
        for from_id, to_id, content in connection.execute(_OPEN):
            source, target = names[from_id], names[to_id]
            tables.add((source, target))
            columns.update((source, one, target, made) for one, made in _direct(json.loads(content)["columns"]))
    return tables, columns


def _direct(columns: list[dict[str, object]]) -> Iterator[tuple[str, str]]:
    for column in columns:
        if column["type"] == "DIRECT" and column.get("certain", True):
            yield from ((str(source).lower(), str(column["to"]).lower()) for source in column["from"])  # type: ignore[attr-defined]
