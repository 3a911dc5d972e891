"""How much each entity is used, when it was last written and by what: kept for searches as lineage is filed.

A run is a statement in a log record. One that writes several tables is one run of what it reads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, delete, func, insert, select, union_all

from connectors.catalog.store.chunking import IDS, bind_ids, chunks_of
from connectors.catalog.store.row_inserts import insert_new_rows, insert_rows
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    dated_contributions,
    entities,
    intervals,
    meta,
    records,
    usage_records,
)
from connectors.catalog.store.search_tables import entity_activity, entity_labels

# what these producers say is an observation that ages; the others state what holds until it is taken back
OBSERVED = ("query", "plan", "engine", "openlineage")
PRODUCER = "producer"
_NAMELESS = ("query", "plan", "wire")
"""Producers whose keys are digests."""
_SUBJECT = ("id", "kind", "key", "source")
_FILLED = "activity"
_ACTIVITY = ("entity_id", "runs", "readers", "last_written")
_ADD_ACTIVITY = (
    f"insert into {entity_activity.name} ({', '.join(_ACTIVITY)}) values (?, ?, ?, ?) on conflict (entity_id) do update"
)
_ADD_RUNS = f"{_ADD_ACTIVITY} set runs = runs + excluded.runs"
_STORE_LAST_WRITTEN = f"{_ADD_ACTIVITY} set last_written = excluded.last_written"
_ADD_READERS = f"update {entity_activity.name} set readers = readers + ? where entity_id = ?"
_WRITES_OF = (
    select(intervals.c.to_id, intervals.c.end, intervals.c.last_seen, *(contributions.c[name] for name in _SUBJECT))
    .select_from(dated_contributions)
    .where(intervals.c.to_id.in_(IDS))
)
JOBS_OF = select(contribution_jobs).where(contribution_jobs.c.contribution_id.in_(IDS))
"""The jobs that ran contributions, by their numbers."""
_PRODUCERS_OF = select(entity_labels.c.value, entity_labels.c.entity_id).where(
    entity_labels.c.kind == PRODUCER, entity_labels.c.entity_id.in_(IDS)
)
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
    is_open = func.max(intervals.c.end.is_(None))
    ends = select(intervals.c.from_id, intervals.c.to_id, is_open).group_by(intervals.c.from_id, intervals.c.to_id)
    found = connection.execute(ends).all()
    readers = Counter({source: 0 for source, _, _ in found})
    readers.update(source for source, _, still in found if still)
    add_readers(connection, readers)
    refresh_writes(connection, {target for _, target, _ in found})
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
    rows = [(entity, runs, 0, None) for entity, runs in news.items() if runs > 0]
    if rows:
        connection.exec_driver_sql(_ADD_RUNS, rows)


def use_order(connection: Connection, identifiers: Iterable[str]) -> dict[str, tuple[int, int, str]]:
    """What puts each of these entities in order of use, the most used first: its runs, its readers, its name."""
    found: dict[str, tuple[int, int, str]] = {}
    for chunk in chunks_of(sorted(set(identifiers))):
        known = select(entities.c.id, entities.c.fqn, entity_activity.c.runs, entity_activity.c.readers)
        joined = known.outerjoin(entity_activity, entity_activity.c.entity_id == entities.c.id)
        for identifier, name, runs, readers in connection.execute(joined.where(entities.c.id.in_(chunk))):
            found[identifier] = -(runs or 0), -(readers or 0), name
    return found


def add_readers(connection: Connection, news: Mapping[str, int]) -> None:
    """Adds to the number of entities that read each entity now."""
    insert_new_rows(connection, entity_activity, _ACTIVITY, [(entity, 0, 0, None) for entity in news])
    rows = [(number, entity) for entity, number in news.items() if number]
    if rows:
        connection.exec_driver_sql(_ADD_READERS, rows)


def refresh_writes(connection: Connection, targets: Iterable[str]) -> None:
    """Brings the last writes and the producers of `targets` up to date."""
    for chunk in chunks_of(sorted(set(targets))):
        _refresh_writes(connection, chunk)


def _refresh_writes(connection: Connection, identifiers: list[str]) -> None:
    """Notes when these entities were last written by something that runs, and what writes them now."""
    last: dict[str, int | None] = dict.fromkeys(identifiers)
    producers: set[tuple[str, str]] = set()
    open_now: dict[int, set[str]] = defaultdict(set)
    for target, end, seen, number, kind, key, source in connection.execute(_WRITES_OF, bind_ids(identifiers)).all():
        if kind in OBSERVED:
            last[target] = max(last[target] or 0, seen)
        if end is None:
            open_now[number].add(target)
            names = (kind, source) if kind in _NAMELESS else (kind, source, key)
            producers.update((name, target) for name in names if name)
    for chunk in chunks_of(sorted(open_now)):
        for number, job in connection.execute(JOBS_OF, bind_ids(chunk)).all():
            producers.update((job, target) for target in open_now[number])
    connection.exec_driver_sql(_STORE_LAST_WRITTEN, [(entity, 0, 0, moment) for entity, moment in last.items()])
    _store_producers(connection, identifiers, producers)


def _store_producers(connection: Connection, identifiers: list[str], producers: set[tuple[str, str]]) -> None:
    """Files what writes these entities, as names and ids, in place of what is known of them."""
    known = {(row[0], row[1]) for row in connection.execute(_PRODUCERS_OF, bind_ids(identifiers)).all()}
    gone = [{"name": name, "entity": entity} for name, entity in known - producers]
    if gone:
        same = entity_labels.c.value == bindparam("name"), entity_labels.c.entity_id == bindparam("entity")
        connection.execute(delete(entity_labels).where(entity_labels.c.kind == PRODUCER, *same), gone)
    fresh = [(PRODUCER, name, entity, "") for name, entity in sorted(producers - known)]
    insert_rows(connection, entity_labels, ("kind", "value", "entity_id", "column_path"), fresh)
