"""Spark: the event logs of its applications, and the catalogs of its sessions."""

from connectors.spark._event_logs import Listing, SparkHistoryOptions, list_history
from connectors.spark._events import UNREAD
from connectors.spark._history_records import NOT_A_LOG, UNFINISHED
from connectors.spark.history import TRUNCATION_ADVICE, read_event_logs, read_spark_history
from ingestion.plans.names import NameMapping

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
