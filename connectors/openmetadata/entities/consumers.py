"""What reads tables beside other tables: dashboards and metrics, with the tables that they read."""

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
    """An entity of a collection by its create request, and the FQNs of the tables that it reads.

    Of a metric, `columns` are the FQNs of the columns of each table that it is made of, and `function` is how.
    """

    collection: Collection
    request: Json
    reads: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    function: str | None = None

    def details(self, table: str, fqn: str, source: EdgeSource) -> LineageDetails:
        """What the edge from a table to the entity, which is called `fqn`, tells."""
        columns = self.columns.get(table, ())
        made = (ColumnLineage(columns, fqn, self.function),) if columns else ()
        return LineageDetails(source=source, columns_lineage=made)


def file_consumer(http: Http, consumer: Consumer, source: EdgeSource) -> tuple[str, tuple[str, ...]]:
    """Files an entity and the edges into it that `source` tells; its FQN, and the tables that the platform lacks.

    What `source` said of it before and does not say any more goes.
    """
    entity = put(http, consumer.collection, consumer.request)
    tables = {name: find_reference(http, Collection.TABLES, name) for name in consumer.reads}
    wanted = {table.id: table for table in tables.values() if table is not None}
    known = _known_sources(http, entity, source)
    for gone in sorted(known - wanted.keys()):
        path = path_of("lineage", "table", gone, entity.type, entity.id)
        http.send(Call("DELETE", path, answered=False))
    names = {table.id: name for name, table in tables.items() if table is not None}
    fqn = entity.fully_qualified_name or consumer.request["name"]
    for new in sorted(wanted.keys() if consumer.columns else wanted.keys() - known):
        edge = EntitiesEdge(wanted[new], entity, consumer.details(names[new], fqn, source))
        http.send(Call("PUT", "lineage", body={"edge": edge.to_json()}, answered=False))
    missing = tuple(name for name, table in tables.items() if table is None)
    return fqn, missing


def _known_sources(http: Http, entity: EntityReference, source: EdgeSource) -> set[str]:
    path = f"lineage/{path_of(entity.type, entity.id)}"
    graph = http.get(path, {"upstreamDepth": 1, "downstreamDepth": 0}) or {}
    return {
        str(edge["fromEntity"])
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
