"""Which versions of Spark a run works with."""

from __future__ import annotations

OLDEST_SPARK = "4.0"


def is_old_spark(version: str) -> bool:
    """Whether a version of Spark is too old."""
    return int(version.partition(".")[0]) < int(OLDEST_SPARK.partition(".")[0])
