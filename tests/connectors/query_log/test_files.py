from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.query_log.files import QueryLogFile, are_as_read, find_log_files, local_files
from ingestion.errors import ConfigError

pytestmark = pytest.mark.spark


def write(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("query\nselect 1\n")


def names(spark: SparkSession, path: object) -> list[str]:
    return [file.name for file in find_log_files(spark, str(path))]


def test_a_directory_gives_its_logs_at_any_depth_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    write(
        *(tmp_path / name for name in ("b.csv", "old/a.CSV.gz", "old/c.tsv.zst", ".hidden/d.csv", "_tmp.csv", "pg.log"))
    )
    assert names(spark, tmp_path) == ["b.csv", "old/a.CSV.gz", "old/c.tsv.zst"]


def test_globs_alternatives_and_file_uris_name_files(spark: SparkSession, tmp_path: Path) -> None:
    write(*(tmp_path / name for name in ("jan/a.csv", "feb/a.csv", "feb/b.txt", "mar/a.csv")))
    assert names(spark, tmp_path / "*" / "a.csv") == ["feb/a.csv", "jan/a.csv", "mar/a.csv"]
    assert names(spark, f"file://{tmp_path}/{{jan,feb}}/*") == ["feb/a.csv", "feb/b.txt", "jan/a.csv"]
    assert names(spark, tmp_path / "[jm]*") == ["jan/a.csv", "mar/a.csv"]


def test_a_name_with_wildcards_and_colons_in_it_is_itself(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "log [1] 08:00.csv")
    assert names(spark, tmp_path / "log [1] 08:00.csv") == ["log [1] 08:00.csv"]


def test_a_missing_file_is_told_with_the_nearest_name(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "query_log.csv")
    with pytest.raises(ConfigError, match=r"querylog\.csv does not exist; did you mean .*/query_log\.csv\?"):
        find_log_files(spark, str(tmp_path / "querylog.csv"))
    with pytest.raises(ConfigError, match=r"there is no directory .*/nowhere"):
        find_log_files(spark, str(tmp_path / "nowhere" / "a.csv"))
    with pytest.raises(ConfigError, match="matches no file"):
        find_log_files(spark, str(tmp_path / "*.tsv"))


def test_a_directory_without_logs_tells_what_it_holds(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no query log .*it is empty"):
        find_log_files(spark, str(tmp_path))
    write(tmp_path / "events.log")
    with pytest.raises(ConfigError, match=r"it holds events\.log"):
        find_log_files(spark, str(tmp_path))


def marks(spark: SparkSession, path: object) -> dict[str, tuple[int, float]]:
    return {file.path: (file.size, file.modified) for file in find_log_files(spark, str(path))}


def test_files_are_as_they_were_read_until_one_grows_is_rewritten_or_comes(spark: SparkSession, tmp_path: Path) -> None:
    log, rotated = tmp_path / "log" / "a.csv", tmp_path / "log" / "old.csv"
    write(log, rotated)
    known = marks(spark, log.parent)
    assert are_as_read(str(log.parent), known)
    assert are_as_read(f"file://{log.parent}/*.csv", known)
    assert not are_as_read(str(log), known)  # of fewer files fewer records were read before
    rotated.unlink()
    assert not are_as_read(str(log.parent), known)
    known = marks(spark, log.parent)
    assert are_as_read(str(log.parent), known)
    os.utime(log, (0, known[str(log)][1] - 60))
    assert not are_as_read(str(log.parent), known)
    known = marks(spark, log.parent)
    write(log.parent / "b.csv")
    assert not are_as_read(str(log.parent), known)
    known = marks(spark, log.parent)
    with log.open("a") as stream:
        stream.write("select 2\n")
    assert not are_as_read(str(log.parent), known)


def test_files_that_are_not_there_or_elsewhere_are_not_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in ("gone.csv", "empty", "*.tsv"):
        assert not are_as_read(str(tmp_path / path), {})
    assert not are_as_read("s3a://bucket/log.csv", {"s3a://bucket/log.csv": (9, 0.0)})


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    found = [QueryLogFile("/a.csv", "a.csv", 9, modified=at) for at in (90.0, 99.5)]
    elsewhere = QueryLogFile("hdfs://host/a.csv", "a.csv", 9, local=False)
    files = local_files([*found, elsewhere], 100.0)
    assert files.there == tuple(found)
    assert files.to_read == (found[0],)
