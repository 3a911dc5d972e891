"""Which event logs there are, and which of them a run has to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyspark.sql import SparkSession

from connectors.spark_history.event_logs.history_server import is_served, list_applications, url_without_user
from connectors.spark_history.event_logs.log_files import EventLogFile, event_log_files, list_log_files, to_read
from ingestion.errors import ConfigError
from ingestion.plans.text.name_mapping import NameMapping


@dataclass(frozen=True, slots=True)
class SparkHistoryOptions:
    """Where the history is and what of it is read.

    One of `event_log_directory` (any URI that Spark reads) and `history_server` (its URL). `min_date` leaves out what
    was last written before it; `status` is "completed", "running" or None for both. `known` has the size and the
    modification time of the files that earlier runs read: logs that did not change since are left out. Of the others
    they have read what had ended by `read_until` (seconds since the epoch).
    """

    event_log_directory: str | None = None
    history_server: str | None = None
    min_date: datetime | None = None
    status: str | None = None
    names: NameMapping = field(default_factory=NameMapping)
    known: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    read_until: float | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The event logs' files that are there, those of them to read, and the logs that were read before."""

    there: tuple[EventLogFile, ...] = ()
    to_read: tuple[EventLogFile, ...] = ()
    read_before: frozenset[str] = frozenset()


def list_history(spark: SparkSession, options: SparkHistoryOptions) -> Listing:
    """What a run with these options finds.

    Raises:
        ConfigError: neither or both sources are given, or the one given cannot be read.
        TargetDown: the history server does not answer.
    """
    if (options.event_log_directory is None) == (options.history_server is None):
        raise ConfigError("spark history needs either eventLogDirectory or historyServer: give one of them")
    if options.history_server is not None:
        files = list_applications(options.history_server, options.min_date, options.status)
        chosen = to_read(files, None, None, options.known)
    else:
        files = list_log_files(spark, options.event_log_directory or "")
        since = options.min_date.timestamp() if options.min_date is not None else None
        chosen = to_read(files, since, options.status, options.known)
    return Listing(tuple(files), tuple(chosen), _logs_of(options.known))


def _logs_of(known: Mapping[str, tuple[int, float]]) -> frozenset[str]:
    """The logs that files belong to, whatever became of the files since."""
    served = {url_without_user(path) for path in known if is_served(path)}
    files = event_log_files((path, *mark) for path, mark in known.items() if not is_served(path))
    return frozenset(served | {file.log for file in files})
