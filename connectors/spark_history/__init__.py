"""Spark's own history as a query log: what every application did, without an agent in any of them."""

from connectors.spark_history.event_logs.event_lines import UNREAD
from connectors.spark_history.event_logs.listing import Listing, SparkHistoryOptions, list_history
from connectors.spark_history.reader import TRUNCATION_ADVICE, read_event_logs, read_spark_history
from connectors.spark_history.records import NOT_A_LOG, UNFINISHED
from ingestion.plans.text.name_mapping import NameMapping

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
