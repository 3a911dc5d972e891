"""What Spark's own errors mean to the one who started it."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyarrow import RecordBatch
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError, PythonException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError, Interrupted, ParserUnavailable, SparkLost
from tests.support.catalog_contents import REPOSITORY
from workflows.config import SparkSettings
from workflows.runtime import spark_kinds
from workflows.runtime.java import find_java
from workflows.runtime.signals import GracefulShutdown, interrupted_by_signals
from workflows.runtime.spark import (
    explained_breakdowns,
    explained_settings,
    interpreted_queries,
    spark_conf,
    spark_session,
)


def test_a_signal_that_breaks_off_an_answer_is_told_and_not_what_came_of_it() -> None:
    drain = GracefulShutdown()
    with pytest.raises(Interrupted) as caught, interrupted_by_signals(drain), explained_breakdowns(drain):
        # As py4j does, which tells nothing of what it was that broke off its waiting.
        with suppress(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        raise Py4JError("An error occurred while calling o123.count")
    assert caught.value.exit_code == 143


@pytest.mark.parametrize("sign", ["java.io.IOException: No space left on device", "java.lang.OutOfMemoryError: heap"])
def test_a_lack_of_room_is_told_with_the_setting_that_helps(sign: str) -> None:
    with (
        pytest.raises(SparkLost, match=r"headwater\.spark\.conf.*run the same command again"),
        explained_breakdowns(GracefulShutdown()),
    ):
        raise PySparkRuntimeError(f"Job aborted\n\tat somewhere\nCaused by: {sign} secret-canary")


def test_what_a_job_does_wrong_stays_what_it_is() -> None:
    with pytest.raises(Py4JError, match="anything else"), explained_breakdowns(GracefulShutdown()):
        raise Py4JError("anything else")


def hang_up(listening: socket.socket) -> None:
    """Takes connections, and ends each without an answer, as the system does for a JVM that is killed."""
    with suppress(OSError):
        while True:
            listening.accept()[0].close()


@pytest.mark.parametrize("listens", [True, False], ids=["hangs up", "is gone"])
def test_a_jvm_that_is_killed_while_spark_starts_is_told_as_a_breakdown(
    listens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)  # as it is until the gateway has been launched
    monkeypatch.setenv("PYSPARK_GATEWAY_SECRET", "canary")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", str(listening.getsockname()[1]))
        if listens:
            threading.Thread(target=hang_up, args=(listening,), daemon=True).start()
        else:
            listening.close()
        with (
            pytest.raises(SparkLost, match=r"^Spark broke down: its JVM ended .*run the same command again"),
            explained_breakdowns(GracefulShutdown()),
            explained_settings(),
        ):
            launch_gateway()  # type: ignore[no-untyped-call]
        if listens:
            listening.shutdown(socket.SHUT_RDWR)


def test_a_jvm_that_does_not_answer_any_more_is_told_as_a_breakdown() -> None:
    with pytest.raises(SparkLost, match="its JVM ended"), explained_breakdowns(GracefulShutdown()):
        raise Py4JNetworkError("Answer from Java side is empty")


class MutePySparkError(PySparkRuntimeError):
    """An exception of a JVM that has gone: nobody is left to ask for its message."""

    def __str__(self) -> str:
        raise ConnectionRefusedError


def test_an_exception_of_a_jvm_that_has_gone_is_told_as_a_breakdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workflows.runtime.spark._exit_code", lambda: 137)
    with pytest.raises(SparkLost, match="its JVM ended"), explained_breakdowns(GracefulShutdown()):
        raise MutePySparkError("cannot be told")


@pytest.mark.parametrize("came_of_it", [ConnectionRefusedError(), ConfigError("a setting is refused")])
def test_a_signal_is_told_before_what_came_of_it(came_of_it: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    drain = GracefulShutdown()
    with (
        pytest.raises(Interrupted),
        interrupted_by_signals(drain),
        explained_breakdowns(drain),
        drain.hold(),
        explained_settings(),
    ):
        os.kill(os.getpid(), signal.SIGTERM)
        raise came_of_it


def die(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield from ()


def starve(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    raise MemoryError


def fill_the_disk(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def lack_a_package(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    raise ModuleNotFoundError("No module named 'headwater_canary'")


def find_no_parser(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    raise ParserUnavailable("no parser process comes up")


def quote_a_statement(_batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
    raise ValueError("of the statement: SELECT 'No space left on device, OutOfMemoryError, Cannot run program'")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("task", "ending", "message"),
    [
        (die, SparkLost, r"worker.* killed .*headwater\.spark\.master.*run the same command again"),
        (starve, SparkLost, r"worker ran out of memory .*spark\.executor\.memoryOverhead"),
        (fill_the_disk, SparkLost, r"no room .*spark\.local\.dir"),
        (lack_a_package, SparkLost, r"lack a Python package .*spark\.archives"),
        (find_no_parser, ParserUnavailable, r"^no parser process comes up$"),
        (quote_a_statement, PythonException, "of the statement"),
    ],
)
def test_each_way_a_task_fails_is_told(
    spark: SparkSession,
    task: Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]],
    ending: type[Exception],
    message: str,
) -> None:
    with pytest.raises(ending, match=message), explained_breakdowns(GracefulShutdown()):
        spark.range(1).coalesce(1).mapInArrow(task, "id long").collect()


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("Total size of serialized results of 9 tasks is bigger than spark.driver.maxResultSize", "maxResultSize"),
        ("ExecutorLostFailure (executor 3 exited caused by one of the running tasks)", "spark.executor.memory"),
        ("Container killed by YARN for exceeding memory limits", "spark.executor.memoryOverhead"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9", "spark.pyspark.python"),
        ('Cannot run program "/none/python3": error=2', "spark.pyspark.python"),
        ("Futures timed out after [120 seconds]", "spark.network.timeout"),
        ("java.io.InvalidClassException: org.apache.spark.rdd.RDD; local class incompatible", "this PySpark's version"),
        ("FetchFailed(BlockManagerId(1, host, 7337), shuffleId=0)", "spark.local.dir"),
        ("Application aborted: All masters are unresponsive! Giving up.", "headwater.spark.master"),
    ],
)
def test_each_way_spark_fails_is_told_with_the_setting_that_mends_it(said: str, key: str) -> None:
    trace = (
        f"An error occurred while calling o56.count.\n: org.apache.spark.SparkException: Job aborted: {said} canary\n"
    )
    with pytest.raises(SparkLost, match=re.escape(key)) as caught, explained_breakdowns(GracefulShutdown()):
        raise Py4JError(f"{trace}\tat org.apache.spark.Somewhere")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("master", "encrypted"),
    [("local[2]", None), ("local-cluster[2,1,1024]", "true"), ("spark://here:7077", "true"), ("yarn", "true")],
)
def test_the_files_of_executors_are_encrypted_unless_the_workflow_says_otherwise(
    master: str, encrypted: str | None
) -> None:
    """The texts of a log stand in them as they are."""
    key = "spark.io.encryption.enabled"
    java = find_java()
    assert spark_conf(SparkSettings(master=master), java).get(key) == encrypted
    assert spark_conf(SparkSettings(master=master, conf={key: "false"}), java)[key] == "false"


def test_an_active_session_gets_our_settings_for_the_run_and_its_own_back(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    zone, partitions, batches = (
        "spark.sql.session.timeZone",
        "spark.sql.shuffle.partitions",
        "spark.sql.execution.arrow.maxRecordsPerBatch",
    )
    spark.conf.set(zone, "Asia/Tokyo")
    before = [spark.conf.get(key, None) for key in (zone, partitions, batches)]
    settings = SparkSettings(conf={partitions: "3", "spark.executor.memory": "4g"})
    with spark_session(settings, GracefulShutdown()) as lent:
        assert lent is spark
        assert [spark.conf.get(key) for key in (zone, partitions, batches)] == ["UTC", "3", "2000"]
    assert [spark.conf.get(key, None) for key in (zone, partitions, batches)] == before
    spark.conf.set(zone, "UTC")
    assert "keeps its own spark.executor.memory" in caplog.text


def test_queries_over_few_rows_are_interpreted_and_later_ones_are_not(spark: SparkSession) -> None:
    keys = ("spark.sql.codegen.factoryMode", "spark.sql.codegen.wholeStage")
    before = [spark.conf.get(key) for key in keys]
    with interpreted_queries(spark, are_few=True):
        assert [spark.conf.get(key) for key in keys] == ["NO_CODEGEN", "false"]
        assert [row["id"] for row in spark.range(3).where("id * 2 > 1").orderBy("id").collect()] == [1, 2]
    assert [spark.conf.get(key) for key in keys] == before
    with interpreted_queries(spark, are_few=False):
        assert [spark.conf.get(key) for key in keys] == before


@pytest.mark.parametrize("value", ["many", "0"])
def test_a_setting_that_an_active_session_refuses_is_told_and_changes_nothing(spark: SparkSession, value: str) -> None:
    batches, partitions = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.shuffle.partitions"
    before = [spark.conf.get(key, None) for key in (batches, partitions)]
    with (
        pytest.raises(ConfigError, match=rf'^Spark refuses .* The value \'{value}\' in the config "{partitions}" is'),
        spark_session(SparkSettings(conf={partitions: value}), GracefulShutdown()),
    ):
        pytest.fail("it was used")
    assert [spark.conf.get(key, None) for key in (batches, partitions)] == before


UNUSED = """
import time
from contextlib import closing, suppress
import psutil
from pyspark import SparkContext
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import SparkStart, spark_session

