"""Lineage as the contract has it: add, read, patch and delete edges, and the graph around an entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query
from fastapi.responses import Response
from sqlalchemy import Connection

from connectors.catalog.contract import models
from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import ApiError, not_found
from connectors.catalog.http._context import (
    ERRORS,
    NO_CONDITION,
    IfMatch,
    PathText,
    Store,
    check,
    empty_response,
    etag,
    reply,
    reply_tagged,
    unescape_name,
    with_warning,
)
from connectors.catalog.picture import contract
from connectors.catalog.search.service import parse_filter
from connectors.catalog.store.entities import entities
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.lineage import rest_edges
from connectors.catalog.store.lineage.rejections import rejected_names
from ingestion.model.lineage import Json

router = APIRouter(prefix="/api/v1/lineage", tags=["lineage"], responses=ERRORS)
Depth = Annotated[int, Query(ge=0, le=contract.MAX_DEPTH)]
Patch = Annotated[list[models.PatchOperation], Body(media_type="application/json-patch+json", max_length=100_000)]
Ends = tuple[EntityRow, EntityRow]


@dataclass(frozen=True, slots=True)
class EdgeNames:
    """The ends of an edge in a path, by name."""

    from_type: PathText
    from_name: PathText
    to_type: PathText
    to_name: PathText

    def rows(self, connection: Connection) -> Ends:
        """The two entities. Raises ApiError (404) when one is not there."""
        return (
            _by_name(connection, self.from_type, self.from_name),
            _by_name(connection, self.to_type, self.to_name),
        )


@dataclass(frozen=True, slots=True)
class EdgeIds:
    """The ends of an edge in a path, by id."""

    from_type: PathText
    from_id: PathText
    to_type: PathText
    to_id: PathText

    def rows(self, connection: Connection) -> Ends:
        """The two entities. Raises ApiError (404) when one is not there."""
        return _by_id(connection, self.from_type, self.from_id), _by_id(connection, self.to_type, self.to_id)


@dataclass(frozen=True, slots=True)
class Depths:
    """How many hops a graph reaches."""

    up: Annotated[Depth, Query(alias="upstreamDepth")] = 1
    down: Annotated[Depth, Query(alias="downstreamDepth")] = 1


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """The parameters of a graph that filters narrow."""

    fqn: Annotated[str, Query(min_length=1, max_length=20_000)]
    kind: Annotated[str, Query(alias="type", max_length=100)] = "table"
    up: Annotated[Depth, Query(alias="upstreamDepth")] = 3
    down: Annotated[Depth, Query(alias="downstreamDepth")] = 3
    query_filter: Annotated[str | None, Query(max_length=100_000)] = None
    column_filter: Annotated[str | None, Query(max_length=20_000)] = None
    paths: Annotated[bool, Query(alias="preservePaths")] = True
    deleted: Annotated[bool, Query(alias="includeDeleted")] = False

    def row(self, connection: Connection) -> EntityRow:
        """The entity in the middle. Raises ApiError (404) when it is not there."""
        return _by_name(connection, self.kind, self.fqn)

    def query(self) -> contract.LineageQuery:
        """The same for the store. Raises ApiError (400) for a filter that is none."""
        narrowed = parse_filter(self.query_filter)
        return contract.LineageQuery(self.up, self.down, narrowed, self.column_filter, self.paths, self.deleted)


ByName = Annotated[EdgeNames, Depends()]
ById = Annotated[EdgeIds, Depends()]


def _by_id(connection: Connection, kind: str, identifier: str) -> EntityRow:
    if kind not in BY_TYPE:
        raise not_found(kind, identifier)
    return entities.get_id(connection, kind, identifier)


def _by_name(connection: Connection, kind: str, name: str) -> EntityRow:
    if kind not in BY_TYPE:
        raise not_found(kind, unescape_name(name))
    return entities.get(connection, kind, unescape_name(name))


@router.put("")
def add(store: Store, request: models.AddLineage, if_match: IfMatch = None) -> Response:
    """Replaces what clients of the contract say about an edge."""
    edge = request.edge
    details = edge.lineageDetails or models.LineageDetails()
    with store.write() as connection:
        source, target = (_by_id(connection, ref.type, ref.id) for ref in (edge.fromEntity, edge.toEntity))
        _check(connection, (source, target), if_match)
        row = rest_edges.put(connection, (source, target), details.model_dump(exclude_none=True), edge.description)
        return with_warning(empty_response(), rejected_names(connection, [row]))


@router.put("/{from_type}/name/{from_name}/{to_type}/name/{to_name}")
def add_by_name(store: Store, names: ByName, request: models.LineageDetails, if_match: IfMatch = None) -> Response:
    """The same by name, the details bare."""
    with store.write() as connection:
        ends = names.rows(connection)
        _check(connection, ends, if_match)
        row = rest_edges.put(connection, ends, request.model_dump(exclude_none=True), None)
        return with_warning(empty_response(), rejected_names(connection, [row]))


@router.get("/getLineageEdge/{from_id}/{to_id}")
def edge(store: Store, from_id: PathText, to_id: PathText) -> Response:
    """The details of one edge."""
    with store.read() as connection:
        ends = [entities.find_id(connection, identifier) for identifier in (from_id, to_id)]
        if ends[0] is None or ends[1] is None:
            raise ApiError(404, f"lineage edge from {from_id} to {to_id} not found")
        return _edge(rest_edges.read(connection, (ends[0], ends[1])))


@router.get("/getLineageEdge/{from_type}/name/{from_name}/{to_type}/name/{to_name}")
def edge_by_name(store: Store, names: ByName) -> Response:
    """The details of one edge, by name."""
    with store.read() as connection:
        return _edge(rest_edges.read(connection, names.rows(connection)))


@router.patch("/{from_type}/name/{from_name}/{to_type}/name/{to_name}")
def patch_by_name(store: Store, names: ByName, operations: Patch, if_match: IfMatch = None) -> Response:
    """Applies a JSON Patch to the details of an edge, by name."""
    return _patch(store, names, operations, if_match)


@router.patch("/{from_type}/{from_id}/{to_type}/{to_id}")
def patch(store: Store, ids: ById, operations: Patch, if_match: IfMatch = None) -> Response:
    """Applies a JSON Patch to the details of an edge."""
    return _patch(store, ids, operations, if_match)


@router.delete("/source/name/{kind}/{name}/type/{source}", dependencies=[NO_CONDITION])
def delete_source_by_name(store: Store, kind: PathText, name: PathText, source: PathText) -> Response:
    """Ends what one source said about the edges into an entity, by name."""
    with store.write() as connection:
        rest_edges.end_source(connection, _by_name(connection, kind, name), source)
    return empty_response()


@router.delete("/{from_type}/name/{from_name}/{to_type}/name/{to_name}")
def delete_by_name(store: Store, names: ByName, if_match: IfMatch = None) -> Response:
    """Ends an edge, by name."""
    return _end(store, names, if_match)


@router.delete("/{kind}/{identifier}/type/{source}", dependencies=[NO_CONDITION])
def delete_source(store: Store, kind: PathText, identifier: PathText, source: PathText) -> Response:
    """Ends what one source said about the edges into an entity."""
    with store.write() as connection:
        rest_edges.end_source(connection, _by_id(connection, kind, identifier), source)
    return empty_response()


@router.delete("/{from_type}/{from_id}/{to_type}/{to_id}")
def delete(store: Store, ids: ById, if_match: IfMatch = None) -> Response:
    """Ends an edge."""
    return _end(store, ids, if_match)


@router.get("/getLineage")
def lineage_graph(store: Store, asked: Annotated[GraphQuery, Depends()]) -> Response:
    """The graph around an entity, narrowed by filters."""
    with store.read() as connection:
        return reply(contract.lineage(connection, asked.row(connection), asked.query()))


@router.get("/getLineage/{direction}")
def lineage_graph_one_way(
    store: Store,
    direction: Annotated[str, Path(pattern="^(Upstream|Downstream)$")],
    asked: Annotated[GraphQuery, Depends()],
) -> Response:
    """The same on one side."""
    both = asked.query()
    query = replace(both, downstream=0) if direction == "Upstream" else replace(both, upstream=0)
    with store.read() as connection:
        return reply(contract.lineage(connection, asked.row(connection), query))


@router.get("/export")
def export(store: Store, asked: Annotated[GraphQuery, Depends()]) -> Response:
    """The graph around an entity as CSV."""
    with store.read() as connection:
        text = contract.export(connection, asked.row(connection), asked.query())
    return Response(text, media_type="text/csv; charset=utf-8")


@router.get("/{kind}/name/{name:path}")
def graph_by_name(store: Store, kind: PathText, name: PathText, depths: Annotated[Depths, Depends()]) -> Response:
    """The graph around an entity, by name."""
    with store.read() as connection:
        return reply(contract.graph(connection, _by_name(connection, kind, name), depths.up, depths.down))


@router.get("/{kind}/{identifier}")
def graph_by_id(store: Store, kind: PathText, identifier: PathText, depths: Annotated[Depths, Depends()]) -> Response:
    """The graph around an entity."""
    with store.read() as connection:
        return reply(contract.graph(connection, _by_id(connection, kind, identifier), depths.up, depths.down))


def _edge(details: Json) -> Response:
    answer = reply({"edge": details})
    answer.headers["etag"] = etag(details)
    return answer


def _patch(
    store: Store, edge: EdgeNames | EdgeIds, operations: Sequence[models.PatchOperation], if_match: str | None
) -> Response:
    with store.write() as connection:
        documents = [operation.document() for operation in operations]
        ends = edge.rows(connection)
        _check(connection, ends, if_match)
        details, row = rest_edges.patch(connection, ends, documents)
        return with_warning(reply_tagged(details), rejected_names(connection, [row]))


def _check(connection: Connection, ends: Ends, if_match: str | None) -> None:
    if if_match is not None:
        check(if_match, rest_edges.find(connection, ends))


def _end(store: Store, edge: EdgeNames | EdgeIds, if_match: str | None) -> Response:
    with store.write() as connection:
        source, target = edge.rows(connection)
        _check(connection, (source, target), if_match)
        if not rest_edges.end_edge(connection, (source.id, target.id)):
            raise ApiError(404, f"lineage edge from {source.fqn} to {target.fqn} not found")
    return empty_response()
