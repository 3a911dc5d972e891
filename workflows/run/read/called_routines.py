"""Calls become the statements that the called routine runs: in the caller's session, at the moment of the call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from connectors.source import FailedDefinition
from ingestion.model.isolation import Failure, FailureStage, Isolation
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines import KnownRoutine, KnownRoutines, key_of, known_routines
from ingestion.statements.routines.definition import Definition, DefinitionKind
from ingestion.statements.routines.steps import RoutineStep
from workflows.config.namespaces import SourceSettings, namespace_of
from workflows.run.read.definitions import with_views
from workflows.run.read.statements import STATEMENT_SCHEMA, Row, StatementRow, TaskState, step_row
from workflows.run.read.statistics import StatementStatistics

_CALLS_SCHEMA = "call_name array<string>, call_database string, call_schema string, key string"
_STEP_COLUMNS = {
    "text": "string",
    "fingerprint": "string",
    "skipped": "string",
    "dead": "string",
    "path": "array<string>",
    "routine": "string",
    "set_how": "string",
    "dialect": "string",
    "called": "array<string>",
}
"""What a statement of a routine has of its own; the rest is its caller's."""


def with_routines(
    statements: DataFrame,
    statistics: StatementStatistics,
    definitions: Iterable[Definition],
    dialect: str,
    settings: SourceSettings,
) -> DataFrame:
    """`statements` and, for every call of a routine that is known, the statements that it runs.

    The same frame where `statistics`, theirs, has neither routines nor calls.
    """
    isolation = Isolation[str]()
    stored = [definition for definition in definitions if definition.kind is DefinitionKind.ROUTINE]
    known = known_routines(
        dialect,
        lambda database, path: namespace_of(database, path, settings),
        stored,
        _logged_definitions(statements) if statistics.counts.skipped.get(Outcome.ROUTINE_DEFINITION) else (),
        isolation,
    )
    lost = list(_lost_definitions(stored, isolation.failures))
    statements = with_views(_given_up(statements, isolation.failures), (), dialect, _without_dead(lost, statements))
    if not known.by_key:
        return _unknown_marked(statements) if statistics.calls else statements
    spark = statements.sparkSession
    calls = list(_calls(statements, known)) if statistics.calls else []
    state = TaskState(dialect)
    whole = statements
    ran = [row for key in sorted({call[3] for call in calls}) for row in _ran_by(key, known, state)]
    if ran:
        whole = _with_calls(
            statements, spark.createDataFrame(calls, _CALLS_SCHEMA), spark.createDataFrame(ran, _ran_schema())
        )
    alone = list(_never_called(known, {call[3] for call in calls}, state))
    if alone:
        whole = whole.unionByName(spark.createDataFrame(alone, STATEMENT_SCHEMA))
    return _unknown_marked(whole)


def _given_up(statements: DataFrame, failures: Mapping[str, Failure]) -> DataFrame:
    """`statements`, with the definitions (by text) that could not be taken apart dead."""
    if not failures:
        return statements
    reason = next(iter(failures.values())).reason
    failed = (F.col("skipped") == Outcome.ROUTINE_DEFINITION) & F.col("text").isin(sorted(failures))
    return statements.withColumns(
        {
            "dead": F.when(failed, reason).otherwise(F.col("dead")),
            "skipped": F.when(failed, None).otherwise(F.col("skipped")),
        }
    )


def _lost_definitions(stored: Iterable[Definition], failures: Mapping[str, Failure]) -> Iterator[FailedDefinition]:
    """Those of the stored definitions that could not be taken apart, which no record of the log stands for."""
    for definition in stored:
        if failure := failures.get(definition.text):
            yield FailedDefinition(definition, f"definition of {key_of(definition.full_name)}:1", failure.reason)


def _without_dead(lost: Sequence[FailedDefinition], statements: DataFrame) -> list[FailedDefinition]:
    """Each of the lost definitions once, without those that are dead in `statements` already, as what gives rows."""
    if not lost:
        return []
    by_source = {one.source_id: one for one in lost}
    dead = statements.where(F.col("dead").isNotNull() & F.col("source_id").isin(sorted(by_source)))
    for row in dead.select("source_id").distinct().toLocalIterator():
        del by_source[row["source_id"]]
    return list(by_source.values())


def _unknown_marked(statements: DataFrame) -> DataFrame:
    """A call that was not followed is not one without lineage: its lineage is not known."""
    lost = (F.col("skipped") == Outcome.CALL) & F.col("called").isNotNull()
    return statements.withColumn("skipped", F.when(lost, Outcome.UNKNOWN_ROUTINE).otherwise(F.col("skipped")))


def _logged_definitions(statements: DataFrame) -> Iterator[tuple[str, str, tuple[str, ...], float]]:
    """The definitions in the log, each text once."""
    defining = statements.where((F.col("skipped") == Outcome.ROUTINE_DEFINITION) & F.col("text").isNotNull())
    distinct = defining.groupBy("text", "database", "schema").agg(F.min("time").alias("time")).orderBy("time", "text")
    for row in distinct.toLocalIterator():
        yield row["text"], row["database"] or "", _path(row["schema"]), row["time"]


