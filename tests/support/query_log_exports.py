"""Exports of query logs read without Spark: what its tasks do, in this process."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from pyspark.sql.pandas.types import to_arrow_schema

from connectors.query_log._columns import ReadingHints
from connectors.query_log._layout import Layout, sniff
from connectors.query_log._streams import FileStream
from connectors.query_log.files import QueryLogFile
from connectors.query_log.reader import PROFILES_BY_NAME, SPLIT_RECORD_SCHEMA, WidestTexts, joined_status, whole_text
from connectors.query_log.text_files import FileRange, failure_batches, record_batches

Record = dict[str, Any]


NO_HINTS = ReadingHints()


def layout_of(content: bytes, name: str = "log", hints: ReadingHints = NO_HINTS) -> Layout:
    return sniff(content, name, hints)


def read_export(content: bytes, name: str = "log", hints: ReadingHints = NO_HINTS) -> list[Record]:
    """The records of one file, texts in pieces put together."""
    part = FileRange(QueryLogFile(name, name, len(content)), layout_of(content, name, hints))
    failures: dict[str, frozenset[str]] = defaultdict(frozenset)
    with FileStream(lambda: io.BytesIO(content)) as stream:
        for row in (row for batch in failure_batches(part, stream) for row in batch.to_pylist()):
            failures[row["session"]] |= {row["statement"]}
    with FileStream(lambda: io.BytesIO(content)) as stream:
        batches = record_batches(part, stream, failures, to_arrow_schema(SPLIT_RECORD_SCHEMA))
        rows = [row for batch in batches for row in batch.to_pylist()]
    return _joined(rows)


def read_file(path: Path, hints: ReadingHints = NO_HINTS) -> list[Record]:
    return read_export(path.read_bytes(), path.name, hints)


def _joined(rows: list[Record]) -> list[Record]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for row in rows:
        groups[row["piece_key"] or f"\0{row['source_id']}"].append(row)
    widths = Counter(len(row["text"] or "") for row in rows if row["piece_key"] is not None)
    widest = WidestTexts(*max(widths.items(), default=(0, 0)))
    records = []
    for group in groups.values():
        first = min(group, key=lambda row: row["piece"] or 0)
        if first["exporter"] is not None:
            profile = PROFILES_BY_NAME[first["exporter"]]
            status = joined_status([(row["piece"], row["status"]) for row in group], profile)
            pieces = [(row["piece"], row["text"] or "") for row in group]
            first |= whole_text(pieces, profile, status, widest)
        records.append(first)
    return records
