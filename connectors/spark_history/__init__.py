"""Spark's own history as a query log: what every application did, without an agent in any of them."""

from connectors.spark_history.event_lines import UNREAD
from connectors.spark_history.listing import Listing, SparkHistoryOptions, list_history
from connectors.spark_history.names import NameMapping
from connectors.spark_history.reader import TRUNCATION_ADVICE, read_event_logs, read_spark_history
from connectors.spark_history.records import NOT_A_LOG, UNFINISHED

__all__ = [
    "NOT_A_LOG",
    "TRUNCATION_ADVICE",
    "UNFINISHED",
    "UNREAD",
    "Listing",
    "NameMapping",
    "SparkHistoryOptions",
    "list_history",
    "read_event_logs",
    "read_spark_history",
]
