"""Headwater's own catalog offers more than OpenMetadata: bulk look-up, bulk registration, bulk lineage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connectors.openmetadata.entities.crud import table_entity
from connectors.openmetadata.transport.http import Call, Http
from connectors.openmetadata.transport.responses import NotOpenMetadata
from connectors.sink import EdgeCounts
from ingestion.entities import TableEntity
from ingestion.errors import Rejected
from ingestion.model import Json
from ingestion.resolution.cached_search import PartialName

LINEAGE = "bulkLineage"
LOOKUP = "bulkLookup"
TABLES = "bulkTables"
LOADS = "loads"
NAMES = "names"
TYPES = "types"


@dataclass(frozen=True, slots=True)
class ServerCapabilities:
    """What a server offers beyond the contract, nothing where it is an OpenMetadata; `store` tells its data apart."""

    capabilities: frozenset[str] = frozenset()
    store: str = ""


def server_capabilities(http: Http) -> ServerCapabilities:
    """What the server says of itself."""

    def ask() -> Any:
        try:
            return http.attempt(Call("GET", "headwater"))
        except (Rejected, NotOpenMetadata):
            return None

    answer = http.retrying(ask)
    if not isinstance(answer, dict):
        return ServerCapabilities()
    return ServerCapabilities(frozenset(map(str, answer.get("capabilities") or ())), str(answer.get("store") or ""))


def look_up(http: Http, service: str, names: Sequence[PartialName], *, columns: bool = True) -> list[list[TableEntity]]:
    """For each name every table of the service that it can mean, case ignored; without `columns` by name alone."""
    wanted = [{"database": name.database, "schema": name.schema, "table": name.table} for name in names]
    return _look_up(http, service, wanted, columns=columns)


def look_up_path(http: Http, path: str) -> list[TableEntity]:
    """The containers and external tables at a storage path."""
    return _look_up(http, "-", [{"path": path}])[0]


def register(http: Http, entities: Mapping[str, Sequence[Json]], at: float | None = None) -> Json:
    """Registers many entities at once, all or nothing, parents first.

    `entities` has OpenMetadata's create requests under services, databases, schemas, tables; known columns are kept
    beside new ones. `at` is when the definitions held (seconds since the epoch).
    """
    body: Json = {group: list(requests) for group, requests in entities.items()}
    if at is not None:
        body["at"] = round(at * 1000)
    answer: Json = http.send(Call("POST", "headwater/tables", body=body))
    return answer


def add_lineage(http: Http, name: str, edges: Iterable[str], replace: Sequence[Json]) -> EdgeCounts:
    """Merges contributions into their edges: all or nothing, and once per `name` and content, however often sent.

    `edges` are JSON objects already.
    """
    content = f'{{"edges": [{", ".join(edges)}], "replace": {json.dumps(list(replace))}}}'
    batch_id = hashlib.sha256(f"{name} {content}".encode()).hexdigest()
    # The content is most of the body: it is made once for both.
    body = f'{{"batchId": "{batch_id}", {content[1:]}'.encode()
    answer = http.send(Call("POST", "headwater/lineage", body=body))
    return EdgeCounts(
        new=int(answer.get("new", 0)),
        merged=int(answer.get("merged", 0)),
        unchanged=int(answer.get("unchanged", 0)),
        replaced=int(answer.get("replaced", 0)),
        column_edges=int(answer.get("columnEdges", 0)),
    )


def file_name_events(http: Http, events: Sequence[Json]) -> None:
    """Files what happened to names (created, dropped, renamed, swapped), in any order and as often as one likes."""
    http.send(Call("POST", "headwater/names", body={"events": list(events)}))


def file_loads(http: Http, loads: Sequence[Json]) -> None:
    """Files what became of loads of tables, in any order and as often as one likes."""
    http.send(Call("POST", "headwater/loads", body={"loads": list(loads)}))


def _look_up(http: Http, service: str, names: Sequence[Json], *, columns: bool = True) -> list[list[TableEntity]]:
    body = {"service": service, "names": list(names), "columns": columns}
    answer = http.send(Call("POST", "headwater/tables/lookup", body=body))
    return [[table_entity(entity, str(entity["type"])) for entity in match] for match in answer["matches"]]
