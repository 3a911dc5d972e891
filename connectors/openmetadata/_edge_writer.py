"""Edges on a platform without bulk calls: merged one by one, views and routines redefined, each read again before it
counts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

from connectors.openmetadata.client import Platform
from connectors.openmetadata.edges import (
    HeldEdge,
    delete_edge,
    get_edge,
    graph,
    patch_edge,
    put_edge,
    read_edge,
    stored_edge,
)
from connectors.openmetadata.entities import Collection, mark_processed
from connectors.openmetadata.http import BadRequest, Http, NotFound, ServerFailed
from connectors.sink import NOT_OURS, UNANSWERED, EdgeCounts, TargetBatch, WriteReport, WriteResult
from ingestion.errors import ConfigError, LineageError, Rejected, TargetDown
from ingestion.model.contributions import ProducerKind
from ingestion.model.entities import EntityReference
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest, ColumnLineage, EdgeSource, EntitiesEdge, LineageDetails

Operations = list[dict[str, Any]]
ColumnKey = tuple[tuple[str, ...], str]
Refused = frozenset[ColumnKey]
"""Columns that the platform does not take."""

Plan = Callable[[HeldEdge, Refused], Operations]
Given = ParamSpec("Given")
Value = TypeVar("Value")
Owned = Callable[[LineageDetails], bool]
"""Whether an edge is the word of what was defined anew, and of nobody else."""

_ROUNDS = 5
_CONTESTED = "other writers change this edge as fast as it is written; run again when they are done"
_REFUSALS = 8
"""How many columns of an edge a platform may refuse one by one, before it gets none of them."""

_STALE_SECONDS = 0.5
"""What was read longer ago is read again before an edge is made: the longer ago, the likelier it is there by now."""

_ROUTINE = "storedProcedure"
QUERIES = frozenset({EdgeSource.QUERY, EdgeSource.CROSS_DATABASE})
"""What edges of statements are said to be read from."""

logger = logging.getLogger(__name__)

SETTLING_SECONDS = 1.0
"""How long after a write it is read again, at least: another writer's write follows its reading by less."""

_SLOWER = 3.0
"""How much slower another writer's calls may be than the slowest of ours."""


# Writing to an OpenMetadata without its help: its PUT replaces an edge, so an existing one is only appended to.
#
# Between reading an edge and writing it another writer may have replaced it; the protocol has no lock. So each write
# is read back and mended at once, and once more (`_restore_edge`) when all that had read the edge before have written.


class _ContestedEdge(ServerFailed):
    """Other writers change an edge as fast as it is written: what was written may be gone; try again."""


@dataclass(frozen=True, slots=True)
class _EdgeWrite:
    """What was done to an edge, and the columns that the server did not take.

    `found` and `left`: as it was read first and last (None: it is not there). `written` is when it was last written
    (None: it stood as it is), `gap` the seconds from reading it until then.
    """

    outcome: WriteOutcome
    refused: Refused = frozenset()
    written: float | None = None
    gap: float = 0.0
    found: HeldEdge | None = None
    left: HeldEdge | None = None


def _merge_edge(http: Http, edge: EntitiesEdge) -> _EdgeWrite:
    """Adds an edge, or what is missing from a stored one; nothing that is stored is changed or removed.

    Raises Rejected, ServerFailed (_ContestedEdge among it), ConfigError, TargetDown; so do the other writes.
    """

    def plan(stored: HeldEdge, refused: Refused) -> Operations:
        return additions(stored, edge.lineage_details, refused)

    return _write(http, edge, _Intent(plan, WriteOutcome.MERGED))


def _redefine_edge(http: Http, edge: EntitiesEdge, owned: Owned) -> _EdgeWrite:
    """Writes an edge of what was defined anew: the old definition's columns go, edges not `owned` are merged."""
    wanted = edge.lineage_details

    def plan(stored: HeldEdge, refused: Refused) -> Operations:
        return _redefinition(stored, wanted, refused) if owned(stored.details) else additions(stored, wanted, refused)

    return _write(http, edge, _Intent(plan, WriteOutcome.REPLACED))


