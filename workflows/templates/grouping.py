"""Which statements ran where and when, grouped so that the driver sees templates and not rows.

Runs of one template in one namespace are one occurrence, as long as none of the names that it mentions was defined
anew in between. Templates that touch temporary names are kept as sequences per session instead, and sessions that did
the same are one sequence: a nightly job that ran a thousand times is one sequence of a thousand runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from ingestion.contribution import JOBS_KEPT

RECORD_ORDER = ("time", "file", "line")
ORDER = (*RECORD_ORDER, "position", "step")
_MEANING = ("fingerprint", "namespace_database", "namespace_path", "epoch", "routine", "standing")
DIGESTS_KEPT = 1000
"""Record digests that an occurrence carries at most; beyond it only their count is exact."""


@dataclass(frozen=True, slots=True)
class TableUsage:
    """What the grouping has to know of a template: the tables it mentions, defines and ends, by their own names."""

    mentioned: frozenset[str]
    defined: frozenset[str]
    ended: frozenset[str]
    temporary: bool


@dataclass(frozen=True, slots=True)
class OccurrenceGroup:
    """Runs that mean the same: one occurrence for binding. Times are seconds since the epoch, `duration` their sum.

    `fresh` of the `count` runs were read by this run of the workflow, the others by earlier ones. `jobs` are at most
    JOBS_KEPT names of what ran them. `routine` is the routine (database.schema.name) that they are part of;
    `already_published` marks a definition whose lineage an earlier run published.
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


def with_namespace(statements: DataFrame, *, session_changes: bool) -> DataFrame:
    """Adds `namespace_database` and `namespace_path`: where the session looked for names when the statement ran.

    A `SET search_path` or `USE` holds until the next one of its session. A log that tells each statement's own default
    schema overrules it: recognised by a value other than the one that stood at the change itself. Where the log names
    no sessions, one may have said it and another run the statement: what a record tells of itself overrules it too.
    `session_changes` is false where there is none.
    """
    own_path = F.coalesce("path", F.when(F.col("schema").isNotNull(), F.array("schema")))
    if not session_changes:
        return statements.withColumn("namespace_database", F.col("database")).withColumn("namespace_path", own_path)
    before = Window.partitionBy("session").orderBy(*ORDER).rowsBetween(Window.unboundedPreceding, -1)
    change = F.struct("set_path", "schema")
    followed = statements.withColumn(
        "set_database_before", F.last("set_database", ignorenulls=True).over(before)
    ).withColumn(
        "set_path_before", F.last(F.when(F.col("set_path").isNotNull(), change), ignorenulls=True).over(before)
    )
    guessed = _is_guessed(F.col("session"))
    other_schema = guessed | ~F.col("schema").eqNullSafe(F.col("set_path_before.schema"))
    names_another_schema = F.col("schema").isNotNull() & other_schema
    set_before = F.col("set_path_before").isNotNull() & F.col("path").isNull() & ~names_another_schema
    path = F.when(set_before, F.col("set_path_before.set_path")).otherwise(own_path)
    # A routine with a path of its own is in its own database too, wherever it is called from.
    own_database = F.col("path").isNotNull() | (guessed & F.col("database").isNotNull())
    set_database = F.when(~own_database, F.col("set_database_before"))
    return (
        followed.withColumn("namespace_path", path)
        .withColumn("namespace_database", F.coalesce(set_database, "database"))
        .drop("set_database_before", "set_path_before")
    )


def _is_guessed(session: Column) -> Column:
    """Whether a session is but what one user did in one database (`session_of`)."""
    user, database = (F.coalesce(name, F.lit("")) for name in ("user", "database"))
    return F.lower(session) == F.lower(F.concat(user, F.lit("@"), database))


def _definition_times(statements: DataFrame, templates: Mapping[str, TableUsage]) -> dict[str, list[float]]:
    """For each table name that was defined more than once, or ended: the moments at which its definition changed."""
    spark = statements.sparkSession
    rows = [(template, name, False) for template, names in templates.items() for name in sorted(names.defined)]
    rows += [(template, name, True) for template, names in templates.items() for name in sorted(names.ended)]
    by_name: dict[str, set[str]] = {}
    for template, name, _ in rows:
        by_name.setdefault(name, set()).add(template)
    # What one template alone defines and ends is the same at all times, and Spark need not be asked.
    rows = [row for row in rows if not templates[row[0]].temporary and len(by_name[row[1]]) > 1]
    if not rows:
        return {}
    definers = spark.createDataFrame(rows, "fingerprint string, name string, ends boolean")
    runs = statements.join(F.broadcast(definers), "fingerprint").select("name", "ends", "fingerprint", *ORDER)
    by_time = Window.partitionBy("name").orderBy(*ORDER, F.col("ends").desc())
    # DROP and CREATE of the same definition, night after night, is one definition: only the last end counts.
    lasting = runs.withColumn("replaced", F.lead("ends").over(by_time) == F.lit(False)).where(
        ~F.col("ends") | F.col("replaced").isNull() | ~F.col("replaced")
    )
    changed = lasting.withColumn("before", F.lag("fingerprint").over(by_time)).where(
        F.col("before").isNull() | (F.col("before") != F.col("fingerprint"))
    )
    times: dict[str, list[float]] = {}
    for row in changed.select("name", "time").collect():
        times.setdefault(row["name"], []).append(row["time"])
    return {name: sorted(moments) for name, moments in times.items() if len(moments) > 1}


