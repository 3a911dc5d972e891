"""A run that finds its log as the run before left it has nothing to read, and starts no Spark."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingestion.model.outcomes import RunOutcome
from tests.support.growing_log import SHOP, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.counts import RunSummary
from workflows.runtime.options import Backfill
from workflows.state.runs import RecordedRun, begin_run, end_run
from workflows.state.store import open_state

pytestmark = pytest.mark.spark
ROWS = rows_of(SHOP)


@pytest.fixture(scope="module")
def read_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of a workflow that has read its log, which was written a while before, and a copy of it."""
    folder, copy = tmp_path_factory.mktemp("read"), tmp_path_factory.mktemp("copy") / "folder"
    configuration(folder)
    write(folder, len(ROWS), 60)
    assert has_read(run(folder))
    shutil.copytree(folder, copy)
    return folder, copy


@pytest.fixture
def folder(read_once: tuple[Path, Path]) -> Path:
    """That folder, as the run left it: what is noted of a log is noted by its path."""
    folder, copy = read_once
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    return folder


def write(folder: Path, rows: int, seconds_ago: float) -> None:
    log = folder / "log" / "all.csv"
    write_log(log, ROWS[:rows])
    age(log, seconds_ago)


def age(file: Path, seconds: float) -> None:
    at = file.stat().st_mtime - seconds
    os.utime(file, (at, at))


def has_read(summary: RunSummary) -> bool:
    assert ("read" in summary.seconds_by_stage) == ("start spark" in summary.seconds_by_stage)
    return "read" in summary.seconds_by_stage


def test_all_is_counted_as_read_before_and_nothing_changes(folder: Path) -> None:
    before = contributions_in(folder / "catalog.db")
    write(folder, len(ROWS), 30)
    read = run(folder)
    assert has_read(read)
    for _again in range(2):
        summary = run(folder)
        assert not has_read(summary)
        assert (summary.counts.records_read, summary.counts.records_read_before) == (0, len(ROWS))
        assert summary.counts.exporters == read.counts.exporters
        assert (summary.warnings, summary.read_until) == (read.warnings, read.read_until)
    assert contributions_in(folder / "catalog.db") == before


def test_a_log_that_grew_or_was_touched_is_read(folder: Path) -> None:
    write_log(folder / "log" / "more.csv", ROWS[:3])
    assert has_read(run(folder))
    write(folder, len(ROWS), 30)
    assert has_read(run(folder))


def test_a_file_written_in_this_moment_is_read_again(folder: Path) -> None:
    write(folder, len(ROWS), 0)
    assert has_read(run(folder))
    assert has_read(run(folder))


def test_what_is_left_to_a_later_run_is_read_by_it(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    write(tmp_path, len(ROWS), 60)
    read = 0
    while read < len(ROWS):
        summary = run(tmp_path, "resultLimit=5")
        assert has_read(summary)
        assert summary.counts.records_read_before == read
        read += summary.counts.records_read - summary.counts.skipped.get("over_limit", 0)
    assert not has_read(run(tmp_path, "resultLimit=5"))


def test_what_is_outside_the_window_is_told_by_each_run(folder: Path) -> None:
    write_log(folder / "log" / "old.csv", ['"INSERT INTO t SELECT a FROM s",2025-12-01 00:00:00,s1,'])
    age(folder / "log" / "old.csv", 60)
    for _again in range(2):
        summary = run(folder)
        assert has_read(summary)
        assert summary.counts.skipped == {"outside_window": 1}
        assert summary.counts.records_read_before == len(ROWS)


def test_what_a_log_lacks_is_warned_of_by_each_run_though_other_settings_told_it(folder: Path) -> None:
    log = folder / "log" / "all.csv"
    log.write_text('query_text,moment,status\n"INSERT INTO t SELECT a FROM s",2026-01-01 00:00:00,\n', "utf-8")
    age(log, 60)
    told = "headwater.queryLogColumns.time=moment"
    assert has_read(run(folder, told))
    assert not has_read(run(folder, told))
    for _again in range(2):
        assert any("no column tells when" in warning for warning in run(folder).warnings)


def test_records_of_a_file_that_is_gone_are_not_counted(folder: Path) -> None:
    more = folder / "log" / "more.csv"
    write_log(more, ROWS[:3])
    age(more, 60)
    for _again in range(2):
        assert run(folder).counts.records_read_before == len(ROWS) + 3  # which it knows from the other file
    more.unlink()
    last = run(folder)
    assert has_read(last)
    assert last.counts.records_read_before == len(ROWS)
    last = run(folder)
    assert not has_read(last)
    assert last.counts.records_read_before == len(ROWS)


def test_another_configuration_looks_again(folder: Path) -> None:
    assert has_read(run(folder, "headwater.queryLogTimezone=Europe/Berlin"))
    assert has_read(run(folder, "filterCondition=user is not null"))


def test_what_was_asked_for_is_read(folder: Path) -> None:
    for extent in (Backfill(full=True), Backfill(since=0.0), Backfill(dead=True)):
        assert has_read(run(folder, extent=extent))


def test_what_a_run_left_that_did_not_come_to_its_end_is_read(folder: Path) -> None:
    with closing(open_state(str(folder / "state.db"))) as store, store.write() as connection:
        begin_run(connection, "shop.query-log-lineage", "killed", time.time())
    assert has_read(run(folder))
    assert not has_read(run(folder))


def test_where_a_clock_went_back_nobody_knows_which_run_came_last(folder: Path) -> None:
    later = time.time() + 3600
    run_then = RecordedRun("then", "shop.query-log-lineage", later, later + 1, RunOutcome.DONE, "", {"kind": "run"})
    with closing(open_state(str(folder / "state.db"))) as store, store.write() as connection:
        begin_run(connection, run_then.workflow, run_then.run_id, run_then.started)
        end_run(connection, run_then)
    assert has_read(run(folder))
    assert has_read(run(folder))
