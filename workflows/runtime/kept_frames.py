"""What Spark's tasks make, kept on the disk by columns while a run works with it."""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from connectors.base import BatchWork
from workflows.runtime.spark_kinds import is_one_process

_FILE_SCHEMA = StructType([StructField("file", StringType(), False)])
_ENCRYPTION = "spark.io.encryption.enabled"
_ROWS_A_GROUP, _BYTES_A_GROUP = 100_000, 64 << 20
"""Rows that a task has at hand until they are written, and bytes of them."""
_QUICKLY_COMPRESSED = "snappy"


@contextmanager
def kept_by_spark(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, whose rows Spark keeps on its disk for the block once they are made."""
    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        yield kept
    finally:
        # At once: a later run in this session must not be given what this one kept.
        kept.unpersist(blocking=True)


@contextmanager
def kept_frame(
    spark: SparkSession,
    made: Callable[[BatchWork, StructType], DataFrame],
    work: BatchWork,
    schema: StructType,
    *,
    are_few: bool = False,
) -> Iterator[DataFrame]:
    """What the `work` of tasks gives, rows of a schema, kept on the disk for the block.

    `made` has Spark do a work that gives rows of a schema. Where one process does all, the tasks write their rows
    themselves: what goes through Spark is copied into it row by row, and once more into what it keeps. Where they
    `are_few`, that costs less than the code that reads such files. What Spark is to encrypt on its disk it keeps
    itself.
    """
    if are_few or not _tasks_write(spark.sparkContext):
        with kept_by_spark(made(work, schema)) as kept:
            yield kept
        return
    # In a folder of Spark's own, below spark.local.dir, which goes when Spark does.
    # A task that another one's failure overtook may still be writing there.
    within = spark.sparkContext._temp_dir
    with tempfile.TemporaryDirectory(prefix="rows-", dir=within, ignore_cleanup_errors=True) as folder:
        writing = _into_files(work, folder, to_arrow_schema(schema))
        files = [row["file"] for row in made(writing, _FILE_SCHEMA).collect()]
        if files:
            yield spark.read.schema(schema).parquet(*map(_spark_path, files))
        else:
            yield spark.createDataFrame([], schema)


def _tasks_write(context: SparkContext) -> bool:
    return is_one_process(str(context.master)) and context.getConf().get(_ENCRYPTION, "").lower() != "true"


def _spark_path(file: str) -> str:
    """A file of this machine as Spark reads it: on no other file system, and nothing in its name is a pattern."""
    return "file:" + re.sub(r"([\\\[\]{}*?])", r"\\\1", file)


def _into_files(work: BatchWork, folder: str, schema: pa.Schema) -> BatchWork:
    """The work, whose results are written into a file of the task; a row names it where there are any."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        file = Path(folder, f"{uuid.uuid4().hex}.parquet")
        if sum(_write(file, work(batches), schema)):
            yield pa.RecordBatch.from_pydict({"file": [str(file)]})

    return run


def _write(file: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[int]:
    """Writes batches in groups of rows; the number of rows in each."""
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with pq.ParquetWriter(
        file, schema, compression=_QUICKLY_COMPRESSED, use_dictionary=texts, write_statistics=False
    ) as writer:
        for group in _groups(batches):
            table = pa.Table.from_batches(group, schema)
            writer.write_table(table, row_group_size=_ROWS_A_GROUP)
            yield table.num_rows


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _ROWS_A_GROUP or size >= _BYTES_A_GROUP:
            yield waiting
            waiting, rows, size = [], 0, 0
    if waiting:
        yield waiting
