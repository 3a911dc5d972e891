"""A time that cannot be yet moves no window: it counts as none, in what is read and in what was remembered."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.runtime.options import Backfill

pytestmark = pytest.mark.spark
FAR = '"INSERT INTO far (a) SELECT a FROM src",2199-01-01 00:00:00,s9,'
ROWS = rows_of([("s1", f"INSERT INTO t{number} (a) SELECT a FROM src") for number in range(3)])
LATER = '"INSERT INTO later (a) SELECT a FROM src",2026-01-01 05:00:00,s1,'


def test_a_record_of_the_far_future_mutes_no_other(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    write_log(tmp_path / "log" / "all.csv", [*ROWS, FAR])
    summary = run(tmp_path)
    assert (summary.counts.published, summary.counts.skipped) == (4, {})
    assert any("1 statements have a time in the future" in warning for warning in summary.warnings)
    assert {one.last for one in contributions_in(tmp_path / "catalog.db") if one.target.endswith(".far")} != {
        7226582400000
    }
    with sqlite3.connect(tmp_path / "state.db") as state:
        ((newest,),) = state.execute("select newest from headwater_position").fetchall()
        assert newest == 1767225720.0
        # What a run leaves behind whose clock was years ahead.
        state.execute("update headwater_position set newest = 7226582400.0, complete_since = 7226000000.0")
    write_log(tmp_path / "log" / "more.csv", [LATER])
    healed = run(tmp_path)
    assert (healed.counts.published, healed.counts.skipped) == (1, {})
    assert not any("in the future" in warning for warning in healed.warnings)


def test_all_starts_over_when_asked_to_and_what_is_left_out_is_told(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    write_log(tmp_path / "log" / "new.csv", ['"INSERT INTO n (a) SELECT a FROM src",2026-06-01 00:00:00,s1,'])
    assert run(tmp_path).counts.published == 1
    write_log(tmp_path / "log" / "new.csv", ROWS)
    muted = run(tmp_path)
    assert muted.counts.skipped == {"outside_window": 3}
    assert any("3 of 3 statements are outside the window" in warning for warning in muted.warnings)
    over = run(tmp_path, extent=Backfill(full=True))
    assert (over.counts.published, over.counts.skipped) == (3, {})
