"""What a run reads: the records of its source as statements, with those that it leaves out marked and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that every PySpark user knows

from connectors.base import RECORD_SCHEMA
from connectors.postgres import PostgresDatabase
from connectors.query_log import QueryLogOptions, read_query_log
from ingestion.errors import ConfigError
from workflows.config import QueryLog, RunConfig, SourceKind
from workflows.definitions import with_views
from workflows.lineage_source import SourceSettings
from workflows.occurrences import RECORD_ORDER
from workflows.routines import with_routines
from workflows.statement_rows import to_statements
from workflows.status import RunCounts
from workflows.surroundings import Surroundings

_SECONDS_A_DAY = 86_400.0
_NOT_A_STATEMENT = "not_a_statement"


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a source; `counts` has what is settled already."""

    frame: DataFrame
    counts: RunCounts


@contextmanager
def read_statements(
    spark: SparkSession, config: RunConfig, settings: SourceSettings, surroundings: Surroundings
) -> Iterator[Statements]:
    """The statements of the configured source, which Spark keeps for the block.

    Raises ConfigError where it cannot be read.
    """
    dialect = surroundings.dialect
    records = _filtered(_records(spark, config, surroundings.database), config.filters.condition)
    kept = to_statements(records, dialect).persist(StorageLevel.DISK_ONLY)
    try:
        frame = _within(kept, config.query_log) if config.query_log.path is not None else kept
        frame = with_views(frame, surroundings.definitions, dialect)
        if config.steps.procedures:
            frame = with_routines(frame, surroundings.definitions, dialect, settings)
        yield Statements(frame, _counts(frame))
    finally:
        # At once: a later run in this session must not be given what this one kept.
        kept.unpersist(blocking=True)


def _records(spark: SparkSession, config: RunConfig, database: PostgresDatabase | None) -> DataFrame:
    if config.query_log.path is not None:
        return read_query_log(spark, QueryLogOptions(config.query_log.path))
    if config.source.kind is SourceKind.QUERY_LOG:
        raise ConfigError(f"{config.origin}: set sourceConfig.config.queryLogFilePath to the query log")
    if config.source.kind is SourceKind.SPARK_HISTORY:
        raise ConfigError(
            f"{config.origin}: source type {config.source.type} cannot be read yet; use query-log-lineage"
        )
    rows = database.statements(config.query_log.limit) if database is not None else None
    names = RECORD_SCHEMA.fieldNames()
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows or ()], RECORD_SCHEMA)


def _filtered(records: DataFrame, condition: str | None) -> DataFrame:
    """Marks the records that `filterCondition` leaves out: a Spark SQL condition over the columns of a record."""
    if condition is None:
        return records
    try:
        wanted = F.coalesce(F.expr(condition), F.lit(False))
        status = F.when(F.col("status").isNull() & F.col("problem").isNull() & ~wanted, "filtered")
        return records.withColumn("status", F.coalesce(status, F.col("status")))
    except (AnalysisException, ParseException) as error:
        reason = error.getCondition() or "not a condition"
    columns = ", ".join(name for name in RECORD_SCHEMA.fieldNames() if name not in ("symbolic", "problem"))
    raise ConfigError(
        f"filterCondition is not a Spark SQL condition over a record ({reason}); its columns are {columns}"
    )


def _within(statements: DataFrame, log: QueryLog) -> DataFrame:
    """Marks what is older than the window, which ends at the newest record, and what comes after the limit.

    Of more records than the limit the oldest are taken, so that a later run goes on where this one ended.
    """
    first = _first_of_record()
    row = statements.agg(F.max("time").alias("newest"), F.count(F.when(first, 1)).alias("records")).first()
    newest, records = (row["newest"], row["records"]) if row is not None else (None, 0)
    if newest is None:
        return statements
    # Without a time a record is inside: it cannot be shown to be old.
    outside = (F.col("time") > 0) & (F.col("time") < newest - log.days * _SECONDS_A_DAY)
    marked = _skipping(statements, outside, "outside_window")
    if records <= log.limit:
        return marked
    at = F.struct(*RECORD_ORDER)
    inside = marked.where(first & ~outside)
    last = inside.select(at.alias("at")).orderBy("at").limit(log.limit).agg(F.max("at").alias("at")).first()
    if last is None or last["at"] is None:
        return marked
    limit = F.struct(*(F.lit(last["at"][name]).alias(name) for name in RECORD_ORDER))
    return _skipping(marked, ~outside & (at > limit), "over_limit")


def _first_of_record() -> Column:
    return (F.col("position") == 0) & (F.col("step") == 0)


def _skipping(statements: DataFrame, condition: Column, reason: str) -> DataFrame:
    """Marks the statements that are left out; session changes among them still hold."""
    left_out = condition & ~F.col("skipped").eqNullSafe(_NOT_A_STATEMENT)
    return statements.withColumns(
        {
            "fingerprint": F.when(left_out, None).otherwise(F.col("fingerprint")),
            "dead": F.when(left_out, None).otherwise(F.col("dead")),
            "skipped": F.when(left_out, reason).otherwise(F.col("skipped")),
            "called": F.when(left_out, None).otherwise(F.col("called")),
        }
    )


def _counts(statements: DataFrame) -> RunCounts:
    first = _first_of_record()
    grouped = statements.groupBy("skipped", "dead").agg(
        F.count(F.lit(1)).alias("statements"), F.count(F.when(first, 1)).alias("records")
    )
    skipped: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    total = records = 0
    for row in grouped.toLocalIterator():
        total += row["statements"]
        records += row["records"]
        if row["skipped"] is not None:
            skipped[row["skipped"]] += row["statements"]
        elif row["dead"] is not None:
            dead[row["dead"]] += row["statements"]
    return RunCounts(
        records_read=records,
        malformed_records=dead["malformed_record"],
        statements=total,
        skipped=dict(skipped),
        dead={reason: count for reason, count in dead.items() if count},
    )
