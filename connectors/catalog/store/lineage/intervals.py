"""From events to intervals: when a contribution was in force, and between which entities.

A pure function of the events, whatever order they arrived in. A sighting is in force from its first moment until
something ends it: its producer says something else, a client deletes the edge, its target is dropped. When an end
is renamed the contribution goes on under the new name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from connectors.catalog.store.entities.name_events import NameLifetime
from ingestion.model.contributions import ProducerKind
from ingestion.model.requests import EdgeSource


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose timeline it is: one version of one producer's word on one edge."""

    from_id: str
    to_id: str
    kind: str
    key: str
    source: str
    pipeline_id: str | None = None

    @property
    def manual(self) -> bool:
        return self.kind == "manual" or (self.source == "Manual" and not self._is_listed)

    @property
    def declared(self) -> bool:
        """Whether it tells what a table is to be made of, and not what was seen written into it."""
        return self.manual or self.kind == "wire" or self.source == EdgeSource.DBT or self._is_listed

    @property
    def _is_listed(self) -> bool:
        """A list of edges is read again, and ends what it has no more, which nothing but a hand does to a hand's."""
        return self.kind == ProducerKind.EDGE_LIST


@dataclass(frozen=True, slots=True)
class Sighting:
    """The producer was seen saying so between two moments (milliseconds), as one batch told it."""

    batch: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Retraction:
    """What `batch` says is the whole truth of a scope from `at` to `until`: what it does not hold ends at `at`.

    None stands for any. `manual` is set only where a person's client asked for it.
    """

    at: int
    until: int
    batch: str
    from_id: str | None = None
    to_id: str | None = None
    kind: str | None = None
    key: str | None = None
    source: str | None = None
    pipeline_id: str | None = None
    manual: bool = False
    filed_at: int = 0

    @property
    def scope(self) -> tuple[str | bool | None, ...]:
        """What it speaks of."""
        return self.from_id, self.to_id, self.kind, self.key, self.source, self.pipeline_id, self.manual

    def covers(self, other: Retraction) -> bool:
        """Whether it speaks of all the time that another one of its scope speaks of."""
        return self.at <= other.at and self.until >= other.until

    def concerns(self, subject: Subject, ends: tuple[str, str]) -> bool:
        """Whether the scope holds `subject` while it lies between `ends`."""
        if subject.manual and not self.manual:
            return False
        return (
            self.from_id in (None, ends[0])
            and self.to_id in (None, ends[1])
            and self.kind in (None, subject.kind)
            and self.key in (None, subject.key)
            and self.source in (None, subject.source)
            and self.pipeline_id in (None, subject.pipeline_id)
        )


@dataclass(frozen=True, slots=True)
class Interval:
    """In force between two entities from `start` until `end` (None: still), last seen at `last_seen`."""

    from_id: str
    to_id: str
    start: int
    end: int | None
    last_seen: int


_COLUMNS = {kind: tuple(field.name for field in fields(kind)) for kind in (Interval, Retraction)}


def row_of(event: Interval | Retraction) -> dict[str, Any]:
    """What the store keeps of it, by the names of the columns."""
    return {name: getattr(event, name) for name in _COLUMNS[type(event)]}


@dataclass(frozen=True, slots=True)
class Events:
    """What can end or move a contribution: endings in any order, and what happened to each entity's name."""

    endings: Sequence[Retraction] = ()
    lives: Mapping[str, Sequence[NameLifetime]] | None = None


def intervals(subject: Subject, sightings: Sequence[Sighting], events: Events) -> list[Interval]:
    """The intervals in which `subject` is in force, merged where they touch, in order of time."""
    lives = events.lives or {}
    if len(sightings) == 1 and not events.endings and subject.from_id not in lives and subject.to_id not in lives:
        return [Interval(subject.from_id, subject.to_id, sightings[0].first, None, sightings[0].last)]
    batches = {sighting.batch for sighting in sightings}
    endings = [ending for ending in _latest_retractions(events.endings) if ending.batch not in batches]
    spans: dict[tuple[str, str], list[Interval]] = {}
    for sighting in sightings:
        for interval in _follow(subject, sighting, endings, lives):
            spans.setdefault((interval.from_id, interval.to_id), []).append(interval)
    merged = [interval for parts in spans.values() for interval in _merge(parts)]
    return sorted(merged, key=lambda interval: (interval.start, interval.from_id, interval.to_id))


