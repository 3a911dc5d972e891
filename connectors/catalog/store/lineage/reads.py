"""Reading lineage: what is said about edges at a moment, the union of it, and its dependencies between columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    null,
    or_,
    select,
    union,
)

from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.lineage.rejections import rejected_columns, without_rejected_columns
from connectors.catalog.store.lineage.stored_content import StoredContent, text_digest
from connectors.catalog.store.rows import IDS, bind_ids, ids_bound_as, thousands_of
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    dated_contributions,
    entity_activity,
    intervals,
    sightings,
    statement_texts,
    versions,
)
from ingestion.model.contributions import JOBS_KEPT, OBSERVED
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen
from ingestion.model.witnesses import Verdict, WitnessFilter
from ingestion.walk import DIRECT, TABLE, ColumnNode

_BETWEEN_JOBS = "\x1f"
_INSIDE = "inside"
_NOTHING_BOUND: Mapping[str, str] = MappingProxyType({})

JOBS = (
    select(func.group_concat(contribution_jobs.c.job, _BETWEEN_JOBS))
    .where(contribution_jobs.c.contribution_id == contributions.c.id)
    .correlate(contributions)
    .scalar_subquery()
)
"""What ran a contribution, as `jobs_in` reads it."""

_INTO, _OUT_OF = intervals.c.to_id.in_(IDS), intervals.c.from_id.in_(IDS)
"""The edges into the entities that are given, and those out of them."""
# as an expression: one place in the index for each entity, not one for each two
_BETWEEN = and_(_INTO, intervals.c.from_id.concat("").in_(ids_bound_as(_INSIDE)))
"""Those that both begin and end there."""
_TEXTS = select(statement_texts.c.digest, statement_texts.c.text).where(statement_texts.c.digest.in_(IDS))
_JOBS_OF = select(contribution_jobs.c.contribution_id, contribution_jobs.c.job).where(
    contribution_jobs.c.contribution_id.in_(IDS)
)
_SIGHTS_OF = (
    select(
        versions.c.contribution_id,
        func.min(sightings.c.first_seen),
        func.max(sightings.c.last_seen),
        func.sum(sightings.c.count),
    )
    .select_from(versions.join(sightings, sightings.c.version_id == versions.c.id))
    .where(versions.c.contribution_id.in_(IDS))
    .group_by(versions.c.contribution_id)
)
VerdictKey = tuple[str | None, str | None, str]
"""Of an edge between two entities: the path of its source and of its target, and its type."""
_HUB = "hub"
_MANY_READERS = 1_000
"""Of fewer, counting is as quick as asking for the number kept."""
_HUBS_AMONG = select(entity_activity.c.entity_id, entity_activity.c.readers).where(
    entity_activity.c.entity_id.in_(IDS), entity_activity.c.readers > bindparam(_HUB)
)


@dataclass(frozen=True, slots=True)
class Moment:
    """When lineage is read: as of a time (None: now), observations not older than `since` (None: any age).

    And whose: of the edges of that time those that the filter of `witnesses` admits (None: all).
    """

    as_of: int | None = None
    since: int | None = None
    witnesses: WitnessFilter | None = None

    def holds(self) -> ColumnElement[bool]:
        """The condition on an interval that it is in force at this moment."""
        if self.as_of is None:
            open_now: ColumnElement[bool] = intervals.c.end.is_(None)
        else:
            later = or_(intervals.c.end.is_(None), intervals.c.end > self.as_of)
            open_now = and_(intervals.c.start <= self.as_of, later)
        if self.since is None:
            return open_now
        recent = intervals.c.last_seen >= self.since
        if self.as_of is not None:  # what was seen after it says nothing of how old an observation was then
            in_time = and_(sightings.c.first_seen <= self.as_of, sightings.c.last_seen >= self.since)
            recent = exists().where(sightings.c.version_id == intervals.c.version_id, in_time).correlate(intervals)
        return and_(open_now, or_(intervals.c.kind.not_in(OBSERVED), recent))

    def last_seen(self) -> ColumnElement[int]:
        """When a version had been seen last by then."""
        if self.as_of is None:
            return intervals.c.last_seen
        known = select(func.max(func.min(sightings.c.last_seen, self.as_of))).where(
            sightings.c.version_id == intervals.c.version_id, sightings.c.first_seen <= self.as_of
        )
        return func.coalesce(known.correlate(intervals).scalar_subquery(), intervals.c.start)


NOW = Moment()


class ContributionView(NamedTuple):
    """One version of one producer's word on an edge, in force at the moment of the read.

    `first_edge` is what it was told of, whose names may have moved since.
    `unseen`: by its target column (None: all of them), what of it was not seen since a newer statement came; only where
    that was asked for. `verdicts`: who says an edge of it and who tells otherwise, by its source and target column and
    its type; only where that was asked for, and more than one witness speaks of the target.
    """

    version_id: int
    contribution_id: int
    from_id: str
    to_id: str
    kind: str
    key: str
    source: str
    content: Mapping[str, Any]
    start: int
    last_seen: int
    jobs: tuple[str, ...] = ()
    first_edge: tuple[str, str] = ("", "")
    unseen: Mapping[str | None, Unseen] = MappingProxyType({})
    verdicts: Mapping[VerdictKey, Verdict] = MappingProxyType({})

    @property
    def edge(self) -> tuple[str, str]:
        return self.from_id, self.to_id

    @property
    def wire(self) -> bool:
        return self.kind == "wire"


@dataclass(frozen=True, slots=True)
class Seen:
    """When a contribution was first and last seen, and in how many distinct records."""

    first: int
    last: int
    count: int


def ends_of_intervals(*, upstream: bool) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """The columns of an edge's end that is asked about, and of its other: what it is made of (upstream) or makes."""
    return (intervals.c.to_id, intervals.c.from_id) if upstream else (intervals.c.from_id, intervals.c.to_id)


