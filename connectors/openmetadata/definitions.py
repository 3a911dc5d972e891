"""The definitions of views and procedures that a platform keeps, as a source of lineage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from connectors.openmetadata.client import Platform, views
from connectors.openmetadata.entities import COLUMNS_COMPLETE, FILED_FROM_LOG, Collection, pages
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Json
from ingestion.statements.routines.definition import Definition, DefinitionKind

_FQN_PARTS = 4


def stored_views(platform: Platform, service: str) -> Iterator[Definition]:
    """Every view of a service that has a definition; `done` where its lineage was published already."""
    for hit in views(platform.http, service):
        relation_key = _relation_key(hit, service)
        if relation_key is None:
            continue
        materialized = str(hit.get("tableType") or "") == "MaterializedView"
        yield Definition(
            DefinitionKind.MATERIALIZED_VIEW if materialized else DefinitionKind.VIEW,
            relation_key,
            str(hit.get("schemaDefinition") or ""),
            _seconds(hit.get("updatedAt")),
            done=bool(hit.get("processedLineage")),
            own=COLUMNS_COMPLETE in (hit.get("extension") or {}),
        )


def stored_routines(platform: Platform, service: str) -> Iterator[Definition]:
    """Every procedure and function of a service whose code the platform has."""
    for entity in pages(platform.http, Collection.PROCEDURES, {"service": service}):
        # An OpenMetadata lists the procedures of all services.
        relation_key = _relation_key(entity, service)
        code = entity.get("storedProcedureCode") or {}
        if relation_key is None or not code.get("code"):
            continue
        yield Definition(
            DefinitionKind.ROUTINE,
            relation_key,
            str(code["code"]),
            _seconds(entity.get("updatedAt")),
            done=bool(entity.get("processedLineage")),
            own=FILED_FROM_LOG in (entity.get("extension") or {}),
            language=str(code.get("language") or "").lower(),
        )


def _relation_key(entity: Json, service: str) -> tuple[str, str, str] | None:
    parts = split_fqn(str(entity.get("fullyQualifiedName") or ""))
    if len(parts) != _FQN_PARTS or parts[0] != service:
        return None
    return parts[1], parts[2], parts[3]


def _seconds(millis: Any) -> float | None:
    return None if millis is None else float(millis) / 1000