def _restore_edge(http: Http, edge: EntitiesEdge, done: _EdgeWrite, owned: Owned) -> _EdgeWrite:
    """Reads an edge again that was written, and adds what others have overwritten since.

    Edges that were deleted or (`owned`) defined anew since are left as they are: that was meant.
    """

    def plan(stored: HeldEdge, refused: Refused) -> Operations:
        return [] if owned(stored.details) else additions(stored, edge.lineage_details, refused | done.refused)

    mended = _write(http, edge, _Intent(plan, done.outcome, makes=False))
    return replace(mended, outcome=done.outcome, refused=mended.refused | done.refused, found=done.found)


def additions(stored: HeldEdge, wanted: LineageDetails, refused: Refused = frozenset()) -> Operations:
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


def _redefinition(stored: HeldEdge, wanted: LineageDetails, refused: Refused = frozenset()) -> Operations:
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
    changed: WriteOutcome
    makes: bool = True

    def operations(self, stored: HeldEdge | None, refused: Refused) -> Operations | None:
        """None where the edge is to be made; none where it stands as it is to be."""
        if stored is not None:
            return self.plan(stored, refused)
        return None if self.makes else []


def _write(http: Http, edge: EntitiesEdge, intent: _Intent) -> _EdgeWrite:
    found: list[HeldEdge | None] = []
    written: list[float] = []
    gaps = [0.0]

    def attempt() -> _EdgeWrite:
        # all calls of one attempt together are what is retried: a patch whose answer was lost may have been applied,
        # and only reading again tells
        refusals = _Refusals()
        rounds = 0
        while rounds < _ROUNDS:
            begun = http.timing.monotonic()
            stored = _read(http, edge)
            found.append(stored)
            operations = intent.operations(stored, refusals.refused)
            if operations is not None and not operations:
                last = written[-1] if written else None
                outcome = _outcome(found[0], stored, intent.changed)
                return _EdgeWrite(outcome, refusals.refused, last, max(gaps), found[0], stored)
            if operations is None and http.timing.monotonic() - begun > _STALE_SECONDS:
                rounds += 1
            elif _send(http, edge, operations, refusals):
                rounds += 1
                written.append(http.timing.monotonic())
                gaps.append(written[-1] - begun)
        raise _ContestedEdge(_CONTESTED)

    return http.retrying(attempt)


def _send(http: Http, edge: EntitiesEdge, operations: Operations | None, refusals: _Refusals) -> bool:
    """One call: the edge as a whole (`operations` None) or what changes in it; False where a column kept it out."""
    if operations is None:
        columns = tuple(one for one in edge.lineage_details.columns_lineage if one.key not in refusals.refused)
        asked, details = columns, replace(edge.lineage_details, columns_lineage=columns)
        call = put_edge(replace(edge, lineage_details=details))
    else:
        asked = tuple(mapping for operation in operations for mapping in _mappings(operation))
        call = patch_edge(edge.from_entity, edge.to_entity, operations)
    try:
        answer = http.attempt(call)
    except BadRequest as error:
        if not asked:
            raise
        refusals.leave_out(asked, str(error))
        return False
    if operations is not None:
        refusals.note(asked, answer)
    return True


