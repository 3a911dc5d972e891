"""A query log as a source: records alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.query_log.files import are_as_read
from connectors.query_log.reader import QueryLogOptions, open_query_log
from connectors.source import OpenSource, SourceRun


@contextmanager
def open_source(settings: QueryLogOptions, _run: SourceRun) -> Iterator[OpenSource]:
    """The log, which is looked at when its records are asked for."""
    path = settings.path if settings.table is None and not settings.jdbc else None
    yield OpenSource(
        records=lambda spark, _wanted: open_query_log(spark, settings),
        is_as_read=lambda known: path is not None and are_as_read(path, known),
    )
