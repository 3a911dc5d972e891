"""A catalog of tables whose lineage is that of a few statements, published as a run publishes it, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion import LineageParser, QueryMasker

NOW = 1_700_000_000_000


def publish(
    file: Path,
    tables: dict[str, dict[str, str]],
    statements: tuple[str, ...],
    dialect: str = "postgres",
    seen: frozenset[str] = frozenset(),
) -> None:
    """Fills a catalog with `tables` ("schema.table" -> column -> type) of the database shop and the statements.

    Of those that are `seen` queries alone tell what columns they have.
    """
    with running_catalog(CatalogConfig(file, port=0)) as address:
        calls = f"{address.url}/v1/headwater"
        schemas = sorted({name.partition(".")[0] for name in tables})
        body = {
            "services": [{"name": "s", "serviceType": "Postgres" if dialect == "postgres" else dialect.title()}],
            "databases": [{"name": "shop", "service": "s"}],
            "schemas": [{"name": schema, "database": "s.shop"} for schema in schemas],
            "tables": [_table(name, columns, name not in seen) for name, columns in tables.items()],
            "at": 1000,
        }
        answer = requests.post(f"{calls}/tables", json=body, timeout=10)
        answer.raise_for_status()
        ids = {f"s.shop.{name}": table["id"] for name, table in zip(tables, answer.json()["tables"], strict=True)}
        edges = [edge for number, text in enumerate(statements) for edge in _edges(text, number, tables, ids, dialect)]
        requests.post(f"{calls}/lineage", json={"batchId": "b", "edges": edges}, timeout=10).raise_for_status()


def _table(name: str, columns: dict[str, str], complete: bool) -> dict[str, Any]:
    schema, _, table = name.partition(".")
    wanted = [
        {"name": column, "dataType": kind.upper().partition("(")[0], "dataTypeDisplay": kind}
        for column, kind in columns.items()
    ]
    extension = {"extension": {"columnsComplete": False}} if not complete else {}
    return {"name": table, "databaseSchema": f"s.shop.{schema}", "columns": wanted, **extension}


def _edges(
    text: str, number: int, tables: dict[str, dict[str, str]], ids: dict[str, str], dialect: str
) -> list[dict[str, Any]]:
    parser = LineageParser(text, dialect, tables)
    view = "VIEW" in text.partition(" AS ")[0].upper()
    edges = []
    for source, target in parser.table_lineage:
        columns = [
            {
                "from": [f"s.shop.{edge.source}"],
                "to": f"s.shop.{edge.target}",
                "type": str(edge.type),
                "subtype": str(edge.subtype),
                "masking": edge.masking,
                "expression": edge.expression,
                "certain": edge.certain,
            }
            for edge in parser.edges
            if str(edge.source.table) == str(source) and edge.source.column != "*"
        ]
        said = {
            "producer": {"kind": "view" if view else "query", "key": str(number)},
            "source": "ViewLineage" if view else "QueryLineage",
            "sqlQuery": QueryMasker(dialect).mask(text),
            "columns": columns,
            "firstSeen": NOW,
            "lastSeen": NOW,
        }
        ends = [{"id": ids[f"s.shop.{name}"], "type": "table"} for name in (source, target)]
        edges.append({"fromEntity": ends[0], "toEntity": ends[1], "contribution": said})
    return edges
