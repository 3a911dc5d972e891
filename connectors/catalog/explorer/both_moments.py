"""Two moments side by side: which edges around some entities there were at either, and how each differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.clock import now_millis
from connectors.catalog.store.entities.attributes import PastEntity, entities_at
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.inserts import Edge
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.schema import attributes, corrections, intervals
from ingestion.model import Json

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_TABLES_ONLY: tuple[Json, ...] = ({"from": [""], "to": None, "type": "TABLE"},)
_Wordings = dict[tuple[str, str | None], tuple[frozenset[tuple[str, str, str]], bool]]


class BothMoments:
    """The edges of a store at two moments, the first of which has a time."""

    def __init__(self, connection: Connection, before: Moment, after: Moment) -> None:
        assert before.as_of is not None
        self._connection = connection
        self._moments = before, after
        self._start = before.as_of
        self._end = now_millis() if after.as_of is None else after.as_of
        self._then: set[Edge] = set()
        self._now: set[Edge] = set()

    def neighbours(self, entities: Iterable[str], *, upstream: bool) -> set[Edge]:
        """The edges into (upstream) or out of `entities` at either moment."""
        wanted = set(entities)
        then, now = (
            reads.neighbours(self._connection, wanted, upstream=upstream, moment=moment) for moment in self._moments
        )
        self._then |= then
        self._now |= now
        return then | now

    def changes(self, pairs: set[Edge], *, upstream: bool) -> dict[Edge, str]:
        """Of those of `pairs` (that `neighbours` gave) that differ, how: themselves, or else what is at their end."""
        found = dict.fromkeys(pairs - self._now, REMOVED) | dict.fromkeys(pairs - self._then, ADDED)
        both = pairs - found.keys()
        edited = self._changed_entities({end for pair in both for end in pair})
        touched = self._touched_pairs(both) | {pair for pair in both if not edited.isdisjoint(pair)}
        found |= dict.fromkeys(self._changed_wordings(touched), CHANGED)
        there = 0 if upstream else 1
        entities = self._entity_changes(edited & {pair[there] for pair in both})
        found |= {pair: entities[pair[there]] for pair in both - found.keys() if pair[there] in entities}
        return found

    def hidden_counts(self, inside: set[str]) -> dict[str, Json]:
        """How many neighbours at either moment each entity has that are not `inside`, and how many of them differ."""
        counts: dict[str, Json] = {
            one: {"upstream": 0, "downstream": 0, "changed": {"upstream": 0, "downstream": 0}} for one in inside
        }
        for side, upstream in (("upstream", True), ("downstream", False)):
            here, there = (1, 0) if upstream else (0, 1)
            pairs = {pair for pair in self.neighbours(inside, upstream=upstream) if pair[there] not in inside}
            changed = self.changes(pairs, upstream=upstream)
            for pair in pairs:
                counts[pair[here]][side] += 1
                counts[pair[here]]["changed"][side] += pair in changed
        return counts

    def _changed_entities(self, identifiers: set[str]) -> set[str]:
        """The entities whose columns or presence changed in between."""
        shaped = attributes.c.name.in_(("exists", "shape"))
        between = and_(attributes.c.at > self._start, attributes.c.at <= self._end)
        found: set[str] = set()
        for chunk in chunks_of(sorted(identifiers)):
            where = (attributes.c.entity_id.in_(chunk), shaped, between)
            found.update(self._connection.scalars(select(attributes.c.entity_id).where(*where).distinct()))
        return found

    def _touched_pairs(self, pairs: set[Edge]) -> set[Edge]:
        """The edges of which anything began, ended or was corrected in between."""

        def within(time: ColumnElement[int]) -> ColumnElement[bool]:
            return and_(time > self._start, time <= self._end)

        interval_pairs = select(intervals.c.from_id, intervals.c.to_id).where(
            or_(within(intervals.c.start), within(intervals.c.end))
        )
        corrected = select(corrections.c.from_id, corrections.c.to_id).where(within(corrections.c.at))
        return self._pairs(interval_pairs, intervals.c.to_id, pairs) | self._pairs(
            corrected, corrections.c.to_id, pairs
        )

    def _pairs(self, query: Select[Any], target: ColumnElement[str], pairs: set[Edge]) -> set[Edge]:
        found: set[Edge] = set()
        for chunk in chunks_of(sorted({pair[1] for pair in pairs})):
            found.update((row[0], row[1]) for row in self._connection.execute(query.where(target.in_(chunk))))
        return found & pairs

    def _changed_wordings(self, pairs: set[Edge]) -> set[Edge]:
        targets = {pair[1] for pair in pairs}
        then, now = (
            reads.contributions_around(self._connection, targets, upstream=True, moment=moment)
            for moment in self._moments
        )
        return {pair for pair in pairs if _wordings(then.get(pair, ())) != _wordings(now.get(pair, ()))}

    def _entity_changes(self, identifiers: set[str]) -> dict[str, str]:
        """What became of entities that an edge told of at both moments: what was not known then is taken as it is."""
        wanted = sorted(identifiers)
        then, now = (entities_at(self._connection, wanted, moment) for moment in (self._start, self._end))
        found = {}
        for one in wanted:
            was, is_there = (past.get(one) is None or past[one].there for past in (then, now))
            if was != is_there:
                found[one] = ADDED if is_there else REMOVED
            elif one in then and one in now and _types(then[one]) != _types(now[one]):
                found[one] = CHANGED
        return found


def by_end(changes: Mapping[Edge, str], *, upstream: bool) -> dict[str, str]:
    """The changes of edges by the entity at their far end."""
    return {pair[0 if upstream else 1]: change for pair, change in changes.items()}


def _wordings(views: Iterable[ContributionView]) -> _Wordings:
    """What is said of each pair of columns: by which ways and expressions, and whether for certain."""
    ways: dict[tuple[str, str | None], set[tuple[str, str, str]]] = {}
    certain: dict[tuple[str, str | None], bool] = {}
    for one in views:
        for column in one.content.get("columns") or _TABLES_ONLY:
            way = (column.get("type", "DIRECT"), column.get("subtype") or "", column.get("expression") or "")
            for source in column["from"]:
                key = source, column.get("to")
                ways.setdefault(key, set()).add(way)
                certain[key] = certain.get(key, False) or column.get("certain", True)
    return {key: (frozenset(some), certain[key]) for key, some in ways.items()}


def _types(past: PastEntity) -> dict[str, str | None]:
    return {column["path"]: column.get("dataTypeDisplay") or column.get("dataType") for column in past.columns}
