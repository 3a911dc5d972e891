"""What happened to columns after lineage named them: renamed ones are read under their new name, dropped ones not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.schema import column_events
from ingestion.model import Json


@dataclass(frozen=True, slots=True)
class ColumnEvent:
    """At `at` the column became `other`; None: it was dropped."""

    at: int
    other: str | None


ColumnEvents = Mapping[tuple[str, str], Sequence[ColumnEvent]]


def insert_column_events(connection: Connection, entity: str, paths: Iterable[tuple[str, str | None]], at: int) -> None:
    """Files that columns of an entity were renamed (to the second name) or dropped (None)."""
    rows = [{"entity_id": entity, "path": path, "other": other or "", "at": at} for path, other in paths]
    if rows:
        connection.execute(upsert(column_events).on_conflict_do_nothing(), rows)


def column_events_of(connection: Connection, identifiers: Iterable[str]) -> ColumnEvents:
    """What became of the columns of these entities, by entity and path, in order of time."""
    found: dict[tuple[str, str], list[ColumnEvent]] = defaultdict(list)
    for chunk in chunks_of(sorted(set(identifiers))):
        wanted = select(column_events).where(column_events.c.entity_id.in_(chunk)).order_by(column_events.c.at)
        for row in connection.execute(wanted):
            found[row.entity_id, row.path].append(ColumnEvent(row.at, row.other or None))
    return found


def path_at(events: ColumnEvents, column: tuple[str, str], seen: int, until: int | None) -> str | None:
    """The path, as of `until`, of a column that was seen at `seen`; None when it was dropped."""
    entity, path = column
    clock = seen
    while True:
        coming = [f for f in events.get((entity, path), ()) if f.at > clock and (until is None or f.at <= until)]
        if not coming:
            return path
        if coming[0].other is None:
            return None
        path, clock = coming[0].other, coming[0].at


def rewrite(events: ColumnEvents, edge: tuple[str, str], content: Json, seen: int, until: int | None) -> Json:
    """What is said about an edge with its columns as they are called at `until`."""
    columns = []
    for column in content.get("columns") or ():
        sources = [path_at(events, (edge[0], path), seen, until) for path in column["from"]]
        kept = [path for path in sources if path is not None]
        target = column.get("to")
        target = path_at(events, (edge[1], target), seen, until) if target is not None else None
        if kept and (target is not None or column.get("to") is None):
            columns.append({**column, "from": kept, "to": target})
    return {**content, "columns": columns}