def modules_of_children():
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has ended meanwhile
            line = process.cmdline()
            yield from line[line.index("-m") + 1 :][:1] if "-m" in line else ()

with closing(SparkStart(SparkSettings())) as start:
    start.begin()
    print(SparkContext._active_spark_context)
print(SparkContext._active_spark_context)
with spark_session(SparkSettings(), GracefulShutdown()) as spark:
    print(spark.range(3).count())
    until = time.monotonic() + 30
    while not (modules := {*modules_of_children()}):
        assert time.monotonic() < until
        time.sleep(0.1)
    print(*modules)
print(SparkContext._active_spark_context)
"""

LOCAL_FILES = """
import sys
from pathlib import Path
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

for _run in range(2):
    with spark_session(SparkSettings(master="local[1]"), GracefulShutdown()) as spark:
        spark.range(3).persist().count()
        folders = {Path(spark.sparkContext._temp_dir).parent.parent, *Path(sys.argv[1]).glob("*/blockmgr-*/..")}
        print(*(folder.resolve().name.rpartition("-")[0] for folder in folders), all(map(Path.is_dir, folders)))
"""

REFUSED = """
from pyspark import SparkContext
from ingestion.errors import ConfigError, SparkLost
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import explained_breakdowns, spark_session
from workflows.runtime.spark import explained_settings

