"""What the statements of a run are, in figures: one pass over them in place of a question for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from ingestion.model.outcomes import Outcome, code_of
from ingestion.model.table_commits import COMMITTED
from workflows.counts import RunCounts
from workflows.run.read.statements import NO_RECORD, READ_BEFORE, SEGMENT_WRITTEN
from workflows.state.segments import OF_TRANSACTION

HAS_LINEAGE = "fingerprint is not null or sets"
"""What can change lineage."""
OF_SESSIONS = f"{HAS_LINEAGE} or set_how is not null"
"""The same, and what begins or ends a transaction: of use only where something is set or emptied in one."""

_LOCATION = ("time", "file", "line", "source_id")


@dataclass(frozen=True, slots=True)
class StatementStatistics:
    """How many statements there are of each kind, and the times that they are of.

    `records` counts what stands in a log, definitions of a catalog too; `oldest` leaves out statements without a time.
    `templates` is about right (5 %). `last` is the time and source id of the newest record that has a time. `ahead`
    counts statements with a time that cannot be yet: none of the other figures takes it for one. Of loads those are
    counted that failed, and those of which a number of rows is known; `filled` counts rows of values or of a client.
    Times are seconds since the epoch. `conditional_changes` are those for which sessions have to be gone through: what
    is set or emptied in a transaction, and what is set under a condition. `written` are
    the files that the statements were written into as they were read.
    """

    counts: RunCounts = field(default_factory=RunCounts)
    records: int = 0
    newest: float | None = None
    oldest: float | None = None
    last: tuple[float, str] | None = None
    with_lineage: int = 0
    session_changes: int = 0
    conditional_changes: int = 0
    templates: int = 0
    calls: int = 0
    of_routines: int = 0
    ahead: int = 0
    failed_loads: int = 0
    measured_loads: int = 0
    commits: int = 0
    filled: int = 0
    written: tuple[str, ...] = ()


def _is_malformed(reason: str) -> bool:
    """Whether what is dead for this reason is a record that cannot be read."""
    return code_of(reason) == Outcome.MALFORMED_RECORD


def first_of_record() -> Column:
    """Whether a row is the first of its record."""
    return (F.col("position") == 0) & (F.col("step") == 0)


def statement_statistics(statements: DataFrame, latest: float = float("inf")) -> StatementStatistics:
    """The figures of STATEMENT_SCHEMA rows; those of records that were read before are in `records_read_before`.

    No time after `latest` can be right.
    """
    first, time = first_of_record(), F.when(F.col("time") <= latest, F.col("time"))
    # A definition of the catalog is a statement, and no record of a log.
    logged = F.col("digest").isNotNull()
    is_commit = F.col("fingerprint").startswith(COMMITTED)
    measures = [
        F.count(F.lit(1)).alias("statements"),
        F.count(F.when(first, 1)).alias("firsts"),
        F.count(F.when(first & logged, 1)).alias("records"),
        # of a commit the line is its version, which adds up to more than a number holds
        F.sum(F.when(F.col("skipped") == READ_BEFORE, F.col("line"))).alias("lines"),
        F.max(time).alias("newest"),
        F.count(F.when(F.col("time") > latest, 1)).alias("ahead"),
        F.min(F.when(time > 0, time)).alias("oldest"),
        F.max(F.when(logged & (time > 0), F.struct(*_LOCATION))).alias("last"),
        F.count(F.when(F.expr(HAS_LINEAGE), 1)).alias("with_lineage"),
        F.count(F.when(F.col("sets"), 1)).alias("session_changes"),
        F.count(F.when(~F.col("set_how").startswith(OF_TRANSACTION), 1)).alias("conditional_changes"),
        F.approx_count_distinct("fingerprint").alias("templates"),
        F.count("called").alias("calls"),
        F.count("routine").alias("of_routines"),
        F.count("failure").alias("failed_loads"),
        F.count(F.when(F.col("rows").isNotNull() | is_commit, F.col("fingerprint"))).alias("measured_loads"),
        F.count(F.when(is_commit, 1)).alias("commits"),
        F.count("filled").alias("filled"),
        F.collect_set(F.when(F.col("skipped") == SEGMENT_WRITTEN, F.col("file"))).alias("written"),
    ]
    rows = statements.groupBy("skipped", "dead").agg(*measures).collect()
    before = sum(row["lines"] or 0 for row in rows)
    written = (file for row in rows for file in row["written"])
    found = _statistics([row for row in rows if row["skipped"] not in NO_RECORD], before)
    return replace(found, written=tuple(sorted(written)))


def _statistics(rows: list[Row], read_before: int) -> StatementStatistics:
    skipped: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    for row in rows:
        if row["skipped"] is not None:
            skipped[row["skipped"]] += row["statements"]
        elif row["dead"] is not None:
            dead[row["dead"]] += row["statements"]
    last = max((tuple(row["last"]) for row in rows if row["last"] is not None), default=None)
    return StatementStatistics(
        counts=RunCounts(
            records_read=_sum(rows, "records"),
            records_read_before=read_before,
            malformed_records=sum(count for reason, count in dead.items() if _is_malformed(reason)),
            statements=_sum(rows, "statements"),
            skipped=dict(skipped),
            dead=dict(dead),
        ),
        records=_sum(rows, "firsts"),
        newest=max((row["newest"] for row in rows if row["newest"] is not None), default=None),
        oldest=min((row["oldest"] for row in rows if row["oldest"] is not None), default=None),
        last=(last[0], last[-1]) if last is not None else None,
        with_lineage=_sum(rows, "with_lineage"),
        session_changes=_sum(rows, "session_changes"),
        conditional_changes=_sum(rows, "conditional_changes"),
        templates=_sum(rows, "templates"),
        calls=_sum(rows, "calls"),
        of_routines=_sum(rows, "of_routines"),
        ahead=_sum(rows, "ahead"),
        failed_loads=_sum(rows, "failed_loads"),
        measured_loads=_sum(rows, "measured_loads"),
        commits=_sum(rows, "commits"),
        filled=_sum(rows, "filled"),
    )


def _sum(rows: Iterable[Row], name: str) -> int:
    return sum(row[name] for row in rows)
