"""Exports of query logs read without Spark: what its tasks do, in this process."""

from __future__ import annotations

import io
from collections import defaultdict
from pathlib import Path
from typing import Any

from pyspark.sql.pandas.types import to_arrow_schema

from connectors.query_log.batches import record_batches
from connectors.query_log.files import QueryLogFile
from connectors.query_log.interpretation.column_reading import ReadingHints
from connectors.query_log.interpretation.exporters import PROFILES
from connectors.query_log.layout import Layout, sniff
from connectors.query_log.pieces import PIECE_RECORD_SCHEMA, whole_text
from connectors.query_log.slices import FileSlice
from connectors.query_log.streams import SliceStream

Record = dict[str, Any]


NO_HINTS = ReadingHints()


def layout_of(content: bytes, name: str = "log", hints: ReadingHints = NO_HINTS) -> Layout:
    return sniff(content, name, hints)


def read_export(content: bytes, name: str = "log", hints: ReadingHints = NO_HINTS) -> list[Record]:
    """The records of one file, texts in pieces put together."""
    part = FileSlice(QueryLogFile(name, name, len(content)), layout_of(content, name, hints))
    with SliceStream(lambda: io.BytesIO(content)) as stream:
        batches = record_batches(part, stream, {}, to_arrow_schema(PIECE_RECORD_SCHEMA))
        rows = [row for batch in batches for row in batch.to_pylist()]
    return _joined(rows)


def read_file(path: Path, hints: ReadingHints = NO_HINTS) -> list[Record]:
    return read_export(path.read_bytes(), path.name, hints)


def _joined(rows: list[Record]) -> list[Record]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for row in rows:
        groups[row["piece_key"] or f"\0{row['source_id']}"].append(row)
    profiles = {profile.name: profile for profile in PROFILES}
    records = []
    for group in groups.values():
        first = min(group, key=lambda row: row["piece"] or 0)
        if first["piece_key"] is not None:
            pieces = [(row["piece"], row["text"] or "") for row in group]
            first |= whole_text(pieces, profiles[first["exporter"]], first["status"])
        records.append(first)
    return records
