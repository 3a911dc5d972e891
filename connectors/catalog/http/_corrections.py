"""Corrections by hand: an edge added, confirmed or rejected, with a reason and an author, and taken back."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field
from sqlalchemy import Connection

from connectors.catalog.contract.errors import not_found
from connectors.catalog.contract.models import Author, Fqn, Model, Reason
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, named_entity, reply
from connectors.catalog.store.lineage import corrections
from connectors.catalog.store.lineage.column_names import column_names

router = APIRouter(
    prefix="/api/v1/headwater/corrections", tags=["headwater"], responses=ERRORS, dependencies=[NO_CONDITION]
)


class CorrectedEnd(Model):
    """A table by its full name, or a column of it by its path."""

    entity: Fqn
    column: Fqn | None = None


class CorrectionRequest(Model):
    """What somebody says of an edge; `author` is who, as the server knows nobody by name."""

    verdict: Literal["added", "confirmed", "rejected"]
    from_: Annotated[CorrectedEnd, Field(alias="from")]
    to: CorrectedEnd
    reason: Reason
    author: Author = "local"


class UndoRequest(Model):
    """Why a correction is taken back, and by whom."""

    reason: Reason
    author: Author = "local"


@router.post("")
def correct(store: Store, request: CorrectionRequest) -> Response:
    """Adds, confirms or rejects an edge of tables or columns; a rejection outlives every run until it is undone."""
    with store.write() as connection:
        source, target = _end(connection, request.from_), _end(connection, request.to)
        given = corrections.Correction(request.verdict, source, target, request.reason, request.author)
        return reply(corrections.file(connection, given))


@router.post("/{identifier}/undo")
def undo(store: Store, identifier: int, request: UndoRequest) -> Response:
    """Takes a correction back."""
    with store.write() as connection:
        return reply(corrections.undo(connection, identifier, request.reason, request.author))


@router.get("")
def list_corrections(
    store: Store, entity: Fqn | None = None, limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000
) -> Response:
    """The corrections of an entity's edges, or of all, the newest first; and the edges that are rejected now."""
    with store.read() as connection:
        row = named_entity(connection, entity) if entity is not None else None
        found = corrections.listing(connection, row, limit)
        return reply({"corrections": found, "rejectedEdges": corrections.rejected_now(connection)})


def _end(connection: Connection, given: CorrectedEnd) -> corrections.EdgeEnd:
    row = named_entity(connection, given.entity)
    if given.column is None:
        return corrections.EdgeEnd(row)
    path = column_names(connection, row, ever=True).path(f"{row.fqn}.{given.column}")
    if path is None:
        raise not_found("column", f"{row.fqn}.{given.column}")
    return corrections.EdgeEnd(row, path)
