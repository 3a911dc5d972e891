"""Stored queries: who used which, and which entities they touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import Response
from sqlalchemy import Connection, select

from connectors.catalog.contract import models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Paging, PathText, Store, reply
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.registration import put_one
from connectors.catalog.store.schema import query_uses
from ingestion.model.lineage import Json

router = APIRouter(tags=["query"], responses=ERRORS, dependencies=[NO_CONDITION])
_QUERY = BY_TYPE["query"]


@router.get("/api/v1/queries")
def listing(
    store: Store,
    paging: Annotated[Paging, Depends()],
    service: str | None = None,
    entity: Annotated[str | None, Query(alias="entityId")] = None,
) -> Response:
    """One page of the queries, of one entity where `entityId` names it."""
    with store.read() as connection:
        touching = None
        if entity is not None:
            wanted = select(query_uses.c.query_id).where(query_uses.c.entity_id == entity).limit(entities.MAX_PAGE)
            touching = tuple(connection.scalars(wanted))
        return reply(entities.listing(connection, _QUERY, paging.page(service, touching)))


@router.put("/api/v1/queries/{identifier}/usage")
def usage(store: Store, identifier: PathText, request: list[models.Ref]) -> Response:
    """Adds entities that the query touches."""
    added = [ref.model_dump(exclude_none=True) for ref in request]

    def change(_: Connection, document: Json) -> None:
        known = {ref["id"]: ref for ref in [*(document.get("queryUsedIn") or []), *added]}
        document["queryUsedIn"] = list(known.values())

    return _change(store, identifier, change)


@router.put("/api/v1/queries/{identifier}/usedBy")
def used_by(store: Store, identifier: PathText, request: Annotated[list[models.Word], Body()]) -> Response:
    """Adds names of users that no user entity stands for."""
    return _with_users(store, identifier, request)


@router.put("/api/v1/queries/{identifier}/users")
def users(store: Store, identifier: PathText, request: Annotated[list[models.Fqn], Body()]) -> Response:
    """Adds users; a name that no user has is filed as a name."""
    return _with_users(store, identifier, request)


def _with_users(store: Store, identifier: str, names: Sequence[str]) -> Response:
    def change(connection: Connection, document: Json) -> None:
        rows = [entities.find(connection, "user", name) for name in names]
        known = [entities.reference_of(row) for row in rows if row is not None]
        named = [name for name, row in zip(names, rows, strict=True) if row is None]
        if known:
            refs = {ref["id"]: ref for ref in [*(document.get("users") or []), *known]}
            document["users"] = list(refs.values())
        if named:
            document["usedBy"] = list(dict.fromkeys([*(document.get("usedBy") or []), *named]))

    return _change(store, identifier, change)


def _change(store: Store, identifier: str, change: Callable[[Connection, Json], None]) -> Response:
    with store.write() as connection:
        document = entities.answer(entities.get_id(connection, "query", identifier))
        change(connection, document)
        done = put_one(connection, "query", _QUERY.request_of(document))
        return reply(entities.answer(entities.get_id(connection, "query", done.id)))
