"""Between Spark and the journal: statements without their texts, as compressed segments and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from connectors.records import RecordWork
from ingestion.model.outcomes import Outcome
from workflows.run.read.statements import STATEMENT_SCHEMA, segment_row
from workflows.runtime.spill import kept_by_spark
from workflows.state.journal import ReadState
from workflows.state.segments import (
    JournalRows,
    Segment,
    fingerprints_of,
    new_segment_file,
    pack_task,
    rows_of,
    stored_segment,
    with_segments,
    write_segment,
)

_LEFT_OUT = frozenset(
    {"source_id", "text", "symbolic", "literals", "failure", "filled", "error_code", "rows", "bytes", "credits"}
)
"""Texts hold literals, and their digests are of no use here; a source id is its file and line.

What became of a load, and what got rows of values, is filed by the run that reads it.
"""
JOURNAL_SCHEMA = StructType([f for f in STATEMENT_SCHEMA.fields if f.name not in _LEFT_OUT])
_ARROW_SCHEMA = to_arrow_schema(JOURNAL_SCHEMA)
_SEGMENT_SCHEMA = (
    StructType().add("content", "binary").add("statements", "long").add("newest", "double").add("file", "string")
)
NOT_READ = (Outcome.OUTSIDE_WINDOW, Outcome.OVER_LIMIT, Outcome.UNFINISHED, Outcome.UNREAD)
"""Why statements are skipped whose record a later run may read."""
_ROWS = JournalRows(_ARROW_SCHEMA, NOT_READ)
_RECORD_LOCATION = ("file", "line", "session", "time")
_UNREAD = ""
"""Stands for the template of a record that was met again and could not be read."""


def files_folder(spark: SparkSession, past: ReadState) -> Path | None:
    """Where tasks write segments into files; None where what they write is seen by nobody else."""
    return past.written if reach_files(spark, past) else None


def reach_files(spark: SparkSession, past: ReadState) -> bool:
    """Whether tasks have the files that the state has: those of a local master run where it is."""
    return past.everywhere or str(spark.sparkContext.master).startswith("local")


def with_journal(work: RecordWork, folder: Path | None) -> RecordWork:
    """The same statements, which are written into segments as they are read, where there is a folder for them."""
    return work if folder is None else with_segments(work, _ROWS, folder, segment_row)


def segments(statements: DataFrame, folder: Path | None) -> list[Segment]:
    """The statements that were read from a log, as segments in files of the folder, or at hand where there is none."""
    read = statements.where(F.col("digest").isNotNull() & ~F.coalesce(F.col("skipped").isin(*NOT_READ), F.lit(False)))
    task = pack_task(_ARROW_SCHEMA, to_arrow_schema(_SEGMENT_SCHEMA), folder)
    packed = read.select(JOURNAL_SCHEMA.fieldNames()).mapInArrow(task, _SEGMENT_SCHEMA)
    return [
        Segment(bytes(row["content"]), row["statements"], row["newest"], Path(row["file"]) if row["file"] else None)
        for row in packed.collect()
    ]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Which rows of a log a run leaves out: those before `begin` or from `end` on, and those after the `limit`.

    Times are seconds since the epoch; the limit is a time, a file and a line (RECORD_ORDER).
    """

    begin: float
    end: float
    limit: tuple[float, str, int] | None = None

    def remaining_rows(self, rows: pa.Table) -> pa.Table:
        """The others. What is no statement is never left out."""
        times = rows["time"]
        outside = pc.or_(pc.less(times, self.begin), pc.greater_equal(times, self.end))
        gone = pc.and_(pc.greater(times, 0.0), outside)
        if self.limit is not None:
            gone = pc.or_(gone, _is_after(rows, self.limit))
        no_statement = pc.is_in(rows["skipped"], pa.array([Outcome.NOT_A_STATEMENT], pa.string()))
        return rows.filter(pc.or_(pc.invert(pc.fill_null(gone, fill_value=False)), no_statement))


def _is_after(rows: pa.Table, limit: tuple[float, str, int]) -> pa.ChunkedArray:
    time, file, line = limit
    same_time, same_file = pc.equal(rows["time"], time), pc.equal(rows["file"], file)
    later_line = pc.and_(same_file, pc.greater(rows["line"], line))
    return pc.or_(
        pc.greater(rows["time"], time), pc.and_(same_time, pc.or_(pc.greater(rows["file"], file), later_line))
    )