for key in ("spark.sql.shuffle.partitions", "spark.memory.fraction", "spark.sql.fromJsonForceNullableSchema"):
    try:
        with spark_session(SparkSettings(conf={key: "canary"}), GracefulShutdown()):
            print("it was used")
    except ConfigError as error:
        print(SparkContext._active_spark_context, error)
with spark_session(SparkSettings(), GracefulShutdown()) as spark:
    spark.sparkContext._jsc.stop()
    try:
        with explained_breakdowns(GracefulShutdown()), explained_settings():
            print(spark.sparkContext.defaultParallelism)
    except SparkLost as error:
        print(error)
"""


@dataclass(frozen=True)
class Printed:
    """What the three programs printed, and the folder that was theirs for temporary files."""

    unused: str
    local_files: str
    refused: str
    folder: Path


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """The programs one after the other in one process, since a JVM for each takes longer than all that they do."""
    folder = tmp_path_factory.mktemp("temporary")
    program = "\nprint('--')\n".join((UNUSED, LOCAL_FILES, REFUSED))
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        cwd=REPOSITORY,
        env={**environment, "TMPDIR": str(folder)},
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    return Printed(*done.stdout.split("--\n"), folder)


def test_a_setting_with_which_spark_cannot_work_is_told_before_the_first_query(printed: Printed) -> None:
    partitions, fraction, removed, stopped = printed.refused.splitlines()
    refused = "None Spark refuses a setting of headwater.spark:"
    assert partitions == (
        f"{refused} The value 'canary' in the config \"spark.sql.shuffle.partitions\" is invalid. "
        "It should be a/an 'int' value"
    )
    assert fraction == f'{refused} Illegal value for config key spark.memory.fraction: For input string: "canary"'
    assert removed.startswith(f"{refused} The SQL config")
    assert stopped.startswith("Spark broke down: its JVM did not start, or was stopped")


NOT_STARTED = """
import json, sys
from ingestion.errors import LineageError
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

