"""Catalogs made of tables, column edges and SQL without a run: written to the store as the bulk calls write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from connectors.catalog.contract import bulk_models
from connectors.catalog.store.database import Database, open_database
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.lineage import bulk_lineage
from ingestion.graph import LineageGraph
from ingestion.model.fqn import split_fqn

AT = 1_700_000_000_000
Tables = Mapping[str, Sequence[str]]
"""Full name (service.database.schema.table) -> columns."""
Edge = tuple[str, str, Mapping[str, Any]]


class _TakenBack(Exception):
    """Ends a transaction whose writes are not to stay."""


class MadeCatalog:
    """A catalog's file that is filled in one transaction a call."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.database: Database = open_database(file)
        self._ids: dict[str, str] = {}
        self._batches = 0

    def add_tables(self, tables: Tables, at: int = AT, **more: Any) -> None:
        """Registers tables with all that is above them."""
        names = [split_fqn(name) for name in tables]
        request = {
            "services": [{"name": one, "serviceType": "Postgres"} for one in dict.fromkeys(name[0] for name in names)],
            "databases": [{"name": d, "service": s} for s, d in dict.fromkeys(name[:2] for name in names)],
            "schemas": [{"name": c, "database": f"{s}.{d}"} for s, d, c in dict.fromkeys(name[:3] for name in names)],
            "tables": [
                {
                    "name": parts[3],
                    "databaseSchema": ".".join(parts[:3]),
                    "columns": [{"name": column, "dataType": "INT"} for column in columns],
                    **more,
                }
                for parts, columns in zip(names, tables.values(), strict=True)
            ],
            "at": at,
            "replaceColumns": True,
        }
        with self.database.write() as connection:
            made = lookup.register(connection, bulk_models.Register.model_validate(request))["tables"]
        self._ids |= {name: one["id"] for name, one in zip(tables, made, strict=True)}

    def add_edges(self, edges: Iterable[Edge], at: int = AT) -> None:
        """Adds (source table, target table, contribution); `columns` of it name columns in full."""
        with self.database.write() as connection:
            bulk_lineage.apply(connection, self._request(edges, at))

    @contextmanager
    def with_edges(self, edges: Iterable[Edge], at: int = AT) -> Iterator[Connection]:
        """The catalog with these edges too, until they are taken back."""
        try:
            with self.database.write() as connection:
                bulk_lineage.apply(connection, self._request(edges, at))
                yield connection
                raise _TakenBack
        except _TakenBack:
            pass

    def id_of(self, table: str) -> str:
        """The id of a table that was added."""
        return self._ids[table]

    def _request(self, edges: Iterable[Edge], at: int) -> bulk_models.Lineage:
        self._batches += 1
        request = {
            "batchId": f"made {self._batches}",
            "edges": [
                {
                    "fromEntity": {"id": self._ids[source], "type": "table"},
                    "toEntity": {"id": self._ids[target], "type": "table"},
                    "contribution": {"source": "QueryLineage", "firstSeen": at, "lastSeen": at, **contribution},
                }
                for source, target, contribution in edges
            ],
        }
        return bulk_models.Lineage.model_validate(request)

    def add_graph(self, graph: LineageGraph, home: str, at: int = AT) -> None:
        """Files what a text of SQL says; `home` is the service and database of its names of two parts."""
        tables = {f"{home}.{name}": [one.name for one in columns] for name, columns in graph.tables.items()}
        self.add_tables(tables, at=at)
        kept = ("producer", "source", "sqlQuery", "parser", "count")
        edges = [
            (
                f"{home}.{edge['from']}",
                f"{home}.{edge['to']}",
                {
                    **{key: one[key] for key in kept},
                    "columns": [
                        {
                            **column,
                            "from": [f"{home}.{name}" for name in column["from"]],
                            "to": f"{home}.{column['to']}" if column["to"] else None,
                        }
                        for column in one["columns"]
                    ],
                },
            )
            for edge in graph.document["edges"]
            for one in edge["contributions"]
        ]
        self.add_edges(edges, at)

    def close(self) -> None:
        """Closes the file, so that others open it."""
        self.database.close()
