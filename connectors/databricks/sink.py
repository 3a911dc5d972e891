"""Writes the edges that cross the border of Unity Catalog, each as a relationship with its pairs of columns.

What stands there is asked first, so that what others wrote stays and the same again is no call.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import requests

from connectors.databricks.client import AlreadyThere, Answer, Workspace
from connectors.databricks.names import End, Relationship, Side, UnityNames
from connectors.databricks.settings import DatabricksSettings
from connectors.sink import EdgeCounts, SinkRun, TargetBatch, WriteReport, WriteResult
from ingestion.errors import ConfigError, Rejected
from ingestion.model.contributions import DOUBTFUL, Contribution
from ingestion.model.outcomes import WriteOutcome
from ingestion.model.requests import AddLineageRequest

logger = logging.getLogger(__name__)

_CREATED_BY, _HEADWATER = "created_by", "headwater"
"""The property that tells what was made here: nothing else is ever taken away."""
_FULL_NAME = "headwater.name"
"""The property of an object with its whole name in the catalog."""
_CERTAINTY, _POSSIBLE = "headwater.certainty", "possible"


@contextmanager
def open_sink(settings: DatabricksSettings, run: SinkRun[object]) -> Iterator[UnitySink]:
    """The workspace, which answers. Raises ConfigError, without the token, and TargetDown."""
    names = UnityNames(run.service, run.service_type, settings.services, settings.paths)
    if not names.knows_a_service:
        raise ConfigError(
            "no service is in Unity Catalog, so that no edge crosses its border: "
            "sink.config.services names those that are, as in dbx: {unity_catalog: true}"
        )
    with requests.Session() as session:
        workspace = Workspace(settings, session)
        workspace.check()
        yield UnitySink(names, workspace)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A relationship as it is to be there, with these pairs of columns; `is_possible`: it is not certain."""

    relationship: Relationship
    pairs: list[tuple[str, str]]
    is_possible: bool


