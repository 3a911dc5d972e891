"""When Spark is asked for what the last stages of a run need: at once of few statements, else when it is needed."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from pyspark.sql import SparkSession

from ingestion.model.namespaces import NamespaceDefaults
from workflows.run.publish.gathered_rows import gathered_rows
from workflows.run.read import reader
from workflows.run.read.reader import Statements
from workflows.run.read.statements import STATEMENT_SCHEMA, rows_of
from workflows.run.read.statistics import HAS_LINEAGE, statement_statistics

LOG = [
    {"source_id": "f:1", "text": "INSERT INTO mart.sales SELECT a FROM s", "start_time": 3600.0, "rows": 7},
    {"source_id": "f:2", "text": "INSERT INTO mart.cities VALUES (1)", "start_time": 3601.0},
]


@pytest.mark.spark
@pytest.mark.parametrize(("few", "are_wanted", "asked"), [(2, True, True), (1, True, False), (2, False, False)])
def test_of_few_statements_what_is_wanted_is_asked_for_at_once(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, few: int, are_wanted: bool, asked: bool
) -> None:
    monkeypatch.setattr(reader, "FEW", few)
    frame = spark.createDataFrame(rows_of(LOG, "postgres"), STATEMENT_SCHEMA)
    statements = Statements(frame, frame.where(HAS_LINEAGE), statement_statistics(frame), False, len(LOG))
    jobs = spark.sparkContext.statusTracker()
    with ExitStack() as kept:
        found = gathered_rows(statements, NamespaceDefaults("shop", "public"), kept, are_wanted=are_wanted)
        filling = found.filling()
        before = len(jobs.getJobIdsForGroup())
        loads = found.loads()
    assert (len(jobs.getJobIdsForGroup()) == before) is asked
    assert [(load.done.rows, load.template.dialect) for load in loads.measured] == [(7, "postgres")]
    assert [list(map(list, row["filled"])) for row in filling] == [[["mart", "cities"]]]
