"""What stands under each name while a log goes by, as far as it decides what a statement means.

A state is told by how it came about: by the statement that made it and by what that read in its turn. What is made
again in the same way is in the same state again, so that a nightly redefinition is no change, and runs that find all
their names in the same states mean the same, whoever ran them and however often. Only where what was made before stands
still, under a name that it got since, are the two told apart: `CREATE TABLE n AS …; ALTER TABLE n SWAP WITH t`, night
after night, has made two tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ingestion.analysis.analyzer import CREATING_KINDS
from ingestion.binding.relations import A_MOMENT
from ingestion.model.digests import digest
from ingestion.model.lineage import (
    CreateMode,
    StatementKind,
    TableChange,
    TableName,
    TableUsageNames,
    WriteMode,
)
from ingestion.model.namespaces import Namespace, RelationKey, candidates, created_key, temporary_keys

ANY_SESSION = "session"
"""Stands for the session of every temporary relation: the states tell those of different sessions apart."""
_UNMADE = ""
"""The state of a place where nothing was made, or where nothing is left of it."""
_MOVES = frozenset({StatementKind.RENAME, StatementKind.SWAP})
_KEEPING_MODES = frozenset({WriteMode.APPEND, WriteMode.UPDATE})

States = tuple[tuple[RelationKey, str], ...]
_Found = tuple[tuple[str, ...], States]
"""The states of a statement's keys in their order, and those of keys elsewhere."""
_Made = tuple[tuple[RelationKey, str], ...]
"""What a statement makes that stays, and how each was made."""
_NOTHING: Mapping[RelationKey, str] = {}
_DIGEST = 12
"""Bytes: a log of a million definitions has two of one digest with a chance below 1 in 10^16."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a statement found under its names when it ran, and what it left there."""

    before: States = ()
    after: States = ()


@dataclass(frozen=True, slots=True)
class ChangingNames:
    """The names (unqualified) under which not always the same stands; of these the ones that may be temporary."""

    names: frozenset[str] = frozenset()
    temporary: frozenset[str] = frozenset()


def own_name(name: TableName) -> str:
    """A name without what qualifies it."""
    return candidates(name, Namespace())[0].table


class NamedStatement:
    """A statement in a namespace, with the keys that its changing names may mean; `key` tells it from all others.

    `meanings` are those that it has had, with what it made; of what it makes once more, each time has its number.
    `ordered`: the names whose order in time counts beyond the session.
    """

    def __init__(self, key: str, names: TableUsageNames, namespace: Namespace, changing: ChangingNames) -> None:
        self.key = key
        self.namespace = namespace
        self._changing = changing
        self.changes = tuple(change for change in names.changes if self._is_changing(change.name, change.other))
        self.writes = tuple(write for write in names.written if self._is_changing(write[0]))
        lasting = changing.names - changing.temporary
        self.ordered = tuple(sorted({own for name in names.names() if (own := own_name(name)) in lasting}))
        self.changes_names = any(change.kind is not StatementKind.TRUNCATE for change in self.changes) or any(
            write[2] is WriteMode.CREATE for write in self.writes
        )
        self._modes = dict(names.modes)
        looked_up = dict.fromkeys(name for name in self._names_to_look_up(names) if self._is_changing(name))
        self.reads = frozenset(key for name in names.read for key in self.own_keys(name))
        self.temporary = tuple(dict.fromkeys(key for name in looked_up for key in self.own_keys(name)))
        self.permanent = {
            own: tuple(dict.fromkeys(p for name in looked_up if own_name(name) == own for p in self.keys(name)))
            for own in dict.fromkeys(own_name(name) for name in looked_up)
        }
        self.all_keys = (*self.temporary, *(key for keys in self.permanent.values() for key in keys))
        self.meanings: dict[tuple[_Found, int], tuple[Meaning, _Made]] = {}

    def _names_to_look_up(self, names: TableUsageNames) -> Iterator[TableName]:
        """The names whose states bear on the meaning: of what the statement itself makes, where it may make nothing."""
        yield from names.read
        yield from (name for name, temporary in names.created if self.keeps(name) and not temporary)
        for change in names.changes:
            if change.kind not in CREATING_KINDS:
                yield change.name
            if change.other is not None:
                yield change.other
        yield from (name for name, _temporary, mode in names.written if mode is not WriteMode.CREATE)

    def _is_changing(self, *names: TableName | None) -> bool:
        return any(name is not None and own_name(name) in self._changing.names for name in names)

    def keeps(self, created: TableName) -> bool:
        """Whether it does nothing where the name is taken."""
        return self._modes.get(created) is CreateMode.IF_ABSENT

    def own_keys(self, name: TableName) -> tuple[RelationKey, ...]:
        """The keys that the session's own relation of that name may have, where it may have one."""
        return temporary_keys(name, self.namespace, ANY_SESSION) if name.table in self._changing.temporary else ()

    def keys(self, name: TableName) -> tuple[RelationKey, ...]:
        """The keys of other relations of that name."""
        return candidates(name, self.namespace)


