"""Stored queries: who used which, and which entities they touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import Response
from sqlalchemy import Connection, select

from connectors.catalog.api.context import ERRORS, Paging, PathText, Store, reply
from connectors.catalog.contract import models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.schema import query_uses
from ingestion.model import Json

router = APIRouter(tags=["query"], responses=ERRORS)
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

    def change(document: Json) -> None:
        known = {ref["id"]: ref for ref in [*(document.get("queryUsedIn") or []), *added]}
        document["queryUsedIn"] = list(known.values())

    return _change(store, identifier, change)


@router.put("/api/v1/queries/{identifier}/usedBy")
def used_by(store: Store, identifier: PathText, request: Annotated[list[models.Word], Body()]) -> Response:
    """Adds names of users that no user entity stands for."""
    return _with_users(store, identifier, request)


@router.put("/api/v1/queries/{identifier}/users")
def users(store: Store, identifier: PathText, request: Annotated[list[models.Fqn], Body()]) -> Response:
    """Adds users; the catalog keeps no user entities, so they are filed by name."""
    return _with_users(store, identifier, request)


def _with_users(store: Store, identifier: str, names: Sequence[str]) -> Response:
    def change(document: Json) -> None:
        document["usedBy"] = list(dict.fromkeys([*(document.get("usedBy") or []), *names]))

    return _change(store, identifier, change)


def _change(store: Store, identifier: str, change: Callable[[Json], None]) -> Response:
    with store.write() as connection:
        document = entities.answer(entities.get_id(connection, "query", identifier))
        change(document)
        return reply(_file(connection, document))


def _file(connection: Connection, document: Json) -> Json:
    document["service"] = document["service"]["fullyQualifiedName"]
    registration = Registration(connection)
    done = registration.put(_QUERY, document)
    registration.finish()
    return entities.answer(entities.get_id(connection, "query", done.id))
