"""Rows of engines' own lineage are the same in the columns of Parquet, with structs and lists, as in JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.query_log.reader import QueryLogOptions, open_query_log
from tests.connectors.platforms.test_engine_lineage import EXPORTS, lines_of_edges
from tests.support.query_log_exports import read_file

pytestmark = pytest.mark.spark
FILES = ("snowflake_access_history.jsonl", "databricks_table_lineage.jsonl", "bigquery.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_parquet_tells_what_json_lines_tell(spark: SparkSession, tmp_path: Path, name: str) -> None:
    whole = [line for line in (EXPORTS / name).read_text().splitlines() if not _is_broken(line)]
    (tmp_path / "log.jsonl").write_text("\n".join(whole) + "\n")
    spark.read.json(str(tmp_path / "log.jsonl")).coalesce(1).write.parquet(str(tmp_path / "table"))
    records = open_query_log(spark, QueryLogOptions(str(tmp_path / "table"))).records().collect()
    found = [lines_of_edges(None if record["edges"] is None else bytes(record["edges"])) for record in records]
    expected = [lines_of_edges(record["edges"]) for record in read_file(tmp_path / "log.jsonl")]
    assert found == expected
    assert any(found)


def _is_broken(line: str) -> bool:
    """Whether a row's columns are no list: Parquet has one type for all rows."""
    return any(not isinstance(one.get("columns", []), list) for one in json.loads(line).get("OBJECTS_MODIFIED") or ())