def groups(statements: DataFrame, templates: Mapping[str, TableUsage]) -> Iterator[OccurrenceGroup]:
    """The occurrences of all lineage-bearing statements whose template was parsed, in no particular order.

    `statements` have a namespace, and `fresh`: whether this run read them.
    """
    marked = _mark(statements, templates)
    position = 0
    plain = _plain_groups(marked.where(~F.col("scoped"))).collect()
    for row in sorted(plain, key=lambda row: (row["at"], row["fingerprint"])):
        yield _group(row, position)
        position += 1
    if not any(names.temporary for names in templates.values()):
        return
    sequences = _session_sequences(marked.where("scoped")).collect()
    for number, row in enumerate(sorted(sequences, key=lambda row: row["at"])):
        for group in _groups_of_sequence(row, number, position):
            yield group
            position += 1


def _mark(statements: DataFrame, templates: Mapping[str, TableUsage]) -> DataFrame:
    spark = statements.sparkSession
    times = _definition_times(statements, templates)
    rows = []
    for template, names in templates.items():
        moments = sorted({moment for name in names.mentioned for moment in times.get(name, ())})
        rows.append((template, names.temporary, moments))
    info = spark.createDataFrame(rows, "fingerprint string, scoped boolean, moments array<double>")
    joined = statements.where(F.col("fingerprint").isNotNull()).join(F.broadcast(info), "fingerprint")
    return joined.withColumn("epoch", F.size(F.expr("filter(moments, m -> m <= time)"))).drop("moments")


def _measures() -> list[Column]:
    return [
        F.count(F.lit(1)).alias("count"),
        F.count(F.when(F.col("fresh"), 1)).alias("fresh"),
        F.min("time").alias("first_seen"),
        F.max("time").alias("last_seen"),
        F.collect_set("user").alias("users"),
        F.slice(F.array_sort(F.collect_set("digest")), 1, DIGESTS_KEPT).alias("digests"),
        F.slice(F.array_sort(F.collect_set("job")), 1, JOBS_KEPT).alias("jobs"),
        F.sum("duration").alias("duration"),
        F.min(F.struct(*ORDER)).alias("at"),
    ]


def _plain_groups(marked: DataFrame) -> DataFrame:
    return marked.groupBy(*_MEANING).agg(*_measures())


def _session_sequences(marked: DataFrame) -> DataFrame:
    statement = F.struct(*ORDER, *_MEANING, "digest", "job", F.col("fresh").cast("int").alias("fresh"))
    sessions = marked.groupBy("session").agg(
        F.array_sort(F.collect_list(statement)).alias("sequence"),
        F.min("time").alias("first_seen"),
        F.max("time").alias("last_seen"),
        F.collect_set("user").alias("users"),
        F.min(F.struct(*ORDER)).alias("at"),
    )
    meaning = F.transform("sequence", lambda s: F.struct(*(s[name] for name in _MEANING)))
    grouped = sessions.withColumn("meaning", meaning).groupBy("meaning")
    return grouped.agg(
        F.min_by("sequence", "at").alias("sequence"),
        F.count(F.lit(1)).alias("count"),
        F.collect_list(F.transform("sequence", lambda s: s["fresh"])).alias("fresh"),
        F.min("first_seen").alias("first_seen"),
        F.max("last_seen").alias("last_seen"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("users")))).alias("users"),
        F.slice(F.collect_list(F.transform("sequence", lambda s: s["digest"])), 1, DIGESTS_KEPT).alias("digests"),
        # Of each session the jobs of its statements: few, since a job's name is the same in every run.
        F.slice(F.array_sort(F.collect_set(F.transform("sequence", lambda s: s["job"]))), 1, JOBS_KEPT).alias("jobs"),
        F.min("at").alias("at"),
    )


def _group(row: Row, position: int) -> OccurrenceGroup:
    return OccurrenceGroup(
        template=row["fingerprint"],
        database=row["namespace_database"] or "",
        search_path=tuple(row["namespace_path"] or ()),
        session=None,
        order=(row["at"]["time"], position),
        first_seen=row["first_seen"],
        last_seen=row["last_seen"],
        count=row["count"],
        fresh=row["fresh"],
        users=tuple(sorted(row["users"])),
        digests=tuple(row["digests"]),
        jobs=tuple(row["jobs"]),
        duration=row["duration"] or 0.0,
        routine=row["routine"],
        already_published=row["standing"],
    )


def _groups_of_sequence(row: Row, number: int, position: int) -> Iterator[OccurrenceGroup]:
    """One occurrence for each statement of a session that `count` sessions went through alike."""
    first = row["sequence"][0]["time"]
    for offset, statement in enumerate(row["sequence"]):
        yield OccurrenceGroup(
            template=statement["fingerprint"],
            database=statement["namespace_database"] or "",
            search_path=tuple(statement["namespace_path"] or ()),
            session=f"sequence {number}",
            order=(statement["time"], position + offset),
            first_seen=row["first_seen"] + statement["time"] - first,
            last_seen=row["last_seen"],
            count=row["count"],
            fresh=sum(session[offset] for session in row["fresh"]),
            users=tuple(row["users"]),
            digests=tuple(session[offset] for session in row["digests"] if session[offset] is not None),
            jobs=tuple(sorted({jobs[offset] for jobs in row["jobs"] if jobs[offset] is not None})),
            duration=0.0,
            routine=statement["routine"],
            already_published=statement["standing"],
        )
