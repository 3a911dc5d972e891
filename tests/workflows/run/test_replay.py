"""Dead letters: what they keep, and that a replay leaves what a run would have that never failed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import Said, configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.counts import RunSummary
from workflows.runtime.options import Backfill

pytestmark = pytest.mark.spark
HEAVY = ", ".join(str(900_000_000 + number) for number in range(60_000))
"""So long a list that no parser reads it in a megabyte."""
STATEMENTS = [
    ("s1", "INSERT INTO good (a) SELECT a FROM src WHERE name = 'canary-1'"),
    ("s1", f"CREATE TEMP TABLE t AS SELECT a, b FROM base WHERE b IN ({HEAVY})"),
    ("s1", "INSERT INTO target (a) SELECT a FROM t"),
    ("s2", "INSERT INTO broken (a SELECT 'canary-3"),
]


def replay(folder: Path) -> RunSummary:
    return run(folder, may_lack_log=True, extent=Backfill(dead=True))


def letters(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "dead.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def never_failed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> set[Said]:
    folder = tmp_path_factory.mktemp("never_failed")
    write_log(folder / "log" / "all.csv", rows_of(STATEMENTS))
    configuration(folder)
    assert run(folder).counts.dead_total == 1
    return contributions_in(folder / "catalog.db")


@pytest.fixture(scope="module")
def failed_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder in which a run has failed, and a copy of it as it was then."""
    folder = tmp_path_factory.mktemp("failed")
    write_log(folder / "log" / "all.csv", rows_of(STATEMENTS))
    configuration(folder)
    assert run(folder, "parserMemoryLimit=1").counts.dead_total == 2
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    return folder, copy


@pytest.fixture
def failed(failed_once: tuple[Path, Path]) -> Path:
    """A workflow whose parsers had too little memory for one statement; another one is broken in the log."""
    folder, copy = failed_once
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    return folder


def test_a_letter_says_where_why_and_with_what_and_no_literal(failed: Path) -> None:
    heavy, broken = letters(failed)
    assert heavy["source_id"] == "all.csv:3"
    assert heavy["reason"] == "memory"
    assert heavy["limits"]["memory_mb"] == 1
    assert "sqlglot" in heavy["version"]
    assert heavy["masked"].startswith("CREATE TEMP TABLE t AS SELECT a, b FROM base WHERE b IN (?")
    assert broken["source_id"] == "all.csv:5"
    assert broken["masked"] == ""
    assert "canary" not in (failed / "dead.jsonl").read_text()


def test_a_replay_after_the_fix_leaves_what_a_run_leaves_that_never_failed(
    failed: Path, never_failed: set[Said]
) -> None:
    assert contributions_in(failed / "catalog.db") != never_failed
    summary = replay(failed)
    assert summary.counts.records_read == 2
    assert summary.counts.dead_total == 1
    assert summary.warnings == ()
    assert contributions_in(failed / "catalog.db") == never_failed
    assert [letter["source_id"] for letter in letters(failed)] == ["all.csv:5"]


def test_where_the_log_is_gone_the_masked_text_is_replayed_and_that_is_said(
    failed: Path, never_failed: set[Said]
) -> None:
    shutil.rmtree(failed / "log")
    summary = replay(failed)
    assert any("masked text was replayed" in warning for warning in summary.warnings)
    assert {(s.source, s.target) for s in contributions_in(failed / "catalog.db")} == {
        (s.source, s.target) for s in never_failed
    }
    assert [letter["source_id"] for letter in letters(failed)] == ["all.csv:5"]


def test_a_record_that_was_mended_in_the_log_is_read_from_its_place(failed: Path) -> None:
    mended = [*STATEMENTS[:3], ("s2", "INSERT INTO broken (a) SELECT a FROM src")]
    write_log(failed / "log" / "all.csv", rows_of(mended))
    summary = replay(failed)
    assert summary.counts.dead_total == 0
    assert letters(failed) == []
    assert any(said.target.endswith(".broken") for said in contributions_in(failed / "catalog.db"))
