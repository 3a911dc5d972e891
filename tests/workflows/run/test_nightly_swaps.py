"""Three nights of swaps whose source changes on the third, read by whole runs that keep their state."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import HEADER, configuration, contributions_in
from tests.support.run_in_session import command_line, run

pytestmark = pytest.mark.spark
Edges = set[tuple[str, str]]
SOURCES = ("first", "first", "second")
SWAPS = {
    "dropped": (
        "CREATE OR REPLACE TABLE dropped_new AS SELECT id FROM {source} WHERE id > {night}",
        "DROP TABLE IF EXISTS dropped",
        "ALTER TABLE dropped_new RENAME TO dropped",
    ),
    "aside": (
        "CREATE TABLE aside__dbt_tmp AS SELECT id FROM {source}",
        "ALTER TABLE aside RENAME TO aside__dbt_backup",
        "ALTER TABLE aside__dbt_tmp RENAME TO aside",
        "DROP TABLE IF EXISTS aside__dbt_backup CASCADE",
    ),
    "swapped": (
        "CREATE OR REPLACE TABLE swapped_new AS SELECT id FROM {source} WHERE id > {night}",
        "ALTER TABLE swapped SWAP WITH swapped_new",
        "DROP TABLE swapped_new",
    ),
    "reader": ("CREATE OR REPLACE TABLE reader AS SELECT id FROM dropped",),
}
"""By what has the rows in the end; `aside` and `swapped` stand before the first."""


def night(number: int) -> str:
    """The records of a night, a second apart."""
    made = [f"CREATE TABLE {table} AS SELECT id FROM initial" for table in ("aside", "swapped")] if number == 0 else []
    texts = made + [text.format(source=SOURCES[number], night=number) for swap in SWAPS.values() for text in swap]
    return "".join(f"{text},2026-01-0{number + 1} 02:00:{second:02},s{number},\n" for second, text in enumerate(texts))


def test_after_each_run_the_catalog_says_what_the_names_now_hold(spark: SparkSession, tmp_path: Path) -> None:
    configuration(tmp_path)
    (tmp_path / "log").mkdir()
    log = tmp_path / "log" / "all.csv"
    log.write_text(HEADER)
    for number, source in enumerate(SOURCES):
        with log.open("a") as file:
            file.write(night(number))
        counts = run(tmp_path, run_id=f"night {number}").counts
        assert not counts.dead
        assert counts.records_read_before == log.read_text().count("\n") - 1 - night(number).count("\n")
        assert held(tmp_path) == {(source, "dropped"), (source, "aside"), (source, "swapped"), ("dropped", "reader")}
        for table in ("dropped", "aside", "swapped"):
            assert made_of(tmp_path, table) == [source]
    for table in ("dropped", "aside", "swapped"):
        assert made_of(tmp_path, table, "--as-of", "2026-01-02T12:00") == ["first"]
    changed = ("diff", "--catalog", "catalog.db", "--from", "2026-01-02T12:00", "--to", "2026-01-03T12:00")
    told = command_line(tmp_path, *changed).output
    ends = [line.split()[2:5:2] for line in told.splitlines() if "edge removed" in line]
    removed = sorted(tuple(name.rpartition(".")[2] for name in pair) for pair in ends)
    assert removed == [("first", "aside"), ("first", "dropped"), ("first", "swapped")]


def made_of(folder: Path, table: str, *options: str) -> list[str]:
    """Out of which tables `ingest explain` says a table's column is."""
    explained = command_line(
        folder, "explain", f"{table}.id", "--catalog", "catalog.db", "--days", "0", *options
    ).output
    return [one for one in ("first", "second", "initial") if one in explained]


def held(folder: Path) -> Edges:
    return {
        (one.source.rpartition(".")[2], one.target.rpartition(".")[2])
        for one in contributions_in(folder / "catalog.db")
    }