def _calls(statements: DataFrame, known: KnownRoutines) -> Iterator[tuple[list[str], str | None, str | None, str]]:
    """The distinct calls of known routines, by the name and the defaults that they were made with."""
    distinct = statements.where(F.col("called").isNotNull()).select("called", "database", "schema").distinct()
    for row in distinct.toLocalIterator():
        key = known.key_of_call(row["called"], row["database"] or "", _path(row["schema"]))
        if key is not None:
            yield list(row["called"]), row["database"], row["schema"], key


def _path(schema: str | None) -> tuple[str, ...]:
    return (schema,) if schema else ()


def _ran_by(key: str, known: KnownRoutines, state: TaskState) -> Iterator[tuple[object, ...]]:
    """The statements that a call of a routine runs, for each of its definitions."""
    for version in known.by_key[key]:
        for number, (owner, step) in enumerate(known.steps(version), 1):
            path = known.path_of(owner, called=True)
            row = _own_row(owner, step, path, known.dialect, state)
            database = owner.parts[0] if path else None
            yield key, version.since, version.until, number, database, *(row.get(name) for name in _STEP_COLUMNS)


def _ran_schema() -> str:
    own = ", ".join(f"own_{name} {kind}" for name, kind in _STEP_COLUMNS.items())
    return f"key string, since double, until double, number int, own_database string, {own}"


def _never_called(known: KnownRoutines, called: set[str], state: TaskState) -> Iterator[tuple[object, ...]]:
    """Whole rows for the routines that nothing calls, by the latest definition of each."""
    for key in sorted(set(known.by_key) - called - known.called_by_others()):
        version = known.by_key[key][-1]
        if version.filed:
            continue
        for number, (owner, step) in enumerate(known.steps(version), 1):
            row = _own_row(owner, step, known.path_of(owner, called=False), known.dialect, state)
            values = {**row, **_location_of(version, number), "database": owner.parts[0] or None}
            # What one routine did is no word about another that it calls.
            values["already_published"] = version.already_published and owner.already_published
            yield tuple(values.get(name) for name in STATEMENT_SCHEMA.fieldNames())


def unread_routines(statements: DataFrame) -> frozenset[str]:
    """The routines with a statement that could not be read, or a call that could not be followed."""
    lost = F.col("dead").isNotNull() | F.col("skipped").eqNullSafe(Outcome.UNKNOWN_ROUTINE)
    rows = statements.where(F.col("routine").isNotNull() & lost).select("routine").distinct()
    return frozenset(row["routine"] for row in rows.toLocalIterator())


def _own_row(owner: KnownRoutine, step: RoutineStep, path: tuple[str, ...], dialect: str, state: TaskState) -> Row:
    isolation = Isolation[str]()
    own = StatementRow()
    with isolation.around(FailureStage.ROUTINES, owner.key):
        own = step_row(step, dialect, state)
    for failure in isolation.failures.values():
        own = StatementRow(dead=failure.reason)
    if own.fingerprint:
        own = replace(own, text=step.text)  # which the tasks that read the log may not have seen
    return {**asdict(own), "routine": owner.key, "path": list(path) or None, "dialect": dialect}


def _location_of(known: KnownRoutine, number: int) -> Row:
    where = f"definition of {known.key}"
    return {
        "source_id": f"{where}:1",
        "time": known.since,
        "file": where,
        "line": 1,
        "position": 0,
        "step": number,
        "session": where,
        "schema": known.parts[1] or None,
        "sets": False,
    }


def _with_calls(statements: DataFrame, calls: DataFrame, ran: DataFrame) -> DataFrame:
    same: Column = (
        F.col("called").eqNullSafe(F.col("call_name"))
        & F.col("database").eqNullSafe(F.col("call_database"))
        & F.col("schema").eqNullSafe(F.col("call_schema"))
    )
    marked = statements.join(F.broadcast(calls), same, "left")
    # The first definition is taken for earlier calls too: logs do not go back far enough.
    first = ran.groupBy("key").agg(F.min("since").alias("first"))
    versions = ran.join(first, "key")
    in_force = (F.col("time") < F.col("until")) & (
        (F.col("time") >= F.col("since")) | (F.col("since") == F.col("first"))
    )
    inside = (
        marked.where(F.col("key").isNotNull())
        .join(F.broadcast(versions), "key")
        .where(in_force)
        .withColumns(
            {
                **{name: F.col(f"own_{name}") for name in _STEP_COLUMNS},
                "step": F.col("step") + F.col("number"),
                "database": F.coalesce("own_database", "database"),
                "sets": F.lit(False),
                "query": F.lit(None).cast("string"),
                "set_database": F.lit(None).cast("string"),
                "set_path": F.lit(None).cast("array<string>"),
                "duration": F.lit(None).cast("double"),
            }
        )
    )
    # A call that is followed has done its part.
    followed = marked.withColumn("called", F.when(F.col("key").isNull(), F.col("called")))
    columns = STATEMENT_SCHEMA.fieldNames()
    return followed.select(columns).unionByName(inside.select(columns))
