"""The Spark session that a run's data pipeline works in."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError
from workflows.config import SparkSettings
from workflows.control.scratch import scratch_folder
from workflows.control.signals import GracefulShutdown
from workflows.runtime.class_loading import archive_file, has_own_classes, most_used_first, options_to_use
from workflows.runtime.java import Java, find_java
from workflows.runtime.logs import quiet_py4j
from workflows.runtime.spark_failures import explained_launch, explained_settings, meaning_of, spark_lost
from workflows.runtime.spark_kinds import (
    OLDEST_SPARK,
    is_old_spark,
    is_one_machine,
    is_one_process,
    refuse_other_spark,
    refuse_spark_connect,
)

logger = logging.getLogger(__name__)
_GONE_SECONDS = 2.0
_WORKER_JOB = "headwater worker"
_OWN_CODE = "headwater.zip"
_OWN_PACKAGES = ("ingestion", "connectors", "workflows")
_DEFAULTS = {
    "spark.app.name": "headwater",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "false",
    # Spark keeps workers of their own for what differs in this: half as many do the tasks of RDDs and of DataFrames.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.log.level": "ERROR",
}
_DAEMON = "workflows.runs.worker_daemon"
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
CLASS_PATH = "spark.driver.extraClassPath"
_WAREHOUSE = "spark.sql.warehouse.dir"
_PARTITIONS = "spark.sql.shuffle.partitions"
_CLUSTER_DEFAULTS = {
    # The texts of a log lie in the files of executors, as they are, from when they are read until they are parsed.
    "spark.io.encryption.enabled": "true",
}
_LOCAL_DEFAULTS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    _PARTITIONS: "8",
    # A run is short, and its work is in Python: what the JVM would spend on optimising its own code does not come back
    # (a third of the processor time at 100,000 records, two thirds at 100). spark.driver.extraJavaOptions wins over it.
    _JAVA_OPTIONS: "-XX:TieredStopAtLevel=1",
}

_TROUBLES = (Py4JError, PySparkException, OSError, EOFError)
_JVM_ENDED = "its JVM ended (killed, or out of memory: headwater.spark.conf, spark.driver.memory)"
_JVM_ENDINGS = {53: "it can make no folder for its files (headwater.spark.conf: spark.local.dir; SPARK_LOCAL_DIRS)"}
"""What exit codes of a JVM mean, as Spark's own class of them (ExecutorExitCode) has it."""


class SparkStart:
    """A session of Spark whose JVM starts in a thread, while the one who wants it does something else."""

    def __init__(self, settings: SparkSettings) -> None:
        """Raises ConfigError for Spark Connect or a Spark of another version, and where Java is missing or too old."""
        refuse_spark_connect(settings, os.environ)
        self._settings = settings
        self._own: SparkSession | None = None
        self._scratch = ExitStack()
        self._thread = ThreadPoolExecutor(1, "spark-start")
        active = SparkSession.getActiveSession()
        self._spark = self._begin(find_java()) if active is None else active

    def _begin(self, java: Java) -> Future[SparkContext]:
        refuse_other_spark(pyspark.__version__, os.environ)
        settings = self._settings
        # Tasks run in the interpreter that runs us, where what they import is installed.
        os.environ.setdefault("PYSPARK_PYTHON", settings.conf.get("spark.pyspark.python", sys.executable))
        quiet_py4j()
        conf = SparkConf().setMaster(settings.master)
        warehouse = self._scratch.enter_context(scratch_folder("spark"))
        for key, value in {_WAREHOUSE: str(warehouse), **spark_conf(settings, java)}.items():
            conf.set(key, value)
        return self._thread.submit(_context, conf)

    @contextmanager
    def session(self, drain: GracefulShutdown) -> Iterator[SparkSession]:
        """The session, once it is there; one that was active already is given our settings for the block.

        A signal that comes while it is awaited is held back until it is there: a JVM that is half started would be
        left behind. Raises ConfigError where an active Spark is too old, and where Spark refuses a setting;
        SparkLost where it breaks down in the block; where a signal tore it down, Interrupted.
        """
        with explained_breakdowns(drain):
            if isinstance(self._spark, SparkSession):
                with _made_ours(self._spark, self._settings):
                    yield self._spark
                return
            with drain.hold(), explained_settings():
                self._spark.result()
                self._own = SparkSession.builder.getOrCreate()
                self._own.conf.get(_PARTITIONS)  # has Spark look at all its settings for SQL
                cores = self._own.sparkContext.defaultParallelism
            if is_one_process(self._settings.master):
                if cores > 1:
                    self._thread.submit(_load_worker, self._own.sparkContext)
            else:
                folder = self._scratch.enter_context(scratch_folder("spark"))
                self._own.sparkContext.addPyFile(str(_own_code(folder)))
            yield self._own

    def close(self) -> None:
        """Stops what was started; waits for it where it is still starting."""
        with self._scratch:
            if self._own is not None:
                with suppress(*_TROUBLES):  # of a JVM that has gone
                    self._own.sparkContext.cancelJobGroup(_WORKER_JOB)
            self._thread.shutdown()
            if isinstance(self._spark, Future) and self._spark.exception() is None:
                _stop(self._own or self._spark.result())


