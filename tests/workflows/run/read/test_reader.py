"""filterCondition: records for which it does not hold are counted and not read."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from connectors.records import RECORD_SCHEMA
from ingestion.errors import ConfigError
from workflows.run.read.reader import with_condition

pytestmark = pytest.mark.spark


@pytest.fixture
def records(spark: SparkSession) -> DataFrame:
    def record(number: int, user: str | None, status: str | None = None) -> tuple[object, ...]:
        values = {"source_id": f"log:{number}", "text": "select 1", "user": user, "status": status, "duration": 2.0}
        return tuple(values.get(name) for name in RECORD_SCHEMA.fieldNames())

    rows = [record(1, "etl"), record(2, "ann"), record(3, None), record(4, "ann", "failed"), record(5, "etl", "failed")]
    return spark.createDataFrame(rows, RECORD_SCHEMA)


def test_what_the_condition_leaves_out_is_marked_and_what_failed_stays_failed(records: DataFrame) -> None:
    kept = with_condition(records, "user = 'etl' AND duration > 1")
    assert kept.schema.fieldNames() == RECORD_SCHEMA.fieldNames()
    rows = kept.orderBy("source_id").collect()
    assert [row["status"] for row in rows] == [None, "filtered", "filtered", "failed", "failed"]
    assert [row["text"] is None for row in rows] == [False, False, False, True, False], "it is no failed load of theirs"


def test_without_a_condition_all_are_read(records: DataFrame) -> None:
    assert with_condition(records, None) is records


@pytest.mark.parametrize("condition", ["usr = 'etl'", "user = ", "duration", "1 = 'a secret' or nothing(2)"])
def test_what_is_no_condition_is_refused_with_the_columns_and_unquoted(records: DataFrame, condition: str) -> None:
    with pytest.raises(ConfigError, match="its columns are source_id, text") as refused:
        with_condition(records, condition)
    assert "secret" not in str(refused.value)
