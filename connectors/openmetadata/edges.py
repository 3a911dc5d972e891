"""Edges over the platform's REST API: read, put, append to, delete."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from connectors.openmetadata.http import Call, Http, NotFound, path_of
from ingestion.model.digests import digest
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Json
from ingestion.model.requests import EntitiesEdge, LineageDetails

_STAMPS = ("createdAt", "createdBy", "updatedAt", "updatedBy")


@dataclass(frozen=True, slots=True)
class HeldEdge:
    """An edge as the platform holds it; `has_columns` tells an empty list of columns from none at all.

    `stamps`: who made and changed it, and when, where the platform says so.
    """

    details: LineageDetails
    has_columns: bool
    stamps: tuple[str, ...] = field(default=(), compare=False)

    @property
    def receipt(self) -> str:
        """What no edge has that was changed since, or made by another."""
        content = self.details.to_json()
        if self.details.pipeline is not None:
            content["pipeline"] = self.details.pipeline.id  # its name may change, and the edge does not
        return digest(json.dumps(content, sort_keys=True), *self.stamps, size=32)


@dataclass(frozen=True, slots=True)
class NeighbourEdge:
    """An edge of a graph answer, by the ids of its ends."""

    from_id: str
    to_id: str
    details: LineageDetails


@dataclass(frozen=True, slots=True)
class Graph:
    """The neighbourhood of an entity; `nodes` by id, the entity itself among them."""

    nodes: dict[str, EntityReference]
    upstream: tuple[NeighbourEdge, ...]
    downstream: tuple[NeighbourEdge, ...]


def read_edge(source: EntityReference, target: EntityReference) -> Call:
    """The call that reads one edge."""
    return Call("GET", f"lineage/getLineageEdge/{path_of(source.id, target.id)}")


def stored_edge(answer: Any) -> HeldEdge | None:
    """What `read_edge` answered, None where there is no edge."""
    edge = answer.get("edge") if isinstance(answer, dict) else None
    if not isinstance(edge, dict):
        return None
    stamps = tuple(str(edge.get(name, "")) for name in _STAMPS)
    return HeldEdge(LineageDetails.from_json(edge), isinstance(edge.get("columnsLineage"), list), stamps)


def get_edge(http: Http, source: EntityReference, target: EntityReference) -> HeldEdge | None:
    """The edge from `source` to `target`, None when there is none. Raises TargetDown and ConfigError."""
    call = read_edge(source, target)
    return stored_edge(http.get(call.path))


def put_edge(edge: EntitiesEdge) -> Call:
    """The call that writes an edge, by the ids of its ends, as every version takes it. It replaces all details."""
    return Call("PUT", "lineage", body={"edge": edge.to_json()}, answered=False)


def patch_edge(source: EntityReference, target: EntityReference, operations: Sequence[Json]) -> Call:
    """The call that applies JSON Patch operations to an edge. Repeating it appends twice: attempt it once."""
    path = path_of(source.type, source.id, target.type, target.id)
    return Call("PATCH", f"lineage/{path}", body=list(operations), answered=False)


def delete_edge(http: Http, source: EntityReference, target: EntityReference) -> bool:
    """Deletes the edge from `source` to `target` with all its details; False when it was not there."""
    try:
        path = path_of(source.type, source.id, target.type, target.id)
        http.send(Call("DELETE", f"lineage/{path}", answered=False))
    except NotFound:
        return False
    return True


def graph(http: Http, entity: EntityReference, upstream: int = 1, downstream: int = 1) -> Graph | None:
    """The lineage around an entity, so many hops each way; None when there is no such entity."""
    params = {"upstreamDepth": upstream, "downstreamDepth": downstream}
    answer = http.get(f"lineage/{path_of(entity.type, entity.id)}", params)
    if not isinstance(answer, dict):
        return None
    references = [EntityReference.from_json(node) for node in (answer["entity"], *(answer.get("nodes") or ()))]
    return Graph(
        {reference.id: reference for reference in references},
        _edges(answer.get("upstreamEdges")),
        _edges(answer.get("downstreamEdges")),
    )


def _edges(edges: Any) -> tuple[NeighbourEdge, ...]:
    return tuple(
        NeighbourEdge(
            _id(edge["fromEntity"]), _id(edge["toEntity"]), LineageDetails.from_json(edge.get("lineageDetails") or {})
        )
        for edge in edges or ()
    )


def _id(end: Any) -> str:
    return str(end["id"] if isinstance(end, dict) else end)
