"""Occurrences: the runs of a log that mean the same, in the order of time."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from ingestion.analysis.symbolic import is_resolved
from ingestion.binding.name_states import ANY_SESSION
from ingestion.binding.relations import NameStates
from ingestion.dialects import Dialect
from ingestion.model.digests import digest
from ingestion.model.isolation import Isolation, Probe
from ingestion.model.job_slots import RunDays
from ingestion.model.lineage import TableUsageNames
from ingestion.model.namespaces import NamespaceDefaults
from ingestion.parsing.templates import ParsedTemplate
from workflows.run.group.names import TemplateNames, changing_names, names_by_template
from workflows.run.group.runs import (
    Moment,
    Runner,
    StatementRuns,
    Tally,
    groups,
    small_groups,
    with_namespace,
    with_namespaces,
)
from workflows.run.group.schema_changes import with_tables_of_schemas
from workflows.run.group.session_names import session_spellings, with_spellings
from workflows.run.parse.templates import Templates
from workflows.run.read.statements import FEW
from workflows.runtime.spill import SpillMapping


@dataclass(frozen=True, slots=True)
class OccurrenceGroup:
    """Runs that mean the same: one occurrence for binding. Times are seconds since the epoch, `duration` their sum.

    `read_in_this_run` of the `count` runs were read by this run of the workflow, the others by earlier ones. `jobs` are
    at most JOBS_KEPT names of what ran them, `runners` tell who ran them when. `routine` is the routine
    (database.schema.name) that they are part of; `already_published` marks a definition whose lineage an earlier run
    published. `states`: what stood under its names, where that changes; `last`: when the last run was, in the order of
    all last runs; `latest`: when the newest run of the whole log was, 0 where none has a time.
    """

    template: str
    database: str
    search_path: tuple[str, ...]
    session: str | None
    order: tuple[float, int]
    first_seen: float
    last_seen: float
    count: int
    users: tuple[str, ...]
    digests: Sequence[int]
    duration: float
    jobs: tuple[str, ...] = ()
    runners: tuple[tuple[Runner, RunDays], ...] = ()
    routine: str | None = None
    already_published: bool = False
    read_in_this_run: int = 0
    states: NameStates | None = None
    last: tuple[float, int] | None = None
    latest: float = 0.0

    @property
    def ended(self) -> tuple[float, int]:
        """When the last of the runs was, by time and position among those that were last."""
        return self.last or (self.last_seen, self.order[1])

    @property
    def ran(self) -> bool:
        """Whether a log shows it; what is only a definition has no record."""
        return bool(self.digests)


class GroupedRuns:
    """The runs of a log by what they mean, each occurrence a number; of more than are to be `held`, most are in a file.

    `templates`: the fingerprint of each; `namespaces`: its database and search path; `routines`: the routine that it
    is part of.
    """

    def __init__(self, tallies: Iterable[Tally], held: int) -> None:
        self._tallies: SpillMapping[object, Tally] = SpillMapping(held)
        self.templates: list[str] = []
        self.namespaces: list[tuple[str, tuple[str, ...]]] = []
        self.routines: dict[int, str] = {}
        self._shared: dict[object, Any] = {}
        spans: dict[object, tuple[Moment, Moment]] = {}
        for tally in tallies:
            key = _key_of(tally)
            if key in spans:
                known = self._tallies[key]
                known.merge(tally)
                tally = known
            else:
                self._note(tally.runs)
            self._tallies.put(key, tally)
            spans[key] = tally.at, tally.last
        self._keys = list(spans)
        moments = [(at, self.templates[number], number) for number, (at, _last) in enumerate(spans.values())]
        ends = [(last, number) for number, (_at, last) in enumerate(spans.values())]
        spans.clear()
        self._latest = max((last[0] for last, _number in ends), default=0.0)
        self._positions = _ranks([number for *_moment, number in sorted(moments)])
        moments.clear()
        # Of those that ended at once, in the order of their beginning.
        self._last = _ranks(
            [number for _last, number in sorted(ends, key=lambda end: (end[0], self._positions[end[1]]))]
        )

    def __len__(self) -> int:
        return len(self._keys)

    def _note(self, runs: StatementRuns) -> None:
        """What is asked of all occurrences, of the next one: for that no tally is read again."""
        if runs.routine is not None:
            self.routines[len(self.templates)] = self._shared.setdefault(runs.routine, runs.routine)
        self.templates.append(sys.intern(runs.fingerprint))
        namespace = runs.database, runs.search_path
        self.namespaces.append(self._shared.setdefault(namespace, namespace))

    def in_time_order(self) -> list[int]:
        """The numbers of all occurrences, in the order of time."""
        return sorted(range(len(self)), key=self._positions.__getitem__)

    def occurrences(self, numbers: Iterable[int]) -> tuple[OccurrenceGroup, ...]:
        """The occurrences of these numbers, in the order of time."""
        ordered = sorted(numbers, key=self._positions.__getitem__)
        return tuple(
            replace(
                _occurrence(self._tallies[self._keys[number]], self._positions[number], self._last[number]),
                latest=self._latest,
            )
            for number in ordered
        )


def _key_of(tally: Tally) -> object:
    """What two tallies of the same runs have in common, in few bytes."""
    return bytes.fromhex(digest(repr(tally.key)))


def _ranks(ordered: Iterable[int]) -> array[int]:
    """The position of each number."""
    numbers = list(ordered)
    ranks = array("q", bytes(8 * len(numbers)))
    for position, number in enumerate(numbers):
        ranks[number] = position
    return ranks


def _occurrence(tally: Tally, position: int, rank: int) -> OccurrenceGroup:
    runs, meaning = tally.runs, tally.meaning
    # Only what finds or leaves something under a changing name has states to be put back.
    follows = bool(meaning.before or meaning.after)
    return OccurrenceGroup(
        template=runs.fingerprint,
        database=runs.database,
        search_path=runs.search_path,
        session=ANY_SESSION if follows else None,
        order=(tally.at[0], position),
        first_seen=tally.at[0],
        last_seen=tally.last[0],
        count=tally.count,
        read_in_this_run=tally.read_in_this_run,
        users=tuple(sorted(tally.users)),
        digests=tally.digests,
        duration=tally.duration,
        jobs=tuple(sorted(tally.jobs)),
        runners=tuple(sorted(tally.runners.items(), key=repr)),
        routine=runs.routine,
        already_published=runs.already_published,
        states=NameStates(meaning.before, meaning.after, (tally.last[0], rank)) if follows else None,
        last=(tally.last[0], rank),
    )


# Those of a whole log, from the statements of its sessions and their templates, on Spark.


@dataclass(frozen=True, slots=True)
class Sessions:
    """What the runs of a log have in common: what sessions begin with, whether any changes that, and how many they are.

    There may be less `statements` than it says.
    """

    defaults: NamespaceDefaults
    dialect: Dialect
    change: bool
    statements: int


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The `runs` of templates, and the `names` of each template (by fingerprint) that was parsed.

    `plans`: the templates that show columns that a table has once it is written.
    """

    templates: Templates
    runs: GroupedRuns
    names: Mapping[str, TableUsageNames]
    plans: frozenset[str]


