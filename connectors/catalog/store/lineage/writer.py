"""Writing lineage: contributions side by side on an edge, each an event in time, merged exactly once; intervals are
kept up to date.

Nothing stored is rewritten: a new word of a producer is a new version, its end a row of `endings`; the intervals that
reads use are computed again for what a write touched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select

from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.name_events import NameLifetime
from connectors.catalog.store.indexes import add_readers, refresh_writes
from connectors.catalog.store.lineage import inserts
from connectors.catalog.store.lineage.inserts import ContributionRow, Edge
from connectors.catalog.store.lineage.intervals import Events, Interval, Retraction, Sighting, Subject, row_of
from connectors.catalog.store.lineage.intervals import intervals as timeline
from connectors.catalog.store.lineage.rejections import Rejection, rejected_edges, without_rejected
from connectors.catalog.store.lineage.rewritten import supersessions
from connectors.catalog.store.rows import IDS, bind_ids, holder_number, insert_rows, thousands_of
from connectors.catalog.store.schema import (
    contributions,
    dated_versions,
    endings,
    entities,
    intervals,
    sightings,
    versions,
)

_ENDING_COLUMNS = tuple(f.name for f in fields(Retraction))
_ENDINGS = select(*(endings.c[name] for name in _ENDING_COLUMNS))
_ENDINGS_INTO = _ENDINGS.where(endings.c.to_id.in_(IDS))
_ENDINGS_OF_PIPELINES = _ENDINGS.where(endings.c.to_id.is_(None) & endings.c.pipeline_id.in_(IDS))
_SUBJECT = ("from_id", "to_id", "kind", "key", "source")
_INTERVAL = tuple(f.name for f in fields(Interval))
_OF_ITS_VERSION = ("version_id", "kind", "source", "column_edges")
_OF_ITS_ENDS = ("from_holder", "to_holder")
_HOLDERS = select(entities.c.id, entities.c.parent_id).where(entities.c.id.in_(IDS))
_interval_values = attrgetter(*_INTERVAL)
_OF_VERSIONS = intervals.c.version_id.in_(IDS)
_ENDS_OF = select(intervals.c.from_id, intervals.c.to_id, intervals.c.end.is_(None)).where(_OF_VERSIONS)
_READ_NOW = select(intervals.c.from_id, intervals.c.to_id).where(intervals.c.to_id.in_(IDS), intervals.c.end.is_(None))
_SUBJECTS = (
    select(versions.c.id, versions.c.column_edges)
    .add_columns(*(contributions.c[name] for name in _SUBJECT), versions.c.pipeline_id)
    .select_from(versions.join(contributions, contributions.c.id == versions.c.contribution_id))
    .where(versions.c.id.in_(IDS))
)
_SIGHTINGS = select(sightings.c.version_id, sightings.c.batch, sightings.c.first_seen, sightings.c.last_seen).where(
    sightings.c.version_id.in_(IDS)
)
_Ends = tuple[str, str, bool]
"""From what into what, and whether it is in force still."""

_DATED = select(versions.c.id).select_from(dated_versions)
_INTO = _DATED.where(intervals.c.to_id.in_(IDS))
_OPEN = (
    select(versions.c.contribution_id)
    .select_from(dated_versions)
    .where(intervals.c.version_id.in_(IDS), intervals.c.end.is_(None))
)


# The projection of events into intervals, kept up to date for what a write touches.


def project(connection: Connection, identifiers: Sequence[int]) -> None:
    """Computes the intervals of these versions again, and what searches know by them."""
    rejections: dict[tuple[str, str], list[Rejection]] = defaultdict(list)
    for rejection in rejected_edges(connection):
        rejections[rejection.edge].append(rejection)
    readers: Counter[str] = Counter()
    targets: set[str] = set()
    read_now = _ReadNow(connection)
    # once for all of them: each word on a target counts, whichever are looked at together
    superseded = supersessions(connection, identifiers)
    for some in thousands_of(identifiers):
        sizes, subjects = _subjects(connection, some)
        seen = _sightings(connection, some)
        ends = {end for subject in subjects.values() for end in (subject.from_id, subject.to_id)}
        lives = name_events.lives(connection, ends)
        ends |= set(lives)
        pipelines = {subject.pipeline_id for subject in subjects.values() if subject.pipeline_id is not None}
        by_target, by_pipeline = _endings(connection, ends, pipelines)
        before = connection.execute(_ENDS_OF, bind_ids(some)).all()
        if before:
            connection.execute(delete(intervals).where(_OF_VERSIONS), bind_ids(some))
        after: list[tuple[int, Interval]] = []
        for identifier, subject in subjects.items():
            reachable = _reachable(subject, lives)
            relevant = [ending for end in reachable for ending in by_target.get(end, ())]
            relevant += by_pipeline.get(subject.pipeline_id or "", ())
            relevant += [superseded[identifier]] if identifier in superseded else []
            parts = timeline(subject, seen[identifier], Events(relevant, lives))
            after += [(identifier, part) for part in without_rejected(parts, rejections)]
        ends_after = [(part.from_id, part.to_id, part.end is None) for _, part in after]
        readers.update(read_now.new_readers(before, ends_after))
        _insert_intervals(connection, after, subjects, sizes)
        targets.update(target for _, target, _ in (*before, *ends_after))
    add_readers(connection, readers)
    refresh_writes(connection, targets)


def _insert_intervals(
    connection: Connection,
    parts: Sequence[tuple[int, Interval]],
    subjects: Mapping[int, Subject],
    sizes: Mapping[int, int],
) -> None:
    """Files parts of the timelines of versions, with what their versions and the entities at their ends have too."""
    holders: dict[str, int] = {}
    for some in thousands_of(sorted({end for _, part in parts for end in (part.from_id, part.to_id)})):
        holders.update((row[0], holder_number(row[1])) for row in connection.execute(_HOLDERS, bind_ids(some)).all())
    rows = [
        (
            *(version, subjects[version].kind, subjects[version].source, sizes[version]),
            *(holders[part.from_id], holders[part.to_id]),
            *_interval_values(part),
        )
        for version, part in parts
    ]
    insert_rows(connection, intervals, (*_OF_ITS_VERSION, *_OF_ITS_ENDS, *_INTERVAL), rows)


@dataclass(frozen=True, slots=True)
class _ReadNow:
    """What is read into the targets that were looked at last, each source with how many words of it are in force.

    A statement that reads 16,000 tables says 16,000 words on one target, a thousand of which are looked at together:
    what others say of it is not read again for each thousand.
    """

    connection: Connection
    _sources: dict[str, Counter[str]] = field(default_factory=dict)

    def new_readers(self, before: Sequence[_Ends], after: Sequence[_Ends]) -> Counter[str]:
        """By how many entities more, or fewer, the sources among some ends are read than `before`; 0 for all the same.

        Asked when the intervals of `before` are gone, and those of `after` not written yet.
        """
        was, now = ({(source, target) for source, target, is_open in ends if is_open} for ends in (before, after))
        changed = was ^ now
        self._count(before, -1)
        self._look_at({target for _, target in changed})
        read = {(source, target) for source, target in changed if self._sources[target][source]}
        self._count(after, 1)
        readers = Counter({source: 0 for source, _, _ in (*before, *after)})
        readers.update(source for source, _ in now - was - read)
        readers.subtract(source for source, _ in was - now - read)
        return readers

    def _look_at(self, targets: set[str]) -> None:
        for target in self._sources.keys() - targets:
            del self._sources[target]
        for some in thousands_of(sorted(targets - self._sources.keys())):
            self._sources.update((target, Counter()) for target in some)
            for source, target in self.connection.execute(_READ_NOW, bind_ids(some)).all():
                self._sources[target][source] += 1

    def _count(self, ends: Sequence[_Ends], words: int) -> None:
        for source, target, is_open in ends:
            if is_open and target in self._sources:
                self._sources[target][source] += words


def _subjects(connection: Connection, identifiers: list[int]) -> tuple[dict[int, int], dict[int, Subject]]:
    """How many edges of columns these versions tell of, and whose timelines they are."""
    rows: Sequence[Sequence[Any]] = connection.execute(_SUBJECTS, bind_ids(identifiers)).all()
    return {row[0]: row[1] for row in rows}, {row[0]: Subject(*row[2:]) for row in rows}


def _sightings(connection: Connection, identifiers: list[int]) -> dict[int, list[Sighting]]:
    found: dict[int, list[Sighting]] = defaultdict(list)
    for identifier, batch, first, last in connection.execute(_SIGHTINGS, bind_ids(identifiers)).all():
        found[identifier].append(Sighting(batch, first, last))
    return found


def _endings(
    connection: Connection, ends: set[str], pipelines: set[str]
) -> tuple[dict[str, list[Retraction]], dict[str, list[Retraction]]]:
    by_target: dict[str, list[Retraction]] = defaultdict(list)
    by_pipeline: dict[str, list[Retraction]] = defaultdict(list)
    rows: list[Sequence[Any]] = []
    for some in thousands_of(sorted(ends)):
        rows += connection.execute(_ENDINGS_INTO, bind_ids(some)).all()
    if pipelines:
        rows += connection.execute(_ENDINGS_OF_PIPELINES, bind_ids(sorted(pipelines))).all()
    for row in rows:
        ending = Retraction(*row)
        if ending.to_id is not None:
            by_target[ending.to_id].append(ending)
        elif ending.pipeline_id is not None:
            by_pipeline[ending.pipeline_id].append(ending)
    return by_target, by_pipeline


def _reachable(subject: Subject, lives: Mapping[str, Sequence[NameLifetime]]) -> set[str]:
    found, frontier = {subject.to_id}, [subject.to_id]
    while frontier:
        for life in lives.get(frontier.pop(), ()):
            if life.other is not None and life.other not in found:
                found.add(life.other)
                frontier.append(life.other)
    return found


# Contributions, each an event in time.


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch did: the edges about which it said anything new, and how many contributions lost their word."""

    news: frozenset[Edge]
    replaced: int


