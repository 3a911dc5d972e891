"""Which statements ran where and when, grouped so that the driver sees templates and not rows.

Runs of one template in one namespace are one occurrence, as long as the same stands under the names that it mentions
(`meanings`): what is defined again as it was is no change, and what sessions did alike with temporary tables of their
own is the same, whoever did it.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from ingestion.binding.name_states import ANY_SESSION, Meaning
from ingestion.binding.restored_names import NameStates
from ingestion.contribution import JOBS_KEPT
from ingestion.names.namespaces import NamespaceDefaults
from workflows.templates.meanings import DIGESTS_KEPT, RUN_COLUMNS, Run, RunTallies, StatementRuns, Tally, tally_task
from workflows.templates.names import TemplateNames

RECORD_ORDER = ("time", "file", "line")
ORDER = (*RECORD_ORDER, "position", "step")
_LOOKED_UP = 10_000
"""Changes of what sessions have set that are looked up for each statement, and those of one session."""
_LOOKED_UP_IN_A_SESSION = 100
_RUNS = ("fingerprint", "namespace_database", "namespace_path", "routine", "standing")


@dataclass(frozen=True, slots=True)
class OccurrenceGroup:
    """Runs that mean the same: one occurrence for binding. Times are seconds since the epoch, `duration` their sum.

    `fresh` of the `count` runs were read by this run of the workflow, the others by earlier ones. `jobs` are at most
    JOBS_KEPT names of what ran them. `routine` is the routine (database.schema.name) that they are part of;
    `already_published` marks a definition whose lineage an earlier run published. `states`: what stood under its
    names, where that changes.
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
    digests: tuple[int, ...]
    duration: float
    jobs: tuple[str, ...] = ()
    routine: str | None = None
    already_published: bool = False
    fresh: int = 0
    states: NameStates | None = None


def with_namespace(statements: DataFrame, *, session_changes: bool) -> DataFrame:
    """Adds `namespace_database` and `namespace_path`: where the session looked for names when the statement ran.

    A `SET search_path` or `USE` holds until the next one of its session. A log that tells each statement's own default
    schema overrules it: recognised by a value other than the one that stood at the change itself. Where the log names
    no sessions, one may have said it and another run the statement: what a record tells of itself overrules it too.
    `session_changes` is false where there is none.
    """
    if not session_changes:
        return statements.withColumn("namespace_database", F.col("database")).withColumn("namespace_path", _own_path())
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
    names_another_schema = F.col("schema").isNotNull() & other_schema
    set_before = F.col("set_path_before").isNotNull() & F.col("path").isNull() & ~names_another_schema
    path = F.when(set_before, F.col("set_path_before.set_path")).otherwise(_own_path())
    # A routine with a path of its own is in its own database too, wherever it is called from.
    own_database = F.col("path").isNotNull() | (guessed & F.col("database").isNotNull())
    set_database = F.when(~own_database, F.col("set_database_before"))
    return (
        followed.withColumn("namespace_path", path)
        .withColumn("namespace_database", F.coalesce(set_database, "database"))
        .drop(*_set_so_far())
    )


def _is_guessed(session: Column) -> Column:
    """Whether a session is but what one user did in one database (`session_of`)."""
    user, database = (F.coalesce(name, F.lit("")) for name in ("user", "database"))
    return F.lower(session) == F.lower(F.concat(user, F.lit("@"), database))


