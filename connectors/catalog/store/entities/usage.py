"""How often entities are read, as log records prove, and how often clients say that they were used."""

from __future__ import annotations

from datetime import date

from sqlalchemy import ColumnElement, Connection, func, select, text
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.entities.entities import EntityRow, lies_under
from connectors.catalog.store.rows import bind_ids, thousands_of
from connectors.catalog.store.schema import entities, usage_counts
from ingestion.model.lineage import Json

COUNTED = ("table", "pipeline", "dashboard", "chart")
"""What use can be told of."""
SUMMED = {"database": "table", "databaseSchema": "table"}
"""Whose use is that of what lies in it, of this type."""
_MOST_READS = 10_000
"""Records that are counted of one entity: to count all that read a calendar takes longer than all else on its card."""
_READS_OF = text(
    # A row for each of the ids: it, and in how many records it was read. A record that proves several edges, or is told
    # of as well, is one reading, so digests are counted and not rows; the limit is inside the count, and ends the look
    # at what everybody reads.
    "select one.value, (select count(*) from (select distinct digest from ("
    "select r.digest from contributions c join records r on r.contribution_id = c.id where c.from_id = one.value "
    "union all select u.digest from usage_records u where u.entity_id = one.value) limit :most)) "
    "from json_each(:ids) one"
)
_LAST_READS_OF = text(
    # A row for each of the ids: it, and when it was last read by an edge in force, by one that has ended, or by a
    # record that is told of; null where never. Of the edges in force (`intervals_from` has "end", kind and last_seen in
    # that order) the kinds are walked one after the other, and of each the newest is the last of its stretch of the
    # index: one look for each kind of producer, where max(last_seen) over all would read every edge of a calendar.
    # `max` of several values is null where one of them is, so each has :never in its place.
    "select one.value, nullif(max("
    "ifnull((with recursive kinds (kind) as ("
    'select min(kind) from intervals where from_id = one.value and "end" is null union all '
    'select (select min(kind) from intervals where from_id = one.value and "end" is null and kind > kinds.kind) '
    "from kinds where kinds.kind is not null) select max((select max(last_seen) from intervals "
    'where from_id = one.value and "end" is null and kind = kinds.kind)) from kinds), :never), '
    'ifnull((select max(last_seen) from intervals where from_id = one.value and "end" is not null), :never), '
    "ifnull((select max(at) from usage_records where entity_id = one.value), :never)), :never) "
    "from json_each(:ids) one"
)
_NEVER = -(1 << 62)
_SPANS = {"dailyStats": 1, "weeklyStats": 7, "monthlyStats": 30}


# How often entities are read, in distinct log records: those that prove lineage, and those told of besides.


def uses(connection: Connection, identifiers: list[str]) -> dict[str, Json]:
    """For each entity that was read: how many records did, and when last (milliseconds).

    Of more than are counted it tells so many, and that there are `more`.
    """
    found: dict[str, Json] = {}
    for some in thousands_of(identifiers):
        last = _last_reads(connection, some)
        for identifier, reads in connection.execute(_READS_OF, {**bind_ids(some), "most": _MOST_READS + 1}):
            if reads:
                known = {"reads": min(reads, _MOST_READS), "lastRead": last.get(identifier)}
                found[identifier] = known | ({"more": True} if reads > _MOST_READS else {})
    return found


def _last_reads(connection: Connection, identifiers: list[str]) -> dict[str, int]:
    rows = connection.execute(_LAST_READS_OF, {**bind_ids(identifiers), "never": _NEVER}).all()
    return {identifier: at for identifier, at in rows if at is not None}


# How often clients say that entities were used, by day; what lies in a schema or a database counts for it too.


def count(connection: Connection, row: EntityRow, day: date, times: int, *, add: bool) -> None:
    """Files that an entity was used so many `times` on a day: instead of what was told of it, or (`add`) besides."""
    filed = upsert(usage_counts).values(entity_id=row.id, day=day.toordinal(), type=row.type, count=times)
    new = usage_counts.c.count + filed.excluded.count if add else filed.excluded.count
    connection.execute(filed.on_conflict_do_update(set_={"count": new}))


def usage(connection: Connection, row: EntityRow, last: date | None, days: int) -> list[Json]:
    """The use of an entity on each of so many `days` up to the `last` (None: the latest known), the newest first."""
    where = _of(row)
    known = select(usage_counts.c.day).where(where).distinct().order_by(usage_counts.c.day.desc())
    end = last.toordinal() if last is not None else connection.scalar(known.limit(1))
    if end is None:
        return []
    days_known = known.where(usage_counts.c.day <= end, usage_counts.c.day > end - days)
    return [_details(connection, row, day) for day in connection.scalars(days_known).all()]


def summary(connection: Connection, row: EntityRow) -> Json | None:
    """The use of an entity up to the latest day that is known of it."""
    return next(iter(usage(connection, row, None, 1)), None)


def _details(connection: Connection, row: EntityRow, day: int) -> Json:
    stats = {name: _stats(connection, row, day, days) for name, days in _SPANS.items()}
    return {"date": date.fromordinal(day).isoformat(), **stats}


def _stats(connection: Connection, row: EntityRow, day: int, days: int) -> Json:
    """The sum over some days, and what share of its kind was used less, in per cent."""
    span = usage_counts.c.day.between(day - days + 1, day)
    own = connection.scalar(select(func.sum(usage_counts.c.count)).where(_of(row), span)) or 0
    if row.type in SUMMED:
        return {"count": own}
    kind = (usage_counts.c.type == row.type, span)
    sums = select(func.sum(usage_counts.c.count).label("sum")).where(*kind).group_by(usage_counts.c.entity_id)
    counted = sums.subquery()
    less = func.count().filter(counted.c.sum < own)
    below, everything = connection.execute(select(less, func.count()).select_from(counted)).one()
    return {"count": own, "percentileRank": round(100 * below / everything, 1) if everything else 0.0}


def _of(row: EntityRow) -> ColumnElement[bool]:
    if row.type not in SUMMED:
        own: ColumnElement[bool] = usage_counts.c.entity_id == row.id
        return own
    inside = select(entities.c.id).where(entities.c.type == SUMMED[row.type], *lies_under(row.fqn))
    return usage_counts.c.entity_id.in_(inside)
