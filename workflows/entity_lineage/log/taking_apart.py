"""Queries taken apart: in this process where they are few, else in Spark's tasks."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import SparkSession

from ingestion.decomposition.process import DecompositionProcess, DecompositionReply, DecompositionRequest
from ingestion.parsing.parser_pool import Limits

_FEW = 200
"""Queries that take about as long as Spark needs to start tasks for them."""
_SCHEMA = "number long, content binary"
_ARROW_SCHEMA = pa.schema([("number", pa.int64()), ("content", pa.binary())])


def decompose_all(
    spark: SparkSession, requests: Sequence[DecompositionRequest], limits: Limits, threads: int
) -> list[DecompositionReply]:
    """A reply to each request, in order; `threads` is the number of parser processes on a machine."""
    if not requests:
        return []
    if len(requests) <= _FEW:
        with DecompositionProcess(limits) as process:
            return process.decompose(requests)
    tasks = max(1, min(threads, spark.sparkContext.defaultParallelism))
    rows = [(number, bytearray(pickle.dumps(request))) for number, request in enumerate(requests)]
    sent = spark.createDataFrame(rows, _SCHEMA).repartition(tasks)
    replies = {row["number"]: row["content"] for row in sent.mapInArrow(_task(limits), _SCHEMA).collect()}
    return [pickle.loads(replies[number]) for number in range(len(requests))]


def _task(limits: Limits) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with DecompositionProcess(limits) as process:
            for batch in batches:
                replies = process.decompose([pickle.loads(one) for one in batch.column("content").to_pylist()])
                content = pa.array([pickle.dumps(reply) for reply in replies], pa.binary())
                yield pa.RecordBatch.from_arrays([batch.column("number"), content], schema=_ARROW_SCHEMA)

    return run
