"""What happened to the names of relations that are not temporary, for a catalog that remembers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ingestion.binding.restored_names import FinalState
from ingestion.names.namespaces import RelationKey


class NameEventKind(StrEnum):
    """What happened to the name of a relation that is not temporary."""

    CREATE = "create"
    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"


@dataclass(frozen=True, slots=True)
class NameEvent:
    """DDL at its time (seconds since the epoch); `other` is the new place of a rename, or the place swapped with."""

    kind: NameEventKind
    key: RelationKey
    time: float
    other: RelationKey | None = None


def with_final_events(events: Iterable[NameEvent], final: Iterable[FinalState]) -> tuple[NameEvent, ...]:
    """The events in time order, and how the log leaves names that it dropped before, since each is told only once."""
    found = list(events)
    latest = {event.key: event for event in found}
    for state in final:
        event = latest.get(state.place)
        if event is None or event.kind is not NameEventKind.DROP or state.last[0] <= event.time:
            continue
        kind = NameEventKind.DROP if state.relation is None else NameEventKind.CREATE
        found.append(NameEvent(kind, state.place, state.last[0]))
    return tuple(sorted(found, key=lambda event: event.time))
