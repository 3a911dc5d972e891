"""Thousands of names at once: which entities they mean, and registering those that are not there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, and_, select

from connectors.catalog.contract import bulk_models, consumer_models, models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.schema import entities
from ingestion.model import Json
from ingestion.names import fqn
from ingestion.names.storage_paths import normal_path

_COLUMN_KEYS = ("name", "dataType", "dataTypeDisplay", "fullyQualifiedName")


def look_up(connection: Connection, request: bulk_models.Lookup) -> list[list[Json]]:
    """For each name every entity it can mean, in order of name; case does not matter, what is left out is any."""
    service = request.service.casefold()
    in_service = and_(entities.c.type == "table", entities.c.service_folded == service)
    tables = {name.table.casefold() for name in request.names if name.table is not None}
    by_name = _rows_by(connection, "name_folded", tables, in_service)
    paths = {normal_path(name.path) for name in request.names if name.path}
    stored = entities.c.type.in_(("container", "table"))
    by_path = _rows_by(connection, "path", paths, stored)
    answers: dict[str, Json] = {}
    matches = []
    for name in request.names:
        found = [row for row in by_name.get((name.table or "").casefold(), ()) if _qualifies(row, name)]
        found += by_path.get(normal_path(name.path), ()) if name.path else ()
        for row in found:
            if row.id not in answers:
                answers[row.id] = _answer(row)
        matches.append([answers[row.id] for row in found])
    return matches


def register(connection: Connection, request: bulk_models.Register) -> Json:
    """Registers everything in the request, parents first. Raises ApiError when anything in it cannot be."""
    registration = Registration(connection, request.at, replace=request.replaceColumns)
    answer: Json = {}
    groups: tuple[tuple[str, str, Sequence[models.Create | consumer_models.CreateQuery]], ...] = (
        ("services", "", request.services),
        ("databases", "database", request.databases),
        ("schemas", "databaseSchema", request.schemas),
        ("tables", "table", request.tables),
        ("storedProcedures", "storedProcedure", request.procedures),
        ("containers", "container", request.containers),
        ("pipelines", "pipeline", request.pipelines),
        ("queries", "query", request.queries),
    )
    for group, kind, items in groups:
        answer[group] = []
        for item in items:
            fields = item.model_dump(exclude_none=True)
            done = registration.put(BY_TYPE[kind or fields.pop("type")], fields)
            answer[group].append({"id": done.id, "fullyQualifiedName": done.fqn, "created": done.created})
    registration.finish()
    return answer


def _rows_by(
    connection: Connection, column: str, values: Iterable[str], where: ColumnElement[bool]
) -> dict[str, list[EntityRow]]:
    found: dict[str, list[EntityRow]] = defaultdict(list)
    for chunk in chunks_of(sorted(values)):
        condition = and_(where, entities.c.deleted.is_(False), entities.c[column].in_(chunk))
        for row in connection.execute(select(entities).where(condition).order_by(entities.c.fqn)):
            found[row._mapping[column]].append(row)
    return found


def _qualifies(row: EntityRow, name: bulk_models.LookupName) -> bool:
    parts = fqn.split(row.fqn_folded)
    if len(parts) != 4:
        raise bad_request(f"table {row.fqn} has no database and schema")
    return (name.database is None or parts[1] == name.database.casefold()) and (
        name.schema_ is None or parts[2] == name.schema_.casefold()
    )


def _answer(row: EntityRow) -> Json:
    document = loads(row.document)
    columns = [
        {key: column[key] for key in _COLUMN_KEYS if column.get(key) is not None}
        for column in columns_of.of_document(document)
    ]
    answer: Json = {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn, "columns": columns}
    for key in ("tableType", "extension", "schemaDefinition"):
        if document.get(key):
            answer[key] = document[key]
    path = document.get("fullPath") or document.get("locationPath")
    if path:
        answer["storagePath"] = path
    return answer