def _latest_retractions(endings: Sequence[Retraction]) -> list[Retraction]:
    """Without those whose scope and time a later one filed anew: from more of the log, or by a better parser."""
    by_scope: dict[tuple[str | bool | None, ...], list[Retraction]] = {}
    for ending in sorted(endings, key=lambda ending: -ending.filed_at):
        others = by_scope.setdefault(ending.scope, [])
        if not any(other.filed_at > ending.filed_at and other.covers(ending) for other in others):
            others.append(ending)
    return [ending for others in by_scope.values() for ending in others]


def _follow(
    subject: Subject, sighting: Sighting, endings: Sequence[Retraction], lives: Mapping[str, Sequence[NameLifetime]]
) -> list[Interval]:
    ends = (subject.from_id, subject.to_id)
    start, clock = sighting.first, sighting.last
    found: list[Interval] = []
    origin = ends
    while True:
        stop = _end_of(subject, ends, sighting, endings)
        move = _next_move(ends, clock, lives)
        if move is None or (stop is not None and stop <= move.at):
            _append(found, Interval(*ends, start, stop, sighting.last), origin)
            return found
        _append(found, Interval(*ends, start, move.at, sighting.last), origin)
        following = _ends_after(subject, ends, move, lives)
        if following is None:
            return found
        ends, start = following
        clock = start


def _append(found: list[Interval], interval: Interval, origin: tuple[str, str]) -> None:
    """Takes an interval in, unless it is empty, or a rename made both ends one: only a producer can say that."""
    ends = interval.from_id, interval.to_id
    if (ends[0] != ends[1] or ends == origin) and (interval.end is None or interval.end > interval.start):
        found.append(interval)


def _end_of(subject: Subject, ends: tuple[str, str], sighting: Sighting, endings: Sequence[Retraction]) -> int | None:
    """When the earliest scope that holds the sighting, and was stated after it, ended it."""
    stops = [e.at for e in endings if e.until >= sighting.last and e.concerns(subject, ends)]
    return min(stops, default=None)


@dataclass(frozen=True, slots=True)
class _Move:
    at: int
    source: NameLifetime | None
    target: NameLifetime | None


def _next_move(ends: tuple[str, str], clock: int, lives: Mapping[str, Sequence[NameLifetime]]) -> _Move | None:
    coming = [[life for life in lives.get(end, ()) if life.at > clock] for end in ends]
    at = min((life.at for later in coming for life in later), default=None)
    if at is None:
        return None
    source, target = (_event_of([life for life in later if life.at == at]) for later in coming)
    return _Move(at, source, target)


def _event_of(lives: Sequence[NameLifetime]) -> NameLifetime | None:
    """Of what happened to a name at one moment, what happened to what had borne it: that it moved, if it did."""
    return next((life for life in lives if life.other is not None), lives[0] if lives else None)


def _ends_after(
    subject: Subject, ends: tuple[str, str], move: _Move, lives: Mapping[str, Sequence[NameLifetime]]
) -> tuple[tuple[str, str], int] | None:
    """The ends after a move and when they hold; None when it is over.

    A dropped target takes its lineage with it, but for what was only declared: that holds for what has the name next.
    """
    source, target, start = ends[0], ends[1], move.at
    if move.target is not None:
        if move.target.other is not None:
            target = move.target.other
        elif subject.declared and move.target.back is not None:
            start = move.target.back
        else:
            return None
    if move.source is not None:
        if move.source.other is not None:
            source = move.source.other
        else:
            read = _read_again(subject.from_id, source, move.source, lives)
            if read is None:
                return None
            source, start = subject.from_id, max(start, read)
    return (source, target), start


def _read_again(
    written: str, source: str, ended: NameLifetime, lives: Mapping[str, Sequence[NameLifetime]]
) -> int | None:
    """When what read a source that is gone reads it again by the name it asks for; None where nothing bears that.

    What was read as a, and was called a_old when it went, gives its place to what a is now.
    """
    if source == written:
        return ended.back
    last = [life for life in lives.get(written, ()) if life.at <= ended.at][-1:]
    return last[0].back if last else None


def _merge(parts: list[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for part in sorted(parts, key=lambda interval: (interval.start, interval.end is None, interval.end or 0)):
        last = merged[-1] if merged else None
        if last is None or (last.end is not None and last.end < part.start):
            merged.append(part)
            continue
        end = None if last.end is None or part.end is None else max(last.end, part.end)
        seen = max(last.last_seen, part.last_seen)
        merged[-1] = Interval(last.from_id, last.to_id, last.start, end, seen)
    return merged
