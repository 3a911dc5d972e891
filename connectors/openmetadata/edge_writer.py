"""Writing to an OpenMetadata without its help: its PUT replaces an edge, so an existing one is only appended to.

Between reading an edge and patching it another writer may have replaced it; the protocol has no lock. So each write
is read back and tried once more. What two writers do in the same instant can still be lost to the protocol itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from connectors.openmetadata.answers import NotFound
from connectors.openmetadata.entities import Collection, mark_processed
from connectors.openmetadata.http import Http
from connectors.openmetadata.lineage import (
    StoredEdge,
    delete_edge,
    get_edge,
    graph,
    patch_edge,
    put_edge,
    read_edge,
    stored_edge,
)
from connectors.sink import Outcome
from ingestion.entities import EntityReference
from ingestion.lineage_request import ColumnLineage, EntitiesEdge, LineageDetails, LineageSource

Operations = list[dict[str, Any]]
Plan = Callable[[StoredEdge], Operations]
Owned = Callable[[LineageDetails], bool]
"""Whether an edge is the word of what was defined anew, and of nobody else."""

_ROUNDS = 2
_ROUTINE = "storedProcedure"
QUERIES = frozenset({LineageSource.QUERY, LineageSource.CROSS_DATABASE})
"""What edges of statements are said to be read from."""


@dataclass(frozen=True, slots=True)
class EdgeWrite:
    """What was done to an edge, and how many of its columns the server did not take."""

    outcome: Outcome
    refused_columns: int = 0


def merge_edge(http: Http, edge: EntitiesEdge) -> EdgeWrite:
    """Adds an edge, or what is missing from a stored one; nothing that is stored is changed or removed."""
    return _write(http, edge, lambda stored: additions(stored, edge.lineage_details), Outcome.MERGED)


def redefine_edge(http: Http, edge: EntitiesEdge, owned: Owned) -> EdgeWrite:
    """Writes an edge of what was defined anew: the old definition's columns go, edges not `owned` are merged."""
    wanted = edge.lineage_details

    def plan(stored: StoredEdge) -> Operations:
        return redefinition(stored, wanted) if owned(stored.details) else additions(stored, wanted)

    return _write(http, edge, plan, Outcome.REPLACED)


def of_view(details: LineageDetails) -> bool:
    """Whether an edge is a view's definition."""
    return details.source == LineageSource.VIEW


def of_routines(keys: frozenset[str]) -> Owned:
    """Whether an edge is the word of one of these routines (database.schema.name)."""

    def owned(details: LineageDetails) -> bool:
        routine = details.pipeline
        if routine is None or routine.type != _ROUTINE or details.source not in QUERIES:
            return False
        return any((routine.fully_qualified_name or "").endswith(f".{key}") for key in keys)

    return owned


def delete_stale_edges(http: Http, target: EntityReference, kept: frozenset[str], owned: Owned) -> int:
    """Deletes the edges that earlier definitions left: those `owned` into `target`, and from none of `kept` (ids).

    Call it after the new edges stand. How many went.
    """
    around = graph(http, target, upstream=1, downstream=0)
    if around is None:
        return 0
    deleted = 0
    for edge in around.upstream:
        source = around.nodes.get(edge.from_id)
        if edge.to_id != target.id or edge.from_id in kept or source is None:
            continue
        # read again: a graph comes from a search index, which may lag behind the edge itself
        stored = get_edge(http, source, target)
        if stored is not None and owned(stored.details):
            deleted += delete_edge(http, source, target)
    return deleted


def mark_view_processed(http: Http, view: EntityReference) -> None:
    """Tells the platform that the view's lineage is done; a view that is gone by now is no error."""
    if view.type != "table" or not view.fully_qualified_name:
        return
    try:
        mark_processed(http, Collection.TABLES, view.fully_qualified_name)
    except NotFound:
        return


def additions(stored: StoredEdge, wanted: LineageDetails) -> Operations:
    """JSON Patch operations that only add: columns, and a query or pipeline where there is none."""
    known = {mapping.key for mapping in stored.details.columns_lineage}
    missing = [mapping.to_json() for mapping in wanted.columns_lineage if mapping.key not in known]
    operations: Operations
    if stored.has_columns:
        operations = [{"op": "add", "path": "/columnsLineage/-", "value": mapping} for mapping in missing]
    else:
        operations = [{"op": "add", "path": "/columnsLineage", "value": missing}] if missing else []
    if wanted.sql_query and not stored.details.sql_query:
        operations.append({"op": "add", "path": "/sqlQuery", "value": wanted.sql_query})
    if wanted.pipeline is not None and stored.details.pipeline is None:
        operations.append({"op": "add", "path": "/pipeline", "value": wanted.pipeline.to_json()})
    return operations


def redefinition(stored: StoredEdge, wanted: LineageDetails) -> Operations:
    """JSON Patch operations that put one definition's columns and text in the place of another's."""
    operations: Operations = []
    if stored.details.columns_lineage != wanted.columns_lineage:
        columns = [mapping.to_json() for mapping in wanted.columns_lineage]
        operations.append({"op": "add", "path": "/columnsLineage", "value": columns})
    if wanted.sql_query and stored.details.sql_query != wanted.sql_query:
        operations.append({"op": "add", "path": "/sqlQuery", "value": wanted.sql_query})
    before, now = stored.details.pipeline, wanted.pipeline
    if before is not None and before.type == _ROUTINE and (now is None or now.id != before.id):
        gone: dict[str, Any] = {"op": "remove", "path": "/pipeline"}
        operations.append(gone if now is None else {"op": "add", "path": "/pipeline", "value": now.to_json()})
    return operations


def _write(http: Http, edge: EntitiesEdge, plan: Plan, changed: Outcome) -> EdgeWrite:
    source, target = edge.from_entity, edge.to_entity
    found: list[StoredEdge | None] = []

    def attempt() -> EdgeWrite:
        # all calls of one attempt together are what is retried: a patch whose answer was lost may have been applied,
        # and only reading again tells
        before = _read(http, source, target)
        found.append(before)
        if before is None:
            http.attempt(put_edge(edge))
        stored = before or _read(http, source, target)
        for _ in range(_ROUNDS):
            operations = [] if stored is None else plan(stored)
            if stored is not None and not operations:
                break
            http.attempt(put_edge(edge) if stored is None else patch_edge(source, target, operations))
            stored = _read(http, source, target)
        return EdgeWrite(_outcome(found[0], stored, changed), _refused(edge.lineage_details.columns_lineage, stored))

    return http.retrying(attempt)


def _outcome(before: StoredEdge | None, after: StoredEdge | None, changed: Outcome) -> Outcome:
    if before is None:
        return Outcome.NEW
    return Outcome.UNCHANGED if after == before else changed


def _read(http: Http, source: EntityReference, target: EntityReference) -> StoredEdge | None:
    try:
        return stored_edge(http.attempt(read_edge(source, target)))
    except NotFound:
        return None


def _refused(wanted: Sequence[ColumnLineage], stored: StoredEdge | None) -> int:
    known = set() if stored is None else {mapping.key for mapping in stored.details.columns_lineage}
    return sum(mapping.key not in known for mapping in wanted)
