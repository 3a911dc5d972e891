"""A log read in order: what each name means when a statement runs, and the moments at which that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from ingestion.analysis.analyzer import CREATING_KINDS, names_in, without_schema
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.relations import A_MOMENT, Alterations, NameStates, Order, Relation, RestoredNames
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import (
    Column,
    CreateMode,
    StatementKind,
    StatementLineage,
    TableChange,
    TableName,
    TableUsageNames,
    WriteMode,
)
from ingestion.model.namespaces import Namespace, RelationKey, created_key, meant_key

_AT_ONE_TIME = 100 * A_MOMENT
"""Seconds that statements are told apart by at most which a log has at one time: more of one name are rare."""

_Key = TypeVar("_Key")
_Latest = TypeVar("_Latest", Order, tuple[Order, RelationKey])

# What happened to relations that are not temporary, for a catalog that remembers: their names, and their columns.
#
# Of names what counts is what stands in the end: a table that is set aside for another and dropped under the name
# that it got was replaced, and that name never was anybody's for longer than it took.


class NameEventKind(StrEnum):
    """What happened to the name of a relation that is not temporary."""

    CREATE = "create"
    REPLACE = "replace"  # another relation has it, whatever stood there
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


def without_names_in_between(events: Sequence[NameEvent]) -> tuple[NameEvent, ...]:
    """The events, which must be in time order, without names that a relation only passed through.

    `x -> y`, `DROP y` is a DROP of x, and nothing of x where another relation took its place: its content was
    replaced. `x -> y`, `y -> z` is one RENAME, when x was left. What a SWAP moves keeps all its events.
    """
    passing = _PassingNames(events)
    for number, event in enumerate(events):
        passing.follow(number, event)
    return passing.events()


_MAKING_KINDS = frozenset({NameEventKind.CREATE, NameEventKind.REPLACE})


def _drop_of(rename: NameEvent) -> NameEvent:
    """What a RENAME does to the name that it takes away."""
    return NameEvent(NameEventKind.DROP, rename.key, rename.time)


class _PassingNames:
    def __init__(self, events: Sequence[NameEvent]) -> None:
        self._events: list[NameEvent | None] = list(events)
        self._touched: dict[RelationKey, list[int]] = {}
        self._taken: dict[RelationKey, list[int]] = {}  # the events that gave a name
        self._moved: dict[RelationKey, dict[int, NameEvent]] = {}  # the renames of what stands there
        self._dropped: list[dict[int, NameEvent]] = []

    def follow(self, number: int, event: NameEvent) -> None:
        for key in (event.key, event.other):
            if key is not None:
                self._touched.setdefault(key, []).append(number)
        renames = self._moved.pop(event.key, {})
        if event.kind in _MAKING_KINDS:
            self._taken.setdefault(event.key, []).append(number)
        elif event.kind is NameEventKind.DROP:
            self._dropped.append(renames)
        elif event.kind is NameEventKind.RENAME and event.other is not None:
            self._moved[event.other] = {**renames, number: event}
            self._taken.setdefault(event.other, []).append(number)
        elif event.kind is NameEventKind.SWAP and event.other is not None:
            self._moved.pop(event.other, None)
            for key in (event.key, event.other):
                self._taken.setdefault(key, []).append(number)

    def events(self) -> tuple[NameEvent, ...]:
        for number, rename in (pair for renames in self._dropped for pair in renames.items()):
            self._events[number] = None if self._is_replaced(number, rename) else _drop_of(rename)
        for key, renames in self._moved.items():
            if self._only_passed_through(key, renames):
                (number, first), *others = renames.items()
                for other, _rename in others:
                    self._events[other] = None
                direct = NameEvent(NameEventKind.RENAME, first.key, first.time, key)
                self._events[number] = None if key == first.key else direct
        return tuple(event for event in self._events if event is not None)

    def _is_replaced(self, number: int, rename: NameEvent) -> bool:
        """Whether another relation took the name that a relation left; one that is created finds nothing there."""
        taken = next((one for one in self._taken.get(rename.key, ()) if one > number), None)
        by = self._events[taken] if taken is not None else None
        return taken is not None and (by is None or by.kind is not NameEventKind.CREATE)

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
    are known already. `until`: when it ran the last time, where that is another moment. `ran`: whether it was seen to
    run; what a system lists as the definition of a view or a routine was not.
    """

    template: str
    symbolic: Symbolic
    namespace: Namespace
    order: Order
    session: str | None = None
    states: NameStates | None = None
    names: TableUsageNames | None = None
    until: Order | None = None
    ran: bool = True

    @property
    def last(self) -> Order:
        """When it ran the last time."""
        return self.until or self.order


