"""The projection of events into intervals, kept up to date for what a write touches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from connectors.catalog.store.activity import refresh_activity
from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.entities import name_events
from connectors.catalog.store.entities.name_events import NameLifetime
from connectors.catalog.store.lineage.intervals import Events, Retraction, Sighting, Subject, row_of
from connectors.catalog.store.lineage.intervals import intervals as timeline
from connectors.catalog.store.lineage.rejections import Rejection, rejected_edges, without_rejected
from connectors.catalog.store.schema import contributions, endings, intervals, sightings, versions

_ENDING_COLUMNS = tuple(f.name for f in fields(Retraction))


def project(connection: Connection, identifiers: Sequence[int]) -> None:
    """Computes the intervals of these versions again, and what searches know by them."""
    rejections: dict[tuple[str, str], list[Rejection]] = defaultdict(list)
    for rejection in rejected_edges(connection):
        rejections[rejection.edge].append(rejection)
    sources: set[str] = set()
    targets: set[str] = set()
    for chunk in chunks_of(identifiers):
        subjects = _subjects(connection, chunk)
        seen = _sightings(connection, chunk)
        ends = {end for subject in subjects.values() for end in (subject.from_id, subject.to_id)}
        lives = name_events.lives(connection, ends)
        ends |= set(lives)
        pipelines = {subject.pipeline_id for subject in subjects.values() if subject.pipeline_id is not None}
        by_target, by_pipeline = _endings(connection, ends, pipelines)
        of_chunk = intervals.c.version_id.in_(chunk)
        for source, target in connection.execute(select(intervals.c.from_id, intervals.c.to_id).where(of_chunk)):
            sources.add(source)
            targets.add(target)
        connection.execute(delete(intervals).where(of_chunk))
        rows: list[dict[str, Any]] = []
        for identifier, subject in subjects.items():
            reachable = _reachable(subject, lives)
            relevant = [ending for end in reachable for ending in by_target.get(end, ())]
            relevant += by_pipeline.get(subject.pipeline_id or "", ())
            parts = timeline(subject, seen[identifier], Events(relevant, lives))
            for part in without_rejected(parts, rejections):
                rows.append({"version_id": identifier, **row_of(part)})  # noqa: PERF401 — three loops deep
        if rows:
            connection.execute(insert(intervals), rows)
        sources.update(row["from_id"] for row in rows)
        targets.update(row["to_id"] for row in rows)
    refresh_activity(connection, sources, targets)


def _subjects(connection: Connection, identifiers: list[int]) -> dict[int, Subject]:
    joined = versions.join(contributions, contributions.c.id == versions.c.contribution_id)
    columns = (contributions.c.from_id, contributions.c.to_id, contributions.c.kind, contributions.c.key)
    rows = connection.execute(
        select(versions.c.id, *columns, contributions.c.source, versions.c.pipeline_id)
        .select_from(joined)
        .where(versions.c.id.in_(identifiers))
    )
    return {row[0]: Subject(*row[1:]) for row in rows}


def _sightings(connection: Connection, identifiers: list[int]) -> dict[int, list[Sighting]]:
    found: dict[int, list[Sighting]] = defaultdict(list)
    for row in connection.execute(select(sightings).where(sightings.c.version_id.in_(identifiers))):
        found[row.version_id].append(Sighting(row.batch, row.first_seen, row.last_seen))
    return found


def _endings(
    connection: Connection, ends: set[str], pipelines: set[str]
) -> tuple[dict[str, list[Retraction]], dict[str, list[Retraction]]]:
    by_target: dict[str, list[Retraction]] = defaultdict(list)
    by_pipeline: dict[str, list[Retraction]] = defaultdict(list)
    for where in _conditions(ends, pipelines):
        for row in connection.execute(select(endings).where(where)):
            ending = Retraction(**{name: row._mapping[name] for name in _ENDING_COLUMNS})
            if ending.to_id is not None:
                by_target[ending.to_id].append(ending)
            elif ending.pipeline_id is not None:
                by_pipeline[ending.pipeline_id].append(ending)
    return by_target, by_pipeline


def _conditions(ends: set[str], pipelines: set[str]) -> Iterator[ColumnElement[bool]]:
    for chunk in chunks_of(sorted(ends)):
        yield endings.c.to_id.in_(chunk)
    if pipelines:
        yield endings.c.to_id.is_(None) & endings.c.pipeline_id.in_(sorted(pipelines))


def _reachable(subject: Subject, lives: Mapping[str, Sequence[NameLifetime]]) -> set[str]:
    found, frontier = {subject.to_id}, [subject.to_id]
    while frontier:
        for life in lives.get(frontier.pop(), ()):
            if life.other is not None and life.other not in found:
                found.add(life.other)
                frontier.append(life.other)
    return found
