"""What lies around entities: the cards that a picture holds, and an entity's neighbours as a list; now, or at two
moments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Row,
    Select,
    Subquery,
    and_,
    cast,
    exists,
    func,
    not_,
    or_,
    select,
    true,
)

from connectors.catalog.contract.errors import not_found
from connectors.catalog.graph import CatalogGraph, Origins, table_hop
from connectors.catalog.picture import cards
from connectors.catalog.search.filters import measures
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities.attributes import PastEntity, entities_at
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of, lineage_entity
from connectors.catalog.store.indexes import has_words, most_used, words
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.inserts import Edge
from connectors.catalog.store.lineage.reads import ContributionView, Moment
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import attributes, corrections, entities, entity_activity, intervals
from ingestion.model.lineage import Json
from ingestion.walk import ColumnNode, Hop, Walk

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_TABLES_ONLY: tuple[Json, ...] = ({"from": [""], "to": None, "type": "TABLE"},)
_Wordings = dict[tuple[str, str | None], tuple[frozenset[tuple[str, str, str]], bool]]

_Hop = Callable[[set[str], bool], set[Edge]]
"""The edges that a hop from some entities takes, upstream (True) or downstream."""

USE, NAME, CHANGE = "used", "name", "changed"
_NAMED: Select[Any] = select(entities.c.id, entities.c.type, entities.c.fqn, entities.c.fqn_folded)
_LISTED = _NAMED.where(entities.c.id.in_(IDS))
_COUNT_USED = select(func.count()).select_from(entity_activity)
_NO_CHANGES: Mapping[str, str] = MappingProxyType({})


# Two moments side by side: which edges around some entities there were at either, and how each differs.


class _BothMoments:
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
        for some in thousands_of(sorted(identifiers)):
            where = (attributes.c.entity_id.in_(some), shaped, between)
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
        for some in thousands_of(sorted({pair[1] for pair in pairs})):
            found.update((row[0], row[1]) for row in self._connection.execute(query.where(target.in_(some))))
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


def _by_end(changes: Mapping[Edge, str], *, upstream: bool) -> dict[str, str]:
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


# Which cards a picture holds: those that were asked for, each with neighbours so many hops away on either side.


@dataclass(frozen=True, slots=True)
class NeighbourhoodStep:
    """An entity by its fully qualified name, and how many hops to go from it on each side."""

    entity: str
    upstream: int
    downstream: int


def picture(
    connection: Connection, steps: Sequence[NeighbourhoodStep], limit: int, window: Window, beside: int | None = None
) -> Json:
    """The document of a picture: `limit` cards at most, those of earlier steps and nearer ones first.

    Of the neighbours of one card on one side it has the `beside` most used ones (None: all).
    Steps whose entity is not there are left out. Raises ApiError (404) when that leaves none.
    """

    def hop(frontier: set[str], upstream: bool) -> set[Edge]:  # noqa: FBT001 — a hop has a side
        if beside is None:
            return reads.neighbours(connection, frontier, upstream=upstream, moment=window.moment)
        hubs = reads.hubs(connection, frontier, beside, upstream=upstream, moment=window.moment)
        pairs = reads.neighbours(connection, frontier - hubs, upstream=upstream, moment=window.moment)
        for hub in hubs:  # in order where they are stored: there may be a hundred thousand
            ends = _Neighbours(hub, window.moment, upstream=upstream)
            pairs |= {(end, hub) if upstream else (hub, end) for end in ends.most_used(connection, 0, beside)}
        return pairs

    walked = _walk(connection, steps, limit, hop)
    return {**graph_document(connection, list(walked.inside), window), "roots": walked.roots, "truncated": walked.cut}


def difference(
    connection: Connection,
    steps: Sequence[NeighbourhoodStep],
    size: tuple[int, int | None],
    windows: tuple[Window, Window],
) -> Json:
    """The documents of a picture `before` and `after`: of the same cards, those that are near by the edges of either.

    `size` is how many cards at most, and of the neighbours of one card on one side how many (None: all): those first
    that changed, or are reached in another way, then the most used ones. What is hidden counts those that changed.
    Raises ApiError (404) when no step's entity is there.
    """
    limit, beside = size
    both = _BothMoments(connection, windows[0].moment, windows[1].moment)

    def hop(frontier: set[str], upstream: bool) -> set[Edge]:  # noqa: FBT001 — a hop has a side
        pairs = both.neighbours(frontier, upstream=upstream)
        if beside is None or not _is_too_many(pairs, (upstream, beside)):
            return pairs
        return _first(connection, pairs, (upstream, beside), both.changes(pairs, upstream=upstream))

    walked = _walk(connection, steps, limit, hop)
    hidden = both.hidden_counts(set(walked.inside))
    documents = []
    for window in windows:
        document = graph_document(connection, list(walked.inside), window)
        for node in document["nodes"]:
            node["hidden"] = hidden[node["id"]]
        documents.append(document | {"roots": walked.roots, "truncated": walked.cut})
    return {"before": documents[0], "after": documents[1]}


@dataclass(frozen=True, slots=True)
class _Walked:
    """The cards of a picture, nearest first; `cut`: there are more."""

    inside: dict[str, None]
    roots: list[str]
    cut: bool


def _walk(connection: Connection, steps: Sequence[NeighbourhoodStep], limit: int, hop: _Hop) -> _Walked:
    """The cards within reach, as many as `limit` says."""
    inside: dict[str, None] = {}
    roots: list[str] = []
    cut = False
    for step in steps:
        row = lineage_entity(connection, step.entity)
        if row is None:
            continue
        roots = roots or [row.id]
        inside[row.id] = None
        for upstream, hops in ((True, step.upstream), (False, step.downstream)):
            for identifier in _reach(row.id, hops, hop, upstream=upstream):
                cut = cut or (len(inside) >= limit and identifier not in inside)
                if len(inside) < limit:
                    inside[identifier] = None
    if not roots:
        raise not_found("entity", steps[0].entity)
    return _Walked(inside, roots, cut)


def graph_document(
    connection: Connection, identifiers: Sequence[str], window: Window, origins: Origins | None = None
) -> Json:
    """The document of exactly the entities of these `identifiers` and the edges between them, as `window` has them.

    With what concerns the columns of their `origins` alone, where these are given: of a hundred wide tables all that is
    said would be megabytes.
    """
    rows = list(any_rows_of(connection, set(identifiers)).values())
    return cards.explore(connection, rows, cards.Reach(0, 0, len(rows)), window, origins)


def origins_graph(connection: Connection, column: ColumnNode, limit: int, window: Window) -> Json:
    """The document of everything that a column comes from, `limit` cards at most, with the columns on the way."""
    behind = CatalogGraph(connection, window.moment, with_statements=False).behind(column, limit)
    document = graph_document(connection, behind.entities, window, behind)
    return {**document, "roots": [column[0]], "truncated": behind.cut}


def _reach(start: str, hops: int, hop: _Hop, *, upstream: bool) -> list[str]:
    """What lies within so many hops on one side, nearest first."""
    found: list[str] = []

    def out_of(entities: Sequence[str]) -> Iterator[Hop[str, Edge]]:
        return (table_hop(pair, upstream=upstream) for pair in hop(set(entities), upstream))

    walk = Walk((start,), out_of)
    for _ in walk.levels(hops):
        found.extend(sorted(walk.frontier))
        if len(found) > cards.MAX_CARDS:
            break
    return found


def _of_each(pairs: set[Edge], *, upstream: bool) -> dict[str, list[Edge]]:
    of_each: dict[str, list[Edge]] = defaultdict(list)
    for pair in pairs:
        of_each[pair[1 if upstream else 0]].append(pair)
    return of_each


def _is_too_many(pairs: set[Edge], way: tuple[bool, int]) -> bool:
    upstream, most = way
    return any(len(some) > most for some in _of_each(pairs, upstream=upstream).values())


def _first(connection: Connection, pairs: set[Edge], way: tuple[bool, int], changed: Mapping[Edge, str]) -> set[Edge]:
    """Of the neighbours of each entity so many: those that `changed`, then those that most runs read."""
    if not _is_too_many(pairs, way):
        return pairs
    upstream, most = way
    kept: set[Edge] = set()
    for some in _of_each(pairs, upstream=upstream).values():
        ends = {pair[0 if upstream else 1]: pair for pair in some}
        differing = {end for end, pair in ends.items() if pair in changed}
        kept.update(ends[end] for end in _changed_first(connection, ends.keys(), differing, most))
    return kept


def _changed_first(
    connection: Connection, identifiers: Collection[str], differing: Collection[str], most: int
) -> list[str]:
    """So many of the entities: those that differ, then the others, the most used of either first."""
    first = most_used(connection, [one for one in identifiers if one in differing], most) if differing else []
    others = [one for one in identifiers if one not in differing] if differing else identifiers
    return first + (most_used(connection, others, most - len(first)) if len(first) < most else [])


def beginnings(connection: Connection, window: Window) -> Json:
    """How much there is to see."""
    tables = select(func.count()).select_from(entities)
    held = entities.c.type.in_(("table", "container", "topic")), entities.c.deleted.is_(False)
    column_edges = select(func.sum(intervals.c.column_edges)).where(window.moment.holds())
    return {
        "tables": connection.scalar(tables.where(*held)) or 0,
        "columnEdges": connection.scalar(column_edges) or 0,
    }


# The neighbours of an entity as a list: searched, in order of use or of name, page by page.


@dataclass(frozen=True, slots=True)
class NeighbourPage:
    """Which neighbours to list: the side, words of their names, the order (USE, NAME or CHANGE), and which of them."""

    upstream: bool
    words: str = ""
    order: str = USE
    start: int = 0
    limit: int = 50


def neighbours(
    connection: Connection, row: EntityRow, page: NeighbourPage, window: Window, base: Window | None = None
) -> Json:
    """A page of the entities that `row` reads or is read by, with how much each is used itself.

    Those of the moment of `base` too, where there is one: each that differs between both with its change.
    """
    if base is None:
        return _neighbours_at(connection, row, page, window.moment)
    both = _BothMoments(connection, base.moment, window.moment)
    pairs = both.neighbours({row.id}, upstream=page.upstream)
    changes = _by_end(both.changes(pairs, upstream=page.upstream), upstream=page.upstream)
    found = {pair[0 if page.upstream else 1] for pair in pairs} - {row.id}
    return {"total": len(found), "changed": len(changes), **entity_page(connection, found, page, changes)}


def _neighbours_at(connection: Connection, row: EntityRow, page: NeighbourPage, moment: Moment) -> Json:
    """The same of one moment, searched and put in order where they are stored: a hub has a hundred thousand."""
    counted = reads.count_neighbours(connection, [row.id], upstream=page.upstream, moment=moment)
    count: Json = {"total": counted.get(row.id, 0), "changed": 0}
    ends = _Neighbours(row.id, moment, upstream=page.upstream, but=row.id)
    if page.words.strip():
        having = _having_words(ends.that_may_have_words(connection, page.words), page.words)
        return count | entity_page(connection, having, replace(page, words=""))
    if page.order == NAME:
        listed = ends.by_name(connection, page.start, page.limit)
    else:
        listed = ends.most_used(connection, page.start, page.limit)
    return count | {"found": count["total"], "entities": _listed_entities(connection, listed, _NO_CHANGES)}


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """The neighbours of an entity on one side at a moment, without one (`but`)."""

    entity: str
    moment: Moment
    upstream: bool
    but: str = ""

    def by_name(self, connection: Connection, start: int, limit: int) -> list[str]:
        """The ids of so many, in order of their names."""
        ends = self._all()
        ordered = select(ends.c.id).select_from(ends.join(entities, entities.c.id == ends.c.id))
        return list(connection.scalars(ordered.order_by(entities.c.fqn).limit(limit).offset(start)))

    def most_used(self, connection: Connection, start: int, limit: int) -> list[str]:
        """The same, in the order of `most_used`."""
        among = self._among_most_used(connection, start + limit) if self._reads_most(connection) else None
        if among is None:
            return list(connection.scalars(_in_order(self._all(), start + limit).limit(limit).offset(start)))
        return most_used(connection, among, start + limit)[start:]

    def that_may_have_words(self, connection: Connection, wanted: str) -> Sequence[Row[Any]]:
        """The rows of those of which it is worth taking the names apart."""
        if self._reads_most(connection):
            named = _NAMED.where(self._has(entities.c.id))
        else:
            ends = self._all()
            named = _NAMED.join_from(entities, ends, ends.c.id == entities.c.id)
        rows: Sequence[Row[Any]] = connection.execute(named.where(_may_have_words(wanted))).all()
        return rows

    def _all(self) -> Subquery:
        here, there = reads.ends_of_intervals(upstream=self.upstream)
        ids = select(there.label("id")).where(here == self.entity, there != self.but, self.moment.holds())
        return ids.distinct().subquery()

    def _has(self, identifier: ColumnElement[str]) -> ColumnElement[bool]:
        """Whether an entity is one of those that read this one."""
        # as an expression: what the other is made of is looked at, not all that reads this one
        read = and_(intervals.c.to_id == identifier, intervals.c.from_id.concat("") == self.entity)
        return and_(identifier != self.but, exists(select(1).where(read, self.moment.holds())))

    def _reads_most(self, connection: Connection) -> bool:
        """Whether so many are readers of this one that they are sought among all that is used."""
        if self.upstream:
            return False
        readers = reads.readers_of_hubs(connection, [self.entity]).get(self.entity, 0)
        return bool(readers) and 2 * readers > (connection.scalar(_COUNT_USED) or 0)

    def _among_most_used(self, connection: Connection, most: int) -> list[str] | None:
        """Those that are used as much as the last of the `most` used ones, or more; None where few are used at all."""
        used = entity_activity.c
        seek = select(used.entity_id, used.runs, used.readers).where(self._has(used.entity_id))
        first = connection.execute(seek.order_by(used.runs.desc(), used.readers.desc()).limit(most)).all()
        if len(first) < most or not any(first[-1][1:]):
            return None
        *_, (_, runs, readers) = first
        same = connection.scalars(seek.where(used.runs == runs, used.readers == readers))
        return [*(row[0] for row in first if (row[1], row[2]) != (runs, readers)), *same]


def _in_order(ends: Subquery, most: int) -> Select[Any]:
    """The most used of these ids, then by name; `most` and what is used as often as the last of them."""
    columns = (entity_activity.c.runs, entity_activity.c.readers)
    activity = ends.outerjoin(entity_activity, entity_activity.c.entity_id == ends.c.id)
    counts = (func.coalesce(one, 0).label(one.name) for one in columns)
    used = select(ends.c.id, *counts).select_from(activity).cte()
    first = select(used).order_by(used.c.runs.desc(), used.c.readers.desc()).limit(most).subquery()
    last = select(first).order_by(first.c.runs, first.c.readers).limit(1).subquery()
    # names are looked up of those alone that may be among them
    among = or_(used.c.runs > last.c.runs, and_(used.c.runs == last.c.runs, used.c.readers >= last.c.readers))
    named = used.join(last, among).join(entities, entities.c.id == used.c.id)
    return select(used.c.id).select_from(named).order_by(used.c.runs.desc(), used.c.readers.desc(), entities.c.fqn)


def entity_page(
    connection: Connection, identifiers: set[str], page: NeighbourPage, changes: Mapping[str, str] = _NO_CHANGES
) -> Json:
    """A page of these entities: how many have the words, and those of the page with their measures and `changes`."""
    having = identifiers
    if page.words.strip():
        having = _having_words(_entity_rows(connection, identifiers), page.words)
    most = page.start + page.limit
    if page.order == NAME:
        ordered = [row.id for row in nsmallest(most, _entity_rows(connection, having), key=attrgetter("fqn"))]
    else:
        ordered = _changed_first(connection, having, changes.keys() if page.order == CHANGE else (), most)
    return {"found": len(having), "entities": _listed_entities(connection, ordered[page.start :], changes)}


def _listed_entities(connection: Connection, identifiers: Sequence[str], changes: Mapping[str, str]) -> list[Json]:
    """Entities as a list tells of them, in their order."""
    known = measures(connection, identifiers)
    rows = {row.id: row for row in _entity_rows(connection, identifiers)}
    return [_entity(rows[one], known[one], changes) for one in identifiers]


def _entity_rows(connection: Connection, identifiers: Iterable[str]) -> Sequence[Row[Any]]:
    rows: Sequence[Row[Any]] = connection.execute(_LISTED, bind_ids(list(identifiers))).all()
    return rows


def _may_have_words(wanted: str) -> ColumnElement[bool]:
    """Whether it is worth taking a name apart: of one in plain letters its words are parts, as they are."""
    folded = entities.c.fqn_folded
    parts = and_(true(), *(func.instr(folded, one) > 0 for one in words(wanted)))
    is_plain = func.length(folded) == func.length(cast(folded, LargeBinary))
    return or_(func.instr(folded, wanted.casefold()) > 0, parts, not_(is_plain))


def _having_words(rows: Iterable[Row[Any]], wanted: str) -> set[str]:
    """The entities of `rows` whose names have the words that are `wanted`, or hold them as they were typed."""
    whole, asked = wanted.casefold(), words(wanted)

    def has(name: str, folded: str) -> bool:
        # of a name in plain letters its words are parts, as they are
        may = all(one in folded for one in asked) or not folded.isascii()
        return whole in folded or (may and has_words(asked, words(name)))

    return {row.id for row in rows if has(row.fqn, row.fqn_folded)}


def _entity(row: Row[Any], use: Json, changes: Mapping[str, str]) -> Json:
    answer: Json = {"entity": {"id": row.id, "type": row.type, "fullyQualifiedName": row.fqn}, "use": use}
    return answer | ({"change": changes[row.id]} if row.id in changes else {})