def segments_without(files: Iterable[Path], left_out: LeftOut) -> list[Segment]:
    """The segments that tasks wrote, without what is left out: in files of their own where they had any of it.

    The others are in no commit, and go with all that is in none.
    """
    found: list[Segment] = []
    for file in files:
        rows = rows_of(file)
        kept = left_out.remaining_rows(rows)
        if kept.num_rows == rows.num_rows:
            found.append(stored_segment(file))
        elif kept.num_rows:
            found.append(write_segment(new_segment_file(file.parent), [kept], rows.schema))
    return found


def _journal_frame(spark: SparkSession, past: ReadState, since: float | None) -> DataFrame:
    """The statements of the journal that bear on lineage: from `since` on, and those without a time."""
    reached = reach_files(spark, past)
    rows = [
        (None, str(segment.file))
        if segment.file is not None and reached
        else (bytearray(segment.content if segment.file is None else segment.file.read_bytes()), None)
        for segment in past.journal
    ]
    return spark.createDataFrame(rows, "content binary, file string").mapInArrow(_unpacker(since), JOURNAL_SCHEMA)


@contextmanager
def kept_journal(spark: SparkSession, past: ReadState, since: float | None) -> Iterator[DataFrame | None]:
    """The journal, which Spark keeps for the block; None where no earlier run has read anything."""
    if not past.journal:
        yield None
        return
    with kept_by_spark(_journal_frame(spark, past, since)) as kept:
        yield kept


def without_texts(statements: DataFrame) -> DataFrame:
    """The statements as the journal has them."""
    return statements.select(JOURNAL_SCHEMA.fieldNames())


def replaced_templates(
    statements: DataFrame, past: ReadState, current: Collection[str], since: float | None
) -> Mapping[str, frozenset[str]]:
    """The templates (by fingerprint) that the journal has and `current` lacks, each with those of its records now.

    `statements` are those that this run read; records before `since` (seconds since the epoch) are left out. So is a
    template of which a later record was not met again, for nothing is known of what that would say now. A record is met
    again where its digest is, or one at its place and time.
    """
    if not past.rereads:
        return {}
    stale = {fingerprint for fingerprint, _dialect in fingerprints_of(past.journal)}.difference(current)
    if not stale:
        return {}
    spark = statements.sparkSession
    gone = F.broadcast(spark.createDataFrame([(fingerprint,) for fingerprint in sorted(stale)], "fingerprint string"))
    journal = _journal_frame(spark, past, since)
    before = journal.join(gone, "fingerprint", "left_semi").select("fingerprint", "digest", *_RECORD_LOCATION)
    unread = F.col("dead").isNotNull() | F.coalesce(F.col("skipped").isin(*NOT_READ), F.lit(False))
    now = F.when(unread, _UNREAD).otherwise(F.col("fingerprint")).alias("now")
    kept = journal.where(F.col("fingerprint").isNotNull()).join(gone, "fingerprint", "left_anti")
    again = without_texts(statements.where(F.col("digest").isNotNull())).unionByName(kept)
    by_digest = before.join(again.select("digest", now), "digest")
    by_location = before.where("time > 0").join(again.select(*_RECORD_LOCATION, now), list(_RECORD_LOCATION))
    met = by_digest.select("fingerprint", "digest", "now").union(by_location.select("fingerprint", "digest", "now"))
    missed = before.join(met, ["fingerprint", "digest"], "left_anti").select("fingerprint").distinct()
    missing = {row["fingerprint"] for row in missed.toLocalIterator()}
    found: dict[str, set[str]] = {}
    for row in met.select("fingerprint", "now").distinct().toLocalIterator():
        if row["fingerprint"] not in missing:
            found.setdefault(row["fingerprint"], set()).update({row["now"]} - {None})
    return {fingerprint: frozenset(templates) for fingerprint, templates in found.items()}


def _unpacker(since: float | None) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content, file in zip(*(batch.column(name).to_pylist() for name in batch.schema.names), strict=True):
                rows = rows_of(Path(file) if content is None else content)
                bears = pc.or_(pc.or_(pc.is_valid(rows["fingerprint"]), rows["sets"]), pc.is_valid(rows["set_how"]))
                if since is not None:
                    recent = pc.or_(pc.equal(rows["time"], 0.0), pc.greater_equal(rows["time"], since))
                    bears = pc.and_(bears, recent)
                yield from rows.filter(bears).to_batches(max_chunksize=10_000)

    return unpack
