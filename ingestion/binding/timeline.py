"""A log read in order: what each name means when a statement runs, and the moments at which that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ingestion.analysis.analyzer import CREATING_KINDS, names_in, without_schema
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.relations import Alterations, FinalState, NameStates, Order, Relation, RestoredNames
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import (
    Column,
    StatementKind,
    StatementLineage,
    TableChange,
    TableName,
    TableUsageNames,
    WriteMode,
)
from ingestion.model.namespaces import Namespace, RelationKey, created_key, meant_key

# What happened to relations that are not temporary, for a catalog that remembers: their names, and their columns.
#
# Of names what counts is what stands in the end: a table that is set aside for another and dropped under the name
# that it got was replaced, and that name never was anybody's for longer than it took.


class NameEventKind(StrEnum):
    """What happened to the name of a relation that is not temporary."""

    CREATE = "create"
    DROP = "drop"
    RENAME = "rename"
    SWAP = "swap"


@dataclass(frozen=True, slots=True)
class NameEvent:
    """DDL at its time (seconds since the epoch); `other` is the new key of a rename, or the key swapped with."""

    kind: NameEventKind
    key: RelationKey
    time: float
    other: RelationKey | None = None


@dataclass(frozen=True, slots=True)
class TypeEvent:
    """A column has another type from a time (seconds since the epoch) on; `before` is the one it had, "" if unknown.

    `added`: it is there from then on.
    """

    key: RelationKey
    column: Column
    time: float
    before: str = ""
    added: bool = False


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


def _with_final_events(events: Iterable[NameEvent], final: Iterable[FinalState]) -> tuple[NameEvent, ...]:
    """The events in time order, and how the log leaves names that it ended before, since each is told only once."""
    found = list(events)
    latest = {event.key: event for event in found}
    for state in final:
        event = latest.get(state.key)
        if event is None or state.last[0] <= event.time:
            continue
        if event.kind is NameEventKind.DROP and state.relation is None:
            found.append(NameEvent(NameEventKind.DROP, state.key, state.last[0]))
        elif event.kind in _ENDING_KINDS and state.relation is not None:
            found.append(NameEvent(NameEventKind.CREATE, state.key, state.last[0]))
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
        for key, renames in self._moved.items():
            if self._only_passed_through(key, renames):
                (number, first), *others = renames.items()
                for other, _rename in others:
                    self._events[other] = None
                direct = NameEvent(NameEventKind.RENAME, first.key, first.time, key)
                self._events[number] = None if key == first.key else direct
        return tuple(event for event in self._events if event is not None)

    def _only_passed_through(self, key: RelationKey, renames: Mapping[int, NameEvent]) -> bool:
        """Whether nothing else bore the names on the way, nor the last name meanwhile."""
        first, last = min(renames), max(renames)
        between = (rename.key for number, rename in renames.items() if number != first)
        alone = all(renames.keys() >= {*self._touched[key]} for key in between)
        return alone and not any(first < number < last and number not in renames for number in self._touched[key])


# Which relation stood behind a name when a statement ran: CREATE, DROP, RENAME and SWAP in their order.
#
# A relation is followed by its identity, not by its name: a table built under a staging name and renamed into place
# is one relation with two names. A reader takes the definition in force when it ran; where the log shows none before
# it, the catalog's; where that knows none, the first one to come (logs are not complete, and are not in dependency
# order).


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One statement as it ran (or several runs of it that mean the same): what it says, where, when.

    `states`: what stood under its names, where the order alone does not tell. `names`: those that it uses, where they
    are known already.
    """

    template: str
    symbolic: Symbolic
    namespace: Namespace
    order: Order
    session: str | None = None
    states: NameStates | None = None
    names: TableUsageNames | None = None

    @property
    def last(self) -> Order:
        """When it ran the last time."""
        return self.order if self.states is None else self.states.last


