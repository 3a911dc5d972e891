"""Thousands of names at once: which entities they mean, and registering those that are not there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, and_, select

from connectors.catalog.contract import bulk_models, entity_models, models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import entities
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.model.storage_paths import normal_path

_TableKey = tuple[str | None, ...]
"""Database, schema and table, with None for any."""
_COLUMN_KEYS = {"name", "dataType", "dataTypeDisplay", "fullyQualifiedName"}


def look_up(connection: Connection, request: bulk_models.Lookup) -> list[list[Json]]:
    """For each name every entity it can mean, in order of name; case does not matter, what is left out is any."""
    tables = _Tables(connection, request)
    paths = {normal_path(name.path) for name in request.names if name.path}
    stored = entities.c.type.in_(("container", "table", "topic"))
    by_path = _rows_by(connection, "path", paths, stored)
    answers: dict[str, Json] = {}
    matches = []
    for name, meant in zip(request.names, tables.candidates(), strict=True):
        found = [*meant]
        found += by_path.get(normal_path(name.path), ()) if name.path else ()
        for row in found:
            if row.id not in answers:
                answers[row.id] = _answer(row) if request.columns else _reference(row)
        matches.append([answers[row.id] for row in found])
    return matches


def register(connection: Connection, request: bulk_models.Register) -> Json:
    """Registers everything in the request, parents first. Raises ApiError when anything in it cannot be."""
    registration = Registration(connection, request.at, replace=request.replaceColumns, together=True)
    registration.expect("table", (fqn.join(table.databaseSchema, table.name) for table in request.tables))
    answer: Json = {}
    groups: tuple[tuple[str, str, Sequence[models.Create | entity_models.CreateQuery]], ...] = (
        ("services", "", request.services),
        ("databases", "database", request.databases),
        ("schemas", "databaseSchema", request.schemas),
        ("tables", "table", request.tables),
        ("storedProcedures", "storedProcedure", request.procedures),
        ("containers", "container", request.containers),
        ("topics", "topic", request.topics),
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
    for some in thousands_of(sorted(values)):
        condition = and_(where, entities.c.deleted.is_(False), entities.c[column].in_(some))
        for row in connection.execute(select(entities).where(condition).order_by(entities.c.fqn)):
            found[row._mapping[column]].append(row)
    return found


class _Tables:
    """The tables that names may mean, found by their whole names where these are given: a service may have many of one.

    Raises ApiError where a table has no database and schema.
    """

    def __init__(self, connection: Connection, request: bulk_models.Lookup) -> None:
        self._names = request.names
        self._by_parents: dict[_TableKey, list[EntityRow]] = defaultdict(list)
        in_service = and_(entities.c.type == "table", entities.c.service_folded == request.service.casefold())
        partly = {_as_stored(name.table) for name in request.names if name.table and not _is_whole(name)}
        for rows in _rows_by(connection, "name_folded", partly, in_service).values():
            for row in rows:
                self._add(row)
        service = fqn.quote(request.service)
        self._whole_names = [_whole_name(service, name) if _is_whole(name) else "" for name in request.names]
        self._by_name = _rows_by(connection, "fqn_folded", {*self._whole_names} - {""}, in_service)

    def candidates(self) -> Iterator[Sequence[EntityRow]]:
        """For each name that is asked for, in the order of their names."""
        for name, whole in zip(self._names, self._whole_names, strict=True):
            if whole:
                yield self._by_name.get(whole, ())
            else:
                key = tuple(part and _as_stored(part) for part in (name.database, name.schema_, name.table))
                yield self._by_parents.get(key, ())

    def _add(self, row: EntityRow) -> None:
        parts = fqn.split(row.fqn_folded)
        if len(parts) != 4:
            raise bad_request(f"table {row.fqn} has no database and schema")
        _service, database, schema, table = parts
        for parents in ((database, None), (None, schema), (None, None)):
            self._by_parents[(*parents, table)].append(row)


def _whole_name(service: str, name: bulk_models.LookupName) -> str:
    parts = (fqn.quote(_as_stored(part or "")) for part in (name.database, name.schema_, name.table))
    return ".".join((service.casefold(), *parts))


def _is_whole(name: bulk_models.LookupName) -> bool:
    return name.database is not None and name.schema_ is not None and name.table is not None


def _as_stored(name: str) -> str:
    """A name as a query has it as it is stored, where quotes, arrows and line ends are words, without its case."""
    return fqn.encode_name(name).casefold()


def _reference(row: EntityRow) -> Json:
    return {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}


def _answer(row: EntityRow) -> Json:
    document = loads(row.document)
    columns = [
        column if column.keys() <= _COLUMN_KEYS else {key: column[key] for key in column.keys() & _COLUMN_KEYS}
        for column in columns_of.of_document(document)
    ]
    answer: Json = {**_reference(row), "columns": columns}
    for key in ("tableType", "extension", "schemaDefinition"):
        if document.get(key):
            answer[key] = document[key]
    path = document.get("fullPath") or document.get("locationPath")
    if path:
        answer["storagePath"] = path
    return answer
