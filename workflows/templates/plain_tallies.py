"""Tallies of the runs of templates that always mean the same, made where the runs are, in no order."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, BooleanType, DoubleType, IntegerType, LongType, StringType, StructType

from ingestion.names.namespaces import NamespaceDefaults
from workflows.templates.meanings import RUN_COLUMNS, Run, RunTallies, Tally
from workflows.templates.names import TemplateNames

_MOMENT = (
    StructType()
    .add("time", DoubleType())
    .add("file", StringType())
    .add("line", LongType())
    .add("position", IntegerType())
    .add("step", IntegerType())
)
PLAIN_TALLY_SCHEMA = (
    StructType()
    .add("fingerprint", StringType())
    .add("namespace_database", StringType())
    .add("namespace_path", ArrayType(StringType()))
    .add("routine", StringType())
    .add("standing", BooleanType())
    .add("count", LongType())
    .add("fresh", LongType())
    .add("users", ArrayType(StringType()))
    .add("digests", ArrayType(LongType()))
    .add("jobs", ArrayType(StringType()))
    .add("duration", DoubleType())
    .add("at", _MOMENT)
    .add("last", _MOMENT)
)
_ARROW_SCHEMA = to_arrow_schema(PLAIN_TALLY_SCHEMA)
_TALLIES_A_BATCH = 500


def tally_plain_runs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Of the rows of a task (RUN_COLUMNS), a row for each tally (PLAIN_TALLY_SCHEMA).

    However often a template ran, no more of its runs is at hand than a tally keeps.
    """
    tallies = RunTallies(TemplateNames(), NamespaceDefaults("", ""))
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in RUN_COLUMNS)
        for row in zip(*columns, strict=True):
            tallies.add(Run._make(row))
    found = [*tallies.tallies()]
    for start in range(0, len(found), _TALLIES_A_BATCH):
        rows = map(_row, found[start : start + _TALLIES_A_BATCH])
        yield pa.RecordBatch.from_pylist([*rows], schema=_ARROW_SCHEMA)


def _row(tally: Tally) -> dict[str, object]:
    runs = tally.runs
    values = (
        *(runs.fingerprint, runs.database, runs.search_path, runs.routine, runs.already_published),
        *(tally.count, tally.fresh, sorted(tally.users), sorted(tally.digests), sorted(tally.jobs), tally.duration),
        *(dict(zip(_MOMENT.names, moment, strict=True)) for moment in (tally.at, tally.last)),
    )
    return dict(zip(_ARROW_SCHEMA.names, values, strict=True))
