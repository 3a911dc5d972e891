"""Spark's own history as a query log: what every application did, without an agent in any of them."""

from connectors.spark_history.names import NameMapping
from connectors.spark_history.reader import (
    TRUNCATION_ADVICE,
    SparkHistoryOptions,
    event_log_files,
    read_spark_history,
)

__all__ = ["TRUNCATION_ADVICE", "NameMapping", "SparkHistoryOptions", "event_log_files", "read_spark_history"]
