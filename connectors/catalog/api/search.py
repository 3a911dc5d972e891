"""Search as the platform's search service answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from connectors.catalog.api.context import ERRORS, Store, reply
from connectors.catalog.store.queries import search

router = APIRouter(prefix="/api/v1/search", tags=["search"], responses=ERRORS)
Limited = Annotated[int, Query(ge=0, le=1_000_000)]
Text = Annotated[str, Query(max_length=100_000)]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The parameters of a search."""

    q: Text = ""
    index: Text = "table_search_index"
    size: Limited = 10
    start: Annotated[Limited, Query(alias="from")] = 0
    deleted: bool | None = None
    query_filter: Text | None = None
    include_source_fields: Annotated[list[str] | None, Query(max_length=100)] = None
    sort_order: Text = "asc"
    search_after: Text | None = None


@router.get("/fieldQuery")
def field_query(
    store: Store,
    field: Annotated[Text, Query(alias="fieldName")],
    value: Annotated[Text, Query(alias="fieldValue")],
    index: Text = "table_search_index",
    *,
    deleted: bool = False,
) -> Response:
    """Entities whose field matches a wildcard pattern."""
    with store.read() as connection:
        return reply(search.field_search(connection, search.Query(index, deleted=deleted), field, value))


@router.get("/query")
def query(store: Store, asked: Annotated[SearchQuery, Depends()]) -> Response:
    """Entities that a text and a filter admit."""
    wanted = search.Query(
        index=asked.index,
        text=asked.q,
        filter=search.parse_filter(asked.query_filter),
        deleted=asked.deleted,
        size=asked.size,
        start=asked.start,
        fields=tuple(asked.include_source_fields or ()),
        descending=asked.sort_order.lower() == "desc",
        after=asked.search_after,
    )
    with store.read() as connection:
        return reply(search.search(connection, wanted))
