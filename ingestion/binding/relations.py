"""Which relation a name means: relations in the course of a log, and names under which others have been since."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ingestion.model.lineage import TableChange, TableName
from ingestion.model.namespaces import Namespace, RelationKey

Order = tuple[float, int]
"""When something happened: seconds since the epoch, then the position in the log."""
Alterations = Mapping[int, frozenset[Order]]
"""By relation, when the alterations were made that are in force."""

A_MOMENT = 0.001
"""Seconds: catalogs count milliseconds."""

RelationIdentity = tuple[RelationKey, Order | None]
"""What no two relations of a log have in common: where one first stood, and when it was made, None if before it."""


@dataclass(frozen=True, slots=True)
class NameStates:
    """The states of keys before an occurrence ran and after it, "" where nothing was made (`name_states`).

    `last`: when it ran the last time.
    """

    before: tuple[tuple[RelationKey, str], ...]
    after: tuple[tuple[RelationKey, str], ...]
    last: Order


@dataclass(frozen=True, slots=True)
class FinalState:
    """The relation that a log leaves under a key, None for nothing, and when that was.

    `altered`: when the alterations of it were made that are in force then.
    """

    key: RelationKey
    last: Order
    relation: int | None
    altered: frozenset[Order] = frozenset()


@dataclass(slots=True)
class RestoredNames:
    """Keeps in `in_force` (key -> relation) what stood there when an occurrence ran.

    Runs that mean the same are one occurrence, at the time of the first of them. Between two occurrences much may have
    happened that has no occurrence of its own, since it had happened before: each brings the states of its names with
    it, and a state that was reached once stands for the same relation ever after.
    """

    in_force: dict[RelationKey, int]
    _relations: dict[tuple[RelationKey, str], int | None] = field(default_factory=dict)
    _altered: dict[tuple[RelationKey, str], frozenset[Order]] = field(default_factory=dict)
    _final: dict[RelationKey, FinalState] = field(default_factory=dict)

    def restore(self, states: NameStates) -> Alterations:
        """Puts back what stood before, and tells the alterations in force."""
        altered: dict[int, frozenset[Order]] = {}
        for key, state in states.before:
            relation = self._relations.get((key, state)) if state else None
            if relation is None:
                self.in_force.pop(key, None)
            else:
                self.in_force[key] = relation
                altered[relation] = self._altered[key, state]
        return altered

    def note(self, states: NameStates, altered: Alterations) -> None:
        """Keeps what stands after the occurrence, and the alterations of each relation that are in force then."""
        for key, state in states.after:
            relation = self.in_force.get(key)
            if state and (key, state) not in self._relations:
                self._relations[key, state] = relation
                self._altered[key, state] = altered.get(relation, frozenset()) if relation is not None else frozenset()
            known = self._final.get(key)
            if known is None or known.last <= states.last:
                stands = self._relations[key, state] if state else None
                self._final[key] = FinalState(key, states.last, stands, self._altered.get((key, state), frozenset()))

    def leave_as_at_the_end(self) -> Iterator[FinalState]:
        """Puts in force what the log leaves under the keys that it changes, one after the other."""
        for final in self._final.values():
            if final.relation is None:
                self.in_force.pop(final.key, None)
            else:
                self.in_force[final.key] = final.relation
            yield final


@dataclass(slots=True)
class Relation:
    """A relation over its life. Filled while the timeline is read, never after.

    `altered_at`: where it stood when it was altered. `final_alterations`: when those of its alterations were made that
    are in force in the end, None for all. `gone_columns`: what was dropped, and is no column's name in the end;
    "" among them says that any was dropped, which another may have the name of.
    """

    number: int
    key: RelationKey  # where it stands now; `born` is where it first stood
    born: RelationKey
    mention: tuple[TableName, Namespace]  # the name that first led to it, and where it was said
    creator: int | None = None  # the occurrence that created it; None: it was there before the log begins
    declared: TableChange | None = None
    like: int | None = None
    alterations: list[tuple[Order, TableChange]] = field(default_factory=list)
    altered_at: dict[Order, RelationKey] = field(default_factory=dict)
    final_alterations: frozenset[Order] | None = None
    gone_columns: frozenset[str] = frozenset()
    created: Order | None = None
    dropped: Order | None = None
    left: RelationKey | None = None  # where it stood before it was renamed or swapped
    temporary: bool = False
    vacated: bool = False  # dropped, or a view of what is, and nothing took its name again by the end of the log
    superseded: bool = False  # another relation was created under its name
    made: Order | None = None  # when it was made last: what was written before that is gone
    named: float = 0.0  # when it first got the name that it has in the end
    given: float = 0.0  # and when it got it the last time
    since: Order | None = None  # when the name last changed its owner: later than that, where the relation is gone
    stands: bool = False  # whether it has a name in the end
    gone: bool = False  # whether it is sure that it has none
    unmade: bool = False  # it would have been made, had its name not been taken
    read_elsewhere: frozenset[Order] = frozenset()  # when it was read under another name than it has in the end

    @property
    def identity(self) -> RelationIdentity:
        """What no other relation of the log has."""
        return self.born, self.created

    def sightings(self, first: float, last: Order, *, left_behind: bool = False) -> tuple[float, float]:
        """When its name was first and last seen to hold what was written into it between these times.

        What was built under another name the name holds since it is this relation's: after `CREATE TABLE n AS …` at 1,
        `DROP TABLE t` at 2 and `ALTER TABLE n RENAME TO t` at 3, t holds it since 3. What the name held before was
        seen before, and so was what is `left_behind`: written into another relation that had this one's name then.
        """
        if self.since is None or last[0] <= 0:
            return first, last[0]
        until = last[0]
        if not left_behind and (self.made is None or last >= self.made):
            first, until = max(first, self.named), max(until, self.given)
            if self.stands:
                return first, until
        until = min(until, self.since[0] - A_MOMENT) if self.gone or last < self.since else until
        return min(first, until), until

    def sightings_as_source(self, first: float, last: float, *, is_dated_later: bool) -> tuple[float, float]:
        """The same of what was read of it between these times (seconds), which is said of the name that it has now.

        After `CREATE TABLE r AS SELECT a FROM n` at 1, `ALTER TABLE t RENAME TO o` at 2 and `ALTER TABLE n RENAME TO t`
        at 3, r is made of t since 3: who was called t at 1 is o. `is_dated_later`: it was read under another name, or
        is said for a time after it was read, at which the name may have been another's.
        """
        was_moved = self.left is not None and self.since is not None
        if not (was_moved and self.stands and is_dated_later) or last <= 0:
            return first, last
        return max(first, self.named), max(last, self.given)

    @property
    def replaced(self) -> bool:
        """Whether it was renamed away and dropped, and another stands under its key."""
        return self.key == self.left

    def note_gone_columns(self) -> None:
        """Says which columns are no more, once all alterations are known."""
        gone = set[str]()
        for when, change in self.alterations:
            if self.final_alterations is None or when in self.final_alterations:
                if change.whole and self.declared is not None:
                    listed = {column.name for column in self.declared.columns}
                    gone.update(listed.difference(self.declared.partition_columns))
                gone.update(change.dropped_columns, (old for old, _new in change.renamed_columns))
                gone.difference_update(new for _old, new in change.renamed_columns)
                gone.difference_update(column.name for column in change.columns)
        drops = any(change.dropped_columns or change.whole for _when, change in self.alterations)
        self.gone_columns = frozenset(gone | {""} if drops else gone)

    def end(self, in_force: Collection[RelationKey]) -> None:
        """Where a relation that was dropped is in the end: at the key that it had left if another has it now, or
        nowhere.
        """
        if self.left is not None and self.left in in_force:
            self.key, self.superseded = self.left, True
        else:
            self.vacated = True
