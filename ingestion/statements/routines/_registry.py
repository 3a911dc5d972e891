"""The routines whose definitions are at hand: which one a call means, and all that running it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.dialects import dialect_of
from ingestion.dialects.definition import DollarQuotes
from ingestion.model.fqn import build_fqn
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import TableName
from ingestion.model.namespaces import Namespace, candidates
from ingestion.statements.routines._host_code import host_steps
from ingestion.statements.routines._signature import is_sql
from ingestion.statements.routines.bodies import (
    Routine,
    WrittenRows,
    block_steps,
    function_steps,
    routines_in,
    rows_of_triggers,
    with_names_of_all,
)
from ingestion.statements.routines.definition import Definition, defines, quote_name
from ingestion.statements.routines.steps import RoutineStep

_DEEPEST = 20
_EVER = float("inf")

NamespaceOf = Callable[[str, tuple[str, ...]], Namespace]
"""From a session's database and search path ("" and () where it has none) to where it looks for names."""


@dataclass(frozen=True, slots=True)
class KnownRoutine:
    """A definition in force from `since` to `until` (seconds since the epoch); `key` is its FQN below the service, of
    fewer parts where nothing says in which schema it is.

    `already_published`: its lineage was published by an earlier run. `filed`: it is what that run filed of the routine,
    masked.
    """

    key: str
    parts: tuple[str, str, str]
    routine: Routine
    text: str
    since: float
    until: float = _EVER
    already_published: bool = False
    filed: bool = False


@dataclass(frozen=True, slots=True)
class KnownRoutines:
    """Routines by key, each with all its definitions in their order."""

    dialect: str
    namespace_of: NamespaceOf
    by_key: Mapping[str, tuple[KnownRoutine, ...]]

    def key_of_call(self, name: Sequence[str], database: str, path: tuple[str, ...]) -> str | None:
        """The key of the routine that a name means to a session; None where none is known, or several may be meant."""
        namespace = self.namespace_of(database, path)
        # What stands before a routine's name may be the package that it is in.
        packaged = (*name[:-2], ".".join(name[-2:]))
        for written in dict.fromkeys((tuple(name), packaged)):
            for index in candidates(TableName(written), namespace):
                key = key_of(index.parts[-3:])
                if key in self.by_key:
                    return key
        ending = tuple(part.casefold() for part in name)
        similar = [
            key
            for key, versions in self.by_key.items()
            if tuple(part.casefold() for part in versions[0].parts[-len(ending) :]) == ending
        ]
        return similar[0] if len(similar) == 1 else None

    def steps(self, known: KnownRoutine) -> Iterator[tuple[KnownRoutine, RoutineStep]]:
        """What a routine does, the routines that it calls followed: each step with the routine whose own it is.

        However often one is called on the way, it is followed once: circles end, and repetition says nothing new.
        """
        yield from self._steps(known, {known.key}, 0)

    def called_by_others(self) -> frozenset[str]:
        """The routines that others call."""
        return frozenset(
            owner.key
            for versions in self.by_key.values()
            for known in versions
            for owner, _step in self.steps(known)
            if owner.key != known.key
        )

    def path_of(self, known: KnownRoutine, *, called: bool) -> tuple[str, ...]:
        """Where a routine's own bare names stand; empty where that is its caller's to say."""
        if known.routine.path:
            return known.routine.path
        if called and dialect_of(self.dialect).dollar_quotes is DollarQuotes.TAGGED:
            return ()
        default = self.namespace_of("", ()).search_path
        return tuple(dict.fromkeys(part for part in (known.parts[1], *default) if part))

    def _steps(self, known: KnownRoutine, seen: set[str], depth: int) -> Iterator[tuple[KnownRoutine, RoutineStep]]:
        for step in known.routine.steps:
            inner = self._inner(known, step)
            if inner is None:
                yield known, step
            elif known.routine.of is not None and depth < _DEEPEST:
                yield from self._steps(self._for_rows(inner, known, known.routine.of), seen, depth + 1)
            elif inner.key not in seen and depth < _DEEPEST:
                seen.add(inner.key)
                yield from self._steps(inner, seen, depth + 1)

    def with_names_of_triggers(self) -> KnownRoutines:
        """The same, each trigger with all names that those of its function give the rows of its table."""
        naming = self._calling_triggers(naming=True)
        called = rows_of_triggers((function, self._in_schema(known, of)) for known, of, function in naming)
        if not called:
            return self
        named: dict[int, KnownRoutine] = {}
        for known, of, function in self._calling_triggers():
            of = with_names_of_all(self._in_schema(known, of), called.get(function, ()), dialect_of(self.dialect))
            named[id(known)] = replace(known, routine=replace(known.routine, of=of))
        by_key = {
            key: tuple(named.get(id(known), known) for known in versions) for key, versions in self.by_key.items()
        }
        return replace(self, by_key=by_key)

    def _calling_triggers(self, *, naming: bool = False) -> Iterator[tuple[KnownRoutine, WrittenRows, str]]:
        """Triggers that run a known function, for which rows, and its key; `naming`: those that name all their rows."""
        for known in (known for versions in self.by_key.values() for known in versions):
            of = known.routine.of
            if of is None or not known.routine.steps or (naming and not of.tables):
                continue
            function = self._inner(known, known.routine.steps[0])
            if function is not None:
                yield known, of, function.key

    def _for_rows(self, function: KnownRoutine, trigger: KnownRoutine, of: WrittenRows) -> KnownRoutine:
        """A trigger's function, over the rows of the table that the trigger is on."""
        steps = function_steps(function.text, dialect_of(self.dialect), self._in_schema(trigger, of))
        return replace(function, routine=replace(function.routine, steps=steps))

    def _in_schema(self, trigger: KnownRoutine, of: WrittenRows) -> WrittenRows:
        """The rows of a table as it is named from everywhere: a bare name's schema is that of the trigger."""
        if "." in of.table or not trigger.parts[1]:
            return of
        return replace(of, table=f"{quote_name(trigger.parts[1], dialect_of(self.dialect))}.{of.table}")

    def _inner(self, known: KnownRoutine, step: RoutineStep) -> KnownRoutine | None:
        if not step.calls:
            return None
        path = self.path_of(known, called=False)
        beside = f"{known.routine.package}.{step.calls[-1]}"  # what a package calls by its bare name may be its own
        key = self.key_of_call((*known.parts[:2], beside), known.parts[0], path) if known.routine.package else None
        key = key or self.key_of_call(step.calls, known.parts[0], path)
        if key is None:
            return None
        in_force = [version for version in self.by_key[key] if version.since <= known.since]
        return (in_force or self.by_key[key])[-1]