@dataclass(slots=True)
class _Refusals:
    """Which columns the platform does not take: those that the answer to a patch that adds them does not have.

    Where its answers do not tell, those that are still missing when they were added twice. One that is older than its
    versions of late 2025 takes nothing of an edge then, and names one of them: it is left out, at last all are.
    """

    refused: Refused = frozenset()
    _tried: Refused = frozenset()
    _times: int = 0

    def leave_out(self, columns: Sequence[ColumnLineage], message: str) -> None:
        """Takes in that nothing of these was taken, and what was said of it."""
        self._times += 1
        names = {name for one in columns for name in (*one.from_columns, one.to_column) if name in message}
        # of names that begin alike the message has the longest
        name = max(names, key=len, default="") if self._times <= _REFUSALS else ""
        self.refused |= {one.key for one in columns if not name or name in (*one.from_columns, one.to_column)}

    def note(self, columns: Sequence[ColumnLineage], answer: Any) -> None:
        """Takes in what was asked for and answered."""
        asked = frozenset(one.key for one in columns)
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


def _receipt(write: _EdgeWrite, wanted: LineageDetails, known: str) -> str:
    """How an edge is left that holds our words alone, NOT_OURS where it does not; "" where it is gone.

    `known`: the receipt of an earlier run. One that was sent and not answered for is ours where it says just that.
    """
    if write.left is None:
        return ""
    sent = replace(wanted, columns_lineage=tuple(one for one in wanted.columns_lineage if one.key not in write.refused))
    before = write.found
    unanswered = known == UNANSWERED and before is not None and _says_just(before, sent)
    if before is not None and not unanswered and known != before.receipt:
        return NOT_OURS
    base = sent if before is None or unanswered else before.details
    return write.left.receipt if _is_within(write.left, base, sent) else NOT_OURS


def _says_just(stored: HeldEdge, sent: LineageDetails) -> bool:
    """Whether an edge says what was sent and nothing else; its text tells it from another's."""
    alike = set(stored.details.columns_lineage) == set(sent.columns_lineage)
    return alike and bool(sent.sql_query) and _is_within(stored, sent, sent)


def _is_within(stored: HeldEdge, one: LineageDetails, other: LineageDetails) -> bool:
    """Whether an edge says nothing that neither of these says."""
    details, both = stored.details, (one, other)
    columns = {mapping for each in both for mapping in each.columns_lineage}
    pipelines = {each.pipeline.id for each in both if each.pipeline is not None}
    return (
        set(details.columns_lineage) <= columns
        and details.sql_query in {each.sql_query for each in both}
        and details.source in {str(each.source) for each in both}
        and details.description in {each.description for each in both}
        and (details.pipeline is None or details.pipeline.id in pipelines)
    )


def _outcome(before: HeldEdge | None, after: HeldEdge | None, changed: WriteOutcome) -> WriteOutcome:
    if before is None:
        return WriteOutcome.NEW
    return WriteOutcome.UNCHANGED if after == before else changed


def _read(http: Http, edge: EntitiesEdge) -> HeldEdge | None:
    try:
        return stored_edge(http.attempt(read_edge(edge.from_entity, edge.to_entity)))
    except NotFound:
        return None


# What a batch defines anew, on a platform that keeps no contributions apart: a view, or what routines write.


def _of_view(details: LineageDetails) -> bool:
    """Whether an edge is a view's definition."""
    return details.source == EdgeSource.VIEW


def _of_routines(keys: frozenset[str]) -> Owned:
    """Whether an edge is the word of one of these routines (database.schema.name)."""

    def is_owned(details: LineageDetails) -> bool:
        routine = details.pipeline
        if routine is None or routine.type != _ROUTINE or details.source not in QUERIES:
            return False
        return any((routine.fully_qualified_name or "").endswith(f".{key}") for key in keys)

    return is_owned


@dataclass(frozen=True, slots=True)
class Redefinition:
    """Of one target. `view`: it is a view whose definition is known; `whole`: as is every name that the view reads.

    `routines` (by key) say something else of the target than before, where nobody else's word may stand on the same
    edges.
    """

    view: bool = False
    whole: bool = True
    routines: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.view or bool(self.routines)

    @property
    def finishes_view(self) -> bool:
        """Whether with it the lineage of a view is done."""
        return self.view and self.whole

    def owns(self, details: LineageDetails) -> bool:
        """Whether a stored edge is the word of what was defined anew."""
        return (self.view and _of_view(details)) or _of_routines(self.routines)(details)

    def covers(self, edge: EntitiesEdge) -> bool:
        """Whether an edge is of what was defined anew."""
        source = edge.lineage_details.source
        return (self.view and source == EdgeSource.VIEW) or (bool(self.routines) and source in QUERIES)