@dataclass(frozen=True, slots=True)
class _Write:
    """A write into a temporary relation: what it says, and what stands for it in a later one that reads it."""

    token: str
    digest: str


_EMPTIED = _Write("emptied", "emptied")
"""Stands before what is written behind a TRUNCATE: what a CREATE TABLE AS had put there is gone, too."""


@dataclass(frozen=True, slots=True)
class _History:
    """How what stands under a key came to be; writes count for temporary relations, whose content is followed."""

    made: str
    altered: tuple[str, ...] = ()
    written: tuple[_Write, ...] = ()


class NameStateTracker:
    """The states of all changing names; statements are told to it in the order in which they ran."""

    def __init__(self) -> None:
        self._permanent: dict[str, dict[RelationKey, str]] = {}
        self._sessions: dict[str, dict[RelationKey, str]] = {}
        self._histories: dict[str, _History] = {}
        self._locations: dict[str, RelationKey] = {}  # of what stays, by how it was made

    def run(self, statement: NamedStatement, session: str) -> Meaning:
        """What the statement meant; from now on its changes hold."""
        before = self._before(statement, session)
        number = 0
        meaning, made = self._meaning(statement, before, number)
        while any(self._locations.get(how, key) != key for key, how in made):
            number += 1
            meaning, made = self._meaning(statement, before, number)
        self._leave(meaning, session)
        return meaning

    def _meaning(self, statement: NamedStatement, before: _Found, number: int) -> tuple[Meaning, _Made]:
        known = statement.meanings.get((before, number))
        if known is None:
            found = tuple(zip(statement.all_keys, before[0], strict=True)) + before[1]
            effect = _Effect(statement, found, self._histories, number)
            after = tuple(effect.states().items())
            known = statement.meanings[before, number] = Meaning(found, after), tuple(effect.made.items())
        return known

    def _leave(self, meaning: Meaning, session: str) -> None:
        stays = [(key, state) for key, state in meaning.after if key.session is None]
        for key, _state in stays:
            left = self._permanent.get(key.table, _NOTHING).get(key)
            made = self._histories[left].made if left else ""
            if self._locations.get(made) == key:
                del self._locations[made]
        for key, state in meaning.after:
            if key.session is not None:
                _put(self._sessions.setdefault(session, {}), key, state)
        for key, state in stays:
            _put(self._permanent.setdefault(key.table, {}), key, state)
            if state:
                self._locations[self._histories[state].made] = key

    def forget(self) -> None:
        """Nothing was made yet: what follows is another log. What is known of meanings stays."""
        self._permanent.clear()
        self._sessions.clear()
        self._locations.clear()

    def _before(self, statement: NamedStatement, session: str) -> _Found:
        own = self._sessions.get(session, _NOTHING) if statement.temporary else _NOTHING
        found = [own.get(key, _UNMADE) for key in statement.temporary]
        elsewhere: States = ()
        for name, keys in statement.permanent.items():
            made = self._permanent.get(name, _NOTHING)
            found += [made.get(key, _UNMADE) for key in keys]
            if made and made.keys().isdisjoint(keys):  # where no default leads, a catalog may know the key
                elsewhere += tuple(sorted(made.items()))
        return tuple(found), elsewhere