def _reading(where: ColumnElement[bool], moment: Moment, *, with_statements: bool) -> Select[Any]:
    first = (contributions.c.from_id.label("first_from"), contributions.c.to_id.label("first_to"))
    columns = (versions.c.id, contributions.c.id, intervals.c.from_id, intervals.c.to_id, *first)
    subject = (contributions.c.kind, contributions.c.key, contributions.c.source, versions.c.content)
    seen = intervals.c.start, moment.last_seen().label("seen_then")
    jobs = JOBS if with_statements else null()
    reading = select(*columns, *subject, *seen, jobs, versions.c.digest).select_from(dated_contributions)
    return reading.where(and_(where, moment.holds()))


_ENDS = slice(2, 6)
"""Of such a row the ids of the edge, as it is and as it was first told of."""


def _order(row: Any) -> tuple[str, str, bool, int, str]:
    """What puts rows in an order that does not change: SQLite would carry their documents through its sort."""
    _version, _contribution, source, target, _from, _to, kind, _key, _source, _document, _start, seen, _jobs, digest = (
        row
    )
    return source, target, kind != "wire", -seen, digest


_reading_again = lru_cache(maxsize=64)(_reading)
"""The same for the few conditions that have parameters.

A walk reads each level by one of them: to make a statement takes as long as to run it.
"""


def read_contributions(
    connection: Connection,
    where: ColumnElement[bool],
    moment: Moment = NOW,
    bound: Mapping[str, str] = _NOTHING_BOUND,
    *,
    with_statements: bool = True,
) -> list[ContributionView]:
    """Everything in force at `moment` where the intervals match, in an order that does not change.

    `bound` are the values of the condition's parameters. `with_statements`: with their texts and what ran them.
    """
    reading = (_reading_again if bound else _reading)(where, moment, with_statements=with_statements)
    rows = sorted(connection.execute(reading, bound).all(), key=_order)
    documents = [row.content for row in rows]
    contents = contents_of(connection, documents) if with_statements else list(map(StoredContent, documents))
    found = [_view(row, content) for row, content in zip(rows, contents, strict=True)]
    events = columns_of.column_events_of(connection, {end for row in rows for end in row[_ENDS]})
    if events:
        bearers = _BearerReader(connection, found)
        changed = {entity for entity, _ in events}
        found = [
            one._replace(content=columns_of.rewrite(events, bearers.of(one), one.content, one.last_seen, moment.as_of))
            if not changed.isdisjoint((*one.edge, *one.first_edge))
            else one
            for one in found
        ]
    rejected = rejected_columns(connection)
    if not rejected:
        return found
    return [
        one._replace(content=without_rejected_columns(one.content, one.edge, rejected, events, moment.as_of))
        for one in found
    ]


