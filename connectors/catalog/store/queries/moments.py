"""The moments at which anything changed: lineage that began, ended or was corrected, tables that changed."""

from __future__ import annotations

from sqlalchemy import Connection, Select, func, select, union_all

from connectors.catalog.store.clock import now_millis
from connectors.catalog.store.schema import attributes, corrections, intervals
from ingestion.model import Json

_SCHEMA = ("shape", "exists")


def moments(connection: Connection, limit: int) -> Json:
    """At most `limit` moments (milliseconds) up to now, oldest first, each with how many `changes` it stands for.

    Where there are more, those that lie close together are told as one: the last of them.
    """
    now = now_millis()
    found = (one.subquery() for one in _sources(now))
    counted = (select(one.c.at, func.count().label("changes")).group_by(one.c.at) for one in found)
    together = union_all(*counted).subquery()
    each = select(together.c.at, func.sum(together.c.changes).label("changes")).group_by(together.c.at).subquery()
    stops = select(each.c.at, each.c.changes, func.ntile(limit).over(order_by=each.c.at).label("stop")).subquery()
    grouped = select(func.max(stops.c.at), func.sum(stops.c.changes)).group_by(stops.c.stop).order_by(stops.c.stop)
    return {"moments": [{"at": at, "changes": changes} for at, changes in connection.execute(grouped)]}


def _sources(now: int) -> tuple[Select[tuple[int]], ...]:
    schema = attributes.c.name.in_(_SCHEMA)
    return (
        select(intervals.c.start.label("at")).where(intervals.c.start <= now),
        select(intervals.c.end.label("at")).where(intervals.c.end <= now),
        select(attributes.c.at.label("at")).where(attributes.c.at <= now, schema),
        select(corrections.c.at.label("at")).where(corrections.c.at <= now),
    )
