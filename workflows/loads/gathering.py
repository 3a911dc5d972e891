"""The loads of a log that failed and those with a number of rows, gathered by Spark.

What comes to the driver grows with templates and hours, and with nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from ingestion.names.namespaces import Namespace, NamespaceDefaults
from workflows.reading.reader import Statements
from workflows.templates.grouping import FEW, ORDER
from workflows.templates.session_namespaces import OF_SESSION, with_session_namespaces
from workflows.templates.tiers import REPORTED

_HOUR = 3600
_MOST = 20_000
"""Loads of a kind that a run files, the newest first."""
_MOST_OF_ONE = 750
"""Of a statement: an hour each, for a month."""
_OF_STATEMENT = ("template", "dialect", "namespace_database", "namespace_path")
_MOMENT = ("time", "digest", "rows")


@dataclass(frozen=True, slots=True)
class LoadMoment:
    """A run at a time (seconds since the epoch); `record` tells it from others, `rows` is None where it is not told."""

    time: float
    record: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class LoadTemplate:
    """What runs of one statement have in common: its fingerprint and dialect, and where its names are looked for."""

    fingerprint: str
    dialect: str
    namespace: Namespace


@dataclass(frozen=True, slots=True)
class FailedLoad:
    """A statement that was to write `targets` (by the parts of their names) and failed.

    `code` is that of its error, "" where none is known; `came` is its first run after that which did not fail.
    """

    template: LoadTemplate
    targets: tuple[tuple[str, ...], ...]
    failed: LoadMoment
    code: str
    job: str
    came: LoadMoment | None


@dataclass(frozen=True, slots=True)
class MeasuredLoad:
    """A run of a statement that wrote so many rows."""

    template: LoadTemplate
    done: LoadMoment
    job: str


@dataclass(frozen=True, slots=True)
class GatheredLoads:
    """Both kinds, the newest first; `cut`: there were more than a run files."""

    failed: tuple[FailedLoad, ...]
    measured: tuple[MeasuredLoad, ...]
    cut: bool


def gather_loads(statements: Statements, defaults: NamespaceDefaults) -> GatheredLoads:
    """The loads of the statements that this run read; those without a time tell nothing."""
    survey = statements.survey
    are_few = max(survey.counts.statements, statements.bearing) <= FEW
    # In one partition nothing is to be shuffled.
    frame = statements.frame.coalesce(1) if are_few else statements.frame
    rows = _LoadRows(frame.where("time > 0"), statements.whole if statements.session_changes else None, are_few)
    failed = _newest(rows.failures()) if survey.failed_loads else []
    measured = _newest(rows.sizes()) if survey.measured_loads else []
    cut = len(failed) > _MOST or len(measured) > _MOST
    return GatheredLoads(
        tuple(load for row in failed[:_MOST] for load in _failed_loads(row, defaults)),
        tuple(
            MeasuredLoad(_template(row, defaults), _moment(row["last"]), row["last"]["job"] or "")
            for row in measured[:_MOST]
        ),
        cut,
    )


def _newest(found: DataFrame) -> list[Row]:
    return found.orderBy(F.col("hour").desc(), *_OF_STATEMENT).limit(_MOST + 1).collect()


@dataclass(frozen=True, slots=True)
class _LoadRows:
    """The statements that have a time, and of the `whole` what sessions set; None where they set nothing."""

    timed: DataFrame
    whole: DataFrame | None
    are_few: bool

    def failures(self) -> DataFrame:
        """The first and the last failure in each hour of a statement, each with the run after it that did not fail."""
        columns = (*OF_SESSION, "dialect", "digest", "rows", "job", "error_code")
        failure = (F.col("failure.template").alias("template"), F.col("failure.targets").alias("targets"))
        # What names the schema of all that it writes is the same wherever it runs.
        is_local = F.exists("failure.targets", lambda parts: F.size(parts) < 2).alias("is_local")
        failed = self.timed.where("failure is not null").select(*columns, *failure, is_local)
        templates = failed.select("template", "dialect", "is_local").distinct()
        ran = self.timed.where("fingerprint is not null").select(*columns, F.col("fingerprint").alias("template"))
        again = ran.join(templates, ["template", "dialect"])
        both = self._with_namespace(failed.unionByName(again, allowMissingColumns=True))
        place = ("namespace_database", F.when(F.col("is_local"), F.col("namespace_path")))
        later = Window.partitionBy("template", "dialect", *place).orderBy(*(F.col(name).desc() for name in ORDER))
        succeeded = F.when(F.col("targets").isNull(), F.struct(*_MOMENT))
        before = later.rowsBetween(Window.unboundedPreceding, -1)
        marked = both.withColumn("came", F.last(succeeded, ignorenulls=True).over(before)).where("targets is not null")
        moment = F.struct(*_MOMENT, "came", F.col("error_code").alias("code"), "job")
        return marked.groupBy(*_OF_STATEMENT, "targets", _hour()).agg(
            F.min(moment).alias("first"), F.max(moment).alias("last")
        )

    def sizes(self) -> DataFrame:
        """The last run in each hour of a statement that a number of rows is told of."""
        sized = self.timed.where(F.col("rows").isNotNull() & ~F.col("fingerprint").startswith(REPORTED))
        columns = (*OF_SESSION, "dialect", "digest", "rows", "job", F.col("fingerprint").alias("template"))
        placed = self._with_namespace(sized.select(*columns))
        hours = placed.groupBy(*_OF_STATEMENT, _hour()).agg(F.max(F.struct(*_MOMENT, "job")).alias("last"))
        newest = Window.partitionBy(*_OF_STATEMENT).orderBy(F.col("hour").desc())
        return hours.withColumn("number", F.row_number().over(newest)).where(F.col("number") <= _MOST_OF_ONE)

    def _with_namespace(self, rows: DataFrame) -> DataFrame:
        return with_session_namespaces(rows.coalesce(1) if self.are_few else rows, self.whole, are_few=self.are_few)


def _hour() -> Column:
    return F.floor(F.col("time") / _HOUR).alias("hour")


def _failed_loads(row: Row, defaults: NamespaceDefaults) -> list[FailedLoad]:
    template = _template(row, defaults)
    targets = tuple(map(tuple, row["targets"]))
    moments = {one["digest"]: one for one in (row["first"], row["last"])}
    return [
        FailedLoad(
            template,
            targets,
            _moment(one),
            one["code"] or "",
            one["job"] or "",
            _moment(one["came"]) if one["came"] is not None else None,
        )
        for one in moments.values()
    ]


def _template(row: Row, defaults: NamespaceDefaults) -> LoadTemplate:
    namespace = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
    return LoadTemplate(row["template"], row["dialect"], namespace)


def _moment(row: Row) -> LoadMoment:
    return LoadMoment(row["time"], f"{(row['digest'] or 0) & (1 << 64) - 1:016x}", row["rows"])