class _BearerReader:
    """What the ends of contributions were told of, and what has borne their names since."""

    def __init__(self, connection: Connection, found: Iterable[ContributionView]) -> None:
        moved = {end for one in found if one.edge != one.first_edge for end in one.first_edge}
        self._lives = name_events.lives(connection, moved) if moved else {}

    def of(self, view: ContributionView) -> tuple[columns_of.Bearers, columns_of.Bearers]:
        source, target = zip(view.first_edge, view.edge, strict=True)
        return self._bearers(*source, view.last_seen), self._bearers(*target, view.last_seen)

    def _bearers(self, first: str, last: str, seen: int) -> columns_of.Bearers:
        found: list[tuple[str, int | None]] = []
        entity = first
        while entity != last:
            moves = (life for life in self._lives.get(entity, ()) if life.at > seen and life.other is not None)
            move = next(moves, None)
            if move is None or move.other is None:
                return ((last, None),)
            found.append((entity, move.at))
            entity, seen = move.other, move.at
        return (*found, (last, None))


def _view(row: Any, content: StoredContent) -> ContributionView:
    version, contribution, source, target, first_from, first_to, kind, key, origin, _document, start, seen, jobs, _ = (
        row
    )
    return ContributionView(
        version, contribution, source, target, kind, key, origin,
        content, start, seen, jobs_in(jobs), (first_from, first_to),
    )  # fmt: skip


def contents_of(connection: Connection, documents: Iterable[str]) -> list[StoredContent]:
    """What versions say, out of their documents, each with the text of its statement as `sql`; equal texts are one."""
    known = list(documents)
    texts = _texts_of(connection, {digest for one in known if (digest := text_digest(one)) is not None})
    return [StoredContent(document, texts) for document in known]


def _texts_of(connection: Connection, digests: Iterable[str]) -> dict[str, str]:
    """The texts of statements, by the digests that the contents of their edges name."""
    texts: dict[str, str] = {}
    for some in thousands_of(sorted(digests)):
        texts.update((row[0], row[1]) for row in connection.execute(_TEXTS, bind_ids(some)).all())
    return texts


@dataclass(frozen=True, slots=True)
class StoredStatements:
    """The statements of what was read without them: texts by their digests, and what ran them by contribution."""

    texts: Mapping[str, str]
    jobs_by_contribution: Mapping[int, tuple[str, ...]]

    def text(self, view: ContributionView) -> str | None:
        """The text of a contribution's statement; None where it has none."""
        digest = view.content.get("text")
        return None if digest is None else self.texts.get(digest)

    def jobs(self, view: ContributionView) -> tuple[str, ...]:
        """The names of what ran a contribution's statement, as `jobs_in` has them."""
        return self.jobs_by_contribution.get(view.contribution_id, ())


def statements_of(connection: Connection, found: Sequence[ContributionView]) -> StoredStatements:
    """The statements of what was read without them."""
    digests = {digest for one in found if (digest := one.content.get("text")) is not None}
    jobs: dict[int, list[str]] = defaultdict(list)
    for some in thousands_of(sorted({one.contribution_id for one in found})):
        for contribution, job in connection.execute(_JOBS_OF, bind_ids(some)).all():
            jobs[contribution].append(job)
    return StoredStatements(_texts_of(connection, digests), {one: _kept_jobs(names) for one, names in jobs.items()})


def with_statements(connection: Connection, found: Sequence[ContributionView]) -> list[ContributionView]:
    """What was read without statements, with the texts of these as `sql` and with what ran them."""
    statements = statements_of(connection, found)
    return [
        one._replace(
            content=one.content if one.content.get("text") is None else {**one.content, "sql": statements.text(one)},
            jobs=statements.jobs(one),
        )
        for one in found
    ]


def jobs_in(written: str | None) -> tuple[str, ...]:
    """The names of what ran a contribution, in their order: of more than are kept the first."""
    return _kept_jobs(written.split(_BETWEEN_JOBS)) if written else ()


def _kept_jobs(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names)[:JOBS_KEPT])


def contributions_between(connection: Connection, edge: tuple[str, str]) -> list[ContributionView]:
    """What is said about one edge now."""
    return read_contributions(connection, and_(intervals.c.from_id == edge[0], intervals.c.to_id == edge[1]), NOW)


def contributions_around(
    connection: Connection,
    entities: Iterable[str],
    *,
    upstream: bool,
    moment: Moment = NOW,
    with_statements: bool = True,
) -> dict[tuple[str, str], list[ContributionView]]:
    """What is said about the edges into (upstream) or out of `entities`, by edge, with the statements or without."""
    where = _INTO if upstream else _OUT_OF
    found: dict[tuple[str, str], list[ContributionView]] = defaultdict(list)
    for some in thousands_of(sorted(set(entities))):
        for one in read_contributions(connection, where, moment, bind_ids(some), with_statements=with_statements):
            found[one.edge].append(one)
    return found