@dataclass(frozen=True, slots=True)
class Timeline:
    """The relations of a log, for each occurrence what its names mean (by relation number), and the DDL in order.

    After `DROP TABLE t` and `CREATE TABLE t (a int)` the name t means another relation than before. Of what happened
    again and again the events tell the first and the last time.
    `altered`: for each occurrence the relations of which not all alterations before it were in force, with those that
    were. `left_behind`: what has the name now, by statement and name, of a table that is gone since it was written.
    `unbound`: what symbolic lineage (by its `id`) says where no schema is known, as far as its names are read off it.
    """

    relations: tuple[Relation, ...]
    meanings: tuple[dict[TableName, int], ...]
    altered: tuple[Alterations, ...]
    events: tuple[NameEvent, ...] = ()
    unbound: Mapping[int, StatementLineage] = field(default_factory=dict)
    left_behind: Mapping[tuple[int, TableName], int] = field(default_factory=dict)


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
    reader = _TimelineReader(before, occurrences)
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
    left = reader.left_behind(meanings)  # may need a relation more
    return Timeline(tuple(reader.relations), tuple(meanings), tuple(altered), reader.events(), unbound, left)


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
    def __init__(self, before: SchemaProvider, occurrences: Sequence[Occurrence]) -> None:
        self.relations: list[Relation] = []
        self._catalog = before
        self._occurrences = occurrences
        self._known_keys: dict[RelationKey, Sequence[Column] | None] = {}
        self._in_force: dict[RelationKey, int] = {}
        self._before: dict[RelationKey, int] = {}
        self._to_come: dict[RelationKey, list[tuple[Order, int]]] = {}
        self._announced: dict[tuple[Order, RelationKey], int] = {}
        self._restored = RestoredNames(self._in_force)
        self._last_made: dict[int, Order] = {}
        self._changed: dict[RelationKey, Order] = {}  # when another relation, or none, got a key the last time
        self._events: list[tuple[Order, Order, NameEvent]] = []  # each by its first time
        # when a relation got a key, first and last
        self._named: dict[tuple[int, RelationKey], tuple[float, float]] = {}
        self._followed: set[int] = set()  # of which it is known when they were replaced
        self._left: dict[tuple[int, RelationKey], Order] = {}  # when a relation last lost a key
        self._dropped: dict[int, Order] = {}  # when each was the last time
        self._written: list[tuple[int, TableName, RelationKey, Order]] = []
        self._read_at: dict[int, tuple[Order, RelationKey]] = {}
        self._reads: dict[int, set[tuple[RelationKey, Order]]] = {}

    def announce(self, occurrence: Occurrence, names: TableUsageNames) -> None:
        for name, temporary in names.created:
            key = _key_of_created(name, occurrence, temporary=temporary)
            relation = self._new(key, (name, occurrence.namespace))
            relation.temporary = temporary
            self._to_come.setdefault(key, []).append((occurrence.last, relation.number))
            self._announced[occurrence.order, key] = relation.number

    def read(self, number: int, occurrence: Occurrence, names: TableUsageNames) -> dict[TableName, int]:
        meaning = {}
        for name in names.read:
            key = self._key_of(name, occurrence)
            meaning[name] = self._relation_at(key, (name, occurrence.namespace), occurrence.order)
            _keep_latest(self._read_at, meaning[name], (occurrence.last, key))
            self._reads.setdefault(meaning[name], set()).add((key, occurrence.order))
        creations = _creations(number, names)
        for change in names.changes:
            if change.kind in CREATING_KINDS:
                self._define(creations[change.name], occurrence, change, meaning)
            elif change.kind is StatementKind.TRUNCATE:
                self._empty(occurrence, change.name, meaning)
            else:
                self._apply(occurrence, change, meaning)
        for name, temporary, mode in names.written:
            if mode is WriteMode.CREATE:
                key = _key_of_created(name, occurrence, temporary=temporary)
                meaning[name] = self._create(creations[name], occurrence)
            else:
                key = self._key_of(name, occurrence)
                if name not in meaning:
                    meaning[name] = self._relation_at(key, (name, occurrence.namespace), occurrence.order)
            self._written.append((number, name, key, occurrence.last))
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
        final = sorted(self._restored.leave_as_at_the_end(), key=lambda state: state.last)
        for state in final:
            if state.relation is not None:
                self.relations[state.relation].key = state.key
                self.relations[state.relation].final_alterations = state.altered
        for relation in self.relations:
            relation.note_gone_columns()
        replaced = {state.key for state in final if state.relation is None}
        present = {*self._in_force.values()}
        moments = self._moments_of_keys()
        for relation in self.relations:
            gone = relation.dropped is not None or (relation.created is not None and relation.key in replaced)
            relation.stands = self._in_force.get(relation.key) == relation.number
            relation.gone = not relation.stands and relation.number in self._followed
            if gone and relation.number not in present:
                self._end(relation)
            relation.made = relation.made or self._dropped.get(relation.number)
            relation.named, relation.given = self._named.get((relation.number, relation.key), (0.0, 0.0))
            relation.since = self._changed_owner(relation, moments.get(relation.key, ()))
            reads = self._reads.get(relation.number, ())
            relation.read_elsewhere = frozenset(order for key, order in reads if key != relation.key)
        self._supersede()

    def _moments_of_keys(self) -> dict[RelationKey, list[Order]]:
        """When each key got another relation, or none, as far as the events tell."""
        found: dict[RelationKey, list[Order]] = {}
        for order, last, event in self._events:
            for key in (event.key, event.other) if event.kind is not NameEventKind.CREATE else ():
                if key is not None:
                    found.setdefault(key, []).extend((order, last))
        return found

    def _changed_owner(self, relation: Relation, moments: Iterable[Order]) -> Order | None:
        """When the name of a relation last got to another, or to none; of one that is gone, when it lost it.

        What is made again while its earlier self has another name is in that no more: something else took the name.
        """
        left = self._left.get((relation.number, relation.key))
        if relation.gone and left is not None:
            return left
        made = relation.made if relation.created is not None else None
        if relation.gone and made is not None and 0 < relation.given < made[0]:
            return min([made, *(when for when in moments if when[0] > relation.given)])
        return self._changed.get(relation.key)

    def left_behind(self, meanings: Sequence[Mapping[TableName, int]]) -> dict[tuple[int, TableName], int]:
        """What now has the names of relations that were written into and are gone, by statement and name.

        Of what was made once more since, under another name, and is gone, nothing has what was written before that:
        n of `ALTER TABLE n SWAP WITH t; INSERT INTO n …; DROP TABLE n`, when a later night makes n and swaps it back.
        """
        found = {}
        nothing: Relation | None = None
        for number, name, key, last in self._written:
            relation = self.relations[meanings[number][name]]
            made_again = relation.made is not None and self._is_before(relation.made, relation, key, last)
            if key.session is not None or not (relation.gone or made_again):
                continue
            if key in self._in_force:
                found[number, name] = self._in_force[key]
            elif made_again and relation.gone and not relation.vacated and key != relation.key:
                nothing = nothing or self._new(key, (name, self._occurrences[number].namespace))
                nothing.unmade = nothing.superseded = True
                found[number, name] = nothing.number
        return found

    def _is_before(self, made: Order, relation: Relation, key: RelationKey, written: Order) -> bool:
        """Whether a relation was written into under a name before it was made the last time, for all that is known.

        Of statements that a log has at one time only those that share a name are in order: where the relation got the
        name of the write no later than it was made, or only after the write, it was its earlier self that had it.
        """
        if written < made or key == relation.born:
            return written < made
        _first, given = self._named.get((relation.number, key), (0.0, 0.0))
        return written[0] - made[0] < _AT_ONE_TIME and not made[0] <= given <= written[0]

    def events(self) -> tuple[NameEvent, ...]:
        """What happened to names, in the order of time."""
        first = [(event.time, False, order, number, event) for number, (order, _last, event) in enumerate(self._events)]
        last = [
            (again[0], True, again, number, replace(event, time=again[0]))
            for number, (_order, again, event) in enumerate(self._events)
            if again[0] != event.time
        ]
        ordered = sorted([*first, *last], key=lambda one: one[:4])
        return without_names_in_between([event for *_order, event in ordered])

    def _end(self, relation: Relation) -> None:
        """Where a relation that is gone is in the end.

        Under the name by which it was read, or which it had left, if another has that now: its readers ask for it.
        """
        _order, read_at = self._read_at.get(relation.number, ((0.0, 0), relation.key))
        for key in (read_at, relation.key):
            if key in self._in_force:
                relation.key = key
                return
        relation.end(self._in_force)

    def _supersede(self) -> None:
        """Marks what was made under a name before something else was, or before something else was moved there.

        After `CREATE TABLE n AS …`, `CREATE TABLE t AS …`, `DROP TABLE t` and `ALTER TABLE n RENAME TO t` it is n that
        stands, which was made first.
        """
        made = sorted((order, number) for number, order in self._last_made.items())
        last = {self.relations[number].key: self.relations[number] for _order, number in made}
        last.update((one.key, one) for one in self.relations if one.stands and one.key != one.born)
        for relation in self.relations:
            if relation.created is not None and last[relation.key] is not relation:
                relation.superseded |= self._statement(relation) != self._statement(last[relation.key])

    def _statement(self, relation: Relation) -> tuple[str, Namespace] | None:
        """What made a relation, None for one that was there before the log begins."""
        if relation.creator is None:
            return None
        creator = self._occurrences[relation.creator]
        return creator.template, creator.namespace

    def _define(
        self, creation: _Creation, occurrence: Occurrence, change: TableChange, meaning: dict[TableName, int]
    ) -> None:
        """What CREATE TABLE says of the relation that it makes."""
        created = meaning[change.name] = self._create(creation, occurrence)
        relation = self.relations[created]
        if not relation.unmade:
            relation.declared = change
            if change.other is not None:
                relation.like = self._relation_of(change.other, occurrence)

    def _empty(self, occurrence: Occurrence, name: TableName, meaning: dict[TableName, int]) -> None:
        """TRUNCATE t: of what stays, which statement filled it is told whatever was there before."""
        number = self._in_force.get(self._key_of(name, occurrence))
        if number is not None and self.relations[number].temporary:
            meaning[name] = number

    def _apply(self, occurrence: Occurrence, change: TableChange, meaning: dict[TableName, int]) -> None:
        """What DDL does to names: `ALTER TABLE new RENAME TO t` leaves one relation, which is called t from now on.

        A SWAP exchanges what two names mean (`ALTER TABLE a SWAP WITH b`, EXCHANGE TABLES): both relations stay.
        """
        if change.of_schema:
            of_one = self._of_what_stands(occurrence, change)
            if of_one is None:
                return
            change = of_one
        kind = change.kind
        # What is dropped or renamed stands already: a creation still to come is another relation.
        key = self._key_of(change.name, occurrence)
        subject = meaning[change.name] = self._relation_at(key, (change.name, occurrence.namespace))
        relation = self.relations[subject]
        if kind is StatementKind.DROP:
            self._note(NameEvent(NameEventKind.DROP, key, occurrence.order[0]), occurrence)
            relation.dropped = occurrence.order
            _keep_latest(self._dropped, subject, occurrence.last)
            _keep_latest(self._left, (subject, key), occurrence.last)
            self._in_force.pop(key, None)
        elif kind is StatementKind.ALTER_TABLE:
            relation.alterations.append((occurrence.order, change))
            relation.altered_at[occurrence.order] = relation.key
        elif change.other is not None and kind is StatementKind.RENAME:
            new = _key_after_rename(key, change.other, occurrence)
            self._note(NameEvent(NameEventKind.RENAME, key, occurrence.order[0], new), occurrence)
            self._in_force.pop(key, None)
            self._leave(relation, key, occurrence)
            self._stand(relation, new, occurrence)
        elif change.other is not None and kind is StatementKind.SWAP:
            second = self._key_of(change.other, occurrence)
            other = self.relations[self._relation_at(second, (change.other, occurrence.namespace))]
            meaning[change.other] = other.number
            self._note(NameEvent(NameEventKind.SWAP, key, occurrence.order[0], second), occurrence)
            for moved, old, new in ((relation, key, second), (other, second, key)):
                self._leave(moved, old, occurrence)
                self._stand(moved, new, occurrence)

    def _of_what_stands(self, occurrence: Occurrence, change: TableChange) -> TableChange | None:
        """What becomes of a schema's relation: of two that would be exchanged, only one of which stands, it moves."""
        if change.other is None:
            return None
        left = self._key_of(change.name, occurrence) in self._in_force
        right = self._key_of(change.other, occurrence) in self._in_force
        if change.kind is StatementKind.SWAP and left != right:
            old, new = (change.name, change.other) if left else (change.other, change.name)
            return TableChange(StatementKind.RENAME, old, other=new)
        return change if left else None

    def _note(self, event: NameEvent, occurrence: Occurrence) -> None:
        """Keeps an event, and that other relations than before have its names now."""
        for key in (event.key, event.other):
            if key is not None:
                _keep_latest(self._changed, key, occurrence.last)
        self._tell(event, occurrence)

    def _tell(self, event: NameEvent, occurrence: Occurrence) -> None:
        """Keeps an event; of what was not seen to run no more than that a name is there."""
        if event.key.session is None and (occurrence.ran or event.kind is NameEventKind.CREATE):
            self._events.append((occurrence.order, occurrence.last, event))

    def _leave(self, relation: Relation, key: RelationKey, occurrence: Occurrence) -> None:
        relation.left = key
        _keep_latest(self._left, (relation.number, key), occurrence.last)

    def _stand(self, relation: Relation, key: RelationKey, occurrence: Occurrence, *, named_again: bool = True) -> None:
        relation.key = key
        current = self._in_force.get(key)
        if named_again and current is not None and current != relation.number:
            _keep_latest(self._left, (current, key), occurrence.last)
        self._in_force[key] = relation.number
        if occurrence.states is not None:
            self._followed.add(relation.number)
        last = occurrence.last[0] if named_again else occurrence.order[0]
        first, before = self._named.get((relation.number, key), (occurrence.order[0], last))
        self._named[relation.number, key] = first, max(before, last)

    def _create(self, creation: _Creation, occurrence: Occurrence) -> int:
        """The relation that a statement makes under a name; in order, what stood under it before is superseded.

        `CREATE TABLE IF NOT EXISTS t …` makes nothing where t stands, and what it would have filled holds nothing.
        """
        key = _key_of_created(creation.name, occurrence, temporary=creation.temporary)
        created = self._announced[occurrence.order, key]
        relation = self.relations[created]
        current = self._in_force.get(key)
        upcoming = self._to_come[key]
        if occurrence.states is None and (occurrence.last, created) in upcoming:
            upcoming.remove((occurrence.last, created))
        is_taken = current is not None and current != created and not creation.temporary and occurrence.ran
        if current is not None and is_taken and creation.mode is CreateMode.IF_ABSENT:
            relation.unmade = True
            return created if creation.fills else current
        if current is not None and current != created and occurrence.states is None:
            self.relations[current].dropped = occurrence.order
            self.relations[current].superseded = True
        made_new = self._note_creation(creation, key, occurrence, stood=current is not None)
        relation.creator, relation.created = creation.statement, occurrence.order
        self._last_made[created] = occurrence.last
        self._stand(relation, key, occurrence, named_again=made_new)
        return created

    def _note_creation(self, creation: _Creation, key: RelationKey, occurrence: Occurrence, *, stood: bool) -> bool:
        """Whether a relation is made anew each time; its name is another's from then on.

        A table without rows is often made by a statement whose condition the log does not show: `IF OBJECT_ID(…) IS
        NULL CREATE TABLE t (…)`. It is a new one where the one before was dropped. What a system lists as a view's
        definition, run after run, is the view that stands: `CREATE OR REPLACE VIEW v …` replaces nothing then.
        """
        relation = self.relations[self._announced[occurrence.order, key]]
        fills = creation.fills and creation.mode is CreateMode.NEW
        replaces = occurrence.ran and (creation.mode is CreateMode.REPLACE or (stood and fills))
        found_nothing = creation.mode is CreateMode.IF_ABSENT and occurrence.states is not None and not stood
        made_new = replaces or (occurrence.ran and (found_nothing or fills))
        if relation.created is not None:  # CREATE TABLE … CLONE says it twice
            return made_new
        event = NameEvent(NameEventKind.REPLACE if replaces else NameEventKind.CREATE, key, occurrence.order[0])
        if made_new:
            relation.made = occurrence.last
            self._note(event, occurrence)
        else:
            self._tell(event, occurrence)
        return made_new

    def _relation_of(self, name: TableName, occurrence: Occurrence) -> int:
        """The relation that a name means: what is in force, else what is to come, else what the catalog had before.

        A log has no statement of before its first one: a table that is read first and created later in it is the same
        one, unless the catalog knew it already.
        """
        return self._relation_at(self._key_of(name, occurrence), (name, occurrence.namespace), occurrence.order)

    def _key_of(self, name: TableName, occurrence: Occurrence) -> RelationKey:
        key = meant_key(name, occurrence.namespace, _scope(occurrence), self._exists)
        if self._exists(key):
            return key
        return self._catalog.elsewhere(name, occurrence.namespace) or key

    def _relation_at(self, key: RelationKey, mention: tuple[TableName, Namespace], when: Order | None = None) -> int:
        """The relation at a key; one that comes later than `when`, where that is given and nothing stands there."""
        current = self._in_force.get(key)
        if current is not None:
            return current
        if when is not None and not self._schema_before(key):
            coming = next((number for last, number in self._to_come.get(key, ()) if last >= when), None)
            if coming is not None:
                return coming
        if key not in self._before:
            self._before[key] = self._new(key, mention).number
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


