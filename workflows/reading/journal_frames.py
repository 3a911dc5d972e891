"""Between Spark and the journal: statements without their texts, as compressed segments and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 the name that every PySpark user knows
from pyspark.sql.types import StructType

from connectors.spark_history import UNFINISHED, UNREAD
from workflows.reading.statements import ARROW_SCHEMA, STATEMENT_SCHEMA
from workflows.state.journal import Segment, rows_of, segment_of

_LEFT_OUT = frozenset({"source_id", "text", "symbolic"})
"""Texts hold literals; a source id is its file and line."""
JOURNAL_SCHEMA = StructType([f for f in STATEMENT_SCHEMA.fields if f.name not in _LEFT_OUT])
_ARROW_SCHEMA = pa.schema([f for f in ARROW_SCHEMA if f.name not in _LEFT_OUT])
_SEGMENT_SCHEMA = "content binary, statements long, newest double"
_STATEMENTS_A_SEGMENT = 100_000
NOT_READ = ("outside_window", "over_limit", UNFINISHED, UNREAD)
"""Why statements are skipped whose record a later run may read."""


def segments(statements: DataFrame) -> list[Segment]:
    """The statements that were read from a log, as segments: some 20 bytes for each."""
    read = statements.where(F.col("digest").isNotNull() & ~F.coalesce(F.col("skipped").isin(*NOT_READ), F.lit(False)))
    packed = read.select(JOURNAL_SCHEMA.fieldNames()).mapInArrow(_pack, _SEGMENT_SCHEMA)
    return [Segment(bytes(row["content"]), row["statements"], row["newest"]) for row in packed.collect()]


def journal_frame(spark: SparkSession, contents: Iterable[bytes], since: float | None) -> DataFrame:
    """The statements of segments that bear on lineage: from `since` on, and those without a time."""
    rows = [(bytearray(content),) for content in contents]
    return spark.createDataFrame(rows, "content binary").mapInArrow(_unpacker(since), JOURNAL_SCHEMA)


def without_texts(statements: DataFrame) -> DataFrame:
    """The statements as the journal has them."""
    return statements.select(JOURNAL_SCHEMA.fieldNames())


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= _STATEMENTS_A_SEGMENT:
            yield _packed(waiting)
            waiting = []
    if sum(part.num_rows for part in waiting):
        yield _packed(waiting)


def _packed(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    segment = segment_of(pa.Table.from_batches(batches).cast(_ARROW_SCHEMA))
    columns = {"content": [segment.content], "statements": [segment.statements], "newest": [segment.newest]}
    kinds = {"content": pa.binary(), "statements": pa.int64(), "newest": pa.float64()}
    return pa.RecordBatch.from_pydict(columns, schema=pa.schema(list(kinds.items())))


def _unpacker(since: float | None) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content in batch.column("content"):
                rows = rows_of(content.as_py())
                bears = pc.or_(pc.is_valid(rows["fingerprint"]), rows["sets"])
                if since is not None:
                    recent = pc.or_(pc.equal(rows["time"], 0.0), pc.greater_equal(rows["time"], since))
                    bears = pc.and_(bears, recent)
                yield from rows.filter(bears).to_batches(max_chunksize=10_000)

    return unpack