@contextmanager
def spark_session(settings: SparkSettings, drain: GracefulShutdown) -> Iterator[SparkSession]:
    """A session on the configured master, stopped at the end; one that is active already is used, and left as it was.

    Raises what SparkStart and its `session` raise.
    """
    with closing(SparkStart(settings)) as start, start.session(drain) as spark:
        yield spark


def _context(conf: SparkConf) -> SparkContext:
    if SparkContext._gateway is not None:
        return SparkContext.getOrCreate(conf)
    with explained_launch() as output:
        streams = {} if _talks() else {"stdout": output, "stderr": output}
        gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
    return SparkContext(conf=conf, gateway=gateway)


def _load_worker(context: SparkContext) -> None:
    """Has a Python worker load its modules, for a second, while the JVM plans its first queries."""
    with suppress(*_TROUBLES):  # a task that is waited for tells them
        context.setJobGroup(_WORKER_JOB, "a Python worker is loaded")
        context.parallelize([0], 1).foreach(_nothing)


def _nothing(_row: int) -> None:
    """What a worker is given to do that shall only be there."""


def _talks() -> bool:
    """Whether what the JVM and its Python workers print is shown: it may quote queries.

    What matters comes back as an exception.
    """
    return logging.getLogger("workflows").isEnabledFor(logging.DEBUG)


def spark_conf(settings: SparkSettings, java: Java) -> dict[str, str]:
    """With what a session of ours starts: the `settings`, and what is better than Spark's own defaults."""
    defaults = {**_DEFAULTS}
    if is_one_machine(settings.master):
        archive = options_to_use(archive_file(java))
        defaults |= {**_LOCAL_DEFAULTS, _JAVA_OPTIONS: f"{_LOCAL_DEFAULTS[_JAVA_OPTIONS]} {archive}".strip()}
        if not archive and not has_own_classes(_spark_home()):
            defaults[CLASS_PATH] = most_used_first(_spark_home() / "jars")
    if not is_one_process(settings.master):
        defaults |= _CLUSTER_DEFAULTS
    elif _workers_are_like_us():
        defaults["spark.python.daemon.module"] = _DAEMON
    return {**defaults, **settings.conf}


def _workers_are_like_us() -> bool:
    """Whether Python workers find in their interpreter what we have: another may lack our packages, or PySpark."""
    same_spark = _spark_home().resolve() == Path(pyspark.__file__).resolve().parent
    return same_spark and os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable


def _spark_home() -> Path:
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


@contextmanager
def _made_ours(active: SparkSession, settings: SparkSettings) -> Iterator[None]:
    """Gives a session of somebody else our settings for the block, as far as it takes them, and our code for good.

    Raises ConfigError where its Spark is too old, or refuses a setting.
    """
    if is_old_spark(active.version):
        raise ConfigError(f"the active session is of Spark {active.version}: a run needs {OLDEST_SPARK} or newer")
    wanted = {**_DEFAULTS, **settings.conf}
    taken = {key: value for key, value in wanted.items() if active.conf.isModifiable(key)}
    if ignored := sorted(settings.conf.keys() - taken):
        logger.warning("the active Spark session keeps its own %s", ", ".join(ignored))
    before = {key: active.conf.get(key, None) for key in taken}
    context = active.sparkContext
    if not is_one_process(str(context.master)) and not any(Path(file).name == _OWN_CODE for file in context.listFiles):
        # Beside the session's other files: an executor that begins after this run is sent all of them.
        folder = Path(SparkFiles.getRootDirectory()) / "headwater"
        folder.mkdir(exist_ok=True)
        context.addPyFile(str(_own_code(folder)))
    try:
        with explained_settings():
            for key, value in taken.items():
                active.conf.set(key, value)
        yield
    finally:
        for key, was in before.items():
            if was is None:
                active.conf.unset(key)
            else:
                active.conf.set(key, was)


def _stop(spark: SparkSession | SparkContext) -> None:
    """A JVM that does not answer any more ends with this process, to which it is tied by a pipe."""
    try:
        spark.stop()
    except _TROUBLES as error:
        logger.debug("Spark did not answer when it was stopped (%s)", type(error).__name__)


@contextmanager
def explained_breakdowns(drain: GracefulShutdown) -> Iterator[None]:
    """What Spark's own errors mean: raises Interrupted where a signal broke off its answer, SparkLost where it is gone.

    What a job does wrong is raised as it is.
    """
    try:
        yield
    except (*_TROUBLES, ConfigError) as error:
        if drain.interruption is not None:
            raise drain.interruption from None
        if isinstance(error, ConfigError):
            raise
        meaning = meaning_of(error)
        if meaning is None:
            code = _exit_code()
            if code is None and not isinstance(error, Py4JNetworkError):
                raise
            meaning = spark_lost(_JVM_ENDINGS.get(code or 0, _JVM_ENDED))
        raise meaning from error


def _exit_code() -> int | None:
    """That of the JVM, if it has ended or is about to; None where it runs, or where there is none."""
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    try:
        return None if process is None else process.wait(_GONE_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _own_code(directory: Path) -> Path:
    """Our packages in a zip, for executors that have the dependencies installed but not us."""
    archive = directory / _OWN_CODE
    root = Path(__file__).resolve().parent.parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for package in _OWN_PACKAGES:
            for source in sorted((root / package).rglob("*.py")):
                out.write(source, source.relative_to(root))
    return archive
