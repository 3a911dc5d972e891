"""`filterCondition`: which records of a log are read, as a Spark SQL condition over their columns."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 the name that every PySpark user knows

from connectors.base import RECORD_SCHEMA
from ingestion.errors import ConfigError

FILTERED = "filtered"
_NOT_FOR_USERS = frozenset({"symbolic", "problem", "status"})


def with_condition(records: DataFrame, condition: str | None) -> DataFrame:
    """Marks the records for which the condition does not hold: they are counted as filtered, and not read.

    Raises ConfigError where it is no condition over a record's columns; the error does not quote it.
    """
    if condition is None:
        return records
    try:
        wanted = F.coalesce(F.expr(condition), F.lit(False))
        outside = F.col("status").isNull() & F.col("problem").isNull() & ~wanted
        return records.withColumn("status", F.when(outside, FILTERED).otherwise(F.col("status")))
    except (AnalysisException, ParseException) as error:
        reason = error.getCondition() or "not a condition"
    columns = ", ".join(name for name in RECORD_SCHEMA.fieldNames() if name not in _NOT_FOR_USERS)
    raise ConfigError(
        f"filterCondition is not a Spark SQL condition over a record ({reason.lower()}); its columns are {columns}"
    )
