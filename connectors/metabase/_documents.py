"""What Metabase has, as its export and its API tell it alike: databases, fields of tables, cards, dashboards, snippets.

A field is known by its position (database, schema, table, name) in an export, and by a number in the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.assets import UnreadFile
from connectors.dashboards.documents import AskedDatabase, Document, LocatedDocument, yaml_documents
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.queries import PLAIN_SQL, known_dialect
from ingestion.dialects import dialect_of

_DIALECTS: Mapping[str, str] = {"bigquery-cloud-sdk": "bigquery", "sqlserver": "tsql", "presto-jdbc": "presto"}


@dataclass(frozen=True, slots=True)
class TableField:
    """A field of a table; the table's own has no name."""

    schema: str
    table: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class MetabaseContent:
    """All of it; `fields` and `tables` by the numbers that the API has for them, `snippets` by their names."""

    warehouses: Mapping[str, AskedDatabase] = field(default_factory=dict)
    cards: Mapping[str, LocatedDocument] = field(default_factory=dict)
    dashboards: tuple[LocatedDocument, ...] = ()
    fields: Mapping[int, TableField] = field(default_factory=dict)
    tables: Mapping[int, TableField] = field(default_factory=dict)
    snippets: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()


def warehouse_of(document: Document) -> AskedDatabase:
    """A database by what Metabase says of it; its address only who may see it is told."""
    engine = str(document.get("engine") or "")
    dialect = known_dialect(_DIALECTS.get(engine, engine)) or PLAIN_SQL
    found = document.get("details")
    details: Document = found if isinstance(found, dict) else {}
    keys = ("dbname", "db", "project-id", "catalog")
    database = next((str(details[key]) for key in keys if isinstance(details.get(key), str)), "")
    schema = details.get("schema") if isinstance(details.get("schema"), str) else ""
    two_level = dialect_of(dialect).two_level
    return AskedDatabase(str(document.get("name") or ""), dialect, database, "" if two_level else str(schema or ""))


def documents_of(files: Iterable[ExportedFile]) -> MetabaseContent:
    """What the files of an export say."""
    found: dict[str, dict[str, Any]] = {"Database": {}, "Card": {}, "Dashboard": {}, "NativeQuerySnippet": {}}
    unread: list[UnreadFile] = []
    for document, location in yaml_documents(files, unread):
        kind, key = _identity(document)
        if kind not in found or not isinstance(document, dict) or document.get("archived") is True:
            continue
        if kind == "Database":
            found[kind][str(document.get("name") or key)] = warehouse_of(document)
        elif kind == "NativeQuerySnippet":
            found[kind][str(document.get("name"))] = str(document.get("content") or "")
        elif not isinstance(document.get("name"), str):
            unread.append(UnreadFile(location, f"it has no name, which every {kind.lower()} has"))
        else:
            found[kind][key] = LocatedDocument(key, document, location)
    return MetabaseContent(
        found["Database"],
        found["Card"],
        tuple(found["Dashboard"].values()),
        snippets=found["NativeQuerySnippet"],
        unread=tuple(unread),
    )


def _identity(document: object) -> tuple[str, str]:
    """What kind of thing a document is of, and its key; "" for what is none of Metabase's."""
    path = document.get("serdes/meta") if isinstance(document, dict) else None
    last = path[-1] if isinstance(path, list) and path else None
    if not isinstance(last, dict):
        return "", ""
    return str(last.get("model") or ""), str(last.get("id") or "")
