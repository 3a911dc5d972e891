"""What Superset has, as its export and its API tell it alike: databases, datasets, charts, dashboards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from connectors.assets import UnreadFile
from connectors.dashboards.documents import AskedDatabase, Document, LocatedDocument, yaml_documents
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.queries import PLAIN_SQL, known_dialect
from ingestion.dialects import dialect_of

_KNOWN_VERSIONS = "1."
_IN_HOST = frozenset({"bigquery"})
"""Whose address has the database where others have the host."""
_FILES = frozenset({"sqlite", "duckdb"})


@dataclass(frozen=True, slots=True)
class Documents:
    """All of it, each by its key."""

    databases: Mapping[str, AskedDatabase] = field(default_factory=dict)
    datasets: Mapping[str, LocatedDocument] = field(default_factory=dict)
    charts: Mapping[str, LocatedDocument] = field(default_factory=dict)
    dashboards: Mapping[str, LocatedDocument] = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()


def database_of(name: str, address: str, backend: str = "") -> AskedDatabase:
    """A connection by its SQLAlchemy address, or by what Superset calls its kind."""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    kind = (parts.scheme or backend).partition("+")[0].lower()
    spellings = (kind, kind.removeprefix("aws"), kind.removesuffix("db"), kind.removesuffix("ql"))
    dialect = known_dialect(*spellings) or PLAIN_SQL
    levels = [one for one in parts.path.split("/") if one] if parts.scheme else []
    if kind in _IN_HOST:
        levels = [parts.netloc, *levels]
    if kind in _FILES:
        levels = []
    database, schema = (*levels, "", "")[:2]
    return AskedDatabase(name, dialect, database, "" if dialect_of(dialect).two_level else schema)


def documents_of(files: Iterable[ExportedFile]) -> Documents:
    """What the files of an export say; what is none of Superset's documents is none of ours."""
    found: dict[str, dict[str, Any]] = {"databases": {}, "datasets": {}, "charts": {}, "dashboards": {}}
    unread: list[UnreadFile] = []
    for document, location in yaml_documents(files, unread):
        kind = _kind(document)
        if not kind or not isinstance(document, dict):
            continue
        problem = _misfit(document, kind)
        if problem:
            unread.append(UnreadFile(location, problem))
            continue
        key = str(document["uuid"])
        if kind == "databases":
            name = str(document["database_name"])
            found[kind][key] = database_of(name, str(document.get("sqlalchemy_uri") or ""))
        else:
            found[kind][key] = LocatedDocument(key, document, location)
    return Documents(**found, unread=tuple(unread))


def _kind(document: object) -> str:
    """What a document is, by the key that only such a one has; "" for another."""
    marks = {
        "slice_name": "charts",
        "dashboard_title": "dashboards",
        "table_name": "datasets",
        "database_name": "databases",
    }
    return next((kind for mark, kind in marks.items() if mark in document), "") if isinstance(document, dict) else ""


def _misfit(document: Document, kind: str) -> str:
    """Why a document is not read, "" where it is."""
    version = str(document.get("version") or _KNOWN_VERSIONS)
    if not version.startswith(_KNOWN_VERSIONS):
        return f"version {version[:20]} of Superset's export is not known: 1.0.0 is"
    if not document.get("uuid"):
        return f"it has no uuid, which every one of the {kind} has"
    lists = {"datasets": ("columns", "metrics")}.get(kind, ())
    maps = {"dashboards": ("position",)}.get(kind, ())
    wrong = [name for name in lists if not isinstance(document.get(name) or [], list)]
    wrong += [name for name in maps if not isinstance(document.get(name) or {}, dict)]
    return f"{wrong[0]} is not as Superset writes it" if wrong else ""


def entries_with(entries: object, key: str) -> Iterator[Document]:
    """The entries of a list that are objects with a text under this key."""
    for one in entries if isinstance(entries, list) else ():
        if isinstance(one, dict) and isinstance(one.get(key), str) and one[key]:
            yield one
