"""Which statements ran where and when, tallied so that the driver sees templates and not rows."""

from __future__ import annotations

import heapq
import pickle
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, BooleanType, DoubleType, IntegerType, LongType, StringType, StructType

from ingestion.binding.name_states import Meaning, MomentsApart, NamedStatement, NameStateTracker
from ingestion.model.contributions import JOBS_KEPT
from ingestion.model.job_slots import SLOTS_KEPT, RunDays
from ingestion.model.namespaces import UNREADABLE, NamespaceDefaults
from workflows.run.group.names import TemplateNames
from workflows.run.read.statements import ORDER
from workflows.runtime.spill import kept_by_spark

DIGESTS_KEPT = 1000
"""Record digests that an occurrence carries at most; beyond it only their count is exact."""
Moment = tuple[float, str, int, int, int]
"""Time, file, line, position, step: the order of a log."""
_ALWAYS = Meaning()
_MOMENT = (
    StructType()
    .add("time", DoubleType())
    .add("file", StringType())
    .add("line", LongType())
    .add("position", IntegerType())
    .add("step", IntegerType())
)
_RUNNER = (
    StructType()
    .add("job", StringType())
    .add("user", StringType())
    .add("hour", IntegerType())
    .add("first", DoubleType())
    .add("last", DoubleType())
    .add("days", LongType())
)
PLAIN_TALLY_SCHEMA = (
    StructType()
    .add("fingerprint", StringType())
    .add("namespace_database", StringType())
    .add("namespace_path", ArrayType(StringType()))
    .add("routine", StringType())
    .add("already_published", BooleanType())
    .add("count", LongType())
    .add("read_in_this_run", LongType())
    .add("users", ArrayType(StringType()))
    .add("digests", ArrayType(LongType()))
    .add("jobs", ArrayType(StringType()))
    .add("runners", ArrayType(_RUNNER))
    .add("duration", DoubleType())
    .add("at", _MOMENT)
    .add("last", _MOMENT)
)
_ARROW_SCHEMA = to_arrow_schema(PLAIN_TALLY_SCHEMA)
_TALLIES_A_BATCH = 500
_LOOKED_UP = 10_000
"""Changes of what sessions have set that are looked up for each statement, and those of one session."""
_LOOKED_UP_IN_A_SESSION = 100
_RUNS = ("fingerprint", "namespace_database", "namespace_path", "routine", "already_published")
OF_SESSION = ("session", *ORDER, "user", "database", "schema", "path", "set_database", "set_path")
"""The columns of a statement that its namespace is told from."""


# What each run of a statement means, and one tally for all runs that mean the same.
#
# Runs are gone through in the order of time, with no more at hand than the states of the names so far: Spark sorts
# them, and each chain of templates is a stream of its own, within each session where all that it makes is temporary.


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
    read_in_this_run: bool
    time: float
    file: str
    line: int
    position: int
    step: int

    @property
    def moment(self) -> Moment:
        return self.time, self.file, self.line, self.position, self.step


class Runner(NamedTuple):
    """Who ran a statement: a job, or else a user at an `hour` of the day (UTC); where all are None, nobody knows."""

    job: str | None = None
    user: str | None = None
    hour: int | None = None


_NOBODY_KNOWN = Runner()


