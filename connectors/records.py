"""What every source of statements gives: a Spark DataFrame of records with RECORD_SCHEMA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, DoubleType, LongType, StringType, StructField, StructType

from ingestion.model.outcomes import Outcome

UNSUPPORTED = f"{Outcome.UNSUPPORTED}:"
"""How the status of a write begins that ran and of which nothing is understood: its kind follows."""

MALFORMED_EDGES = b""
"""In place of an engine's own lineage that cannot be read, beside a text that can."""

RECORD_SCHEMA = StructType(
    [
        # where the record stands: "<file>:<line>", stable from run to run, unique in a run
        StructField("source_id", StringType(), False),
        # the query text, one statement or a whole script; null where only a plan or a problem is known
        StructField("text", StringType()),
        StructField("start_time", DoubleType()),  # seconds since the epoch, UTC
        StructField("end_time", DoubleType()),
        StructField("duration", DoubleType()),  # seconds
        StructField("user", StringType()),
        StructField("session", StringType()),
        StructField("database", StringType()),  # the session's default at the start of the record
        StructField("schema", StringType()),
        StructField("dialect", StringType()),  # null: the source's configured dialect
        StructField("query_type", StringType()),
        StructField("job", StringType()),  # what ran it, by a tag or by a tool's comment
        # null = ran; otherwise a short reason without literals ("failed": ran and failed at the source;
        # "unsupported:<kind>": a write that ran and of which nothing is understood; "cut": its text is not whole)
        StructField("status", StringType()),
        # of what failed: a number, an SQLSTATE or a platform's own name of the error, never a word of its message
        StructField("error_code", StringType()),
        StructField("rows", LongType()),  # that it wrote, as the platform counts them
        StructField("bytes", LongType()),  # that it read, or that are billed
        StructField("credits", DoubleType()),  # that it took, in the platform's own unit
        # null = readable; otherwise why the row is malformed, without its content
        StructField("problem", StringType()),
        # ingestion.analysis.symbolic.dumps(...) where the connector derived symbolic lineage itself (Spark plans)
        StructField("symbolic", BinaryType()),
        # likewise of what the engine itself recorded of the record's lineage, beside its text or in its place
        StructField("edges", BinaryType()),
    ]
)
"""Order of the columns of every connector's DataFrame."""

RecordWork = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class RecordReading:
    """Records are read with the schema `records`; what `work` makes of them, or they themselves, has `result`."""

    records: StructType
    result: StructType
    work: RecordWork | None = None

    @property
    def arrow_schema(self) -> pa.Schema:
        """The schema of the records."""
        return to_arrow_schema(self.records)

    def apply(self, rows: DataFrame, read: RecordWork) -> DataFrame:
        """What comes of the records that `read` makes of rows, all in one task."""
        work = self.work
        if work is None:
            return rows.mapInArrow(read, self.result)
        return rows.mapInArrow(lambda batches: work(read(batches)), self.result)
