"""How much each entity is used, when it was last written and by what: kept for searches as lineage is filed.

A run is a statement in a log record. One that writes several tables is one run of what it reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, literal, select, true, union, union_all
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    dated_contributions,
    entity_activity,
    entity_labels,
    intervals,
    meta,
    records,
    usage_records,
)

# what these producers say is an observation that ages; the others state what holds until it is taken back
OBSERVED = ("query", "plan", "engine", "openlineage")
PRODUCER = "producer"
_NAMELESS = ("query", "plan", "wire")
"""Producers whose keys are digests."""
_FILLED = "activity"
Statement = tuple[str, str, str]
"""The entity that is read, and the kind and key of what reads it."""


def prepare_activity(connection: Connection) -> None:
    """Works out the activity in a store that was made without it."""
    if connection.scalar(select(meta.c.value).where(meta.c.key == _FILLED)) is not None:
        return
    subject = (contributions.c.from_id, contributions.c.kind, contributions.c.key)
    joined = contributions.join(records, records.c.contribution_id == contributions.c.id)
    counted = select(*subject, func.count().label("runs")).select_from(joined).group_by(contributions.c.id).subquery()
    of_statement = select(counted.c.from_id, func.max(counted.c.runs).label("runs"))
    besides = select(usage_records.c.entity_id, func.count()).group_by(usage_records.c.entity_id)
    readings = union_all(of_statement.group_by(counted.c.from_id, counted.c.kind, counted.c.key), besides).subquery()
    totals = select(readings.c.from_id, func.sum(readings.c.runs)).group_by(readings.c.from_id)
    add_runs(connection, {row[0]: row[1] for row in connection.execute(totals)})
    _refresh_readers(connection, true())
    _refresh_writes(connection, true())
    connection.execute(insert(meta).values(key=_FILLED, value=1))


def add_statement_runs(connection: Connection, counted: Iterable[tuple[Statement, int]]) -> None:
    """Adds the new runs of statements, given once for each table that a statement writes."""
    most: dict[Statement, int] = defaultdict(int)
    for statement, runs in counted:
        most[statement] = max(most[statement], runs)
    news: dict[str, int] = defaultdict(int)
    for (entity, _, _), runs in most.items():
        news[entity] += runs
    add_runs(connection, news)


def add_runs(connection: Connection, news: Mapping[str, int]) -> None:
    """Adds to the runs that read each entity."""
    rows = [{"entity_id": entity, "runs": runs, "readers": 0} for entity, runs in news.items() if runs > 0]
    if rows:
        adding = upsert(entity_activity)
        total = {"runs": entity_activity.c.runs + adding.excluded.runs}
        connection.execute(adding.on_conflict_do_update(index_elements=["entity_id"], set_=total), rows)


def runs_of(connection: Connection, identifiers: Iterable[str]) -> dict[str, int]:
    """The runs that read each of these entities; those that nothing read are left out."""
    found: dict[str, int] = {}
    for chunk in chunks_of(sorted(set(identifiers))):
        known = select(entity_activity.c.entity_id, entity_activity.c.runs)
        rows = connection.execute(known.where(entity_activity.c.entity_id.in_(chunk)))
        found.update({row[0]: row[1] for row in rows})
    return found


def refresh_activity(connection: Connection, sources: Iterable[str], targets: Iterable[str]) -> None:
    """Brings readers, last writes and producers up to date, for entities whose intervals have changed."""
    for chunk in chunks_of(sorted(set(sources))):
        _refresh_readers(connection, intervals.c.from_id.in_(chunk), chunk)
    for chunk in chunks_of(sorted(set(targets))):
        of_chunk = and_(entity_labels.c.kind == PRODUCER, entity_labels.c.entity_id.in_(chunk))
        connection.execute(delete(entity_labels).where(of_chunk))
        _refresh_writes(connection, intervals.c.to_id.in_(chunk), chunk)


def _refresh_readers(connection: Connection, where: ColumnElement[bool], gone: Iterable[str] = ()) -> None:
    """Counts the entities that read others now; of those that are `gone` from the count nothing does."""
    readers = func.count(intervals.c.to_id.distinct())
    open_now = and_(where, intervals.c.end.is_(None))
    counted = connection.execute(select(intervals.c.from_id, readers).where(open_now).group_by(intervals.c.from_id))
    known = {**dict.fromkeys(gone, 0), **{row[0]: row[1] for row in counted}}
    _store(connection, "readers", known)


def _refresh_writes(connection: Connection, where: ColumnElement[bool], gone: Iterable[str] = ()) -> None:
    """Notes when entities were last written by something that runs, and what writes them now."""
    last = select(intervals.c.to_id, func.max(intervals.c.last_seen)).select_from(dated_contributions)
    observed = and_(where, contributions.c.kind.in_(OBSERVED))
    written = connection.execute(last.where(observed).group_by(intervals.c.to_id))
    _store(connection, "last_written", {**dict.fromkeys(gone), **{row[0]: row[1] for row in written}})
    open_now = and_(where, intervals.c.end.is_(None))
    ran = dated_contributions.join(contribution_jobs, contribution_jobs.c.contribution_id == contributions.c.id)
    named = and_(open_now, contributions.c.kind.not_in(_NAMELESS))
    producers = union(
        select(contributions.c.kind, intervals.c.to_id).select_from(dated_contributions).where(open_now),
        select(contributions.c.source, intervals.c.to_id).select_from(dated_contributions).where(open_now),
        select(contributions.c.key, intervals.c.to_id).select_from(dated_contributions).where(named),
        select(contribution_jobs.c.job, intervals.c.to_id).select_from(ran).where(open_now),
    ).subquery()
    rows = select(literal(PRODUCER), producers.c[0], producers.c[1], literal(""))
    columns = ["kind", "value", "entity_id", "column_path"]
    connection.execute(insert(entity_labels).prefix_with("or ignore").from_select(columns, rows))


def _store(connection: Connection, name: str, known: Mapping[str, int | None]) -> None:
    nothing = {"runs": 0, "readers": 0, "last_written": None}
    rows = [{**nothing, "entity_id": entity, name: value} for entity, value in known.items()]
    if rows:
        adding = upsert(entity_activity)
        news = {name: adding.excluded[name]}
        connection.execute(adding.on_conflict_do_update(index_elements=["entity_id"], set_=news), rows)
