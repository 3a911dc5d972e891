from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.query_log import QueryLogOptions, apply_window, newest_time, read_query_log

pytestmark = pytest.mark.spark

LOG = """query,start_time,end_time,status
select 1,2026-11-20 08:00:00,2026-11-20 12:00:00,
select 2,2026-11-19 11:59:59,,
select 3,2026-11-19 12:00:01,,
select 4,,,
select 5,2026-11-01 08:00:00,,failed
select 6,never,,
"""


def test_the_window_ends_at_the_logs_newest_record_and_marks_what_is_before_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    records = read_query_log(spark, QueryLogOptions(str(tmp_path / "log.csv")))
    noon = 1795176000.0
    assert newest_time(records) == noon

    def statuses(days: float, until: float | None = None) -> dict[str, str | None]:
        return {row.source_id: row.status for row in apply_window(records, days, until).collect()}

    expected = {"log.csv:2": None, "log.csv:3": "outside_window", "log.csv:4": None, "log.csv:5": None}
    assert statuses(1) == expected | {"log.csv:6": "failed", "log.csv:7": None}
    assert set(statuses(1, until=noon - 86400).values()) == {"outside_window", "failed", None}
    assert statuses(1, until=noon - 86400)["log.csv:3"] is None


def test_a_log_without_times_is_inside(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("query\nselect 1\n")
    records = read_query_log(spark, QueryLogOptions(str(tmp_path / "log.csv")))
    assert newest_time(records) is None
    assert apply_window(records, 1).first().status is None
