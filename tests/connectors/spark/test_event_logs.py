"""Which files of a directory are event logs, by their names and by what is in them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from connectors.spark._event_logs import local_files, to_read
from connectors.spark.history import file_events

START = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":%d,"time":1}\n'
LOG = b'{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}\n' + START % 1


def kinds(directory: Path) -> dict[str, str]:
    """What was found in each file: the kinds of its events, or what is said of it."""
    files = local_files(str(directory))
    return {
        file.path.removeprefix(directory.as_uri().replace("///", "/") + "/"): " ".join(
            found.line.problem or found.line.kind for found in file_events(file)
        )
        for file in files
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("eventlog", LOG),
        ("eventlog-2024-01-31--07-00.gz", gzip.compress(LOG, mtime=0)),
        ("0131-cluster/eventlog/0131-cluster_10_0_0_1/123/eventlog", LOG),
        ("nightly job.log", LOG),
        ("nightly.json", LOG),
        ("nightly", LOG),
        ("nightly.zstd", zstandard.compress(LOG)),
        ("nightly.zstd.inprogress", zstandard.compress(LOG)),
        ("20240131T0700_app", LOG),
        ("_underscored", LOG),
        ("local-1", LOG),
        ("spark-0123456789abcdef0123456789abcdef", LOG),
        ("eventlog_v2_app-1/events_1_app-1", LOG),
        ("eventlog_v2_app-1/some.other", LOG),
    ],
)
def test_an_event_log_is_read_whatever_its_name(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(content)
    assert kinds(tmp_path) == {name: "start"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", b"no event log"),
        ("00000000000000000000.json", b'{"commitInfo":{}}\n{"add":{}}\n'),
        ("part-0.snappy.parquet", b"PAR1" + os.urandom(100)),
        ("events.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)),
        ("driver/log4j-active.log", b"24/01/31 07:00:00 INFO x\n"),
        ("archive.zip", b"PK\x03\x04"),
        ("archive.brotli", b"x"),
    ],
)
def test_a_file_that_is_no_event_log_is_told(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(content)
    assert kinds(tmp_path) == {name: "foreign"}


def test_what_has_the_name_of_a_log_and_is_none_is_damaged_and_what_is_hidden_or_empty_is_nothing(
    tmp_path: Path,
) -> None:
    for name in ("application_1700000000000_0001", "local-3", "eventlog", "app-20240131070000-0001.zstd.inprogress"):
        (tmp_path / name).write_bytes(b"\x00\x01 anything")
    for name in (".local-3.crc", ".hidden", "empty", "eventlog_v2_local-2/appstatus_local-2", ".tmp/local-9"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" if "." in name else b"")
    found = kinds(tmp_path)
    assert found.pop("empty") == ""
    assert set(found) == {
        "application_1700000000000_0001",
        "local-3",
        "eventlog",
        "app-20240131070000-0001.zstd.inprogress",
    }
    assert all("damaged" in problem for problem in found.values())


def test_the_files_of_one_application_on_databricks_are_one_log_in_the_order_of_their_dates(tmp_path: Path) -> None:
    names = ["eventlog-2024-02-01--00-00.gz", "eventlog", "eventlog-2024-01-31--23-30.gz", "eventlog-2023-12-31--07-00"]
    for folder in ("1", "2"):
        for name in names:
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_bytes(LOG)
    found = local_files(str(tmp_path))
    assert len({file.log for file in found}) == 2
    assert [Path(file.path).name for file in found[:4]] == [names[3], names[2], names[0], names[1]]
    assert to_read(found, None, "completed", {}) == found