def redefinition_of(batch: TargetBatch) -> Redefinition:
    """What the replacements of a batch say."""
    views = [replacement for replacement in batch.replacements if replacement.source == EdgeSource.VIEW]
    routines = frozenset(
        replacement.producer.key
        for replacement in batch.replacements
        if replacement.producer is not None
        and replacement.producer.kind is ProducerKind.PROCEDURE
        and not replacement.shared
    )
    return Redefinition(bool(views), all(replacement.whole for replacement in views), routines)


# Batches to an OpenMetadata that offers no bulk call: edge by edge; none counts before it reads as it was written.


@dataclass(frozen=True, slots=True)
class _Done:
    """One request, and what was done to its edge; `reason` where nothing could be.

    `edge`: as the platform can hold it, without what `losses` count. `redefinition` is what its batch defines again.
    """

    request: AddLineageRequest
    edge: EntitiesEdge
    losses: EdgeCounts
    redefinition: Redefinition
    write: _EdgeWrite | None = None
    reason: str = ""

    @property
    def is_unconfirmed(self) -> bool:
        return self.write is not None and self.write.written is not None


class PlainWriter:
    """Writes the batches of different targets side by side, on so many threads."""

    def __init__(self, platform: Platform, threads: int) -> None:
        self._http = platform.http
        self._features = platform.features
        self._threads = threads
        self._ended_by: LineageError | None = None

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """The requests of all batches, then what they replace.

        A request counts when its edge was read again, after a while in which other writers that had read it before
        must have written, and had all of it. Raises TargetDown and ConfigError.
        """
        written = WriteReport()
        if not batches:
            return written
        pool = ThreadPoolExecutor(self._threads, "rest-sink")
        try:
            done = [one for group in pool.map(self._stoppable_work(self._write_batch), batches) for one in group]
            by_target: dict[str, list[_Done]] = {batch.target.id: [] for batch in batches}
            for one in self._confirm(done, pool):
                by_target[one.request.to_entity.id].append(one)
            for part in pool.map(self._stoppable_work(self._finish), batches, by_target.values()):
                written += part
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return written

    def _stoppable_work(self, work: Callable[Given, Value]) -> Callable[Given, Value]:
        """The same work, not begun after the target was found down or the token refused by another's.

        The threads see to it themselves: on a busy machine the one that waits for them hears of it a hundred
        requests later, each with a token that a platform may lock an account for.
        """

        def run(*given: Given.args, **named: Given.kwargs) -> Value:
            if self._ended_by is not None:
                raise self._ended_by
            try:
                return work(*given, **named)
            except (TargetDown, ConfigError) as error:
                self._ended_by = error
                raise

        return run

    def _write_batch(self, batch: TargetBatch) -> list[_Done]:
        """The requests into one target, one after the other."""
        redefinition = redefinition_of(batch)
        fitted = ((request, *self._features.fit(request.edge)) for request in batch.requests)
        return [self._write_one(_Done(request, edge, lost, redefinition)) for request, edge, lost in fitted]

    def _write_one(self, one: _Done) -> _Done:
        if one.redefinition.covers(one.edge):
            return _attempt(one, partial(_redefine_edge, self._http, one.edge, one.redefinition.owns))
        return _attempt(one, partial(_merge_edge, self._http, one.edge))

    def _confirm(self, done: list[_Done], pool: ThreadPoolExecutor) -> list[_Done]:
        """The same, each read again until it stands as it was written, or given up on."""
        for _ in range(_ROUNDS):
            unconfirmed = [index for index, one in enumerate(done) if one.is_unconfirmed]
            if not unconfirmed:
                return done
            self._wait([one.write for one in done if one.write is not None])
            checked = pool.map(self._stoppable_work(self._check), [done[index] for index in unconfirmed])
            for index, one in zip(unconfirmed, checked, strict=True):
                done[index] = one
        return [replace(one, write=None, reason=_CONTESTED) if one.is_unconfirmed else one for one in done]

    def _check(self, one: _Done) -> _Done:
        assert one.write is not None
        return _attempt(one, partial(_restore_edge, self._http, one.edge, one.write, one.redefinition.owns))

    def _wait(self, writes: Sequence[_EdgeWrite]) -> None:
        timing = self._http.timing
        span = max(SETTLING_SECONDS, _SLOWER * max(write.gap for write in writes))
        latest = max(write.written for write in writes if write.written is not None)
        left = latest + span - timing.monotonic()
        if left > 0:
            timing.sleep(left)

    def _finish(self, batch: TargetBatch, done: Sequence[_Done]) -> WriteReport:
        """What the batch's requests came to, after what they replace is gone."""
        written = WriteReport()
        for one in done:
            written += _result(one, batch.receipts.get(one.request.from_entity.id, ""))
        redefinition = redefinition_of(batch)
        if not redefinition:
            return written
        if written.counts.rejected:
            logger.warning("%s: its earlier lineage stays: an edge of the new one was rejected", batch.name)
            return written
        try:
            kept = frozenset(request.from_entity.id for request in batch.requests)
            deleted = _delete_stale_edges(self._http, batch.target, kept, redefinition.owns)
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: its earlier lineage stays: %s", batch.name, error)
            return written
        unmarked = redefinition.finishes_view and not self._finish_view(batch)
        return written + WriteReport(counts=EdgeCounts(replaced=deleted, unmarked=int(unmarked)))

    def _finish_view(self, batch: TargetBatch) -> bool:
        """Tells the platform that a view's lineage is done; False where its version cannot be told.

        A view that is gone by now is no error.
        """
        view = batch.target
        if view.type != "table":
            return True
        if not self._features.processed:
            return False
        try:
            mark_processed(self._http, Collection.TABLES, view.id)
        except NotFound:
            return True
        except (Rejected, ServerFailed) as error:
            logger.warning("%s: not marked as processed: %s", batch.name, error)
        return True


