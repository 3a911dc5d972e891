"""Writing to an OpenMetadata without its help: its PUT replaces an edge, so an existing one is only appended to.

Between reading an edge and writing it another writer may have replaced it; the protocol has no lock. So each write is
read back and mended at once, and once more (`restore_edge`) when all that had read the edge before have written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from connectors.openmetadata.edges import (
    StoredEdge,
    delete_edge,
    get_edge,
    graph,
    patch_edge,
    put_edge,
    read_edge,
    stored_edge,
)
from connectors.openmetadata.entities.crud import Collection, mark_processed
from connectors.openmetadata.transport.http import Http
from connectors.openmetadata.transport.responses import NotFound, ServerFailed
from connectors.sink import Outcome
from ingestion.entities import EntityReference
from ingestion.lineage_request import ColumnLineage, EdgeSource, EntitiesEdge, LineageDetails

Operations = list[dict[str, Any]]
ColumnKey = tuple[tuple[str, ...], str]
Refused = frozenset[ColumnKey]
"""Columns that the platform does not take."""

Plan = Callable[[StoredEdge, Refused], Operations]
Owned = Callable[[LineageDetails], bool]
"""Whether an edge is the word of what was defined anew, and of nobody else."""

_ROUNDS = 5
_STALE_SECONDS = 0.5
"""What was read longer ago is read again before an edge is made: the longer ago, the likelier it is there by now."""

_ROUTINE = "storedProcedure"
QUERIES = frozenset({EdgeSource.QUERY, EdgeSource.CROSS_DATABASE})
"""What edges of statements are said to be read from."""


class _ContestedEdge(ServerFailed):
    """Other writers change an edge as fast as it is written: what was written may be gone; try again."""


@dataclass(frozen=True, slots=True)
class EdgeWrite:
    """What was done to an edge, and the columns that the server did not take.

    `written` is when it was last written (None: it stood as it is), `gap` the seconds from reading it until then.
    """

    outcome: Outcome
    refused: Refused = frozenset()
    written: float | None = None
    gap: float = 0.0


def merge_edge(http: Http, edge: EntitiesEdge) -> EdgeWrite:
    """Adds an edge, or what is missing from a stored one; nothing that is stored is changed or removed.

    Raises Rejected, ServerFailed (Unsettled among it), ConfigError, TargetDown; so do the other writes.
    """

    def plan(stored: StoredEdge, refused: Refused) -> Operations:
        return additions(stored, edge.lineage_details, refused)

    return _write(http, edge, _Intent(plan, Outcome.MERGED))


def redefine_edge(http: Http, edge: EntitiesEdge, owned: Owned) -> EdgeWrite:
    """Writes an edge of what was defined anew: the old definition's columns go, edges not `owned` are merged."""
    wanted = edge.lineage_details

    def plan(stored: StoredEdge, refused: Refused) -> Operations:
        return _redefinition(stored, wanted, refused) if owned(stored.details) else additions(stored, wanted, refused)

    return _write(http, edge, _Intent(plan, Outcome.REPLACED))


def restore_edge(http: Http, edge: EntitiesEdge, done: EdgeWrite, owned: Owned) -> EdgeWrite:
    """Reads an edge again that was written, and adds what others have overwritten since.

    Edges that were deleted or (`owned`) defined anew since are left as they are: that was meant.
    """

    def plan(stored: StoredEdge, refused: Refused) -> Operations:
        return [] if owned(stored.details) else additions(stored, edge.lineage_details, refused | done.refused)

    mended = _write(http, edge, _Intent(plan, done.outcome, makes=False))
    return replace(mended, outcome=done.outcome, refused=mended.refused | done.refused)


def of_view(details: LineageDetails) -> bool:
    """Whether an edge is a view's definition."""
    return details.source == EdgeSource.VIEW


def of_routines(keys: frozenset[str]) -> Owned:
    """Whether an edge is the word of one of these routines (database.schema.name)."""

    def is_owned(details: LineageDetails) -> bool:
        routine = details.pipeline
        if routine is None or routine.type != _ROUTINE or details.source not in QUERIES:
            return False
        return any((routine.fully_qualified_name or "").endswith(f".{key}") for key in keys)

    return is_owned


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