@dataclass
class UnitySink:
    """Writes by `names` to a `workspace`; `_objects` are those that were read or written, as they stand."""

    names: UnityNames
    workspace: Workspace
    _objects: dict[str, Answer] = field(default_factory=dict)

    def keys(self, request: AddLineageRequest, contribution: Contribution) -> Iterable[str]:
        """Of an edge across the border: the relationship, and each pair of columns."""
        relationship = self.names.relationship(request)
        if relationship.side is not Side.ACROSS:
            return []
        pairs = dict.fromkeys(relationship.pairs([contribution]))
        return [relationship.key(), *(relationship.key(pair) for pair in pairs)]

    def missing_keys(self, _written: frozenset[str]) -> frozenset[str]:
        """It is not asked for all that is in it."""
        return frozenset()

    def write(self, batches: Sequence[TargetBatch]) -> WriteReport:
        """One edge after the other; what a batch ends stays where an edge of it is refused."""
        report = WriteReport()
        for batch in batches:
            present = _Present(self.workspace)
            written = WriteReport()
            for request in batch.requests:
                written += self._write(request, batch.superseded, present)
            if batch.ended and written.counts.rejected:
                logger.warning("%s: its earlier lineage stays: an edge of it was refused", batch.name)
            elif batch.ended:
                written += WriteReport(counts=EdgeCounts(replaced=self._end(batch.ended, present)))
            report += written
        return report

    def _write(self, request: AddLineageRequest, superseded: frozenset[str], present: _Present) -> WriteReport:
        relationship = self.names.relationship(request)
        if relationship.side is not Side.ACROSS:
            inside = int(relationship.side is Side.WITHIN)
            result = WriteResult(request, WriteOutcome.UNCHANGED)
            return WriteReport((result,), EdgeCounts(recorded_there=inside, outside=1 - inside))
        pairs = [one for one in _pairs(relationship, request) if relationship.key(one) not in superseded]
        wanted = _Wanted(relationship, pairs, all(one.confidence <= DOUBTFUL for one in request.contributions))
        try:
            relationship.check()
            outcome = WriteOutcome.UNCHANGED
            if pairs or relationship.key() not in superseded:
                outcome = self._say(wanted, present)
        except Rejected as error:
            result = WriteResult(request, WriteOutcome.REJECTED, str(error))
            return WriteReport((result,), EdgeCounts(rejected=1))
        counts = {WriteOutcome.NEW: EdgeCounts(new=1), WriteOutcome.MERGED: EdgeCounts(merged=1)}
        counted = counts.get(outcome, EdgeCounts(unchanged=1)) + EdgeCounts.lost_of(request)
        return WriteReport((WriteResult(request, outcome),), counted + EdgeCounts(column_edges=len(pairs)))

    def _say(self, wanted: _Wanted, present: _Present) -> WriteOutcome:
        end = wanted.relationship.outside
        columns = [target if end is wanted.relationship.target else source for source, target in wanted.pairs]
        is_new = self._ensure(end, list(dict.fromkeys(columns)))
        try:
            return self._relate(wanted, present)
        except Rejected:
            if is_new:
                with suppress(Rejected):
                    self._delete_unused(end)
            raise

    def _relate(self, wanted: _Wanted, present: _Present) -> WriteOutcome:
        relationship, pairs = wanted.relationship, wanted.pairs
        found = present.get(relationship)
        if found is None:
            certainty = {_CERTAINTY: _POSSIBLE} if wanted.is_possible else {}
            body = {"columns": _columns(pairs), "properties": {_CREATED_BY: _HEADWATER, **certainty}}
            try:
                self.workspace.create_relationship(relationship, body)
            except AlreadyThere:  # since it was asked
                found = present.read_again(relationship)
                if found is None:
                    raise
            else:
                present.keep(relationship, body)
                return WriteOutcome.NEW
        changes = _changes(wanted, found)
        if not changes:
            return WriteOutcome.UNCHANGED
        self.workspace.update_relationship(relationship, changes)
        present.keep(relationship, {**found, **changes})
        return WriteOutcome.MERGED

    def _ensure(self, end: End, columns: list[str]) -> bool:
        """Has the object of what is outside, with these columns beside those that it has; whether it is a new one."""
        found = self._read_object(end.name)
        if found is None:
            body = {
                "name": end.name,
                "system_type": end.system_type,
                "entity_type": end.entity_type,
                "columns": columns,
                "properties": {_CREATED_BY: _HEADWATER, _FULL_NAME: end.full_name},
            }
            try:
                self.workspace.create_object(body)
            except AlreadyThere:  # since it was asked
                found = self.workspace.read_object(end.name)
                if found is None:
                    raise
            else:
                self._objects[end.name] = body
                return True
        stands_for = _properties(found).get(_FULL_NAME, end.full_name)
        if stands_for != end.full_name:
            raise Rejected(f"{end.name} stands for {stands_for} there, and cannot for {end.full_name} too")
        known = [str(one) for one in found.get("columns") or ()]
        more = [one for one in columns if one not in known]
        if more:
            self.workspace.set_columns({**found, "name": end.name}, known + more)
        self._objects[end.name] = {**found, "columns": known + more}
        return False

    def _read_object(self, name: str) -> Answer | None:
        if name not in self._objects:
            found = self.workspace.read_object(name)
            if found is None:
                return None
            self._objects[name] = found
        return self._objects[name]

    def _end(self, keys: frozenset[str], present: _Present) -> int:
        """Takes away what was written under these keys, of relationships that were made here; how much that was."""
        ended: dict[Relationship, set[tuple[str, str] | None]] = {}
        for key in sorted(keys):
            relationship, pair = Relationship.of_key(key)
            ended.setdefault(relationship, set()).add(pair)
        return sum(self._end_of(relationship, pairs, present) for relationship, pairs in ended.items())

    def _end_of(self, relationship: Relationship, ended: set[tuple[str, str] | None], present: _Present) -> int:
        found = present.get(relationship)
        if found is None or not _is_ours(found) or self._stands_for_another(relationship.outside):
            return 0
        columns = _present_pairs(found)
        left = [pair for pair in columns if relationship.same_pair(pair) not in ended]
        try:
            if None in ended and not left:
                self.workspace.delete_relationship(relationship)
                present.forget(relationship)
                self._delete_unused(relationship.outside)
            elif len(left) < len(columns):
                body = {"columns": _columns(left)}
                self.workspace.update_relationship(relationship, body)
                present.keep(relationship, {**found, **body})
        except Rejected as error:
            logger.warning("%s -> %s stays there: %s", relationship.source.name, relationship.target.name, error)
            return 0
        return len(columns) - len(left) + int(None in ended and not left)

    def _stands_for_another(self, end: End) -> bool:
        """Whether the object of this name is that of a table whose name differs in case."""
        found = self._read_object(end.name)
        return found is not None and _properties(found).get(_FULL_NAME, end.full_name) != end.full_name

    def _delete_unused(self, end: End) -> None:
        """Takes an object away that was made here and that no relationship has any more."""
        found = self._read_object(end.name)
        if found is None or not _is_ours(found):
            return
        if not any(True for way in ("UPSTREAM", "DOWNSTREAM") for _one in self.workspace.relationships(end, way)):
            self.workspace.delete_object(end.name)
            del self._objects[end.name]