def _runner_of(run: Run) -> Runner:
    if run.time <= 0:  # it has no day
        return _NOBODY_KNOWN
    if run.job is not None:
        return Runner(run.job)
    return _NOBODY_KNOWN if run.user is None else Runner(None, run.user, int(run.time // 3600) % 24)


_COLUMN_OF_FIELD = {
    "database": "namespace_database",
    "search_path": "namespace_path",
}
RUN_COLUMNS = tuple(_COLUMN_OF_FIELD.get(name, name) for name in Run._fields)


def _no_digests() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Tally:
    """Runs that mean the same, with the lowest of their record digests and jobs. `duration`: the sum, in seconds.

    The `digests` are in order; those that were `added` since are among them once it is cut.
    `runners`: when each ran it; of more than are kept only that nobody is known.
    """

    runs: StatementRuns
    meaning: Meaning
    at: Moment
    last: Moment
    count: int = 0
    read_in_this_run: int = 0
    users: set[str] = field(default_factory=set)
    digests: array[int] = field(default_factory=_no_digests)
    jobs: set[str] = field(default_factory=set)
    duration: float = 0.0
    runners: dict[Runner, RunDays] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)

    @property
    def key(self) -> tuple[StatementRuns, object]:
        """Two tallies of one key are one."""
        return self.runs, (self.meaning.before, self.meaning.after)

    def add(self, run: Run) -> None:
        """Counts one more run."""
        moment = run.moment
        self.at, self.last = min(self.at, moment), max(self.last, moment)
        self.count += 1
        self.read_in_this_run += run.read_in_this_run
        self.duration += run.duration or 0.0
        if run.user is not None:
            self.users.add(run.user)
        if run.digest is not None:
            self.added.add(run.digest)
            if len(self.added) > 4 * DIGESTS_KEPT:
                self._keep_lowest_digests()
        if run.job is not None:
            self.jobs.add(run.job)
            if len(self.jobs) > JOBS_KEPT:
                self.jobs.remove(max(self.jobs))
        self.note_runner(_runner_of(run), RunDays(run.time, run.time))

    def note_runner(self, runner: Runner, ran: RunDays) -> None:
        """Who ran it, and when."""
        runners = self.runners
        if _NOBODY_KNOWN in runners:
            return
        known = runners.get(runner)
        if known is not None:
            runners[runner] = known.join(ran)
        elif runner == _NOBODY_KNOWN or len(runners) == SLOTS_KEPT:
            runners.clear()
            runners[_NOBODY_KNOWN] = RunDays(0.0, 0.0)
        else:
            runners[runner] = ran

    def merge(self, other: Tally) -> None:
        """Takes in the runs of another tally of the same key."""
        self.at, self.last = min(self.at, other.at), max(self.last, other.last)
        self.count += other.count
        self.read_in_this_run += other.read_in_this_run
        self.duration += other.duration
        self.users |= other.users
        self.added.update(other.digests, other.added)
        self.jobs |= other.jobs
        for runner, ran in other.runners.items():
            self.note_runner(runner, ran)
        self.cut()

    def cut(self) -> None:
        """Lets go of what is more than is kept."""
        self._keep_lowest_digests()
        self.jobs = set(heapq.nsmallest(JOBS_KEPT, self.jobs))

    def _keep_lowest_digests(self) -> None:
        # As numbers of eight bytes: as values of Python they are what a run holds most of.
        if self.added:
            self.digests = array("q", heapq.nsmallest(DIGESTS_KEPT, self.added.union(self.digests)))
            self.added = set()


@dataclass(slots=True)
class _StatementTallies:
    """The tallies of a statement, which is None where it always means the same, by the identity of their meaning.

    A statement has one object for each of its meanings: what they say need not be looked at again with each run.
    """

    statement: NamedStatement | None
    by_meaning: dict[int, Tally] = field(default_factory=dict)


class _Copies:
    """The runs of one time by their records, of which a log may have copies; told in the order of time.

    Exports overlap. A copy that a later run meets is known by its digest and not read; what is read at once must not
    swap two tables back, nor move the end of a view that it defines.
    """

    def __init__(self) -> None:
        self._time = 0.0
        self._last: tuple[Run, Run, Tally] | None = None  # filed once another has its time: most are alone with theirs
        self._first: dict[tuple[int | None, int, int], tuple[Run, Tally]] = {}

    def first_of(self, run: Run) -> tuple[Run, Tally] | None:
        """The first run of this statement of the record, as it was counted, and where."""
        if run.time != self._time:
            self._time, self._last = run.time, None
            if self._first:
                self._first.clear()
            return None
        if self._last is not None:
            last, counted, tally = self._last
            self._first[last.digest, last.position, last.step] = counted, tally
        return None if run.digest is None else self._first.get((run.digest, run.position, run.step))

    def note(self, run: Run, counted: Run, tally: Tally) -> None:
        """A run, as it was counted; without a time a record may be one of many runs."""
        self._last = (run, counted, tally) if run.time > 0 else None


class RunTallies:
    """Tallies of runs that are told in the order of time."""

    def __init__(self, templates: TemplateNames, defaults: NamespaceDefaults) -> None:
        self._templates = templates
        self._defaults = defaults
        self._states = NameStateTracker()
        self._moments = MomentsApart()
        self._copies = _Copies()
        self._statements: dict[StatementRuns, _StatementTallies] = {}

    def add(self, run: Run) -> None:
        """Counts a run to those that mean the same."""
        runs = StatementRuns(
            run.fingerprint, run.database or "", tuple(run.search_path or ()), run.routine, run.already_published
        )
        own = self._statements.get(runs)
        if own is None:
            own = self._statements[runs] = _StatementTallies(self._statement_of(runs))
        meaning, counted = _ALWAYS, run
        if own.statement is not None:
            first = self._copies.first_of(run)
            if first is not None:  # it counts, and nothing follows from it
                first[1].add(first[0])
                return
            meaning = self._states.run(own.statement, run.session)
            time = self._moments.time_of(own.statement, run.time)
            counted = run if time == run.time else run._replace(time=time)
        tally = own.by_meaning.get(id(meaning))
        if tally is None:
            tally = own.by_meaning[id(meaning)] = Tally(runs, meaning, counted.moment, counted.moment)
        tally.add(counted)
        if own.statement is not None:
            self._copies.note(run, counted, tally)

    def begin(self) -> None:
        """What follows has nothing to do with what came before."""
        self._states.forget()
        self._moments.forget()
        self._copies = _Copies()

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


def _tally_task(
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


# Tallies of the runs of templates that always mean the same, made where the runs are, in no order.


def tally_plain_runs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of the rows of a task (RUN_COLUMNS), a row for each tally (PLAIN_TALLY_SCHEMA).

    However often a template ran, no more of its runs is at hand than a tally keeps.
    """
    tallies = RunTallies(TemplateNames(), NamespaceDefaults("", ""))
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in RUN_COLUMNS)
        for row in zip(*columns, strict=True):
            tallies.add(Run._make(row))
    found = [*tallies.tallies()]
    for start in range(0, len(found), _TALLIES_A_BATCH):
        rows = map(_row, found[start : start + _TALLIES_A_BATCH])
        yield pa.RecordBatch.from_pylist([*rows], schema=_ARROW_SCHEMA)


def _row(tally: Tally) -> dict[str, object]:
    runs, runners = tally.runs, tally.runners.items()
    values = (
        *(runs.fingerprint, runs.database, runs.search_path, runs.routine, runs.already_published),
        *(
            tally.count,
            tally.read_in_this_run,
            sorted(tally.users),
            tally.digests.tolist(),
            sorted(tally.jobs),
            [dict(zip(_RUNNER.names, (*who, ran.first, ran.last, ran.days), strict=True)) for who, ran in runners],
            tally.duration,
        ),
        *(dict(zip(_MOMENT.names, moment, strict=True)) for moment in (tally.at, tally.last)),
    )
    return dict(zip(_ARROW_SCHEMA.names, values, strict=True))


# The runs of a log, tallied.
#
# Runs of one template in one namespace are one occurrence, as long as the same stands under the names that it
# mentions (`meanings`): what is defined again as it was is no change, and what sessions did alike with temporary
# tables of their own is the same, whoever did it.


def with_namespace(statements: DataFrame, *, session_changes: bool) -> DataFrame:
    """Adds `namespace_database` and `namespace_path`: where the session looked for names when the statement ran.

    A `SET search_path` or `USE` holds until the next one of its session. A log that tells each statement's own default
    schema overrules it: recognised by a value other than the one that stood at the change itself. Where the log names
    no sessions, one may have said it and another run the statement: what a record tells of itself overrules it too.
    So it does where it is not known what was set (`USE {{ db }}`), or nothing is any more (RESET).
    `session_changes` is false where there is none.
    """
    if not session_changes:
        return statements.withColumns({"namespace_database": F.col("database"), "namespace_path": _own_path()})
    before = Window.partitionBy("session").orderBy(*ORDER).rowsBetween(Window.unboundedPreceding, -1)
    followed = statements.withColumns({name: of.over(before) for name, of in _set_so_far().items()})
    return _with_what_was_set(followed)


def with_namespaces(statements: DataFrame) -> DataFrame:
    """The same as `with_namespace` of many statements: without going through each session where few changes differ."""
    states = _session_states(statements)
    if states is None:
        return with_namespace(statements, session_changes=True)
    moment = F.struct(*ORDER)
    holds = (F.col("of_session") == F.col("session")) & (moment > F.col("since"))
    holds &= F.col("until").isNull() | (moment <= F.col("until"))
    return _with_what_was_set(statements.join(F.broadcast(states), holds, "left").drop("of_session", "since", "until"))


def _session_states(statements: DataFrame) -> DataFrame | None:
    """What sessions had set, and from when to when; None where it changed too often to be looked up."""
    own = Window.partitionBy("session").orderBy(*ORDER)
    setting = statements.where(F.col("set_database").isNotNull() | F.col("set_path").isNotNull())
    states = setting.select("session", *ORDER, *(of.over(own).alias(name) for name, of in _set_so_far().items()))
    state = F.struct(*_set_so_far())
    new = states.withColumn("was", F.lag(state).over(own)).where(~state.eqNullSafe(F.col("was")))
    since, of_session = F.struct(*ORDER).alias("since"), F.col("session").alias("of_session")
    until = F.lead(F.struct(*ORDER)).over(own).alias("until")
    found = new.select(of_session, since, until, *_set_so_far())
    rows = found.limit(_LOOKED_UP + 1).collect()
    most_in_a_session = max(Counter(row["of_session"] for row in rows).values(), default=0)
    if len(rows) > _LOOKED_UP or most_in_a_session > _LOOKED_UP_IN_A_SESSION:
        return None
    return statements.sparkSession.createDataFrame(rows, found.schema)


def _set_so_far() -> dict[str, Column]:
    """What a session has set last, by the names of the columns that it is kept in."""
    path = F.when(F.col("set_path").isNotNull(), F.struct("set_path", "schema"))
    return {
        "set_database_before": F.last("set_database", ignorenulls=True),
        "set_path_before": F.last(path, ignorenulls=True),
    }


def _own_path() -> Column:
    return F.coalesce("path", F.when(F.col("schema").isNotNull(), F.array("schema")))


def _with_what_was_set(followed: DataFrame) -> DataFrame:
    """The namespaces of statements that have what their sessions had set before."""
    guessed = _is_guessed(F.col("session"))
    other_schema = guessed | ~F.col("schema").eqNullSafe(F.col("set_path_before.schema"))
    names_none = ~_is_known(F.coalesce(F.get("set_path_before.set_path", F.lit(0)), F.lit("")))
    names_another_schema = F.col("schema").isNotNull() & (other_schema | names_none)
    set_before = F.col("set_path_before").isNotNull() & F.col("path").isNull() & ~names_another_schema
    path = F.when(set_before, F.col("set_path_before.set_path")).otherwise(_own_path())
    # A routine with a path of its own is in its own database too, wherever it is called from.
    own_database = F.col("path").isNotNull() | (guessed & F.col("database").isNotNull())
    set_database = F.when(~own_database, F.col("set_database_before"))
    known_database = F.when(_is_known(set_database), set_database)
    database = F.coalesce(known_database, "database", set_database)
    placed = followed.withColumns({"namespace_path": path, "namespace_database": database})
    return placed.drop(*_set_so_far())


def _is_known(name: Column) -> Column:
    """Whether a database or schema that was set is a name: it is empty after RESET."""
    return (name != "") & ~F.startswith(name, F.lit(UNREADABLE))


def _is_guessed(session: Column) -> Column:
    """Whether a session is but what one user did in one database (`session_of`)."""
    user, database = (F.coalesce(name, F.lit("")) for name in ("user", "database"))
    guess = F.concat(user, F.lit("@"), database)
    # To make letters small costs more than all else that is asked of a statement here: only where that may decide.
    return (session == guess) | (F.contains(session, F.lit("@")) & (F.lower(session) == F.lower(guess)))


def groups(statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    """A tally for all runs that mean the same, of all that may have lineage; of those of a chain, there may be several.

    `statements` have a namespace, and `read_in_this_run`: whether this run read them.
    """
    return _tallies(statements.where(F.col("fingerprint").isNotNull()), templates, defaults)


def small_groups(statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    """The same as `groups`, without a shuffle: of statements that are few enough to be brought here."""
    with_lineage = statements.where(F.col("fingerprint").isNotNull())
    runs = sorted((Run._make(row) for row in with_lineage.select(*RUN_COLUMNS).collect()), key=lambda run: run.moment)
    tallies = RunTallies(templates, defaults)
    for run in runs:
        tallies.add(run)
    yield from tallies.tallies()


def _tallies(with_lineage: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    spark = with_lineage.sparkSession
    if not templates.chains:
        yield from (_tally(row) for row in _rows(_plain_tallies(with_lineage)))
        return
    rows = [(template, chain.number, chain.in_session) for template, chain in templates.chains.items()]
    chains = spark.createDataFrame(rows, "fingerprint string, chain int, in_session boolean")
    marked = with_lineage.join(F.broadcast(chains), "fingerprint", "left")
    yield from (_tally(row) for row in _rows(_plain_tallies(marked.where(F.col("chain").isNull()))))
    stream = F.struct("chain", F.when(F.col("in_session"), F.col("session")).alias("session"))
    streams = marked.where(F.col("chain").isNotNull()).select(stream.alias("stream"), *RUN_COLUMNS)
    ordered = streams.repartition("stream").sortWithinPartitions("stream", *ORDER)
    for row in _rows(ordered.mapInArrow(_tally_task(templates, defaults), "tally binary")):
        yield pickle.loads(row["tally"])


def _rows(found: DataFrame) -> Iterator[Row]:
    """The rows, a partition at a time: they are never here all at once, and Spark makes them all at once."""
    with kept_by_spark(found) as kept:
        kept.count()
        yield from kept.toLocalIterator()


def _plain_tallies(with_lineage: DataFrame) -> DataFrame:
    """Those of each task first, which has no more of a template at hand than is kept, however often it ran."""
    of_tasks = with_lineage.select(*RUN_COLUMNS).mapInArrow(tally_plain_runs, PLAIN_TALLY_SCHEMA)
    return of_tasks.groupBy(*_RUNS).agg(
        F.sum("count").alias("count"),
        F.sum("read_in_this_run").alias("read_in_this_run"),
        _union_of("users").alias("users"),
        F.slice(F.array_sort(_union_of("digests")), 1, DIGESTS_KEPT).alias("digests"),
        F.slice(F.array_sort(_union_of("jobs")), 1, JOBS_KEPT).alias("jobs"),
        _union_of("runners").alias("runners"),
        F.sum("duration").alias("duration"),
        F.min("at").alias("at"),
        F.max("last").alias("last"),
    )


def _union_of(name: str) -> Column:
    return F.array_distinct(F.flatten(F.collect_list(name)))


def _tally(row: Row) -> Tally:
    runs = StatementRuns(
        row["fingerprint"],
        row["namespace_database"] or "",
        tuple(row["namespace_path"] or ()),
        row["routine"],
        row["already_published"],
    )
    tally = Tally(
        runs,
        Meaning(),
        tuple(row["at"]),
        tuple(row["last"]),
        row["count"],
        row["read_in_this_run"],
        set(row["users"]),
        array("q", row["digests"]),
        set(row["jobs"]),
        row["duration"] or 0.0,
    )
    for job, user, hour, first, last, days in row["runners"]:
        tally.note_runner(Runner(job, user, hour), RunDays(first, last, days))
    return tally


# Where the sessions of statements looked for names, told from what they had set before.


def with_session_namespaces(rows: DataFrame, whole: DataFrame | None, *, are_few: bool = False) -> DataFrame:
    """Statements (with OF_SESSION), and the namespace that their session had: `with_namespace`.

    `whole` has all that their sessions did; None where nothing changed what a session had set. Both `are_few` where
    neither has more than FEW.
    """
    if whole is None:
        return with_namespace(rows, session_changes=False)
    changes = whole.where("sets").select(*OF_SESSION).withColumn("asked", F.lit(False))
    both = rows.withColumn("asked", F.lit(True)).unionByName(changes, allowMissingColumns=True)
    placed = with_namespace(both.coalesce(1), session_changes=True) if are_few else with_namespaces(both)
    return placed.where("asked").drop("asked")
