"""Parts of tables and containers that clients give and read by calls of their own: models, joins, rows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.contract.models import CreateTable, Rows, TableJoins, TableModel
from connectors.catalog.http._collections import request_of_patch, stored_fields
from connectors.catalog.http._context import ERRORS, NO_CONDITION, PathText, Store, reply
from connectors.catalog.store.entities import entities, parts
from connectors.catalog.store.entities.registration import put_one

router = APIRouter(prefix="/api/v1", responses=ERRORS, dependencies=[NO_CONDITION])
_TABLES = BY_TYPE["table"]
NOT_ALLOWED = "this catalog keeps no rows of data: whoever starts it can allow that (--sample-data)"


def _keeps_rows(request: Request) -> bool:
    """Whether rows of data may be kept."""
    return bool(request.app.state.sample_data)


KeepsRows = Annotated[bool, Depends(_keeps_rows)]


@router.put("/tables/{identifier}/dataModel", tags=["table"])
def put_data_model(store: Store, identifier: PathText, request: TableModel) -> Response:
    """Files the model that a transformation tool makes a table from."""
    with store.write() as connection:
        before = entities.answer(entities.get_id(connection, "table", identifier))
        after = {**before, "dataModel": request.model_dump(exclude_none=True)}
        model = CreateTable.model_validate(request_of_patch(_TABLES, before, after))
        put_one(connection, "table", stored_fields(_TABLES, model))
        return reply(entities.answer(entities.get_id(connection, "table", identifier)))


@router.put("/tables/{identifier}/joins", tags=["table"])
def put_joins(store: Store, identifier: PathText, request: TableJoins) -> Response:
    """Files what a table was joined with on a day."""
    given = request.model_dump(mode="json", exclude_none=True)
    with store.write() as connection:
        row = entities.get_id(connection, "table", identifier)
        kept = parts.with_joins(parts.part(connection, row.id, parts.JOINS), given)
        parts.file_part(connection, row.id, parts.JOINS, kept)
        return reply({**entities.answer(row), "joins": parts.recent_joins(kept)})


def _add_rows(type_: str, path: str) -> None:
    @router.put(path, tags=[type_], name=f"put_{type_}_rows")
    def put(store: Store, identifier: PathText, request: Rows, keeps: KeepsRows) -> Response:
        """Files some rows, where that is allowed."""
        if not keeps:
            raise ApiError(403, NOT_ALLOWED)
        with store.write() as connection:
            row = entities.get_id(connection, type_, identifier)
            rows = request.model_dump(exclude_none=True)
            parts.file_part(connection, row.id, parts.ROWS, rows)
            return reply({**entities.answer(row), parts.ROWS: rows})

    @router.get(path, tags=[type_], name=f"get_{type_}_rows")
    def get(store: Store, identifier: PathText, keeps: KeepsRows) -> Response:
        """The entity with the rows that are kept of it, where that is allowed."""
        with store.read() as connection:
            row = entities.get_id(connection, type_, identifier)
            rows = parts.part(connection, row.id, parts.ROWS) if keeps else None
            return reply(entities.answer(row) | ({} if rows is None else {parts.ROWS: rows}))

    @router.delete(path, tags=[type_], name=f"delete_{type_}_rows")
    def delete(store: Store, identifier: PathText) -> Response:
        """Takes the rows out that are kept of an entity, whether they may be kept or not."""
        with store.write() as connection:
            row = entities.get_id(connection, type_, identifier)
            parts.remove_part(connection, row.id, parts.ROWS)
            return reply(entities.answer(row))


for _kind in (BY_TYPE["table"], BY_TYPE["container"]):
    _add_rows(_kind.type, f"/{_kind.collection}/{{identifier}}/sampleData")