def _delete_stale_edges(http: Http, target: EntityReference, kept: frozenset[str], owned: Owned) -> int:
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
        # read again: newer versions keep graphs for a while, and forget one when an edge is put, not when it is patched
        stored = get_edge(http, source, target)
        if stored is not None and owned(stored.details):
            deleted += delete_edge(http, source, target)
    return deleted


def _attempt(one: _Done, action: Callable[[], _EdgeWrite]) -> _Done:
    try:
        return replace(one, write=action())
    except (Rejected, ServerFailed) as error:
        return replace(one, write=None, reason=str(error))


def _result(one: _Done, known: str) -> WriteReport:
    """What is told of a request; `known` is the receipt of its edge that an earlier run got."""
    if one.write is None:
        return WriteReport((WriteResult(one.request, WriteOutcome.REJECTED, one.reason),), EdgeCounts(rejected=1))
    outcome, refused = one.write.outcome, len(one.write.refused)
    counts = EdgeCounts(
        new=outcome is WriteOutcome.NEW,
        merged=outcome is WriteOutcome.MERGED,
        unchanged=outcome is WriteOutcome.UNCHANGED,
        replaced=outcome is WriteOutcome.REPLACED,
        column_edges=len(one.edge.lineage_details.columns_lineage) - refused,
        refused_columns=refused,
    )
    receipt = _receipt(one.write, one.edge.lineage_details, known)
    result = WriteResult(one.request, outcome, refused_columns=refused, receipt=receipt)
    return WriteReport((result,), counts + one.losses)
