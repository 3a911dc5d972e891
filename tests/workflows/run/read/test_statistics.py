"""One pass over the statements tells what each question on its own would."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from connectors.records import RECORD_SCHEMA
from workflows.run.read.statements import READ_BEFORE, STATEMENT_SCHEMA, Row, rows_of
from workflows.run.read.statistics import statement_statistics

pytestmark = pytest.mark.spark
TEXTS = (
    "insert into t select a from s where b = 1",
    "insert into t select a from s where b = 2",
    "create table u as select 1 as a; set search_path to mart; select 1",
    "call load()",
    "insert into t select 'open",
    "create procedure load() language sql as $$ insert into t select a from s $$",
)


def frame(spark: SparkSession, *rows: Row) -> DataFrame:
    names = STATEMENT_SCHEMA.fieldNames()
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], STATEMENT_SCHEMA)


def logged() -> list[Row]:
    nothing = dict.fromkeys(RECORD_SCHEMA.fieldNames())
    records = [
        {**nothing, "source_id": f"log.csv:{line}", "text": text, "start_time": 10.0 * (line - 2)}
        for line, text in enumerate(TEXTS, 2)
    ]
    return rows_of(records, "postgres")


def test_every_statement_is_counted_once_by_what_became_of_it(spark: SparkSession) -> None:
    survey = statement_statistics(frame(spark, *logged()))
    assert survey.counts.statements == 8
    assert survey.counts.records_read == survey.records == 6
    assert survey.counts.skipped == {"call": 1, "select": 1, "session_state": 1, "routine_definition": 1}
    assert survey.counts.dead == {"ill_formed": 1}
    assert (survey.with_lineage, survey.templates, survey.session_changes, survey.calls) == (4, 2, 1, 1)


def test_times_are_those_of_the_records_that_have_one(spark: SparkSession) -> None:
    survey = statement_statistics(frame(spark, *logged()))
    assert (survey.oldest, survey.newest) == (10.0, 50.0)
    assert survey.last == (50.0, "log.csv:7")


def test_what_was_read_before_and_definitions_of_the_catalog_are_no_records_of_this_run(spark: SparkSession) -> None:
    before = {**logged()[0], "skipped": READ_BEFORE, "line": 41, "fingerprint": None, "digest": None}
    definition = {**logged()[0], "digest": None, "time": 99.0}
    survey = statement_statistics(frame(spark, before, definition))
    assert (survey.counts.records_read_before, survey.counts.records_read, survey.counts.statements) == (41, 0, 1)
    assert survey.last is None


def test_of_nothing_there_is_nothing(spark: SparkSession) -> None:
    survey = statement_statistics(frame(spark))
    assert (survey.counts.statements, survey.newest, survey.oldest, survey.last) == (0, None, None, None)
