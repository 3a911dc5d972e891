"""A log whose records name no schema: each name is where its session looks, in this run and in the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration, contributions_in, rows_of, write_log
from tests.support.run_in_session import run
from workflows.counts import RunSummary

pytestmark = pytest.mark.spark
INSERT = "INSERT INTO {} (a) SELECT a FROM source"
FIRST = [
    ("one", "SET search_path TO web"),
    ("one", "BEGIN"),
    ("two", "SET search_path TO shop"),
    ("one", "SET LOCAL search_path TO mart"),
    ("one", INSERT.format("in_transaction")),
    ("two", INSERT.format("beside")),
    ("two", f"DO $$ BEGIN IF late() THEN SET search_path TO raw; END IF; {INSERT.format('inner')}; END $$"),
    ("two", INSERT.format("behind_a_block")),
    ("three", INSERT.format("plain")),
]
SECOND = [
    ("one", INSERT.format("in_the_next_run")),
    ("two", "SET search_path TO {{ schema }}"),
    ("two", INSERT.format("behind_a_template")),
    ("two", "COMMIT"),
    ("one", "COMMIT"),
    ("one", INSERT.format("behind_it")),
    ("two", "RESET search_path"),
    ("two", INSERT.format("reset")),
]


def targets(folder: Path) -> set[str]:
    return {one.target.partition(".default.")[2] for one in contributions_in(folder / "catalog.db")}


def assert_nothing_lost(summary: RunSummary) -> None:
    counts = summary.counts
    assert counts.statements == counts.published + sum(counts.skipped.values()) + sum(counts.dead.values())


def test_sessions_are_followed_through_transactions_blocks_and_runs(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    rows = rows_of([*FIRST, *SECOND])
    write_log(tmp_path / "log" / "all.csv", rows[: len(FIRST)])
    first = run(tmp_path)
    assert targets(tmp_path) == {"mart.in_transaction", "shop.beside", "public.plain"}
    assert first.counts.skipped["unknown_session"] == 2
    write_log(tmp_path / "log" / "all.csv", rows)
    second = run(tmp_path)
    there = {
        *("mart.in_transaction", "shop.beside", "public.plain"),
        *("mart.in_the_next_run", "web.behind_it", "public.reset"),
    }
    assert targets(tmp_path) == there
    assert (second.counts.skipped["unknown_session"], second.counts.dead) == (1, {"templated": 1})
    assert_nothing_lost(first)
    assert_nothing_lost(second)


EMPTYINGS = {
    "committed": ("BEGIN", "DELETE FROM tmp", "COMMIT"),
    "at_once": ("DELETE FROM tmp", "BEGIN", "ROLLBACK"),
    "undone": ("BEGIN", "DELETE FROM tmp", "ROLLBACK"),
    "undone_without_begin": ("TRUNCATE tmp", "ROLLBACK WORK"),
    "undone_in_part": ("BEGIN", "SAVEPOINT p", "TRUNCATE tmp", "ROLLBACK TO SAVEPOINT p", "COMMIT"),
    "undone_around": ("BEGIN", "DELETE FROM tmp", "BEGIN", "COMMIT", "ROLLBACK"),
    "some_rows": ("SET ROWCOUNT 5", "DELETE FROM tmp"),
    "in_a_block": ("BEGIN", "DO $$ BEGIN DELETE FROM tmp; END $$", "ROLLBACK"),
}
"""What sessions do to a table that is filled before and behind."""
STAY_EMPTY = {"committed", "at_once"}


def test_what_was_deleted_is_gone_where_no_rollback_brings_it_back(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    steps = [
        [
            "CREATE TEMP TABLE tmp AS SELECT a FROM first",
            *emptying,
            "INSERT INTO tmp SELECT a FROM second",
            f"INSERT INTO {name} (a) SELECT a FROM tmp",
        ]
        for name, emptying in EMPTYINGS.items()
    ]
    rows = rows_of([(name, text) for name, texts in zip(EMPTYINGS, steps, strict=True) for text in texts])
    write_log(tmp_path / "log" / "all.csv", rows[:-3])
    assert_nothing_lost(run(tmp_path))
    write_log(tmp_path / "log" / "all.csv", rows)
    assert_nothing_lost(run(tmp_path))
    found = {
        (one.source.rpartition(".")[2], one.target.rpartition(".")[2])
        for one in contributions_in(tmp_path / "catalog.db")
    }
    second = {("second", name) for name in EMPTYINGS}
    assert found == second | {("first", name) for name in EMPTYINGS if name not in STAY_EMPTY}