def occurrences(
    statements: DataFrame, templates: Templates, probe: Probe, sessions: Sessions, held: int
) -> Occurrences:
    """The runs of all statements, grouped, and the templates without those whose names could not be read off.

    Of more than are to be `held`, the others are in a file.
    """
    isolation = Isolation[str](probe)
    known = templates.by_fingerprint
    plans = set[str]()

    def note_plans() -> Iterator[ParsedTemplate]:
        for template in known.values():
            if template.symbolic is not None and is_resolved(template.symbolic):
                plans.add(template.fingerprint)
            yield template

    mentioned = names_by_template(note_plans(), isolation, held)
    names = changing_names(mentioned)
    runs = _runs_of(statements, names, sessions, known, held)
    spellings = session_spellings(runs.namespaces, sessions.defaults, mentioned.values(), sessions.dialect)
    if spellings:  # rare enough to go through the statements once more
        statements = with_spellings(statements, spellings, sessions.defaults)
        sessions = replace(sessions, defaults=spellings.defaults(sessions.defaults))
        runs = _runs_of(statements, names, sessions, known, held)
    others = with_tables_of_schemas(known, mentioned, runs, sessions.defaults, isolation)
    if others:  # as rare
        known = known.with_others(others)
        mentioned = {**mentioned, **{key: one.names() for key, one in others.items()}}
        runs = _runs_of(statements, changing_names(mentioned), sessions, known, held)
    left = replace(templates, by_fingerprint=known.without(isolation.failures), failures=isolation.failures)
    return Occurrences(left, runs, mentioned, frozenset(plans))


def _runs_of(
    statements: DataFrame, names: TemplateNames, sessions: Sessions, known: Container[str], held: int
) -> GroupedRuns:
    """The runs of those templates that are `known`."""
    few = sessions.statements <= FEW
    if few or not sessions.change:
        # In one partition nothing is to be shuffled.
        with_names = with_namespace(statements.coalesce(1) if few else statements, session_changes=sessions.change)
    else:
        with_names = with_namespaces(statements)
    tallies = (small_groups if few else groups)(with_names, names, sessions.defaults)
    return GroupedRuns((tally for tally in tallies if tally.runs.fingerprint in known), held)
