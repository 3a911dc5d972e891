"""The time window of a run over a query log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

OUTSIDE_WINDOW = "outside_window"
_SECONDS_PER_DAY = 86400.0


def newest_time(records: DataFrame) -> float | None:
    """The latest start or end in the log, in seconds since the epoch; None where no record has a time."""
    row = records.agg(F.max(F.greatest("start_time", "end_time"))).first()
    return None if row is None else row[0]


def apply_window(records: DataFrame, days: float, until: float | None = None) -> DataFrame:
    """The same records, those outside the last `days` days before `until` marked `outside_window`.

    `until` is in seconds since the epoch; without it the window ends at the log's newest record, which reads the log
    once. A record's own status stays; one without a time counts as inside.
    """
    end = newest_time(records) if until is None else until
    if end is None:
        return records
    time = F.coalesce("start_time", "end_time")
    outside: Column = (time < end - days * _SECONDS_PER_DAY) | (time > end)
    unmarked = F.col("status").isNull() & F.col("problem").isNull()
    return records.withColumn("status", F.when(unmarked & outside, OUTSIDE_WINDOW).otherwise(F.col("status")))