@dataclass(frozen=True, slots=True)
class Timeline:
    """The relations of a log, for each occurrence what its names mean (by relation number), and the DDL in order.

    After `DROP TABLE t` and `CREATE TABLE t (a int)` the name t means another relation than before.
    `altered`: for each occurrence the relations of which not all alterations before it were in force, with those that
    were. `unbound`: what symbolic lineage (by its `id`) says where no schema is known, as far as its names were read
    off that.
    """

    relations: tuple[Relation, ...]
    meanings: tuple[dict[TableName, int], ...]
    altered: tuple[Alterations, ...]
    events: tuple[NameEvent, ...] = ()
    unbound: Mapping[int, StatementLineage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SchemaProvider:
    """What stood before the log begins, as the catalog and schema files have it.

    `schema`: the columns of a relation in order, an empty sequence where it exists and its columns are not known, None
    where nothing is known of it. `elsewhere`: the one place where a name stands that no default led to, None if there
    is none, or not just one. `expect` is told beforehand which names will be asked for, each once, so that many can be
    looked up together.
    """

    schema: Callable[[RelationKey], Sequence[Column] | None]
    elsewhere: Callable[[TableName, Namespace], RelationKey | None] = lambda _name, _namespace: None
    expect: Callable[[Iterable[tuple[TableName, Namespace]]], None] = lambda _names: None


def read_timeline(
    occurrences: Sequence[Occurrence], before: SchemaProvider, isolation: Isolation[Order]
) -> Timeline | None:
    """The timeline of `occurrences`, which must be in time order; None where `isolation` got new failures of some."""
    failed = len(isolation.failures)
    reader = _TimelineReader(before)
    unbound: dict[int, StatementLineage] = {}
    named = _names_by_occurrence(occurrences, unbound, isolation)
    if len(isolation.failures) > failed:
        return None
    with Isolation[str]().around(FailureStage.BINDING, "expected"):  # only to be quick: each is asked for once more
        pairs = zip(occurrences, named, strict=True)
        before.expect(dict.fromkeys((name, one.namespace) for one, names in pairs for name in names.names()))
    for occurrence, names in zip(occurrences, named, strict=True):
        with isolation.around(FailureStage.BINDING, occurrence.order):
            isolation.probe(FailureStage.BINDING, occurrence)
            reader.announce(occurrence, names)
    meanings, altered = [], []
    for number, (occurrence, names) in enumerate(zip(occurrences, named, strict=True)):
        if occurrence.order not in isolation.failures:
            with isolation.around(FailureStage.BINDING, occurrence.order):
                altered.append(reader.restore(occurrence))
                meanings.append(reader.read(number, occurrence, names))
                reader.note(occurrence, altered[-1])
    if len(isolation.failures) > failed:
        return None
    reader.close()
    return Timeline(tuple(reader.relations), tuple(meanings), tuple(altered), tuple(reader.events), unbound)


def _names_by_occurrence(
    occurrences: Sequence[Occurrence], unbound: dict[int, StatementLineage], isolation: Isolation[Order]
) -> list[TableUsageNames]:
    """The names of each occurrence, of those that fail none; `unbound` is filled with what some are read off."""
    # Runs of one template share its symbolic lineage: its names are read off once.
    by_symbolic: dict[int, TableUsageNames] = {}
    named = []
    for occurrence in occurrences:
        with isolation.around(FailureStage.ANALYSIS, occurrence.order):
            known = occurrence.names or by_symbolic.get(id(occurrence.symbolic))
            if known is None:
                lineage = unbound[id(occurrence.symbolic)] = without_schema(occurrence.symbolic)
                known = by_symbolic[id(occurrence.symbolic)] = names_in(lineage)
            named.append(known)
    return named


class _TimelineReader:
    def __init__(self, before: SchemaProvider) -> None:
        self.relations: list[Relation] = []
        self.events: list[NameEvent] = []
        self._catalog = before
        self._known_keys: dict[RelationKey, Sequence[Column] | None] = {}
        self._in_force: dict[RelationKey, int] = {}
        self._before: dict[RelationKey, int] = {}
        self._to_come: dict[RelationKey, list[tuple[Order, int]]] = {}
        self._announced: dict[tuple[Order, RelationKey], int] = {}
        self._restored = RestoredNames(self._in_force)
        self._last_made: dict[int, Order] = {}
        self._renamed: dict[NameEvent, int] = {}

    def announce(self, occurrence: Occurrence, names: TableUsageNames) -> None:
        for name, temporary in names.created:
            key = created_key(name, occurrence.namespace, _scope(occurrence) if temporary else None)
            relation = self._new(key, (name, occurrence.namespace))
            relation.temporary = temporary
            self._to_come.setdefault(key, []).append((occurrence.last, relation.number))
            self._announced[occurrence.order, key] = relation.number

    def read(self, number: int, occurrence: Occurrence, names: TableUsageNames) -> dict[TableName, int]:
        meaning = {name: self._relation_of(name, occurrence) for name in names.read}
        for change in names.changes:
            self._apply(number, occurrence, change, meaning)
        for name, temporary, mode in names.written:
            if mode is WriteMode.CREATE:
                meaning[name] = self._create(number, occurrence, name, temporary=temporary)
            elif name not in meaning:
                meaning[name] = self._relation_of(name, occurrence)
        return meaning

    def restore(self, occurrence: Occurrence) -> Alterations:
        """Puts in force what stood under the names of the occurrence, where it says so."""
        return {} if occurrence.states is None else self._restored.restore(occurrence.states)

    def note(self, occurrence: Occurrence, altered: Alterations) -> None:
        """Keeps what the occurrence left; `altered` were in force before it."""
        if occurrence.states is None:
            return
        touched = {self._in_force[key] for key, _state in occurrence.states.after if key in self._in_force}
        own = {n: {when for when, _change in self.relations[n].alterations[-1:]} & {occurrence.order} for n in touched}
        self._restored.note(occurrence.states, {n: altered.get(n, frozenset()) | orders for n, orders in own.items()})

    def close(self) -> None:
        """Says of each relation where it is in the end, once the whole log was read."""
        final = tuple(self._restored.leave_as_at_the_end())
        rebuilt = self._rebuilt_keys(final)
        kept = [event for event in self.events if rebuilt.get(event.key) != self._renamed.get(event, -1)]
        self.events = [*without_names_in_between(_with_final_events(kept, final))]
        for key, number in rebuilt.items():
            self.relations[number].key = key
        for state in final:
            if state.relation is not None:
                self.relations[state.relation].final_alterations = state.altered
        for relation in self.relations:
            relation.note_gone_columns()
        replaced = {state.key for state in final if state.relation is None}
        stands = {number: key for key, number in self._in_force.items()}
        for relation in self.relations:
            gone = relation.dropped is not None or (relation.created is not None and relation.key in replaced)
            if gone and relation.key not in self._in_force:
                relation.end(stands.get(relation.number), self._in_force)
        made = sorted((order, number) for number, order in self._last_made.items())
        last = {self.relations[number].key: number for _order, number in made}
        for relation in self.relations:
            if relation.created is not None and last[relation.key] != relation.number:
                relation.superseded = True

    def _rebuilt_keys(self, final: Iterable[FinalState]) -> dict[RelationKey, int]:
        """What was set aside from a key, was made in the same way and has it again: the two are one relation here."""
        left = {(event.key, number) for event, number in self._renamed.items()}
        ordered = sorted(final, key=lambda state: state.last)
        found = {state.key: state.relation for state in ordered if (state.key, state.relation) in left}
        return {key: n for key, n in found.items() if n is not None and key != self.relations[n].born}

    def _apply(self, number: int, occurrence: Occurrence, change: TableChange, meaning: dict[TableName, int]) -> None:
        """What DDL does to names: `ALTER TABLE new RENAME TO t` leaves one relation, which is called t from now on.

        A SWAP exchanges what two names mean (`ALTER TABLE a SWAP WITH b`, EXCHANGE TABLES): both relations stay.
        """
        kind = change.kind
        if kind in CREATING_KINDS:
            created = self._create(number, occurrence, change.name, temporary=change.temporary)
            meaning[change.name] = created
            relation = self.relations[created]
            relation.declared = change
            if change.other is not None:
                relation.like = self._relation_of(change.other, occurrence)
            return
        # What is dropped or renamed stands already: a creation still to come is another relation.
        subject = self._relation_of(change.name, occurrence, may_come=False)
        meaning[change.name] = subject
        relation = self.relations[subject]
        if kind is StatementKind.DROP:
            self._note(NameEventKind.DROP, relation.key, occurrence)
            relation.dropped = occurrence.order
            self._in_force.pop(relation.key, None)
        elif kind is StatementKind.ALTER_TABLE:
            relation.alterations.append((occurrence.order, change))
            relation.altered_at[occurrence.order] = relation.key
        elif change.other is not None and kind is StatementKind.RENAME:
            key = self._renamed_key(relation, change.other, occurrence)
            self._note(NameEventKind.RENAME, relation.key, occurrence, key)
            if relation.key.session is None:
                self._renamed[self.events[-1]] = relation.number
            self._in_force.pop(relation.key, None)
            relation.left = relation.key
            self._stand(relation, key)
        elif change.other is not None and kind is StatementKind.SWAP:
            other = self.relations[self._relation_of(change.other, occurrence, may_come=False)]
            meaning[change.other] = other.number
            first, second = relation.key, other.key
            self._note(NameEventKind.SWAP, first, occurrence, second)
            self._stand(relation, second)
            self._stand(other, first)

    def _renamed_key(self, relation: Relation, name: TableName, occurrence: Occurrence) -> RelationKey:
        # A new name without a schema stays in the old one's (PostgreSQL, MySQL, Snowflake, Spark alike).
        if len(name.parts) == 1:
            return RelationKey((*relation.key.parts[:-1], name.table), relation.key.kind, relation.key.session)
        return created_key(name, occurrence.namespace, relation.key.session)

    def _note(
        self, kind: NameEventKind, key: RelationKey, occurrence: Occurrence, other: RelationKey | None = None
    ) -> None:
        if key.session is None:
            self.events.append(NameEvent(kind, key, occurrence.order[0], other))

    def _stand(self, relation: Relation, key: RelationKey) -> None:
        relation.key = key
        self._in_force[key] = relation.number

    def _create(self, number: int, occurrence: Occurrence, name: TableName, *, temporary: bool) -> int:
        """The relation that a statement makes under a name; in order, what stood under it before is superseded."""
        key = created_key(name, occurrence.namespace, _scope(occurrence) if temporary else None)
        created = self._announced[occurrence.order, key]
        relation = self.relations[created]
        current = self._in_force.get(key)
        if current is not None and current != created and occurrence.states is None:
            self.relations[current].dropped = occurrence.order
            self.relations[current].superseded = True
        if relation.created is None:
            self._note(NameEventKind.CREATE, key, occurrence)
        relation.creator, relation.created = number, occurrence.order
        self._last_made[created] = occurrence.last
        self._stand(relation, key)
        upcoming = self._to_come[key]
        if occurrence.states is None and (occurrence.order, created) in upcoming:
            upcoming.remove((occurrence.order, created))
        return created

    def _relation_of(self, name: TableName, occurrence: Occurrence, *, may_come: bool = True) -> int:
        """The relation that a name means: what is in force, else what is to come, else what the catalog had before.

        A log has no statement of before its first one: a table that is read first and created later in it is the same
        one, unless the catalog knew it already.
        """
        key = meant_key(name, occurrence.namespace, _scope(occurrence), self._exists)
        if not self._exists(key):
            key = self._catalog.elsewhere(name, occurrence.namespace) or key
        current = self._in_force.get(key)
        if current is not None:
            return current
        upcoming = (number for last, number in self._to_come.get(key, ()) if last >= occurrence.order)
        coming = next(upcoming, None) if may_come else None
        if coming is not None and not self._schema_before(key):
            return coming
        if key not in self._before:
            self._before[key] = self._new(key, (name, occurrence.namespace)).number
            self._in_force[key] = self._before[key]
        return self._before[key]

    def _exists(self, key: RelationKey) -> bool:
        if key.session is not None:
            return key in self._in_force
        if key in self._in_force or key in self._to_come or key in self._before:
            return True
        return self._schema_before(key) is not None

    def _schema_before(self, key: RelationKey) -> Sequence[Column] | None:
        if key not in self._known_keys:
            self._known_keys[key] = self._catalog.schema(key)
        return self._known_keys[key]

    def _new(self, key: RelationKey, mention: tuple[TableName, Namespace]) -> Relation:
        relation = Relation(len(self.relations), key, key, mention)
        self.relations.append(relation)
        return relation


def _scope(occurrence: Occurrence) -> str:
    return occurrence.session or ""