@dataclass(frozen=True, slots=True)
class _Creation:
    """A name that a statement (by its number) creates. `fills`: rows come with it."""

    statement: int
    name: TableName
    temporary: bool
    mode: CreateMode
    fills: bool


def _creations(statement: int, names: TableUsageNames) -> dict[TableName, _Creation]:
    filled = {name for name, _temporary, mode in names.written if mode is WriteMode.CREATE}
    return {
        name: _Creation(statement, name, temporary, names.mode_of(name), name in filled)
        for name, temporary in names.created
    }


def _keep_latest(found: dict[_Key, _Latest], key: _Key, one: _Latest) -> None:
    found[key] = max(found.get(key, one), one)


def _key_of_created(name: TableName, occurrence: Occurrence, *, temporary: bool) -> RelationKey:
    return created_key(name, occurrence.namespace, _scope(occurrence) if temporary else None)


def _key_after_rename(key: RelationKey, name: TableName, occurrence: Occurrence) -> RelationKey:
    # A new name without a schema stays in the old one's (PostgreSQL, MySQL, Snowflake, Spark alike).
    if len(name.parts) == 1:
        return RelationKey((*key.parts[:-1], name.table), key.kind, key.session)
    return created_key(name, occurrence.namespace, key.session)


def _scope(occurrence: Occurrence) -> str:
    return occurrence.session or ""
