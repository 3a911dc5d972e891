"""Writing lineage: contributions side by side on an edge, each an event in time, merged exactly once.

Nothing stored is rewritten: a new word of a producer is a new version, its end an `Ending`; the intervals that
reads use are computed again for what a write touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, insert, or_, select

from connectors.catalog.store.chunking import IDS, bind_ids, chunks_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.lineage import inserts
from connectors.catalog.store.lineage.inserts import ContributionRow, Edge
from connectors.catalog.store.lineage.intervals import Retraction, row_of
from connectors.catalog.store.lineage.projection import project
from connectors.catalog.store.schema import contributions, dated_versions, endings, intervals, versions

_DATED = select(versions.c.id).select_from(dated_versions)
_INTO = _DATED.where(intervals.c.to_id.in_(IDS))
_OPEN = (
    select(versions.c.contribution_id)
    .select_from(dated_versions)
    .where(intervals.c.version_id.in_(IDS), intervals.c.end.is_(None))
)


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
        for chunk in chunks_of(sorted(of_targets)):
            found.update(self.connection.scalars(_INTO, bind_ids(chunk)))
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
        for chunk in chunks_of(sorted(identifiers)):
            found.update(self.connection.scalars(_OPEN, bind_ids(chunk)))
        return found


def versions_at(connection: Connection, identifiers: Iterable[str]) -> set[int]:
    """The versions whose edge touches one of these entities, or ever did."""
    found: set[int] = set()
    at_either_end = or_(contributions.c.from_id.in_(IDS), contributions.c.to_id.in_(IDS))
    joined = versions.join(contributions, contributions.c.id == versions.c.contribution_id)
    at_ends = select(versions.c.id).select_from(joined).where(at_either_end)
    moved = select(intervals.c.version_id).where(or_(intervals.c.from_id.in_(IDS), intervals.c.to_id.in_(IDS)))
    for chunk in chunks_of(sorted(identifiers)):
        for statement in (at_ends, moved):
            found.update(connection.scalars(statement, bind_ids(chunk)))
    return found
