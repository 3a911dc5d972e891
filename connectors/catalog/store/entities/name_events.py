"""What happens to names: DROP, RENAME, REPLACE and SWAP end or move them at their time, and a name can be given again.

Read from the log's events whatever order they arrive in; a name is alive while nothing after its last drop or
rename-away speaks against it: a later definition, a rename onto it, a statement that read or wrote it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.store.entities.attributes import Change, record
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import contributions, entities, name_events, sightings, versions

CREATE, DROP, RENAME, REPLACE, SWAP = "create", "drop", "rename", "replace", "swap"
_SHOWN = select(entities.c.id, entities.c.deleted).where(entities.c.id.in_(IDS))
_WITH_HISTORY = tuple(
    select(column).where(column.in_(IDS), name_events.c.kind != CREATE)
    for column in (name_events.c.entity_id, name_events.c.other_id)
)
_EVENTS_OF = (
    select(name_events)
    .where(or_(name_events.c.entity_id.in_(IDS), name_events.c.other_id.in_(IDS)))
    .order_by(name_events.c.at, name_events.c.kind, name_events.c.entity_id, name_events.c.other_id)  # not as they came
)


@dataclass(frozen=True, slots=True)
class StoredNameEvent:
    """Something that happened to the name of an entity; `other_id` is itself where no other takes part."""

    kind: str
    entity_id: str
    other_id: str
    at: int


def file_events(connection: Connection, events: Sequence[StoredNameEvent]) -> int:
    """Files events, each once; how many were new."""
    rows = [
        {"kind": event.kind, "entity_id": event.entity_id, "other_id": event.other_id, "at": event.at}
        for event in events
    ]
    return connection.execute(upsert(name_events).on_conflict_do_nothing(), rows).rowcount if rows else 0


def lives(connection: Connection, identifiers: Iterable[str]) -> dict[str, list[NameLifetime]]:
    """What happened to the names of these entities, and of every entity their names moved to, in order of time."""
    found: dict[str, list[NameLifetime]] = {}
    wanted = set(identifiers)
    while wanted:
        events = _events(connection, wanted)
        proofs = _proofs(connection, events)
        for identifier in wanted:
            found[identifier] = _life(identifier, events.get(identifier, ()), proofs.get(identifier, ()))
        others = {life.other for identifier in wanted for life in found[identifier] if life.other is not None}
        wanted = others - set(found)
    return {identifier: life for identifier, life in found.items() if life}


def update_visibility(connection: Connection, identifiers: Iterable[str], now: int) -> None:
    """Hides the entities whose names are gone now, shows those whose names were given again."""
    wanted = sorted(set(identifiers))
    known = lives(connection, wanted)
    for some in thousands_of(wanted):
        rows = connection.execute(_SHOWN, bind_ids(some)).all()
        for identifier, deleted in rows:
            last = known.get(identifier, [])[-1:]
            if not last:
                continue
            gone = last[0].back is None
            if gone != bool(deleted):
                values = {"deleted": gone, "purged": False}
                connection.execute(update(entities).where(entities.c.id == identifier).values(**values))
                at = now if deleted else last[0].at
                record(connection, [Change(identifier, "", "exists", None if gone else "true", at)])


def with_history(connection: Connection, identifiers: Iterable[str]) -> set[str]:
    """Those of `identifiers` whose names something has happened to."""
    found: set[str] = set()
    for some in thousands_of(sorted(set(identifiers))):
        for statement in _WITH_HISTORY:
            found.update(connection.scalars(statement, bind_ids(some)))
    return found


def _events(connection: Connection, identifiers: set[str]) -> dict[str, list[StoredNameEvent]]:
    found: dict[str, list[StoredNameEvent]] = defaultdict(list)
    for some in thousands_of(sorted(identifiers)):
        for row in connection.execute(_EVENTS_OF, bind_ids(some)).all():
            event = StoredNameEvent(row.kind, row.entity_id, row.other_id, row.at)
            for identifier in {event.entity_id, event.other_id}:
                found[identifier].append(event)
    return found


def _proofs(
    connection: Connection, events: Mapping[str, Sequence[StoredNameEvent]]
) -> dict[str, list[tuple[int, int]]]:
    """When each of these names was read or written: proof that it was there."""
    ended = [identifier for identifier, some in events.items() if any(event.kind != CREATE for event in some)]
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for some in thousands_of(sorted(ended)):
        joined = contributions.join(versions, versions.c.contribution_id == contributions.c.id).join(
            sightings, sightings.c.version_id == versions.c.id
        )
        for end in (contributions.c.from_id, contributions.c.to_id):
            columns = (end, sightings.c.first_seen, sightings.c.last_seen)
            proving = select(*columns).select_from(joined).where(end.in_(IDS))
            for identifier, first, last in connection.execute(proving, bind_ids(some)):
                found[identifier].append((first, last))
    return found


def _life(identifier: str, events: Sequence[StoredNameEvent], proofs: Sequence[tuple[int, int]]) -> list[NameLifetime]:
    given = [event.at for event in events if _gives(event, identifier)]
    life = []
    for event in events:
        if event.kind == SWAP:
            other = event.other_id if event.entity_id == identifier else event.entity_id
            life.append(NameLifetime(event.at, other, event.at))
        elif event.kind == REPLACE or (event.kind == RENAME and event.entity_id != identifier):
            # whatever bore the name before is not what bears it now
            life.append(NameLifetime(event.at, None, event.at))
        elif event.kind in {DROP, RENAME}:
            new_name = None if event.kind == DROP else event.other_id
            life.append(NameLifetime(event.at, new_name, _back(event.at, given, proofs)))
    return life


def _gives(event: StoredNameEvent, identifier: str) -> bool:
    return event.kind in {CREATE, REPLACE} or (event.kind == RENAME and event.other_id == identifier)


def _back(at: int, given: Sequence[int], proofs: Sequence[tuple[int, int]]) -> int | None:
    moments = [moment for moment in given if moment >= at]
    moments += [max(first, at) for first, last in proofs if last > at]
    return min(moments, default=None)


@dataclass(frozen=True, slots=True)
class NameLifetime:
    """What happened to a name: from `at` on it is gone (`other` None) or means `other`; `back` = given again."""

    at: int
    other: str | None
    back: int | None = None
