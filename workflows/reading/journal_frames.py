"""Between Spark and the journal: statements without their texts, as compressed segments and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from connectors.spark_history import UNFINISHED, UNREAD
from workflows.reading.statements import STATEMENT_SCHEMA
from workflows.reading.statistics import OUTSIDE_WINDOW
from workflows.state.journal import Segment, fingerprints_of, rows_of, segment_of
from workflows.state.watermark import ReadState

_LEFT_OUT = frozenset({"source_id", "text", "symbolic"})
"""Texts hold literals; a source id is its file and line."""
JOURNAL_SCHEMA = StructType([f for f in STATEMENT_SCHEMA.fields if f.name not in _LEFT_OUT])
_ARROW_SCHEMA = to_arrow_schema(JOURNAL_SCHEMA)
_SEGMENT_SCHEMA = StructType().add("content", "binary").add("statements", "long").add("newest", "double")
_STATEMENTS_A_SEGMENT = 100_000
NOT_READ = (OUTSIDE_WINDOW, "over_limit", UNFINISHED, UNREAD)
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


_RECORD_PLACE = ("file", "line", "session", "time")
_UNKNOWN = ""
"""Stands for the template of a record that was met again and could not be read."""


def replaced_templates(
    statements: DataFrame, past: ReadState, current: Collection[str], since: float | None
) -> Mapping[str, frozenset[str]]:
    """The templates (by fingerprint) that the journal has and `current` lacks, each with those of its records now.

    `statements` are those that this run read; records before `since` (seconds since the epoch) are left out. So is a
    template of which a later record was not met again, for nothing is known of what that would say now. A record is met
    again where its digest is, or one at its place and time.
    """
    stale = {fingerprint for fingerprint, _dialect in fingerprints_of(past.journal)}.difference(current)
    if not past.rereads or not stale:
        return {}
    spark = statements.sparkSession
    gone = F.broadcast(spark.createDataFrame([(fingerprint,) for fingerprint in sorted(stale)], "fingerprint string"))
    journal = journal_frame(spark, past.journal, since)
    before = journal.join(gone, "fingerprint", "left_semi").select("fingerprint", "digest", *_RECORD_PLACE)
    unread = F.col("dead").isNotNull() | F.coalesce(F.col("skipped").isin(*NOT_READ), F.lit(False))
    now = F.when(unread, _UNKNOWN).otherwise(F.col("fingerprint")).alias("now")
    kept = journal.where(F.col("fingerprint").isNotNull()).join(gone, "fingerprint", "left_anti")
    again = without_texts(statements.where(F.col("digest").isNotNull())).unionByName(kept)
    by_digest = before.join(again.select("digest", now), "digest")
    by_place = before.where("time > 0").join(again.select(*_RECORD_PLACE, now), list(_RECORD_PLACE))
    met = by_digest.select("fingerprint", "digest", "now").union(by_place.select("fingerprint", "digest", "now"))
    missed = before.join(met, ["fingerprint", "digest"], "left_anti").select("fingerprint").distinct()
    missing = {row["fingerprint"] for row in missed.toLocalIterator()}
    found: dict[str, set[str]] = {}
    for row in met.select("fingerprint", "now").distinct().toLocalIterator():
        if row["fingerprint"] not in missing:
            found.setdefault(row["fingerprint"], set()).update({row["now"]} - {None})
    return {fingerprint: frozenset(templates) for fingerprint, templates in found.items()}


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= _STATEMENTS_A_SEGMENT:
            yield _pack_batches(waiting)
            waiting = []
    if sum(part.num_rows for part in waiting):
        yield _pack_batches(waiting)


def _pack_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    segment = segment_of(pa.Table.from_batches(batches).cast(_ARROW_SCHEMA))
    columns = {"content": [segment.content], "statements": [segment.statements], "newest": [segment.newest]}
    return pa.RecordBatch.from_pydict(columns, schema=to_arrow_schema(_SEGMENT_SCHEMA))


def _with_all_columns(rows: pa.Table) -> pa.Table:
    """The rows with the columns that an older version did not write, which are empty."""
    for field in _ARROW_SCHEMA:
        if field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows.select(_ARROW_SCHEMA.names)


def _unpacker(since: float | None) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content in batch.column("content"):
                rows = _with_all_columns(rows_of(content.as_py()))
                bears = pc.or_(pc.is_valid(rows["fingerprint"]), rows["sets"])
                if since is not None:
                    recent = pc.or_(pc.equal(rows["time"], 0.0), pc.greater_equal(rows["time"], since))
                    bears = pc.and_(bears, recent)
                yield from rows.filter(bears).to_batches(max_chunksize=10_000)

    return unpack
