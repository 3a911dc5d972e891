"""What happened to relations that are not temporary, for a catalog that remembers: their names, and their columns.

Of names what counts is what stands in the end: a table that is set aside for another and dropped under the name that
it got was replaced, and that name never was anybody's for longer than it took.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ingestion.binding.restored_names import FinalState
from ingestion.model import Column
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


@dataclass(frozen=True, slots=True)
class TypeEvent:
    """A column has another type from a time (seconds since the epoch) on; `before` is the one it had, "" if unknown."""

    key: RelationKey
    column: Column
    time: float
    before: str = ""


@dataclass(frozen=True, slots=True)
class ColumnNameEvent:
    """A column is called `other` from a time (seconds since the epoch) on; None: it is dropped.

    `type` is the one that it had, "" if unknown. `again`: the log defines the old name anew afterwards.
    """

    key: RelationKey
    column: str
    time: float
    other: str | None = None
    type: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class SchemaEvents:
    """What the DDL of a log did to the names of relations, to the types of columns, and to their names."""

    names: tuple[NameEvent, ...] = ()
    types: tuple[TypeEvent, ...] = ()
    columns: tuple[ColumnNameEvent, ...] = ()


def with_final_events(events: Iterable[NameEvent], final: Iterable[FinalState]) -> tuple[NameEvent, ...]:
    """The events in time order, and how the log leaves names that it ended before, since each is told only once."""
    found = list(events)
    latest = {event.key: event for event in found}
    for state in final:
        event = latest.get(state.place)
        if event is None or state.last[0] <= event.time:
            continue
        if event.kind is NameEventKind.DROP and state.relation is None:
            found.append(NameEvent(NameEventKind.DROP, state.place, state.last[0]))
        elif event.kind in _ENDING_KINDS and state.relation is not None:
            found.append(NameEvent(NameEventKind.CREATE, state.place, state.last[0]))
    return tuple(sorted(found, key=lambda event: event.time))


def without_names_in_between(events: Sequence[NameEvent]) -> tuple[NameEvent, ...]:
    """The events, which must be in time order, without names that a relation only passed through.

    `x -> y`, `DROP y` is a DROP of x, and nothing of x where another relation took that name: its content was
    replaced. `x -> y`, `y -> z` is one RENAME, when x was left. What a SWAP moves keeps all its events.
    """
    passing = _PassingNames(events)
    for number, event in enumerate(events):
        passing.follow(number, event)
    return passing.events()


_ENDING_KINDS = frozenset({NameEventKind.DROP, NameEventKind.RENAME})


class _PassingNames:
    def __init__(self, events: Sequence[NameEvent]) -> None:
        self._events: list[NameEvent | None] = list(events)
        self._touched: dict[RelationKey, list[int]] = {}
        self._taken: dict[RelationKey, int] = {}  # the last event that gave a name
        self._moved: dict[RelationKey, dict[int, NameEvent]] = {}  # the renames of what stands there
        self._dropped: list[dict[int, NameEvent]] = []

    def follow(self, number: int, event: NameEvent) -> None:
        for key in (event.key, event.other):
            if key is not None:
                self._touched.setdefault(key, []).append(number)
        renames = self._moved.pop(event.key, {})
        if event.kind is NameEventKind.CREATE:
            self._taken[event.key] = number
        elif event.kind is NameEventKind.DROP:
            self._dropped.append(renames)
        elif event.kind is NameEventKind.RENAME and event.other is not None:
            self._moved[event.other] = {**renames, number: event}
            self._taken[event.other] = number
        elif event.kind is NameEventKind.SWAP and event.other is not None:
            self._moved.pop(event.other, None)
            self._taken[event.key] = self._taken[event.other] = number

    def events(self) -> tuple[NameEvent, ...]:
        for number, rename in (pair for renames in self._dropped for pair in renames.items()):
            taken = self._taken.get(rename.key, number) > number
            self._events[number] = None if taken else NameEvent(NameEventKind.DROP, rename.key, rename.time)
        for place, renames in self._moved.items():
            if self._only_passed_through(place, renames):
                (number, first), *others = renames.items()
                for other, _rename in others:
                    self._events[other] = None
                direct = NameEvent(NameEventKind.RENAME, first.key, first.time, place)
                self._events[number] = None if place == first.key else direct
        return tuple(event for event in self._events if event is not None)

    def _only_passed_through(self, place: RelationKey, renames: Mapping[int, NameEvent]) -> bool:
        """Whether nothing else bore the names on the way, nor the last name meanwhile."""
        first, last = min(renames), max(renames)
        between = (rename.key for number, rename in renames.items() if number != first)
        alone = all(renames.keys() >= {*self._touched[key]} for key in between)
        return alone and not any(first < number < last and number not in renames for number in self._touched[place])
