# ruff: noqa: N815 — the names are the wire's
"""Search as the platform's search service answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import Field

from connectors.catalog.contract.models import Model, Word
from connectors.catalog.http._context import ERRORS, NO_CONDITION, Store, reply
from connectors.catalog.search import service

router = APIRouter(prefix="/api/v1/search", tags=["search"], responses=ERRORS, dependencies=[NO_CONDITION])
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
    sort_field: Annotated[str, Query(max_length=1_000)] = "fullyQualifiedName"
    sort_order: Text = "asc"
    search_after: Text | None = None


class Aggregation(Model):
    """Which values a field has among what a search finds."""

    fieldName: Word
    fieldValue: Word | None = None
    index: Word = "table_search_index"
    query: Annotated[str, Field(max_length=100_000)] | None = None
    size: Annotated[int, Field(ge=0, le=1_000)] = 10


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
        return reply(service.field_search(connection, service.Query(index, deleted=deleted), field, value))


@router.get("/query")
def query(store: Store, asked: Annotated[SearchQuery, Depends()]) -> Response:
    """Entities that a text and a filter admit."""
    wanted = service.Query(
        index=asked.index,
        text=asked.q,
        filter=service.parse_filter(asked.query_filter),
        deleted=asked.deleted,
        size=asked.size,
        start=asked.start,
        fields=tuple(asked.include_source_fields or ()),
        sort=asked.sort_field,
        descending=asked.sort_order.lower() == "desc",
        after=asked.search_after,
    )
    with store.read() as connection:
        return reply(service.search(connection, wanted))


@router.get("/suggest")
def suggest(
    store: Store, q: Text = "", index: Text = "dataAsset", size: Annotated[int, Query(ge=0, le=1_000)] = 10
) -> Response:
    """Entities whose name begins with a text."""
    with store.read() as connection:
        options = service.suggestions(connection, service.Query(index, q, size=size))
    found = {"text": q, "offset": 0, "length": len(q), "options": options}
    return reply({"suggest": {"metadata-suggest": [found]}})


@router.get("/aggregate")
def aggregate(
    store: Store, asked: Annotated[SearchQuery, Depends()], field: Text | None = None, value: Text = ""
) -> Response:
    """The values of a field that begin with `value`, and how many entities have each; without a field, names."""
    if field is not None:
        return _reply_buckets(store, service.Query(asked.index, asked.q, size=asked.size), field, value.strip(".*"))
    with store.read() as connection:
        options = service.suggestions(connection, service.Query("dataAsset", asked.q, size=asked.size))
    names = [{"key": one["text"], "doc_count": 1} for one in options]
    return reply({"aggregations": {"suggest": {"buckets": names}}})


@router.post("/aggregate")
def aggregate_body(store: Store, request: Aggregation) -> Response:
    """The values of a field, and how many entities have each."""
    query = service.Query(request.index, request.query or "", size=request.size)
    return _reply_buckets(store, query, request.fieldName, (request.fieldValue or "").strip(".*"))


def _reply_buckets(store: Store, query: service.Query, field: str, prefix: str) -> Response:
    with store.read() as connection:
        found = service.buckets(connection, query, field, prefix)
    return reply({"aggregations": {f"sterms#{field}": {"buckets": found}}})
