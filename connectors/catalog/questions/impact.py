"""What lies downstream of a column or an entity: each thing once, by its shortest path, direct and indirect apart."""

from __future__ import annotations

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph, StoredHop
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage.reads import Moment
from ingestion.model.lineage import Json
from ingestion.walk import STRENGTHS, ColumnNode


def impact(connection: Connection, start: ColumnNode, moment: Moment) -> Json:
    """Everything downstream of `start` as clients read it."""
    graph = CatalogGraph(connection, moment)
    reached = graph.reached_from(start)
    rows = any_rows_of(connection, {start[0]} | {way.node[0] for way in reached})

    def label(node: ColumnNode) -> str:
        name: str = rows[node[0]].fqn
        return name if node[1] is None else f"{name}.{node[1]}"

    def hop_json(hop: StoredHop) -> Json:
        answer: Json = {"from": label(hop.start), "to": label(hop.end), "type": hop.strength}
        if hop.edge.subtype:
            answer["subtype"] = hop.edge.subtype
        if hop.edge.expression:
            answer["expression"] = hop.edge.expression
        return answer

    impacted = []
    for way in reached:
        row = rows[way.node[0]]
        impacted.append(
            {
                "entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn},
                "column": label(way.node) if way.node[1] is not None else None,
                "type": way.strength,
                "depth": len(way.hops),
                "path": [label(node) for node in way.nodes],
                "hops": [hop_json(hop) for hop in way.hops],
            }
        )
    counts = {kind.lower(): sum(way.strength == kind for way in reached) for kind in STRENGTHS}
    counts["entities"] = len({way.node[0] for way in reached})
    return {"root": label(start), "impacted": impacted, "counts": counts, "truncated": graph.truncated}
