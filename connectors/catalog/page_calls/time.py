"""What the page asks of the past: when anything changed, and a picture before and after."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from connectors.catalog.api.explorer import MAX_CARDS, Step
from connectors.catalog.api.http.context import ERRORS, Store, reply
from connectors.catalog.contract.errors import bad_request
from connectors.catalog.contract.models import Millis, Model
from connectors.catalog.explorer import neighbourhood
from connectors.catalog.store.queries.moments import moments
from connectors.catalog.store.queries.window import window

router = APIRouter(prefix="/api/v1/headwater", tags=["explorer"], responses=ERRORS)


class Difference(Model):
    """What to show, and the two moments to compare (milliseconds; `to` None: now); observations of any age count."""

    steps: Annotated[list[Step], Field(min_length=1, max_length=2_000)]
    from_: Annotated[Millis, Field(alias="from")]
    to: Millis | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_CARDS)] = 400
    beside: Annotated[int | None, Field(ge=1, le=MAX_CARDS)] = None


@router.get("/moments")
def list_moments(store: Store, limit: Annotated[int, Query(ge=1, le=2_000)] = 200) -> Response:
    """When anything changed: the stops of the page's slider."""
    with store.read() as connection:
        return reply(moments(connection, limit))


@router.post("/picture/difference")
def difference(store: Store, request: Difference) -> Response:
    """The same cards at two moments, with the edges between them then."""
    if request.to is not None and request.to < request.from_:
        raise bad_request("to must not be before from")
    steps = [neighbourhood.NeighbourhoodStep(step.entity, step.upstream, step.downstream) for step in request.steps]
    with store.read() as connection:
        windows = (window(connection, request.from_, 0), window(connection, request.to, 0))
        return reply(neighbourhood.difference(connection, steps, (request.limit, request.beside), windows))
