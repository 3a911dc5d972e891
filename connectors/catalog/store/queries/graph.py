"""The lineage graph around an entity, as the contract answers it."""

from __future__ import annotations

from sqlalchemy import Connection

from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of, reference
from connectors.catalog.store.lineage import reads, rest_edges
from connectors.catalog.store.lineage.reads import ContributionView
from ingestion.model import Json

MAX_DEPTH = 20
MAX_NODES = 5_000
Edges = dict[tuple[str, str], list[ContributionView]]


def graph(connection: Connection, root: EntityRow, upstream: int, downstream: int) -> Json:
    """Everything within so many hops `upstream` and `downstream`; at most MAX_NODES entities, the nearest first."""
    up = hops(connection, root.id, upstream, upstream=True)
    down = hops(connection, root.id, downstream, upstream=False)
    found = {end for edge in (*up, *down) for end in edge}
    rows = rows_of(connection, found | {root.id})
    nodes = [reference(loads(row.document), row.type) for key, row in sorted(rows.items()) if key != root.id]
    return {
        "entity": reference(loads(root.document), root.type),
        "nodes": nodes,
        "upstreamEdges": _answers(up, rows),
        "downstreamEdges": _answers(down, rows),
    }


def hops(connection: Connection, root: str, depth: int, *, upstream: bool) -> Edges:
    """The edges within `depth` hops of one side, and what is said of each."""
    visited, frontier = {root}, {root}
    found: Edges = {}
    for _ in range(min(depth, MAX_DEPTH)):
        step = reads.contributions_around(connection, frontier, upstream=upstream)
        found.update(step)
        frontier = {edge[0 if upstream else 1] for edge in step} - visited
        visited |= frontier
        if not frontier or len(visited) > MAX_NODES:
            break
    return found


def rows_of(connection: Connection, identifiers: set[str], *, deleted: bool = False) -> dict[str, EntityRow]:
    """The entities that are there, by id; with `deleted` those too that can be restored."""
    found = any_rows_of(connection, identifiers).items()
    return {key: row for key, row in found if not row.deleted or (deleted and not row.purged)}


def _answers(found: Edges, rows: dict[str, EntityRow]) -> list[Json]:
    return [
        {
            "fromEntity": edge[0],
            "toEntity": edge[1],
            "lineageDetails": rest_edges.details_of(views, (rows[edge[0]], rows[edge[1]])),
        }
        for edge, views in sorted(found.items())
        if edge[0] in rows and edge[1] in rows
    ]