def additions(stored: StoredEdge, wanted: LineageDetails, refused: Refused = frozenset()) -> Operations:
    """JSON Patch operations that add what is `wanted`: columns but the `refused`, query and pipeline where none is."""
    known = {mapping.key for mapping in stored.details.columns_lineage} | refused
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


def _redefinition(stored: StoredEdge, wanted: LineageDetails, refused: Refused = frozenset()) -> Operations:
    """JSON Patch operations that put one definition's columns and text in the place of another's."""
    operations: Operations = []
    taken = tuple(mapping for mapping in wanted.columns_lineage if mapping.key not in refused)
    if stored.details.columns_lineage != taken:
        columns = [mapping.to_json() for mapping in taken]
        operations.append({"op": "add", "path": "/columnsLineage", "value": columns})
    if wanted.sql_query and stored.details.sql_query != wanted.sql_query:
        operations.append({"op": "add", "path": "/sqlQuery", "value": wanted.sql_query})
    before, now = stored.details.pipeline, wanted.pipeline
    if before is not None and before.type == _ROUTINE and (now is None or now.id != before.id):
        gone: dict[str, Any] = {"op": "remove", "path": "/pipeline"}
        operations.append(gone if now is None else {"op": "add", "path": "/pipeline", "value": now.to_json()})
    return operations


@dataclass(frozen=True, slots=True)
class _Intent:
    """What is to be done to a stored edge, what it is then called, and whether one that is not there is made."""

    plan: Plan
    changed: Outcome
    makes: bool = True

    def operations(self, stored: StoredEdge | None, refused: Refused) -> Operations | None:
        """None where the edge is to be made; none where it stands as it is to be."""
        if stored is not None:
            return self.plan(stored, refused)
        return None if self.makes else []


def _write(http: Http, edge: EntitiesEdge, intent: _Intent) -> EdgeWrite:
    found: list[StoredEdge | None] = []
    written: list[float] = []
    gaps = [0.0]

    def attempt() -> EdgeWrite:
        # all calls of one attempt together are what is retried: a patch whose answer was lost may have been applied,
        # and only reading again tells
        refusals = _Refusals()
        for _ in range(_ROUNDS):
            begun = http.timing.monotonic()
            stored = _read(http, edge)
            found.append(stored)
            operations = intent.operations(stored, refusals.refused)
            if operations is not None and not operations:
                last = written[-1] if written else None
                return EdgeWrite(_outcome(found[0], stored, intent.changed), refusals.refused, last, max(gaps))
            if operations is not None:
                answer = http.attempt(patch_edge(edge.from_entity, edge.to_entity, operations))
                refusals.note(operations, answer)
            elif http.timing.monotonic() - begun <= _STALE_SECONDS:
                http.attempt(put_edge(edge))
            else:
                continue
            written.append(http.timing.monotonic())
            gaps.append(written[-1] - begun)
        raise _ContestedEdge("other writers change this edge as fast as it is written; run again when they are done")

    return http.retrying(attempt)


@dataclass(slots=True)
class _Refusals:
    """Which columns the platform does not take: those that the answer to a patch that adds them does not have.

    Where its answers do not tell, those that are still missing when they were added twice.
    """

    refused: Refused = frozenset()
    _tried: Refused = frozenset()

    def note(self, operations: Operations, answer: Any) -> None:
        """Takes in what was asked for and answered."""
        asked = frozenset(mapping.key for operation in operations for mapping in _mappings(operation))
        details = answer.get("columnsLineage") if isinstance(answer, dict) else None
        if isinstance(details, list):
            self.refused |= asked - {mapping.key for mapping in LineageDetails.from_json(answer).columns_lineage}
        else:
            self.refused |= asked & self._tried
            self._tried |= asked


def _mappings(operation: Mapping[str, Any]) -> list[ColumnLineage]:
    if not operation["path"].startswith("/columnsLineage"):
        return []
    value = operation["value"]
    return [ColumnLineage.from_json(mapping) for mapping in (value if isinstance(value, list) else [value])]


def _outcome(before: StoredEdge | None, after: StoredEdge | None, changed: Outcome) -> Outcome:
    if before is None:
        return Outcome.NEW
    return Outcome.UNCHANGED if after == before else changed


def _read(http: Http, edge: EntitiesEdge) -> StoredEdge | None:
    try:
        return stored_edge(http.attempt(read_edge(edge.from_entity, edge.to_entity)))
    except NotFound:
        return None