def contributions_within(
    connection: Connection, entities: Iterable[str], moment: Moment = NOW
) -> dict[tuple[str, str], list[ContributionView]]:
    """What is said about the edges that both begin and end in `entities`, by edge: what a table of which a hundred
    thousand are made has beside is not read.
    """
    inside = sorted(set(entities))
    found: dict[tuple[str, str], list[ContributionView]] = defaultdict(list)
    for some in thousands_of(inside):
        for one in read_contributions(connection, _BETWEEN, moment, bind_ids(some) | bind_ids(inside, _INSIDE)):
            found[one.edge].append(one)
    return found


def neighbours(
    connection: Connection, entities: Iterable[str], *, upstream: bool, moment: Moment = NOW
) -> set[tuple[str, str]]:
    """The edges into (upstream) or out of `entities`, without what is said about them."""
    found: set[tuple[str, str]] = set()
    for some in thousands_of(sorted(set(entities))):
        rows = connection.execute(_pairs(moment, upstream=upstream), bind_ids(some)).all()
        found.update((row[0], row[1]) for row in rows)
    return found


@lru_cache(maxsize=64)
def _pairs(moment: Moment, *, upstream: bool) -> Select[Any]:
    pairs = select(intervals.c.from_id, intervals.c.to_id)
    return pairs.where(_INTO if upstream else _OUT_OF, moment.holds()).distinct()


def hubs(
    connection: Connection, entities: Collection[str], most: int, *, upstream: bool, moment: Moment = NOW
) -> set[str]:
    """Those of `entities` that have more neighbours on one side than `most`, which are not counted further."""
    statement = _is_hub(moment, upstream=upstream)
    found: set[str] = set()
    for some in thousands_of(sorted(entities)):
        found.update(row[0] for row in connection.execute(statement, bind_ids(some) | {"most": most}).all())
    return found


@lru_cache(maxsize=64)
def _is_hub(moment: Moment, *, upstream: bool) -> Select[Any]:
    here, there = ends_of_intervals(upstream=upstream)
    one = IDS.subquery()
    ends = select(there).where(here == one.c.value, moment.holds()).distinct().correlate(one)
    return select(one.c.value).where(exists(ends.offset(bindparam("most")).limit(1)))


def count_neighbours(
    connection: Connection, entities: Iterable[str], *, upstream: bool, moment: Moment = NOW
) -> dict[str, int]:
    """Of how many others each of `entities` is made (upstream), or how many are made of it: those outside."""
    inside = sorted(set(entities))
    # of the past it is not kept how many read an entity
    many = {} if upstream or moment.as_of is not None else readers_of_hubs(connection, inside)
    found: dict[str, int] = {}
    for some in thousands_of([one for one in inside if one not in many]):
        rows = connection.execute(_counts(moment, upstream=upstream), bind_ids(some) | bind_ids(inside, _INSIDE)).all()
        found.update((row[0], row[1]) for row in rows)
    for hub, readers in many.items():
        left = connection.scalar(_readers_left_out(moment), bind_ids(inside, _INSIDE) | {_HUB: hub}) or 0
        if readers > left:
            found[hub] = readers - left
    return found


def readers_of_hubs(connection: Connection, entities: Sequence[str]) -> dict[str, int]:
    """Those of `entities` that many read now, each with how many do, itself among them: the number that filing keeps.

    To count the forty thousand that read a calendar takes longer than all else that a picture of it shows.
    """
    found: dict[str, int] = {}
    for some in thousands_of(entities):
        rows = connection.execute(_HUBS_AMONG, bind_ids(some) | {_HUB: _MANY_READERS}).all()
        found.update((row[0], row[1]) for row in rows)
    return found


@lru_cache(maxsize=64)
def _readers_left_out(moment: Moment) -> Select[Any]:
    """How many of those that read a hub now are inside, or do by nothing that is in force at a moment of now."""
    last = intervals.alias()
    hub: ColumnElement[str] = bindparam(_HUB)
    is_open = (last.c.from_id == hub, last.c.end.is_(None))
    # as expressions: one place in the index for each reader, not a look at all of the hub's for each
    inside = select(last.c.to_id).where(last.c.to_id.in_(ids_bound_as(_INSIDE)), last.c.end.is_(None))
    inside = inside.where(last.c.from_id.concat("") == hub)
    same = and_(intervals.c.to_id == last.c.to_id, intervals.c.from_id.concat("") == hub)
    still = exists(select(1).where(same, moment.holds()))
    past = false() if moment.since is None else and_(last.c.kind.in_(OBSERVED), last.c.last_seen < moment.since)
    left = select(last.c.to_id).where(*is_open, past, ~still.correlate(last))
    return select(func.count()).select_from(union(inside, left).subquery())


