"""What tasks have read is kept as it was read, in files that go with the block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from connectors.records import RECORD_SCHEMA, RecordWork
from workflows.run.read.statements import STATEMENT_SCHEMA, to_statements
from workflows.runtime.spill import kept_frame
from workflows.state.segments import KnownRecords

pytestmark = pytest.mark.spark

TEXTS = (
    "INSERT INTO t SELECT a FROM s WHERE b = 1",
    "INSERT INTO t SELECT a FROM s WHERE b = 2",
    "SET search_path TO mart, public",
    "USE other",
    "CALL load_all(7)",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$",
    "SELECT 'größer', \"x\" FROM s",
    "CREATE TABLE broken AS SELECT (",
    "DO $$ BEGIN DELETE FROM t; INSERT INTO t SELECT * FROM s; END $$",
    "",
)


def reading(
    spark: SparkSession, texts: tuple[str, ...], tasks: int = 3
) -> Callable[[RecordWork, StructType], DataFrame]:
    def record(number: int, text: str) -> tuple[object, ...]:
        values = {"source_id": f"log.csv:{number}", "text": text, "user": "ann", "start_time": float(number)}
        values |= {"problem": "no columns"} if number == 1 else {}
        return tuple(values.get(name) for name in RECORD_SCHEMA.fieldNames())

    rows = [record(number, text) for number, text in enumerate(texts)]
    records = spark.createDataFrame(rows, RECORD_SCHEMA).repartition(tasks, "source_id")

    def read(work: RecordWork, schema: StructType) -> DataFrame:
        return records.mapInArrow(work, schema)

    return read


def rows_in(frame: DataFrame) -> list[str]:
    return sorted(map(str, frame.select(*STATEMENT_SCHEMA.fieldNames()).collect()))


def test_statements_are_kept_as_they_were_read_until_the_end_of_the_block(spark: SparkSession) -> None:
    read, work = reading(spark, TEXTS * 7), to_statements("postgres", KnownRecords(), b"key")
    expected = rows_in(read(work, STATEMENT_SCHEMA))
    assert len(expected) > 7 * len(TEXTS)
    with kept_frame(spark, read, work, STATEMENT_SCHEMA) as kept:
        files = [Path(file.removeprefix("file://")) for file in kept.inputFiles()]
        assert files
        assert all(file.is_file() for file in files)
        assert rows_in(kept) == expected
        assert kept.where("array_contains(set_path, 'mart')").count() == 7
    assert not any(file.exists() for file in files)


def test_the_files_are_on_this_machine_wherever_paths_without_a_scheme_lead(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a [b] {c,d}*"
    folder.mkdir()
    monkeypatch.setattr(spark.sparkContext, "_temp_dir", str(folder))
    work = to_statements("postgres", KnownRecords())
    spark.conf.set("fs.defaultFS", "hdfs://127.0.0.1:9")
    try:
        with kept_frame(spark, reading(spark, TEXTS[:1]), work, STATEMENT_SCHEMA) as kept:
            assert [row["fingerprint"] is not None for row in kept.collect()] == [True]
    finally:
        spark.conf.unset("fs.defaultFS")
    assert [*folder.iterdir()] == []


def test_what_spark_is_to_encrypt_no_task_writes_in_clear(spark: SparkSession) -> None:
    read, work = reading(spark, TEXTS[:1]), to_statements("postgres", KnownRecords())
    conf = spark.sparkContext._conf  # what tasks and blocks go by was read when Spark started
    conf.set("spark.io.encryption.enabled", "true")
    try:
        with kept_frame(spark, read, work, STATEMENT_SCHEMA) as kept:
            assert kept.inputFiles() == []
            assert kept.count() == 1
    finally:
        conf.set("spark.io.encryption.enabled", "false")


def test_of_no_statements_nothing_is_kept(spark: SparkSession) -> None:
    work = to_statements("postgres", KnownRecords())
    with kept_frame(spark, reading(spark, ()), work, STATEMENT_SCHEMA) as kept:
        assert kept.schema == STATEMENT_SCHEMA
        assert kept.collect() == []


def test_of_tasks_that_fail_no_file_is_left(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from to_statements("postgres", KnownRecords())(batches)
        (tmp_path / "reached").touch()
        raise ValueError("broken")

    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(spark.sparkContext, "_temp_dir", str(folder))
    # One task alone: one that another's failure overtakes may write on while the folder goes.
    kept = kept_frame(spark, reading(spark, TEXTS, tasks=1), fail, STATEMENT_SCHEMA)
    with pytest.raises(PythonException, match="broken"), kept:
        pass
    assert (tmp_path / "reached").exists()
    assert [*folder.iterdir()] == []
