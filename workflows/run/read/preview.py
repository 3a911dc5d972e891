"""The first records of a query log as they are understood, for a person to look at before a run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from connectors.query_log.reader import open_query_log
from ingestion.errors import Unparsable
from ingestion.statements import holds_sql
from ingestion.statements.masking import QueryMasker
from workflows.config import RunConfig
from workflows.run.read.sources import log_options

_RECORDS_SHOWN = 3
_TEXT_SHOWN = 160
_NAMED = ("user", "session", "database", "schema", "query_type", "job")


def preview(spark: SparkSession, config: RunConfig) -> Iterator[str]:
    """By whom the log was exported, then a line for each of its first records, without literals.

    Raises ConfigError where it cannot be read.
    """
    log = open_query_log(spark, log_options(config))
    yield "read as " + ", ".join(f"{name} ({count})" for name, count in log.exporters.items())
    masker = QueryMasker(config.source.dialect or "")
    for record in log.records().limit(_RECORDS_SHOWN).collect():
        yield _record_text(record.asDict(), masker, config.source.dialect or "")


def _record_text(record: dict[str, Any], masker: QueryMasker, dialect: str) -> str:
    time = record["start_time"] if record["start_time"] is not None else record["end_time"]
    parts = [record["problem"] or record["status"] or "ran"]
    parts.append("no time" if time is None else f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S} UTC")
    parts += [f"{record['duration']:g} s"] if record["duration"] is not None else []
    parts += [f"{name} {record[name]}" for name in _NAMED if record[name]]
    return f"{record['source_id']}: {', '.join(parts)}: {_mask(record['text'], masker, dialect)}"


def _mask(text: str | None, masker: QueryMasker, dialect: str) -> str:
    if not text:
        return "no text"
    try:
        # what is no SQL cannot be told from a literal
        masked = " ".join(masker.mask(text).split()) if holds_sql(text, dialect) else ""
    except Unparsable:
        masked = ""
    if not masked:
        return f"{len(text)} characters that are no SQL"
    return masked if len(masked) <= _TEXT_SHOWN else masked[:_TEXT_SHOWN] + " …"