for master, conf in json.loads(sys.argv[1]):
    try:
        with spark_session(SparkSettings(master=master, conf=conf), GracefulShutdown()):
            print("it was used")
    except LineageError as error:
        print(error.code, error)
"""


def test_why_a_jvm_does_not_start_is_told_in_the_words_of_the_one_that_refused() -> None:
    heap, java = "spark.driver.memory", "spark.driver.defaultJavaOptions"
    wrong = [
        ("yarn", {}),
        ("local[1]", {heap: "lots"}),
        ("local[1]", {heap: "999999g"}),
        ("local[1]", {java: "-Dpassword=canary -Xmx1g"}),
    ]
    hadoop = {"HADOOP_CONF_DIR", "YARN_CONF_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in hadoop}
    program = [sys.executable, "-c", NOT_STARTED, json.dumps(wrong)]
    printed = subprocess.run(program, cwd=REPOSITORY, env=environment, check=True, capture_output=True, text=True)
    told = "config Spark does not start with headwater.spark: "
    assert [line.removeprefix(told) for line in printed.stdout.splitlines()] == [
        "When running with master 'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment.",
        "Invalid maximum heap size: -Xmxlots",
        "Could not reserve enough space for 1048574951424KB object heap",
        "Not allowed to specify max heap(Xmx) memory settings through java options (was -Dpassword=*** -Xmx1g). "
        "Use the corresponding --driver-memory or spark.driver.memory configuration instead.",
    ]
    assert printed.stderr == ""


NO_FOLDER = """
import sys
from workflows.config import SparkSettings
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

with spark_session(SparkSettings(conf={"spark.local.dir": sys.argv[1]}), GracefulShutdown()):
    print("it was used")
"""


def test_a_place_where_spark_can_keep_no_files_is_told_by_its_key(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = [sys.executable, "-c", NO_FOLDER, str(tmp_path / "file" / "folder")]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    printed = subprocess.run(
        program, cwd=REPOSITORY, env=environment, check=False, capture_output=True, text=True, timeout=120
    )
    assert printed.stdout == ""
    told = "Spark broke down: it can make no folder for its files (headwater.spark.conf: spark.local.dir;"
    assert told in printed.stderr


def test_an_active_session_of_an_old_spark_is_refused_in_one_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_kinds, "OLDEST_SPARK", "99.0")  # so that every real one is older
    with (
        pytest.raises(ConfigError, match=rf"Spark {re.escape(spark.version)}: a run needs "),
        spark_session(SparkSettings(), GracefulShutdown()),
    ):
        pytest.fail("it was used")


def test_a_start_that_nobody_waited_for_is_stopped_and_the_next_one_is_as_if_it_had_not_been(printed: Printed) -> None:
    worker = "workflows.runtime.worker_daemon"  # nobody asked for one
    assert printed.unused.split() == ["None", "None", "3", worker, "None"]


def test_the_files_of_spark_lie_where_the_next_run_removes_them(printed: Printed) -> None:
    lines = printed.local_files.splitlines()
    assert [set(line.split()) for line in lines] == [{"headwater-spark", "True"}] * 2
    assert not list(printed.folder.glob("headwater-*"))
