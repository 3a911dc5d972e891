"""filterCondition: records for which it does not hold are counted and not read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.records import RECORD_SCHEMA
from ingestion.errors import ConfigError
from ingestion.model.outcomes import Outcome
from workflows.run.read import reader
from workflows.run.read.journal_frames import JOURNAL_SCHEMA, LeftOut, segments, segments_without
from workflows.run.read.reader import with_condition
from workflows.run.read.statements import STATEMENT_SCHEMA
from workflows.state.segments import new_segment_file, write_segment

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


def test_files_of_a_log_lose_what_a_run_leaves_out_as_its_statements_do(spark: SparkSession, tmp_path: Path) -> None:
    common = {"session": "", "position": 0, "step": 0, "sets": False, "already_published": False, "dialect": "ansi"}
    moments = [(time, file, line) for time in (0.0, 5.0, 10.0, 15.0) for file in ("a", "b") for line in (1, 2)]
    endings = (None, Outcome.SELECT, Outcome.NOT_A_STATEMENT)
    rows: list[dict[str, object]] = [
        {
            **common,
            "source_id": "",
            "time": time,
            "file": file,
            "line": line,
            "skipped": endings[digest % 3],
            "digest": digest,
        }
        for digest, (time, file, line) in enumerate(moments)
    ]
    frame = spark.createDataFrame(
        [[row.get(name) for name in STATEMENT_SCHEMA.fieldNames()] for row in rows], STATEMENT_SCHEMA
    )
    schema = to_arrow_schema(JOURNAL_SCHEMA)
    table = pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)
    file = new_segment_file(tmp_path / "run")
    write_segment(file, [table], schema)
    for left_out in (
        LeftOut(5.0, 15.0),
        LeftOut(5.0, 15.0, (10.0, "a", 2)),
        LeftOut(float("-inf"), float("inf"), (0.0, "a", 1)),
        LeftOut(16.0, 17.0),
    ):
        marked = segments(reader._mark_left_out(frame.coalesce(1), left_out), None)
        found = segments_without([file], left_out)
        assert sorted(found[0].digests()) == sorted(marked[0].digests())
        assert 0 < found[0].statements == marked[0].statements < len(rows)
    (whole,) = segments_without([file], LeftOut(0.0, 16.0))
    assert whole.file == file, "a file of which nothing is left out stays as it is"
