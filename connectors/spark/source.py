"""The event logs of Spark's applications as a source: records alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyspark.sql import SparkSession

from connectors.source import FrameOfRecords, OpenSource, RecordsWanted, SourceRun
from connectors.spark._event_logs import SparkHistoryOptions, list_history
from connectors.spark.history import read_event_logs
from connectors.spark.settings import SparkHistoryLineageConfig
from ingestion.plans.names import NameMapping


@contextmanager
def open_source(settings: SparkHistoryLineageConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The history; its names mean what the run says."""
    options = SparkHistoryOptions(
        settings.event_log_directory,
        settings.history_server,
        settings.min_date,
        None if settings.status == "all" else settings.status,
        NameMapping(run.names),
    )
    yield OpenSource(records=partial(_records, options))


def _records(options: SparkHistoryOptions, spark: SparkSession, wanted: RecordsWanted) -> FrameOfRecords:
    whole = replace(options, known=wanted.known, read_until=wanted.read_until)
    listing = list_history(spark, whole)
    return FrameOfRecords(read_event_logs(spark, listing, whole), listing)
