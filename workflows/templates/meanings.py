"""What each run of a statement means, and one tally for all runs that mean the same.

Runs are gone through in the order of time, with no more at hand than the states of the names so far: Spark sorts them,
and each chain of templates is a stream of its own, within each session where all that it makes is temporary.
"""

from __future__ import annotations

import heapq
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from ingestion.binding.name_states import Meaning, NamedStatement, NameStateTracker
from ingestion.contribution import JOBS_KEPT
from ingestion.names.namespaces import NamespaceDefaults
from workflows.templates.names import TemplateNames

DIGESTS_KEPT = 1000
"""Record digests that an occurrence carries at most; beyond it only their count is exact."""
Moment = tuple[float, str, int, int, int]
"""Time, file, line, position, step: the order of a log."""


class StatementRuns(NamedTuple):
    """What runs have in common that may mean the same."""

    fingerprint: str
    database: str
    search_path: tuple[str, ...]
    routine: str | None
    already_published: bool


class Run(NamedTuple):
    """One run of a statement; a row of RUN_COLUMNS."""

    fingerprint: str
    database: str | None
    search_path: Sequence[str] | None
    routine: str | None
    already_published: bool
    session: str
    user: str | None
    duration: float | None
    digest: int | None
    job: str | None
    fresh: bool
    time: float
    file: str
    line: int
    position: int
    step: int

    @property
    def moment(self) -> Moment:
        return self.time, self.file, self.line, self.position, self.step


_COLUMN_OF_FIELD = {
    "database": "namespace_database",
    "search_path": "namespace_path",
    "already_published": "standing",
}
RUN_COLUMNS = tuple(_COLUMN_OF_FIELD.get(name, name) for name in Run._fields)


@dataclass(slots=True)
class Tally:
    """Runs that mean the same, with the lowest of their record digests and jobs. `duration`: the sum, in seconds."""

    runs: StatementRuns
    meaning: Meaning
    at: Moment
    last: Moment
    count: int = 0
    fresh: int = 0
    users: set[str] = field(default_factory=set)
    digests: set[int] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    duration: float = 0.0

    @property
    def key(self) -> tuple[StatementRuns, object]:
        """Two tallies of one key are one."""
        return self.runs, self.meaning.before

    def add(self, run: Run) -> None:
        """Counts one more run."""
        moment = run.moment
        self.at, self.last = min(self.at, moment), max(self.last, moment)
        self.count += 1
        self.fresh += run.fresh
        self.duration += run.duration or 0.0
        if run.user is not None:
            self.users.add(run.user)
        if run.digest is not None:
            self.digests.add(run.digest)
            if len(self.digests) > 4 * DIGESTS_KEPT:
                self.digests = self._lowest_digests()
        if run.job is not None:
            self.jobs.add(run.job)
            if len(self.jobs) > JOBS_KEPT:
                self.jobs.remove(max(self.jobs))

    def merge(self, other: Tally) -> None:
        """Takes in the runs of another tally of the same key."""
        self.at, self.last = min(self.at, other.at), max(self.last, other.last)
        self.count += other.count
        self.fresh += other.fresh
        self.duration += other.duration
        self.users |= other.users
        self.digests |= other.digests
        self.jobs |= other.jobs
        self.cut()

    def cut(self) -> None:
        """Lets go of what is more than is kept."""
        self.digests = self._lowest_digests()
        self.jobs = set(heapq.nsmallest(JOBS_KEPT, self.jobs))

    def _lowest_digests(self) -> set[int]:
        return set(heapq.nsmallest(DIGESTS_KEPT, self.digests))


@dataclass(slots=True)
class _StatementTallies:
    """The tallies of a statement, which is None where it always means the same, by the identity of their meaning.

    A statement has one object for each of its meanings: what they say need not be looked at again with each run.
    """

    statement: NamedStatement | None
    by_meaning: dict[int, Tally] = field(default_factory=dict)


class RunTallies:
    """Tallies of runs that are told in the order of time."""

    def __init__(self, templates: TemplateNames, defaults: NamespaceDefaults) -> None:
        self._templates = templates
        self._defaults = defaults
        self._states = NameStateTracker()
        self._statements: dict[StatementRuns, _StatementTallies] = {}

    def add(self, run: Run) -> None:
        """Counts a run to those that mean the same."""
        runs = StatementRuns(
            run.fingerprint, run.database or "", tuple(run.search_path or ()), run.routine, run.already_published
        )
        own = self._statements.get(runs)
        if own is None:
            own = self._statements[runs] = _StatementTallies(self._statement_of(runs))
        meaning = _ALWAYS if own.statement is None else self._states.run(own.statement, run.session)
        tally = own.by_meaning.get(id(meaning))
        if tally is None:
            tally = own.by_meaning[id(meaning)] = Tally(runs, meaning, run.moment, run.moment)
        tally.add(run)

    def begin(self) -> None:
        """What follows has nothing to do with what came before."""
        self._states.forget()

    def tallies(self) -> Iterator[Tally]:
        """The tallies of all runs."""
        for own in self._statements.values():
            for tally in own.by_meaning.values():
                tally.cut()
                yield tally

    def _statement_of(self, runs: StatementRuns) -> NamedStatement | None:
        names = self._templates.names.get(runs.fingerprint)
        if names is None:
            return None
        namespace = self._defaults.namespace(runs.database, runs.search_path)
        key = "\0".join((runs.fingerprint, runs.database, *runs.search_path))
        return NamedStatement(key, names, namespace, self._templates.changing)


_ALWAYS = Meaning()


def tally_task(
    templates: TemplateNames, defaults: NamespaceDefaults
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Tallies the rows of a Spark task, which come sorted by `stream` and moment, as pickles."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tallies, stream = RunTallies(templates, defaults), None
        for batch in batches:
            streams = batch.column("stream").to_pylist()
            columns = (batch.column(name).to_pylist() for name in RUN_COLUMNS)
            for own, row in zip(streams, zip(*columns, strict=True), strict=True):
                if own != stream:
                    stream = own
                    tallies.begin()
                tallies.add(Run._make(row))
        found = [pickle.dumps(tally) for tally in tallies.tallies()]
        yield pa.RecordBatch.from_pydict({"tally": pa.array(found, pa.binary())})

    return run