@lru_cache(maxsize=64)
def _counts(moment: Moment, *, upstream: bool) -> Select[Any]:
    here, there = ends_of_intervals(upstream=upstream)
    outside = there.not_in(ids_bound_as(_INSIDE))
    return select(here, func.count(there.distinct())).where(here.in_(IDS), outside, moment.holds()).group_by(here)


def sights_of(connection: Connection, identifiers: Sequence[int], until: int | None = None) -> dict[int, Seen]:
    """First and last sight and the count of distinct records of each contribution, by its id.

    Of what was first seen `until` then (milliseconds since the epoch); None: of all.
    """
    found: dict[int, Seen] = {}
    sights = _SIGHTS_OF if until is None else _SIGHTS_OF.where(sightings.c.first_seen <= until)
    for some in thousands_of(list(identifiers)):
        for contribution, first, last, count in connection.execute(sights, bind_ids(some)).all():
            found[contribution] = Seen(first, last if until is None else min(last, until), count)
    return found


# What producers say of edges, column by column.


class StoredEdge(NamedTuple):
    """One source column's part in a target, as one contribution tells it; by ids of entities.

    `type` is DIRECT, INDIRECT, or TABLE where no columns are known; `column` is its entry in the contribution's
    content, None where it has none.
    """

    source: ColumnNode
    target: ColumnNode
    type: str
    certain: bool
    view: ContributionView
    column: Json | None

    @property
    def unseen(self) -> Unseen | None:
        """Since when it is not seen any more, where a newer statement came since."""
        return self.view.unseen.get(self.target[1])

    @property
    def verdict_key(self) -> VerdictKey:
        return self.source[1], self.target[1], self.type

    @property
    def verdict(self) -> Verdict | None:
        """Who says it and who tells otherwise; None where one witness alone speaks of its target."""
        return self.view.verdicts.get(self.verdict_key)

    @property
    def subtype(self) -> str:
        return str(self.column.get("subtype") or "") if self.column is not None else ""

    @property
    def expression(self) -> str:
        return str(self.column.get("expression") or "") if self.column is not None else ""


def edges_of(view: ContributionView, columns: Iterable[Json] | None = None) -> Iterator[StoredEdge]:
    """The edges that a contribution tells of; those of these `columns` of its content alone, if given."""
    given = view.content.get("columns") or ()
    if not given:
        yield edge_of(view, None, None)
        return
    for column in given if columns is None else columns:
        for path in column["from"]:
            yield edge_of(view, column, path)


def edge_of(view: ContributionView, column: Json | None, path: str | None) -> StoredEdge:
    """The edge that a contribution tells of with a `column` of its content, out of the column at `path`; None of each
    where it tells of none.
    """
    source, target = view.edge
    if column is None:
        return StoredEdge((source, None), (target, None), TABLE, certain=True, view=view, column=None)
    type_, certain = column.get("type") or DIRECT, column.get("certain", True) is not False
    return StoredEdge((source, path), (target, column.get("to")), type_, certain, view, column)


@dataclass(frozen=True, slots=True)
class ColumnDependency:
    """The same by full names, on its own: `producer` is its kind (query, view, …), `sql` its masked text."""

    source: ColumnNode
    target: ColumnNode
    type: str
    subtype: str = ""
    masking: bool = False
    expression: str = ""
    certain: bool = True
    producer: str = ""
    sql: str = field(default="", repr=False)
    unseen: Unseen | None = None


def dependencies_of(
    view: ContributionView, source: str, target: str, columns: Iterable[Json] | None = None
) -> Iterator[ColumnDependency]:
    """What a contribution says of a source and a target; of these `columns` of its content alone, if given."""
    text = str(view.content.get("sql") or "")
    for edge in edges_of(view, columns):
        masking = edge.column is not None and bool(edge.column.get("masking"))
        yield ColumnDependency(
            (source, edge.source[1]),
            (target, edge.target[1]),
            edge.type,
            edge.subtype,
            masking,
            edge.expression,
            edge.certain,
            view.kind,
            text,
            edge.unseen,
        )
