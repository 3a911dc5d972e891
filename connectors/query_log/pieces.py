"""Texts that stand in several rows, put together: rows of one statement may lie in different files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from connectors.base import RECORD_SCHEMA
from connectors.query_log.interpretation.exporters import PROFILES
from connectors.query_log.interpretation.interpreter import clean_text
from connectors.query_log.interpretation.job_names import job_of
from connectors.query_log.interpretation.tables import ARROW_SCHEMA
from connectors.query_log.profiles.export_profile import NOT_A_STATEMENT, ExportProfile

PIECE_RECORD_SCHEMA = StructType(
    [
        *RECORD_SCHEMA.fields,
        StructField("piece_key", StringType()),
        StructField("piece", LongType()),
        StructField("exporter", StringType()),
    ]
)
"""Rows that have a piece of a text each, those with a key."""

_BY_NAME = {profile.name: profile for profile in PROFILES}


def join_pieces(rows: DataFrame) -> DataFrame:
    """The records, with RECORD_SCHEMA, of rows that have a piece of a text each (or, without a `piece_key`, all of it).

    A record stands where its first piece does. One that lacks a piece is malformed.
    """
    columns = RECORD_SCHEMA.fieldNames()
    statement = F.coalesce("piece_key", F.concat(F.lit("\0"), "source_id"))
    grouped = rows.groupBy(statement.alias("statement")).agg(
        F.min_by(F.struct(*columns), F.struct("piece", "source_id")).alias("record"),
        F.collect_list(F.struct("piece", "text")).alias("pieces"),
        F.first("exporter").alias("exporter"),
    )
    return grouped.select("record.*", "pieces", "exporter").mapInArrow(_join, RECORD_SCHEMA)


def _join(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        records = batch.to_pylist()
        for record in records:
            pieces = [(piece["piece"], piece["text"] or "") for piece in record.pop("pieces")]
            profile = _BY_NAME.get(record.pop("exporter"))
            if profile is not None:
                record.update(whole_text(pieces, profile, record["status"]))
                record["job"] = record["job"] or job_of(None, record["text"])
        yield pa.RecordBatch.from_pylist(records, schema=ARROW_SCHEMA)


def whole_text(pieces: Sequence[tuple[int, str]], profile: ExportProfile, status: str | None) -> dict[str, Any]:
    """The text, status and problem of the record that has these numbered pieces."""
    form = profile.pieces
    ordered = sorted(set(pieces))
    numbers = [number for number, _text in ordered]
    if form is None or numbers != list(range(form.first, form.first + len(numbers))):
        return {"text": None, "problem": "pieces of its text are missing, or two have one number"}
    *before, last = (text for _number, text in ordered)
    padded = [text.ljust(form.width) if form.width else text for text in before]
    text = clean_text("".join([*padded, last]), profile)
    return {"text": text, "status": status if text else NOT_A_STATEMENT}
