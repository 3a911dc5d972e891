"""The window that lineage is read through: as of any moment, observations of the last 30 days unless asked for more."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from connectors.catalog.store.activity import OBSERVED
from connectors.catalog.store.clock import now_millis
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.schema import contributions, dated_contributions, sightings, versions
from connectors.catalog.store.search_tables import entity_activity
from ingestion.model import Json

DAY = 86_400_000
DEFAULT_DAYS = 30


@dataclass(frozen=True, slots=True)
class Window:
    """`moment` to read by; `since` and `until` bound the observations (milliseconds; None: any age)."""

    moment: Moment
    since: int | None
    until: int

    def answer(self) -> Json:
        """The window as clients are told it."""
        return {"asOf": self.moment.as_of, "since": self.since, "until": self.until}


def window(connection: Connection, as_of: int | None, days: int | None) -> Window:
    """The window a client asks for: `days` 0 is any age.

    The window ends at the newest observation of that moment, so that an old log is not an empty one.
    """
    moment = now_millis() if as_of is None else as_of
    until = min(_newest(connection, as_of) or moment, moment)
    days = DEFAULT_DAYS if days is None else days
    since = until - days * DAY if days else None
    return Window(Moment(as_of, since), since, until)


def _newest(connection: Connection, as_of: int | None) -> int | None:
    """When anything was observed last, by `as_of` (None: at all); None where nothing was."""
    if as_of is None:
        newest = select(func.max(entity_activity.c.last_written))
    else:
        seen = dated_contributions.join(sightings, sightings.c.version_id == versions.c.id)
        newest = select(func.max(func.min(sightings.c.last_seen, as_of))).select_from(seen)
        newest = newest.where(sightings.c.first_seen <= as_of, contributions.c.kind.in_(OBSERVED))
    found: int | None = connection.scalar(newest)
    return found