def key_of(parts: Sequence[str]) -> str:
    """The key of a routine in a database and schema, "" where they are not known."""
    return build_fqn(*(part for part in parts if part))


def known_routines(
    dialect: str,
    namespace_of: NamespaceOf,
    definitions: Iterable[Definition],
    logged: Iterable[tuple[str, str, tuple[str, ...], float]],
    isolation: Isolation[str] | None = None,
) -> KnownRoutines:
    """The routines of a catalog or database, and those that a log defines: (text, database, search path, time).

    `isolation` gets the definitions, by their text, that cannot be taken apart.
    """
    isolation = isolation or Isolation()
    found: dict[str, list[KnownRoutine]] = {}
    filed: dict[str, KnownRoutine] = {}
    for definition in definitions:
        with isolation.around(FailureStage.ROUTINES, definition.text):
            isolation.probe(FailureStage.ROUTINES, definition)
            for routine in routines_of(definition, dialect):
                _file(_known_routine(definition, routine), found, filed)
    for text, database, path, time in logged:
        with isolation.around(FailureStage.ROUTINES, text):
            isolation.probe(FailureStage.ROUTINES, text)
            for routine in routines_in(text, dialect):
                parts = candidates(TableName(routine.name), namespace_of(database, path))[0].parts[-3:]
                index = parts[0], parts[1], parts[2]
                known = KnownRoutine(key_of(index), index, routine, text, time)
                found.setdefault(known.key, []).append(known)
    # What was filed is part of the truth: it stands where nothing tells the whole.
    whole = {**{key: [known] for key, known in filed.items()}, **found}
    known_by_key = {key: _in_force(whole[key]) for key in sorted(whole)}
    return KnownRoutines(dialect, namespace_of, known_by_key).with_names_of_triggers()


def _known_routine(definition: Definition, routine: Routine) -> KnownRoutine:
    index = (*definition.full_name[:2], routine.name[-1]) if routine.package else definition.full_name
    since, already_published, own = definition.at or 0.0, definition.done, definition.own
    return KnownRoutine(
        key_of(index), index, routine, definition.text, since, already_published=already_published, filed=own
    )


def _file(known: KnownRoutine, found: dict[str, list[KnownRoutine]], filed: dict[str, KnownRoutine]) -> None:
    if known.filed:
        filed[known.key] = known
    elif known.key in found:  # overloads: a call is not told from another by its arguments
        steps = (*found[known.key][0].routine.steps, *known.routine.steps)
        already_published = known.already_published and found[known.key][0].already_published
        found[known.key] = [
            replace(known, routine=replace(known.routine, steps=steps), already_published=already_published)
        ]
    else:
        found[known.key] = [known]


def routines_of(definition: Definition, dialect: str) -> tuple[Routine, ...]:
    """The routines in a definition, which may be the whole statement or the body alone."""
    if defines(definition.text, dialect):
        return routines_in(definition.text, dialect)
    language = definition.language.lower()
    if not is_sql(language):
        steps = host_steps(definition.text, language, dialect_of(dialect))
        return (Routine("procedure", definition.full_name[-1:], steps, language),)
    return (Routine("procedure", definition.full_name[-1:], block_steps(definition.text, dialect)),)


def _in_force(versions: Sequence[KnownRoutine]) -> tuple[KnownRoutine, ...]:
    """Each definition until the next one; the first one from the beginning, since logs do not go back far enough."""
    ordered = sorted(versions, key=lambda known: known.since)
    ends = [*(known.since for known in ordered[1:]), _EVER]
    return tuple(replace(known, until=end) for known, end in zip(ordered, ends, strict=True))