def _put(states: dict[RelationKey, str], key: RelationKey, state: str) -> None:
    if state == _UNMADE:
        states.pop(key, None)
    else:
        states[key] = state


class MomentsApart:
    """The times of statements, told apart where a log has one for several; told in the order of the log.

    A log that counts seconds, or a script that is logged when it is through, has `CREATE TABLE n AS …`, `ALTER TABLE n
    SWAP WITH t` and `DROP TABLE n` at one time, and a catalog knows of no order but that of times: what uses a name
    comes a moment after what changed it, and what changes it a moment after what used it. The same part of a log gives
    the same times, whatever else is read with it.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, bool]] = {}  # by name; whether it was changed then

    def time_of(self, statement: NamedStatement, time: float) -> float:
        """When the statement ran that a log has at this time."""
        if time <= 0:  # the log tells none
            return time
        apart = time
        for name in statement.ordered:
            last, changed = self._last.get(name, (0.0, False))
            if last >= time:
                apart = max(apart, round(last + A_MOMENT, 3) if changed or statement.changes_names else last)
        for name in statement.ordered:
            self._last[name] = apart, statement.changes_names
        return apart

    def forget(self) -> None:
        """What follows is another log."""
        self._last.clear()


class _Effect:
    """What one statement does to the states that it finds; `number` tells apart what it makes and has made before."""

    def __init__(self, statement: NamedStatement, before: States, histories: dict[str, _History], number: int) -> None:
        self.made: dict[RelationKey, str] = {}
        self._statement = statement
        self._number = number
        self._before = before
        self._states = dict(before)
        self._histories = histories
        self._touched: dict[RelationKey, str] = {}

    def states(self) -> Mapping[RelationKey, str]:
        """The states of the keys that it touches, as it leaves them."""
        for change in self._statement.changes:
            self._change(change)
        for name, temporary, mode in self._statement.writes:
            if mode is WriteMode.CREATE:
                self._make(name, temporary=temporary)
            else:
                self._write(name, keeps=mode in _KEEPING_MODES)
        return self._touched

    def _change(self, change: TableChange) -> None:
        if change.kind in CREATING_KINDS:
            self._make(change.name, temporary=change.temporary)
        elif change.kind is StatementKind.DROP:
            self._drop(change.name)
        elif change.kind in _MOVES and change.other is not None:
            if not change.of_schema:
                self._move(change.name, change.other, swap=change.kind is StatementKind.SWAP)
            else:
                self._move_of_schema(change, change.other)
        elif change.kind is StatementKind.ALTER_TABLE:
            for key in self._subjects(change.name):
                self._alter(key)
        elif change.kind is StatementKind.TRUNCATE:
            for key, history in self._own_histories(change.name):
                self._set(key, replace(history, written=(_EMPTIED,)))

    def _make(self, name: TableName, *, temporary: bool) -> None:
        key = created_key(name, self._statement.namespace, ANY_SESSION if temporary else None)
        if not temporary and self._statement.keeps(name) and self._states.get(key):
            return
        # What stood under the name has no part in what is made.
        others = _texts(pair for pair in self._before if pair[0] != key)
        number = (str(self._number),) if self._number and not temporary else ()
        how = digest(self._statement.key, str(key), *others, *number, size=_DIGEST)
        self._set(key, _History(how))
        if not temporary:
            self.made[key] = how

    def _drop(self, name: TableName) -> None:
        subjects = self._subjects(name)
        if len(subjects) == 1:
            self._touch(subjects[0], _UNMADE)
        elif any(self._states.get(key) for key in subjects):
            for key in subjects:
                self._alter(key)

    def _move_of_schema(self, change: TableChange, other: TableName) -> None:
        """What stands moves; of two that would be exchanged, one of which is not there, the other."""
        left, right = (any(self._states.get(key) for key in self._subjects(name)) for name in (change.name, other))
        swaps = change.kind is StatementKind.SWAP
        if left:
            self._move(change.name, other, swap=swaps and right)
        elif right and swaps:
            self._move(other, change.name, swap=False)

    def _move(self, name: TableName, other: TableName, *, swap: bool) -> None:
        subjects = self._subjects(name)
        others = self._subjects(other) if swap else _keys_after_rename(subjects, other, self._statement.namespace)
        if len(subjects) != 1 or len(others) != 1:
            for key in (*subjects, *others):
                self._alter(key)
            return
        moved, replaced = self._state_of(subjects[0]), self._state_of(others[0])
        self._touch(others[0], moved)
        self._touch(subjects[0], replaced if swap else _UNMADE)

    def _write(self, name: TableName, *, keeps: bool) -> None:
        for key, history in self._own_histories(name):
            write = self._write_into(key, history)
            content = history.written if keeps else ()
            # A write that it has had adds nothing: a loop comes to its end.
            self._set(key, replace(history, written=(*content, *({write} - {*content}))))

    def _own_histories(self, name: TableName) -> list[tuple[RelationKey, _History]]:
        """How the session's own relations of the name came to be."""
        own = [key for key in self._statement.own_keys(name) if self._states.get(key)]
        return [(key, self._histories[self._states[key]]) for key in own]

    def _write_into(self, key: RelationKey, history: _History) -> _Write:
        others = (pair for pair in self._before if pair[0] != key)
        what = digest(self._statement.key, history.made, *history.altered, *_texts(others), size=_DIGEST)
        if key not in self._statement.reads:
            return _Write(what, what)
        # What it writes of what was written before: of writes like itself only which, or each would make a new one.
        statement = digest(self._statement.key, size=_DIGEST)
        read = sorted({write.token for write in history.written} - {statement})
        return _Write(statement, digest(what, *read, size=_DIGEST))

    def _subjects(self, name: TableName) -> tuple[RelationKey, ...]:
        """The keys one of which is meant: which one, only a catalog knows."""
        own = tuple(key for key in self._statement.own_keys(name) if self._states.get(key))
        return own or self._statement.keys(name)

    def _alter(self, key: RelationKey) -> None:
        history = self._histories[self._state_of(key)]
        altered = tuple(by for by in history.altered if by != self._statement.key)
        self._set(key, replace(history, altered=(*altered, self._statement.key)))

    def _state_of(self, key: RelationKey) -> str:
        """The state of a key; of one where nothing was made, that of what stood there before the log began."""
        state = self._states.get(key, _UNMADE)
        return state or self._state(_History(f"before {key}"))

    def _set(self, key: RelationKey, history: _History) -> None:
        self._touch(key, self._state(history))

    def _touch(self, key: RelationKey, state: str) -> None:
        self._states[key] = self._touched[key] = state

    def _state(self, history: _History) -> str:
        written = (write.digest for write in history.written)
        state = digest(history.made, "|", *history.altered, "|", *written, size=_DIGEST)
        self._histories[state] = history
        return state


def _keys_after_rename(
    subjects: Iterable[RelationKey], name: TableName, namespace: Namespace
) -> tuple[RelationKey, ...]:
    """Where what stands under these keys is after a rename."""
    if len(name.parts) == 1:
        return tuple(RelationKey((*old.parts[:-1], name.table), old.kind, old.session) for old in subjects)
    return tuple(dict.fromkeys(created_key(name, namespace, old.session) for old in subjects))


def _texts(states: Iterable[tuple[RelationKey, str]]) -> tuple[str, ...]:
    return tuple(f"{key} {key.session or ''} {state}" for key, state in states)
