"""What of an entity's document follows from the rest of it, and from where it lies."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from connectors.catalog.contract.definition import EntityType
from connectors.catalog.contract.entity_types import SERVICE_TYPES
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, reference
from connectors.catalog.store.entities.service_connections import connection_without_secrets
from ingestion.model import Json

_CARRIED = (
    *("description", "displayName", "owners", "tags", "extension", "domains", "lifeCycle", "certification"),
    *("reviewers", "experts", "style", "inspectionQuery"),
)
_CARRIED_OF = {
    "table": ("dataModel", "tableProfilerConfig"),
    "dashboard": ("charts", "dataModels"),
    "query": ("queryUsedIn", "usedBy", "users"),
}


def carried_keys(kind: str) -> tuple[str, ...]:
    """What stays as it is when a repeated request for an entity of this type does not mention it."""
    return (*_CARRIED, *_CARRIED_OF.get(kind, ()))


def place_of(kind: EntityType, holder: EntityRow | None) -> str:
    """The name under which the names of what `holder` holds begin."""
    if holder is None:
        return ""
    name: str = holder.fqn
    return f"{name}.model" if kind.type == "dashboardDataModel" else name


def references_to(kind: EntityType, parent: EntityRow) -> Json:
    """What an answer says of where an entity lies: references to its `parent` and to all above."""
    stored = _parent(parent.document)
    refs: Json = {kind.ancestors[0][0]: reference(stored, parent.type)}
    for key, _ in kind.ancestors[1:]:
        refs[key] = stored[key]
    if kind.type not in {"query", "ingestionPipeline"} and stored.get("serviceType"):
        refs["serviceType"] = stored["serviceType"]
    return refs


@lru_cache(maxsize=64)  # what lies under one parent is registered together; nobody changes what is read of it
def _parent(document: str) -> Json:
    return loads(document)


def complete(kind: EntityType, document: Json) -> None:
    """Adds to a `document` what follows from it. Raises ApiError (400, 413) for what cannot be kept."""
    name: str = document["fullyQualifiedName"]
    if kind.type in SERVICE_TYPES and document.get("connection"):
        document["connection"] = connection_without_secrets(document)
    columns_of.check_size(name, columns_of.of_document(document))
    if "columns" in document:
        document["columns"] = columns_of.answers(name, document["columns"])
    if document.get("dataModel"):
        given = document["dataModel"].get("columns") or []
        document["dataModel"] = {**document["dataModel"], "columns": columns_of.answers(name, given)}
    if kind.type == "query":
        document["checksum"] = query_digest(document["query"])


def query_digest(text: str) -> str:
    """The checksum of a query, and its name where it has no other."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
