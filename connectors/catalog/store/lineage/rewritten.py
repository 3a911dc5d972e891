"""Who ran what is said of an edge, and what a job does not say any more since it was rewritten.

Days join: which version was filed first, and how often, makes no difference to which of them are superseded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, select

from connectors.catalog.store.lineage.intervals import Retraction
from connectors.catalog.store.rows import IDS, bind_ids, insert_rows, thousands_of
from connectors.catalog.store.schema import contributions, version_slots, versions
from ingestion.model.job_slots import JobSlot, RunDays, join_slots, superseding_moments

_COLUMNS = ("version_id", "key", "first", "last", "days")
_OF_VERSIONS = version_slots.c.version_id.in_(IDS)
_ROWS_OF = select(*(version_slots.c[name] for name in _COLUMNS)).where(_OF_VERSIONS)
_TARGETS_OF = (
    select(contributions.c.to_id)
    .join_from(versions, contributions, contributions.c.id == versions.c.contribution_id)
    .where(versions.c.id.in_(IDS))
    .distinct()
)
_WITH_SLOTS = contributions.join(versions, versions.c.contribution_id == contributions.c.id).join(
    version_slots, version_slots.c.version_id == versions.c.id
)
_INTO = (
    select(contributions.c.to_id, *(version_slots.c[name] for name in _COLUMNS))
    .select_from(_WITH_SLOTS)
    .where(contributions.c.to_id.in_(IDS))
)
_VERSIONS_INTO = (
    select(version_slots.c.version_id).select_from(_WITH_SLOTS).where(contributions.c.to_id.in_(IDS)).distinct()
)
_EVER = 1 << 62


def file_slots(connection: Connection, given: Iterable[tuple[int, Sequence[JobSlot]]]) -> set[int]:
    """Joins the slots of versions to what is known of them; gives those that changed.

    A version that comes without any loses those that it had: a run whose configuration wants none has none.
    """
    slots_by_version: dict[int, list[JobSlot]] = defaultdict(list)
    for version, slots in given:
        slots_by_version[version] += slots
    known = _slots_of(connection, sorted(slots_by_version))
    changed = {}
    for version, slots in slots_by_version.items():
        joined = join_slots((*slots, *known.get(version, ()))) if slots else ()
        if joined != tuple(known.get(version, ())):
            changed[version] = joined
    for some in thousands_of(sorted(changed)):
        connection.execute(delete(version_slots).where(_OF_VERSIONS), bind_ids(some))
    rows = [(version, *_values(slot)) for version, slots in changed.items() for slot in slots]
    insert_rows(connection, version_slots, _COLUMNS, rows)
    return set(changed)


def versions_beside(connection: Connection, identifiers: Iterable[int]) -> set[int]:
    """The versions with slots that are said of the targets of these."""
    found = set[int]()
    for some in thousands_of(_targets(connection, identifiers)):
        found.update(connection.scalars(_VERSIONS_INTO, bind_ids(some)))
    return found


def supersessions(connection: Connection, identifiers: Iterable[int]) -> dict[int, Retraction]:
    """Of these versions those that are superseded, with their end."""
    wanted = set(identifiers)
    found = {}
    for some in thousands_of(_targets(connection, wanted)):
        for words in _words_into(connection, some):
            for version, since in superseding_moments(words).items():
                if version in wanted:
                    found[version] = Retraction(round(since * 1000), _EVER, batch="")
    return found


def _targets(connection: Connection, identifiers: Iterable[int]) -> list[str]:
    """What these versions are said of."""
    found = set[str]()
    for some in thousands_of(sorted(identifiers)):
        found.update(connection.scalars(_TARGETS_OF, bind_ids(some)))
    return sorted(found)


def _words_into(connection: Connection, targets: Sequence[str]) -> Iterable[Mapping[int, Sequence[JobSlot]]]:
    """For each of some targets that has any: the versions with slots, with these."""
    found: dict[str, dict[int, list[JobSlot]]] = defaultdict(lambda: defaultdict(list))
    for target, version, *row in connection.execute(_INTO, bind_ids(targets)).all():
        found[target][version].append(_slot(row))
    return found.values()


def _slots_of(connection: Connection, identifiers: Sequence[int]) -> Mapping[int, list[JobSlot]]:
    found: dict[int, list[JobSlot]] = defaultdict(list)
    for some in thousands_of(identifiers):
        for version, *row in connection.execute(_ROWS_OF, bind_ids(some)).all():
            found[version].append(_slot(row))
    return found


def _slot(row: Sequence[Any]) -> JobSlot:
    key, first, last, days = row
    return JobSlot(key, RunDays(first / 1000, last / 1000, days))


def _values(slot: JobSlot) -> tuple[str, int, int, int]:
    ran = slot.ran
    return slot.key, round(ran.first * 1000), round(ran.last * 1000), ran.days