@dataclass
class _Present:
    """The relationships that stand there, asked once for each target."""

    workspace: Workspace
    _into: dict[End, list[Answer]] = field(default_factory=dict)

    def get(self, relationship: Relationship) -> Answer | None:
        target = relationship.target
        if target not in self._into:
            self._into[target] = [
                one for one in self.workspace.relationships(target, "UPSTREAM") if target.is_in(one.get("target"))
            ]
        return next((one for one in self._into[target] if relationship.source.is_in(one.get("source"))), None)

    def read_again(self, relationship: Relationship) -> Answer | None:
        self._into.pop(relationship.target, None)
        return self.get(relationship)

    def keep(self, relationship: Relationship, body: Answer) -> None:
        """What was written: its `body` is what stands from now on."""
        self.forget(relationship)
        ends = {"source": relationship.source.to_json(), "target": relationship.target.to_json()}
        self._into.setdefault(relationship.target, []).append({**body, **ends})

    def forget(self, relationship: Relationship) -> None:
        kept = self._into.get(relationship.target, [])
        self._into[relationship.target] = [one for one in kept if not relationship.source.is_in(one.get("source"))]


def _changes(wanted: _Wanted, found: Answer) -> dict[str, Any]:
    """What a relationship that stands there lacks; of those of others the properties stay as they are."""
    known, same_pair = _present_pairs(found), wanted.relationship.same_pair
    same = set(map(same_pair, known))
    more = [pair for pair in wanted.pairs if same_pair(pair) not in same]
    changes: dict[str, Any] = {"columns": _columns([*known, *more])} if more else {}
    properties = _properties(found)
    if not wanted.is_possible and _is_ours(found) and _CERTAINTY in properties:
        changes["properties"] = {name: value for name, value in properties.items() if name != _CERTAINTY}
    return changes


def _pairs(relationship: Relationship, request: AddLineageRequest) -> list[tuple[str, str]]:
    distinct = {relationship.same_pair(pair): pair for pair in relationship.pairs(request.contributions)}
    return [distinct[same] for same in sorted(distinct)]


def _columns(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"source": source, "target": target} for source, target in pairs]


def _present_pairs(found: Answer) -> list[tuple[str, str]]:
    given = (one for one in found.get("columns") or () if isinstance(one, dict))
    return [(str(one.get("source") or ""), str(one.get("target") or "")) for one in given]


def _properties(found: Answer) -> dict[str, str]:
    given = found.get("properties")
    return given if isinstance(given, dict) else {}


def _is_ours(found: Answer) -> bool:
    return _properties(found).get(_CREATED_BY) == _HEADWATER
