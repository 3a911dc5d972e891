"""What reads tables beside other tables: dashboards, the models behind them, and metrics, with what they read."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from connectors.openmetadata.entities.crud import Collection, find_reference, pages, put
from connectors.openmetadata.transport.http import Call, Http, Params, path_of
from ingestion.entities import EntityReference
from ingestion.lineage_request import ColumnLineage, EdgeSource, EntitiesEdge, LineageDetails
from ingestion.model import Json


@dataclass(frozen=True, slots=True)
class Consumer:
    """An entity of a collection by its create request, and the FQNs of what it reads: tables, or others of `read_from`.

    `columns`: for each of these, by its FQN, how its columns make those of the entity.
    """

    collection: Collection
    request: Json
    reads: tuple[str, ...]
    columns: Mapping[str, tuple[ColumnLineage, ...]] = field(default_factory=dict)
    read_from: Collection = Collection.TABLES


def file_consumer(http: Http, consumer: Consumer, source: EdgeSource) -> tuple[str, tuple[str, ...]]:
    """Files an entity and the edges into it that `source` tells; its FQN, and the tables that the platform lacks.

    What `source` said of it before and does not say any more goes.
    """
    entity = put(http, consumer.collection, consumer.request)
    tables = {name: find_reference(http, consumer.read_from, name) for name in consumer.reads}
    wanted = {table.id: table for table in tables.values() if table is not None}
    known = known_sources(http, entity, source)
    for gone in sorted(known.keys() - wanted.keys()):
        path = path_of("lineage", str(known[gone].get("type", "table")), gone, entity.type, entity.id)
        http.send(Call("DELETE", path, answered=False))
    names = {table.id: name for name, table in tables.items() if table is not None}
    fqn = entity.fully_qualified_name or consumer.request["name"]
    for new in sorted(wanted.keys() if consumer.columns else wanted.keys() - known.keys()):
        columns = consumer.columns.get(names[new], ())
        edge = EntitiesEdge(wanted[new], entity, LineageDetails(source=source, columns_lineage=columns))
        http.send(Call("PUT", "lineage", body={"edge": edge.to_json()}, answered=False))
    missing = tuple(name for name, table in tables.items() if table is None)
    return fqn, missing


def known_sources(http: Http, entity: EntityReference, source: EdgeSource) -> dict[str, Json]:
    """The ids of what `source` said that an entity reads, each with what the platform tells of it."""
    path = f"lineage/{path_of(entity.type, entity.id)}"
    graph = http.get(path, {"upstreamDepth": 1, "downstreamDepth": 0}) or {}
    nodes = {str(node["id"]): node for node in graph.get("nodes") or ()}
    return {
        str(edge["fromEntity"]): nodes.get(str(edge["fromEntity"]), {})
        for edge in graph.get("upstreamEdges") or ()
        if edge["toEntity"] == entity.id and (edge.get("lineageDetails") or {}).get("source") == source
    }


def delete_others(http: Http, collection: Collection, params: Params, kept: Container[str], mark: Json) -> int:
    """Deletes the entities of a listing (`params` as of `pages`) that carry the `mark` in their extension and are not
    `kept` (FQNs); how many there were.
    """
    others = [
        str(entity["id"])
        for entity in pages(http, collection, params)
        if entity["fullyQualifiedName"] not in kept and mark.items() <= (entity.get("extension") or {}).items()
    ]
    for identifier in others:
        http.send(Call("DELETE", f"{collection}/{path_of(identifier)}", answered=False))
    return len(others)
