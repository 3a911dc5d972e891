"""Spark history read on Spark: from directories, from a history server, and what is damaged."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyspark
import pytest
import requests
import zstandard
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from connectors.records import RECORD_SCHEMA
from connectors.spark._event_logs import SparkHistoryOptions, list_history
from connectors.spark._events import LONGEST_LINE
from connectors.spark._history_records import Row
from connectors.spark.history import read_spark_history
from ingestion.analysis.symbolic import loads
from ingestion.errors import ConfigError, TargetDown
from tests.connectors.spark.conftest import KINDS, History, read_directory

pytestmark = pytest.mark.spark


def rows_of(spark: SparkSession, options: SparkHistoryOptions) -> list[Row]:
    frame = read_spark_history(spark, options)
    assert frame.schema == RECORD_SCHEMA
    return [row.asDict() for row in frame.collect()]


def comparable(rows: list[Row]) -> list[tuple[str, ...]]:
    """Statements without where they stand; lineage by its value, for equal values may have other bytes."""
    return sorted(
        (
            *(str(row[name]) for name in ("text", "start_time", "end_time", "user", "session", "schema", "status")),
            repr(loads(row["symbolic"])) if row["symbolic"] else "",
        )
        for row in rows
        if "#" in row["source_id"]
    )


def everything(history: History, folder: Path) -> Path:
    """The logs of all applications in one directory."""
    for kind in KINDS:
        for path in history.logs(kind).iterdir():
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, folder / path.name)
    return folder


def test_all_layouts_of_one_directory_give_what_each_gives_alone(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    directory = everything(history, tmp_path)
    rows = rows_of(spark, SparkHistoryOptions(event_log_directory=directory.as_uri()))
    alone = [row for kind in KINDS for row in read_directory(history.logs(kind))]
    assert comparable(rows) == comparable(alone)


def test_rolled_files_are_put_together_over_their_borders(
    spark: SparkSession, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from connectors.spark import history as reading
    from connectors.spark._codecs import decode_stream

    source = next(history.logs("sql").rglob("events_1_*"))
    with source.open("rb") as stream:
        lines = b"".join(decode_stream(stream, "zstd")).splitlines(keepends=True)
    log = tmp_path / source.parent.name
    log.mkdir()
    application = source.parent.name.removeprefix("eventlog_v2_")
    for index, start in enumerate(range(0, len(lines), 37), start=1):
        (log / f"events_{index}_{application}").write_bytes(b"".join(lines[start : start + 37]))
    wanted = comparable(read_directory(history.logs("sql")))
    for most in (reading.TASK_BYTES, 1):  # of what one task reads: the whole log, and not two of its files
        monkeypatch.setattr(reading, "TASK_BYTES", most)
        assert comparable(rows_of(spark, SparkHistoryOptions(event_log_directory=tmp_path.as_uri()))) == wanted


def test_what_is_damaged_is_named_and_the_rest_is_read(spark: SparkSession, history: History, tmp_path: Path) -> None:
    whole = next(history.logs("sql").rglob("events_1_*"))
    torn = tmp_path / "eventlog_v2_local-2"
    torn.mkdir()
    (torn / "events_1_local-2.zstd").write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    (tmp_path / "local-3").write_bytes(os.urandom(5000))
    (tmp_path / "local-4.brotli").write_bytes(b"x")
    (tmp_path / "local-5.lz4").write_bytes(b"not lz4 at all, but long enough for a header")
    (tmp_path / "notes.txt").write_text("no event log")
    rows = rows_of(spark, SparkHistoryOptions(event_log_directory=tmp_path.as_uri()))
    problems = {row["source_id"].rsplit("/", 1)[1].split(":")[0]: row["problem"] for row in rows if row["problem"]}
    assert set(problems) == {"events_1_local-2.zstd", "local-3", "local-4.brotli", "local-5.lz4"} or set(problems) == {
        "local-3",
        "local-4.brotli",
        "local-5.lz4",
    }
    strays = [row["source_id"] for row in rows if row["status"] == "not_an_event_log"]
    assert strays == [(tmp_path / "notes.txt").as_uri().replace("///", "/") + ":1"]
    assert "codec" in problems["local-4.brotli"]
    assert "lz4" in problems["local-5.lz4"]
    assert sum(row["problem"] is None and row["query_type"] == "insert" for row in rows) > 3


def test_links_in_circles_empty_files_and_a_plan_beyond_measure_cost_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    event = '{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecution'
    start = event + 'Start","executionId":%d,"description":"d","physicalPlanDescription":"%s","time":1}\n'
    end = event + 'End","executionId":%d,"time":2,"errorMessage":""}\n'
    with zstandard.open(tmp_path / "local-1.zstd", "wb") as log:
        for number, plan in ((1, "p"), (2, "x" * (LONGEST_LINE + (1 << 20))), (3, "p")):
            log.write((start % (number, plan) + end % number).encode())
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "local-2").symlink_to(tmp_path / "local-2")
    (tmp_path / "local-3").touch()
    os.mkfifo(tmp_path / "local-4")
    (tmp_path / "odd #%41?").mkdir()
    (tmp_path / "odd #%41?" / "local-5").write_text(start % (1, "p") + end % 1)
    rows = rows_of(spark, SparkHistoryOptions(event_log_directory=tmp_path.as_uri()))
    outcomes = {row["source_id"].rpartition("/")[2]: row["problem"] or row["status"] for row in rows}
    assert outcomes == {
        "local-1#1": None,
        "local-1.zstd:3": "a line is longer than any event",
        "local-1#2": None,
        "local-1#3": None,
        "local-2:0": "unread",
        "local-5#1": None,
    }
    (tmp_path / "none").mkdir()
    assert rows_of(spark, SparkHistoryOptions(event_log_directory=(tmp_path / "none").as_uri())) == []


def test_a_later_run_reads_only_what_is_new(spark: SparkSession, history: History, tmp_path: Path) -> None:
    for path in history.logs("cli").iterdir():
        shutil.copy2(path, tmp_path / path.name)
    first = SparkHistoryOptions(event_log_directory=tmp_path.as_uri())
    files = list_history(spark, first).to_read
    known = {file.path: (file.size, file.modified) for file in files}
    assert list_history(spark, SparkHistoryOptions(event_log_directory=tmp_path.as_uri(), known=known)).to_read == ()
    for path in history.logs("streaming").iterdir():
        shutil.copy2(path, tmp_path / path.name)
    later = list_history(spark, SparkHistoryOptions(event_log_directory=tmp_path.as_uri(), known=known)).to_read
    assert {Path(file.path).name for file in later} == {path.name for path in history.logs("streaming").iterdir()}


def test_applications_are_chosen_by_date_and_by_whether_they_ended(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    directory = everything(history, tmp_path).as_uri()
    running = list_history(spark, SparkHistoryOptions(event_log_directory=directory, status="running")).to_read
    ended = list_history(spark, SparkHistoryOptions(event_log_directory=directory, status="completed")).to_read
    assert len({file.log for file in running}) == 1
    assert len({file.log for file in ended}) == len(KINDS) - 1
    future = datetime(2100, 1, 1, tzinfo=UTC)
    assert list_history(spark, SparkHistoryOptions(event_log_directory=directory, min_date=future)).to_read == ()


def test_a_directory_that_is_not_there_is_the_users_to_mend(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="eventLogDirectory"):
        list_history(spark, SparkHistoryOptions(event_log_directory=(tmp_path / "none").as_uri()))
    with pytest.raises(ConfigError, match="one of them"):
        list_history(spark, SparkHistoryOptions())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def history_server(history: History, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A real history server over the logs of three applications, and their directory."""
    folder = tmp_path_factory.mktemp("served")
    for kind in ("sql", "cli", "streaming"):
        for path in history.logs(kind).iterdir():
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, folder / path.name)
    port = free_port()
    options = f"-Dspark.history.fs.logDirectory={folder.as_uri()} -Dspark.history.ui.port={port}"
    home = Path(pyspark.__file__).parent
    process = subprocess.Popen(
        [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.history.HistoryServer"],
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_HISTORY_OPTS": options + " -Dspark.history.fs.update.interval=2s",
            "SPARK_DAEMON_MEMORY": "1g",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for_applications(url, 3)
        yield url, folder
    finally:
        process.terminate()
        process.wait(30)


def wait_for_applications(url: str, count: int) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        try:
            if len(requests.get(f"{url}/api/v1/applications", timeout=5).json()) == count:
                return
        except (requests.ConnectionError, requests.Timeout, ValueError):
            pass
        time.sleep(0.5)
    pytest.fail("the history server did not list its applications")


def test_a_history_server_gives_what_its_directory_gives(spark: SparkSession, history_server: tuple[str, Path]) -> None:
    url, folder = history_server
    served = rows_of(spark, SparkHistoryOptions(history_server=url))
    direct = rows_of(spark, SparkHistoryOptions(event_log_directory=folder.as_uri()))
    assert comparable(served) == comparable(direct)
    identifiers = [row["source_id"] for row in served]
    assert len(set(identifiers)) == len(identifiers)


def test_the_applications_of_a_server_are_read_by_all_cores(
    spark: SparkSession, history_server: tuple[str, Path]
) -> None:
    """It tells no size of theirs."""
    records = read_spark_history(spark, SparkHistoryOptions(history_server=history_server[0]))
    tasks = records.select(F.spark_partition_id()).distinct().count()
    assert tasks == min(3, spark.sparkContext.defaultParallelism) > 1


def test_the_servers_sql_pages_say_what_they_lose_and_give_the_same_writes(
    history: History, history_server: tuple[str, Path]
) -> None:
    from connectors.spark._application_log import ApplicationLog
    from connectors.spark._event_logs import list_applications, page_events
    from connectors.spark._history_records import DIALECT, RecordWriter, TextReader
    from ingestion.plans.names import NameMapping
    from tests.support.spark_jobs.comparison import by_target, direct_edges

    url, folder = history_server
    rows: list[Row] = []
    problems: list[str] = []
    with TextReader(DIALECT) as texts:
        for log in list_applications(url, None, None):
            reading, writer = ApplicationLog(), RecordWriter.of(log.log, NameMapping(), texts)
            for _, event in page_events(log, log):
                if event.problem:
                    problems.append(event.problem)
                    continue
                rows += [row for statement in reading.read(event) for row in writer.rows(statement)]
            rows += [row for statement in reading.finish() for row in writer.rows(statement)]
    others = [problem for problem in problems if "its SQL pages were read instead" not in problem]
    assert len(problems) - len(others) == 3
    assert all(problem.startswith("the history server keeps no execution before") for problem in others)
    assert len(others) < 3  # of three applications the first of a JVM counts from 0
    paged, direct = by_target(rows), by_target(read_directory(folder))
    same = {name for name in direct if name in paged and direct_edges(paged[name][1]) == direct_edges(direct[name][1])}
    targets = {fact["target"] for fact in history.truth("sql")}  # the others need texts and sinks, which pages lack
    marked = {name for name, (lineage, _) in paged.items() if lineage.problems}
    assert len(targets & same) > 40
    assert targets - same <= marked


def test_a_server_that_does_not_answer_is_down_and_one_of_another_kind_is_a_mistake(spark: SparkSession) -> None:
    with pytest.raises(TargetDown, match="does not answer"):
        list_history(spark, SparkHistoryOptions(history_server=f"http://user:secret@127.0.0.1:{free_port()}"))


def test_no_secret_of_a_url_is_in_an_error(spark: SparkSession) -> None:
    with pytest.raises(TargetDown) as caught:
        list_history(spark, SparkHistoryOptions(history_server=f"http://user:secret@127.0.0.1:{free_port()}"))
    assert "secret" not in str(caught.value)
