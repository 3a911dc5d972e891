"""The window that lineage is read through, and the moments at which anything changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, Select, except_, func, select, union_all

from connectors.catalog.store.database import now_millis
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.schema import (
    attributes,
    contributions,
    corrections,
    dated_contributions,
    entity_activity,
    intervals,
    sightings,
    versions,
)
from ingestion.model.contributions import OBSERVED
from ingestion.model.lineage import Json
from ingestion.model.witnesses import WitnessFilter

DAY = 86_400_000
DEFAULT_DAYS = 30

_SCHEMA = ("shape", "exists")


# The window that lineage is read through: as of any moment, observations of the last 30 days unless asked for more.


@dataclass(frozen=True, slots=True)
class Window:
    """`moment` to read by; its `since` (None: any age) and `until` bound the observations, in milliseconds."""

    moment: Moment
    until: int

    @property
    def since(self) -> int | None:
        """Where it begins: what was last seen before is hidden."""
        return self.moment.since

    def of_witnesses(self, witnesses: WitnessFilter | None) -> Window:
        """The same, of the edges that a filter admits."""
        return replace(self, moment=replace(self.moment, witnesses=witnesses))

    def answer(self) -> Json:
        """The window as clients are told it."""
        return {"asOf": self.moment.as_of, "since": self.since, "until": self.until}


def window(connection: Connection, as_of: int | None, days: int | None) -> Window:
    """The window a client asks for: `days` 0 is any age.

    The window ends at the newest observation of that moment, so that an old log is not an empty one; one of the future
    does not move it.
    """
    moment = now_millis() if as_of is None else as_of
    # where each table has something of the future too, each sighting is looked at
    until = _newest(connection, as_of) or _newest(connection, moment) or moment
    days = DEFAULT_DAYS if days is None else days
    since = until - days * DAY if days else None
    return Window(Moment(as_of, since), until)


def edges_before(connection: Connection, span: Window) -> int:
    """How many edges (pairs of entities) the window hides: what tells of them was last seen before it begins."""
    if span.since is None:
        return 0
    at_any_age, in_window = (
        select(intervals.c.from_id, intervals.c.to_id).where(moment.holds())
        for moment in (Moment(span.moment.as_of), span.moment)
    )
    hidden = except_(at_any_age, in_window).subquery()
    return connection.scalar(select(func.count()).select_from(hidden)) or 0


def _newest(connection: Connection, as_of: int | None) -> int | None:
    """When anything was observed last, by `as_of` (None: at all); None where nothing was."""
    if as_of is None:
        now = now_millis()
        newest = select(func.max(entity_activity.c.last_written)).where(entity_activity.c.last_written <= now)
    else:
        seen = dated_contributions.join(sightings, sightings.c.version_id == versions.c.id)
        newest = select(func.max(func.min(sightings.c.last_seen, as_of))).select_from(seen)
        newest = newest.where(sightings.c.first_seen <= as_of, contributions.c.kind.in_(OBSERVED))
    found: int | None = connection.scalar(newest)
    return found


# The moments at which anything changed: lineage that began, ended or was corrected, tables that changed.


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
