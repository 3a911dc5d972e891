"""Which statements ran where and when, tallied so that the driver sees templates and not rows.

Runs of one template in one namespace are one occurrence, as long as the same stands under the names that it mentions
(`meanings`): what is defined again as it was is no change, and what sessions did alike with temporary tables of their
own is the same, whoever did it.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from ingestion.binding.name_states import Meaning
from ingestion.contribution import JOBS_KEPT
from ingestion.names.namespaces import NamespaceDefaults
from workflows.templates.meanings import DIGESTS_KEPT, RUN_COLUMNS, Run, RunTallies, StatementRuns, Tally, tally_task
from workflows.templates.names import TemplateNames
from workflows.templates.plain_tallies import PLAIN_TALLY_SCHEMA, tally_plain_runs

RECORD_ORDER = ("time", "file", "line")
ORDER = (*RECORD_ORDER, "position", "step")
FEW = 20_000
"""Statements that are cheaper to work on in one partition than to be shuffled."""
_LOOKED_UP = 10_000
"""Changes of what sessions have set that are looked up for each statement, and those of one session."""
_LOOKED_UP_IN_A_SESSION = 100
_RUNS = ("fingerprint", "namespace_database", "namespace_path", "routine", "standing")


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
    guess = F.concat(user, F.lit("@"), database)
    # To make letters small costs more than all else that is asked of a statement here: only where that may decide.
    return (session == guess) | (F.contains(session, F.lit("@")) & (F.lower(session) == F.lower(guess)))


def groups(statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    """A tally for all runs that mean the same, of all lineage-bearing statements; of a chain's, there may be several.

    `statements` have a namespace, and `fresh`: whether this run read them.
    """
    return _tallies(statements.where(F.col("fingerprint").isNotNull()), templates, defaults)


def small_groups(statements: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    """The same as `groups`, without a shuffle: of statements that are few enough to be brought here."""
    bearing = statements.where(F.col("fingerprint").isNotNull())
    runs = sorted((Run._make(row) for row in bearing.select(*RUN_COLUMNS).collect()), key=lambda run: run.moment)
    tallies = RunTallies(templates, defaults)
    for run in runs:
        tallies.add(run)
    yield from tallies.tallies()


def _tallies(bearing: DataFrame, templates: TemplateNames, defaults: NamespaceDefaults) -> Iterator[Tally]:
    spark = bearing.sparkSession
    if not templates.chains:
        yield from (_tally(row) for row in _rows(_plain_tallies(bearing)))
        return
    rows = [(template, chain.number, chain.in_session) for template, chain in templates.chains.items()]
    chains = spark.createDataFrame(rows, "fingerprint string, chain int, in_session boolean")
    marked = bearing.join(F.broadcast(chains), "fingerprint", "left")
    yield from (_tally(row) for row in _rows(_plain_tallies(marked.where(F.col("chain").isNull()))))
    stream = F.struct("chain", F.when(F.col("in_session"), F.col("session")).alias("session"))
    streams = marked.where(F.col("chain").isNotNull()).select(stream.alias("stream"), *RUN_COLUMNS)
    ordered = streams.repartition("stream").sortWithinPartitions("stream", *ORDER)
    for row in _rows(ordered.mapInArrow(tally_task(templates, defaults), "tally binary")):
        yield pickle.loads(row["tally"])


def _rows(found: DataFrame) -> Iterator[Row]:
    """The rows, a partition at a time: they are never here all at once, and Spark makes them all at once."""
    kept = found.persist(StorageLevel.DISK_ONLY)
    try:
        kept.count()
        yield from kept.toLocalIterator()
    finally:
        kept.unpersist()


def _plain_tallies(bearing: DataFrame) -> DataFrame:
    """Those of each task first, which has no more of a template at hand than is kept, however often it ran."""
    of_tasks = bearing.select(*RUN_COLUMNS).mapInArrow(tally_plain_runs, PLAIN_TALLY_SCHEMA)
    return of_tasks.groupBy(*_RUNS).agg(
        F.sum("count").alias("count"),
        F.sum("fresh").alias("fresh"),
        _union_of("users").alias("users"),
        F.slice(F.array_sort(_union_of("digests")), 1, DIGESTS_KEPT).alias("digests"),
        F.slice(F.array_sort(_union_of("jobs")), 1, JOBS_KEPT).alias("jobs"),
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
