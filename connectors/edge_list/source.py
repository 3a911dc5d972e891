"""A list of edges as a source: a record for each row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connectors.edge_list._profile import edge_profile
from connectors.edge_list.settings import EdgeListConfig
from connectors.query_log.reader import QueryLogOptions, open_query_log
from connectors.source import OpenSource, SourceRun


@contextmanager
def open_source(settings: EdgeListConfig, run: SourceRun) -> Iterator[OpenSource]:
    """The list, which is read as a log is: its encodings, its delimiters and what is wrong in it are told likewise."""
    options = QueryLogOptions(settings.edge_list_path, profile=edge_profile(run.names.service, run.dialect))
    yield OpenSource(records=lambda spark, _wanted: open_query_log(spark, options))