@dataclass(slots=True)
class LineageWriter:
    """Gathers contributions and endings; `finish` files them together and brings the intervals up to date."""

    connection: Connection
    batch: str
    now: int
    _given: list[ContributionRow] = field(default_factory=list)
    _endings: list[Retraction] = field(default_factory=list)

    def add(self, contribution: ContributionRow) -> None:
        """Takes in one contribution."""
        self._given.append(contribution)

    def end(self, ending: Retraction) -> None:
        """States that this batch holds the whole truth of a scope."""
        self._endings.append(replace(ending, filed_at=self.now))

    def finish(self) -> Written:
        """Files everything that was taken in."""
        if self._endings:
            self.connection.execute(insert(endings), [row_of(ending) for ending in self._endings])
        scoped = self._versions_in_scope()
        before = self._open(scoped)
        scopes = frozenset(ending.to_id for ending in self._endings)
        filed = inserts.file(self.connection, self.batch, self._given, scopes)
        ends = {end for given in self._given for end in given.edge}
        touched = filed.touched | scoped
        touched |= versions_at(self.connection, name_events.with_history(self.connection, ends))
        project(self.connection, sorted(touched))
        name_events.update_visibility(self.connection, ends, self.now)
        return Written(filed.news, len(before - self._open(scoped)))

    def _versions_in_scope(self) -> set[int]:
        found: set[int] = set()
        of_targets = {e.to_id for e in self._endings if e.to_id is not None and e.from_id is e.pipeline_id is None}
        for some in thousands_of(sorted(of_targets)):
            found.update(self.connection.scalars(_INTO, bind_ids(some)))
        for ending in self._endings:
            if ending.to_id in of_targets:
                continue  # what it holds is among what comes into its target
            columns = {"from_id": ending.from_id, "to_id": ending.to_id}
            where = [intervals.c[name] == value for name, value in columns.items() if value is not None]
            if ending.pipeline_id is not None:
                where.append(versions.c.pipeline_id == ending.pipeline_id)
            found.update(self.connection.scalars(_DATED.where(*where)))
        return found

    def _open(self, identifiers: Iterable[int]) -> set[int]:
        found: set[int] = set()
        for some in thousands_of(sorted(identifiers)):
            found.update(self.connection.scalars(_OPEN, bind_ids(some)))
        return found


def versions_at(connection: Connection, identifiers: Iterable[str]) -> set[int]:
    """The versions whose edge touches one of these entities, or ever did."""
    found: set[int] = set()
    at_either_end = or_(contributions.c.from_id.in_(IDS), contributions.c.to_id.in_(IDS))
    joined = versions.join(contributions, contributions.c.id == versions.c.contribution_id)
    at_ends = select(versions.c.id).select_from(joined).where(at_either_end)
    moved = select(intervals.c.version_id).where(or_(intervals.c.from_id.in_(IDS), intervals.c.to_id.in_(IDS)))
    for some in thousands_of(sorted(identifiers)):
        for statement in (at_ends, moved):
            found.update(connection.scalars(statement, bind_ids(some)))
    return found
