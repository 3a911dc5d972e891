"""Writing lineage: contributions side by side on an edge, each an event in time, merged exactly once.

Nothing stored is rewritten: a new word of a producer is a new version, its end an `Ending`; the intervals that
reads use are computed again for what a write touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from sqlalchemy import Connection, Select, and_, func, insert, or_, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store import names
from connectors.catalog.store.database import Json, dumps
from connectors.catalog.store.projection import project
from connectors.catalog.store.rows import chunks_of
from connectors.catalog.store.schema import contributions, endings, intervals, records, sightings, versions
from connectors.catalog.store.timeline import Ending


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one producer says about one edge.

    `content` is what is said (sql, columns, parser, confidence, pipeline, description, temporary tables); `records`
    are digests of the log records that say so, None where only `count` is known.
    """

    from_id: str
    to_id: str
    kind: str
    key: str
    source: str
    content: Json
    first: int
    last: int
    count: int = 1
    records: tuple[int, ...] | None = None

    @property
    def edge(self) -> tuple[str, str]:
        return self.from_id, self.to_id


@dataclass(slots=True)
class LineageWriter:
    """Adds and ends contributions inside one transaction; `finish` brings the intervals up to date."""

    connection: Connection
    batch: str
    now: int
    _edges: set[tuple[str, str]] = field(default_factory=set)
    _touched: set[int] = field(default_factory=set)
    _endings: list[Ending] = field(default_factory=list)

    def add(self, contribution: Contribution) -> bool:
        """Files one contribution; whether it said anything that was not known."""
        self._edges.add(contribution.edge)
        identifier = self._contribution(contribution)
        version, fresh = self._version(identifier, contribution.content)
        count = self._count(identifier, contribution)
        news = fresh or count > 0 or not self._covered(version, contribution)
        values = {
            "version_id": version,
            "batch": self.batch,
            "first_seen": contribution.first,
            "last_seen": contribution.last,
            "count": count,
        }
        if news or self._scoped(contribution):
            self.connection.execute(upsert(sightings).values(**values).on_conflict_do_nothing())
            self._touched.add(version)
        return news

    def end(self, ending: Ending) -> None:
        """States that this batch holds the whole truth of a scope. Comes before the contributions it keeps."""
        self._endings.append(ending)
        self.connection.execute(insert(endings).values(**asdict(ending)))

    def finish(self) -> int:
        """Recomputes what was touched; how many contributions that were in force are not any more."""
        scoped = self._versions_in_scope()
        before = self._open(scoped)
        touched = self._touched | scoped
        written = {to_id for _, to_id in self._edges}
        touched |= versions_at(self.connection, names.with_history(self.connection, written))
        project(self.connection, sorted(touched))
        names.settle(self.connection, written, self.now)
        return len(before - self._open(scoped))

    def _contribution(self, given: Contribution) -> int:
        key = {name: getattr(given, name) for name in ("from_id", "to_id", "kind", "key", "source")}
        where = and_(*(contributions.c[name] == value for name, value in key.items()))
        found = self.connection.scalar(select(contributions.c.id).where(where))
        if found is None:
            found = self.connection.scalar(insert(contributions).values(**key).returning(contributions.c.id))
        assert isinstance(found, int)
        return found

    def _version(self, contribution: int, content: Json) -> tuple[int, bool]:
        document = dumps(content)
        digest = hashlib.sha256(document.encode()).hexdigest()[:32]
        where = and_(versions.c.contribution_id == contribution, versions.c.digest == digest)
        found = self.connection.scalar(select(versions.c.id).where(where))
        if found is not None:
            return int(found), False
        values = {
            "contribution_id": contribution,
            "digest": digest,
            "pipeline_id": (content.get("pipeline") or {}).get("id"),
            "column_edges": count_column_edges(content),
            "content": document,
        }
        made = self.connection.scalar(insert(versions).values(**values).returning(versions.c.id))
        assert isinstance(made, int)
        return made, True

    def _count(self, contribution: int, given: Contribution) -> int:
        if given.records is None:
            return given.count
        before = self.connection.scalar(_records_of(contribution)) or 0
        rows = [{"contribution_id": contribution, "digest": digest} for digest in given.records]
        if rows:
            self.connection.execute(upsert(records).on_conflict_do_nothing(), rows)
        return (self.connection.scalar(_records_of(contribution)) or 0) - before

    def _covered(self, version: int, given: Contribution) -> bool:
        """Whether one sighting that is stored already spans the given one: its time then tells nothing new."""
        where = and_(
            sightings.c.version_id == version,
            sightings.c.first_seen <= given.first,
            sightings.c.last_seen >= given.last,
        )
        return self.connection.execute(select(sightings.c.batch).where(where).limit(1)).first() is not None

    def _scoped(self, given: Contribution) -> bool:
        return any(ending.to_id in (None, given.to_id) for ending in self._endings)

    def _versions_in_scope(self) -> set[int]:
        found: set[int] = set()
        for ending in self._endings:
            columns = {"from_id": ending.from_id, "to_id": ending.to_id}
            where = [intervals.c[name] == value for name, value in columns.items() if value is not None]
            if ending.pipeline_id is not None:
                where.append(versions.c.pipeline_id == ending.pipeline_id)
            joined = intervals.join(versions, versions.c.id == intervals.c.version_id)
            found.update(self.connection.scalars(select(versions.c.id).select_from(joined).where(*where)))
        return found

    def _open(self, identifiers: Iterable[int]) -> set[int]:
        found: set[int] = set()
        for chunk in chunks_of(sorted(identifiers)):
            where = and_(intervals.c.version_id.in_(chunk), intervals.c.end.is_(None))
            joined = intervals.join(versions, versions.c.id == intervals.c.version_id)
            found.update(self.connection.scalars(select(versions.c.contribution_id).select_from(joined).where(where)))
        return found


def versions_at(connection: Connection, identifiers: Iterable[str]) -> set[int]:
    """The versions whose edge touches one of these entities, or ever did."""
    found: set[int] = set()
    for chunk in chunks_of(sorted(identifiers)):
        told = or_(contributions.c.from_id.in_(chunk), contributions.c.to_id.in_(chunk))
        joined = versions.join(contributions, contributions.c.id == versions.c.contribution_id)
        found.update(connection.scalars(select(versions.c.id).select_from(joined).where(told)))
        moved = or_(intervals.c.from_id.in_(chunk), intervals.c.to_id.in_(chunk))
        found.update(connection.scalars(select(intervals.c.version_id).where(moved)))
    return found


def record_digest(record: str) -> int:
    """A log record's digest (hexadecimal) as the store keeps it."""
    # 63 bits tell a million records of one edge apart with a chance of error below 1 in 10 million
    return int.from_bytes(hashlib.blake2b(record.lower().encode(), digest_size=8).digest()) >> 1


def count_column_edges(content: Json) -> int:
    """The pairs of source and target column in a contribution."""
    return sum(len(column["from"]) for column in content.get("columns") or ())


def _records_of(contribution: int) -> Select[int]:
    return select(func.count()).select_from(records).where(records.c.contribution_id == contribution)
