"""Spark: the event logs of its applications, and the catalogs of its sessions."""

from connectors.spark._event_logs import Listing, SparkHistoryOptions, list_history
from connectors.spark.history import TRUNCATION_ADVICE, read_event_logs, read_spark_history
from ingestion.plans.names import NameMapping

__all__ = [
    "TRUNCATION_ADVICE",
    "Listing",
    "NameMapping",
    "SparkHistoryOptions",
    "list_history",
    "read_event_logs",
    "read_spark_history",
]