def groups(statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[OccurrenceGroup]:
    """The occurrences of all lineage-bearing statements, in the order of time.

    `statements` have a namespace, and `fresh`: whether this run read them.
    """
    tallies: dict[object, Tally] = {}
    for tally in _tallies(statements.where(F.col("fingerprint").isNotNull()), templates, defaults):
        known = tallies.setdefault(tally.key, tally)
        if known is not tally:
            known.merge(tally)
    return groups_of(tallies.values())


def small_groups(
    statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults
) -> Iterator[OccurrenceGroup]:
    """The same as `groups`, without a shuffle: of statements that are few enough to be brought here."""
    bearing = statements.where(F.col("fingerprint").isNotNull())
    runs = sorted((Run._make(row) for row in bearing.select(*RUN_COLUMNS).collect()), key=lambda run: run.moment)
    tallies = RunTallies(templates, defaults)
    for run in runs:
        tallies.add(run)
    return groups_of(tallies.tallies())


def groups_of(tallies: Iterable[Tally]) -> Iterator[OccurrenceGroup]:
    """An occurrence for each tally, in the order of time."""
    ordered = sorted(tallies, key=lambda tally: (tally.at, tally.runs.fingerprint))
    ranks = {id(tally): rank for rank, tally in enumerate(sorted(ordered, key=lambda tally: tally.last))}
    for position, tally in enumerate(ordered):
        runs, meaning = tally.runs, tally.meaning
        # Only what finds or leaves something under a changing name has states to be put back.
        follows = bool(meaning.before or meaning.after)
        yield OccurrenceGroup(
            template=runs.fingerprint,
            database=runs.database,
            search_path=runs.search_path,
            session=ANY_SESSION if follows else None,
            order=(tally.at[0], position),
            first_seen=tally.at[0],
            last_seen=tally.last[0],
            count=tally.count,
            fresh=tally.fresh,
            users=tuple(sorted(tally.users)),
            digests=tuple(sorted(tally.digests)),
            duration=tally.duration,
            jobs=tuple(sorted(tally.jobs)),
            routine=runs.routine,
            already_published=runs.already_published,
            states=NameStates(meaning.before, meaning.after, (tally.last[0], ranks[id(tally)])) if follows else None,
        )


def _tallies(bearing: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    spark = bearing.sparkSession
    if not templates.chains:
        yield from (_tally(row) for row in _plain_tallies(bearing).collect())
        return
    rows = [(template, chain.number, chain.in_session) for template, chain in templates.chains.items()]
    chains = spark.createDataFrame(rows, "fingerprint string, chain int, in_session boolean")
    marked = bearing.join(F.broadcast(chains), "fingerprint", "left")
    yield from (_tally(row) for row in _plain_tallies(marked.where(F.col("chain").isNull())).collect())
    stream = F.struct("chain", F.when(F.col("in_session"), F.col("session")).alias("session"))
    streams = marked.where(F.col("chain").isNotNull()).select(stream.alias("stream"), *RUN_COLUMNS)
    ordered = streams.repartition("stream").sortWithinPartitions("stream", *ORDER)
    for row in ordered.mapInArrow(tally_task(templates, defaults), "tally binary").collect():
        yield pickle.loads(row["tally"])


def _plain_tallies(bearing: DataFrame) -> DataFrame:
    return bearing.groupBy(*_RUNS).agg(
        F.count(F.lit(1)).alias("count"),
        F.count(F.when(F.col("fresh"), 1)).alias("fresh"),
        F.collect_set("user").alias("users"),
        F.slice(F.array_sort(F.collect_set("digest")), 1, DIGESTS_KEPT).alias("digests"),
        F.slice(F.array_sort(F.collect_set("job")), 1, JOBS_KEPT).alias("jobs"),
        F.sum("duration").alias("duration"),
        F.min(F.struct(*ORDER)).alias("at"),
        F.max(F.struct(*ORDER)).alias("last"),
    )


def _tally(row: Row) -> Tally:
    runs = StatementRuns(
        row["fingerprint"],
        row["namespace_database"] or "",
        tuple(row["namespace_path"] or ()),
        row["routine"],
        row["standing"],
    )
    return Tally(
        runs,
        Meaning(),
        tuple(row["at"]),
        tuple(row["last"]),
        row["count"],
        row["fresh"],
        set(row["users"]),
        set(row["digests"]),
        set(row["jobs"]),
        row["duration"] or 0.0,
    )
