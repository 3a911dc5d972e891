"""The Spark session that a run's data pipeline works in, and what Spark's own errors mean."""

from __future__ import annotations

import atexit
import logging
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Thread

import pyspark
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkConf, SparkContext, SparkFiles
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from connectors.scratch import scratch_folder
from ingestion import errors
from ingestion.errors import ConfigError, LineageError, SparkLost
from workflows.config import SparkSettings
from workflows.runtime.java import (
    OTHERS_JARS,
    UNVERIFIED,
    Java,
    archive_file,
    find_java,
    has_own_classes,
    most_used_first,
    options_to_use,
)
from workflows.runtime.java_classes import know_classes
from workflows.runtime.logs import quiet_py4j
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark_kinds import (
    OLDEST_SPARK,
    is_old_spark,
    is_one_machine,
    is_one_process,
    refuse_other_spark,
    refuse_spark_connect,
)

logger = logging.getLogger(__name__)

_EXCEPTION = re.compile(
    r"^(?:: |Caused by: )?(?P<message>(?:(?:java|org|scala|pyspark|py4j)\.[\w.$]*|(?:\w+\.)*"
    r"(?:OSError|MemoryError|ArrowMemoryError|ImportError|ModuleNotFoundError))\b.*)$",
    re.MULTILINE,
)
"""Where a stack trace, of the JVM or of Python, tells an exception of Spark or of the system: its class and message."""
_OWN = re.compile(rf"^{re.escape(errors.__name__)}\.(?P<type>\w+)(?:: (?P<message>.*))?$", re.MULTILINE)
"""One of our own errors that a task raised."""
_REFUSAL = re.compile(r"^: (?:[\w.$]+: )?(?P<why>.+)$", re.MULTILINE)
"""Where Py4JJavaError quotes the exception of the JVM: its class and its message."""
_STOPPED = r"SparkContext was shut down|stopped SparkContext"
_SENTENCE = re.compile(r"^(?:\[[\w.]+\] )?(?P<why>.*?)\.?(?: SQLSTATE: \w+)?$")
"""A message of Spark: the name of its kind, what it says, and the code of that in standard SQL."""
_LAUNCH_REFUSALS = (
    re.compile(r'^Exception in thread "main" (?:[\w.$]+: )?(?P<why>.+)$', re.MULTILINE),
    re.compile(r"^Error occurred during initialization of VM\n(?P<why>.+)$", re.MULTILINE),
    re.compile(r"^(?P<why>.+)\n(?:Did you mean.+\n)?Error: Could not create the Java Virtual Machine", re.MULTILINE),
    re.compile(r"^Error: (?P<why>.+)$", re.MULTILINE),
)
"""Where spark-submit, its launcher or the virtual machine prints why it ends; the first one that is there."""
_PROPERTY = re.compile(r"(?<![^\s(])(-D[^=\s(]+=)\S+")
_LAUNCH_CHARACTERS = 100_000
_LAUNCH_SECONDS = 5.0
_CONF = "headwater.spark.conf"
_FEWER = f"fewer at once: headwater.spark.master local[1]; on a cluster {_CONF}: spark.executor.memoryOverhead"
_PACKED = "spark.archives with a packed environment"
_MEANINGS = (
    (
        r"spark\.driver\.maxResultSize",
        f"the tasks give back more than the driver takes ({_CONF}: raise spark.driver.maxResultSize, 0 is no limit)",
    ),
    (
        r"No space left on device|\[Errno 28\]|Disk quota exceeded",
        f"there is no room where it keeps its files ({_CONF}: spark.local.dir)",
    ),
    (
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        f"its executors run another Python than the driver ({_CONF}: spark.pyspark.python, or {_PACKED})",
    ),
    (
        r"^(?:\w+\.)*(?:ModuleNotFound|Import)Error",
        f"its executors lack a Python package ({_CONF}: {_PACKED}, or spark.pyspark.python)",
    ),
    (r"Cannot run program", f"it finds no Python to run its workers with ({_CONF}: spark.pyspark.python)"),
    (
        r"ExecutorLostFailure|Container killed|exit code:? 1(?:37|43)\b|Executor heartbeat timed out",
        f"an executor was lost or killed ({_CONF}: spark.executor.memory, spark.executor.memoryOverhead)",
    ),
    (r"OutOfMemory", f"it ran out of memory ({_CONF}: spark.driver.memory, spark.executor.memory)"),
    (
        r"^(?:\w+\.)*(?:Arrow)?MemoryError\b|Cannot allocate memory|\[Errno 12\]",
        f"a Python worker ran out of memory ({_FEWER})",
    ),
    (
        r"Python worker exited unexpectedly|Python worker failed|pyspark\.daemon|worker_daemon",
        f"one of its Python workers was killed (is the machine out of memory? {_FEWER})",
    ),
    (
        r"FetchFailed",
        f"the files of a shuffle went with their executor ({_CONF}: spark.local.dir, spark.executor.memory)",
    ),
    (r"Too many open files|\[Errno 24\]", "it may not open more files (raise the limit of the system: ulimit -n)"),
    (
        r"Futures timed out|RpcTimeoutException",
        f"one part of it did not answer another ({_CONF}: spark.network.timeout)",
    ),
    (
        r"All masters are unresponsive|Master removed our application",
        "its master does not answer, or has given it up (headwater.spark.master)",
    ),
    (
        rf"{_STOPPED}|JAVA_GATEWAY_EXITED",
        f"its JVM did not start, or was stopped (see {_CONF})",
    ),
    (r"InvalidClassException", "its hosts run another Spark than the driver (put one of this PySpark's version there)"),
    (r"UnsupportedClassVersionError", "its Java is older than one of its jars (put a newer one first: JAVA_HOME)"),
    (
        r"ClassNotFoundException|NoClassDefFoundError|NoSuchMethodError",
        f"a jar is missing, or is of another version than Spark ({_CONF}: spark.jars.packages)",
    ),
    (
        r"It is possible the underlying files have been updated|FileNotFoundException",
        "a file was gone, or was written anew, while it was read",
    ),
)
"""What an exception shows, and what that means; the first one that fits."""
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
    # Nobody sees the plan of a query, nor where a column was made: Spark writes the one down for its listeners, and
    # PySpark looks for the other, and tells the JVM, whenever a column is made.
    "spark.sql.ui.explainMode": "simple",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.log.level": "ERROR",
}
_DAEMON = "workflows.runtime.worker_daemon"
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
CLASS_PATH = "spark.driver.extraClassPath"
_LOCAL_DIR = "spark.local.dir"
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
_INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}
"""How few rows are worked on soonest: Spark writes, compiles and loads Java for each query, which is a tenth of what
the sample's JVM does; and it plans anew, and has a job of its own, for each stage.
"""
_TROUBLES = (Py4JError, PySparkException, OSError, EOFError)
_JVM_ENDED = "its JVM ended (killed, or out of memory: headwater.spark.conf, spark.driver.memory)"
_JVM_ENDINGS = {53: "it can make no folder for its files (headwater.spark.conf: spark.local.dir; SPARK_LOCAL_DIRS)"}
"""What exit codes of a JVM mean, as Spark's own class of them (ExecutorExitCode) has it."""


# What Spark's own errors mean to the one who started it: a sentence, and the setting that mends it.


def _meaning_of(error: BaseException) -> LineageError | None:
    """The error that a person is told instead; None where it is nothing that is known of Spark."""
    text = f"{type(error).__module__}.{type(error).__qualname__}: {_message(error)}"
    own = _OWN.search(text)
    if own is not None:
        return _own_error(own["type"], own["message"] or "")
    # A message may quote what was read: only what stands where exceptions are told is looked at.
    messages = [match["message"] for match in _EXCEPTION.finditer(text)]
    for sign, meaning in _MEANINGS:
        if any(re.search(sign, line) for line in messages):
            return _spark_lost(meaning)
    return None


@contextmanager
def explained_settings() -> Iterator[None]:
    """What Spark says of its settings while it starts or takes them, as a mistake in them.

    Raises ConfigError for that, Py4JNetworkError where its JVM ends before it has answered at all, and what Spark
    raises where it has stopped meanwhile.
    """
    try:
        yield
    except (IllegalArgumentException, AnalysisException) as error:  # the latter of settings that it has no more
        sentence = _SENTENCE.sub(r"\g<why>", str(error).partition("\n")[0])
        raise ConfigError(f"Spark refuses a setting of headwater.spark: {sentence}") from error
    except Py4JJavaError as error:
        refusal = _REFUSAL.search(str(error))
        if refusal is None or re.search(_STOPPED, str(error)):
            raise
        raise ConfigError(f"Spark does not start with headwater.spark: {refusal['why']}") from error
    except (Py4JError, ConnectionError) as error:
        # PySpark keeps the gateway only once it has spoken with the JVM: until then its process cannot be asked for.
        if SparkContext._gateway is not None:
            raise
        raise Py4JNetworkError(str(error)) from error


@contextmanager
def _explained_launch() -> Iterator[int]:
    """A file descriptor for all that a JVM and its workers print, of which nobody sees anything: it may quote queries.

    Where the JVM ends before it can be spoken with, ConfigError says why, in the words of the one that refused.
    """
    reading, writing = os.pipe()
    output = _LaunchOutput(reading)
    try:
        try:
            yield writing
        finally:
            os.close(writing)
    except PySparkRuntimeError as error:
        why = output.refusal()
        if why is None:
            raise
        raise ConfigError(f"Spark does not start with headwater.spark: {why}") from error


class _LaunchOutput:
    """What is read from a pipe, so that nobody who writes to it waits: the beginning is kept."""

    def __init__(self, descriptor: int) -> None:
        self._kept = b""
        self._thread = Thread(target=self._read, args=(descriptor,), name="spark-output", daemon=True)
        self._thread.start()

    def _read(self, descriptor: int) -> None:
        with open(descriptor, "rb", buffering=0) as pipe:
            while chunk := pipe.read(65536):
                self._kept += chunk[: _LAUNCH_CHARACTERS - len(self._kept)]

    def refusal(self) -> str | None:
        """Why the JVM did not start, without the values of Java's properties; None where it did not say so."""
        self._thread.join(_LAUNCH_SECONDS)
        text = self._kept.decode("utf-8", "replace")
        found = next(filter(None, (pattern.search(text) for pattern in _LAUNCH_REFUSALS)), None)
        return found and _PROPERTY.sub(r"\1***", found["why"].strip())


def _message(error: BaseException) -> str:
    # An exception of the JVM is asked for its message, which a JVM that has gone cannot tell.
    try:
        return str(error)
    except (Py4JError, OSError):
        return ""


def _spark_lost(meaning: str) -> SparkLost:
    """The error for a Spark that broke down, given what that means."""
    return SparkLost(f"Spark broke down: {meaning}; what was noted is kept: run the same command again")


def _own_error(name: str, message: str) -> LineageError | None:
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, LineageError) or kind is errors.Interrupted:
        return None
    return kind(message)


# The session.


class SparkStart:
    """A session of Spark whose JVM starts in a thread, while the one who wants it does something else."""

    def __init__(self, settings: SparkSettings) -> None:
        """Raises ConfigError for Spark Connect."""
        refuse_spark_connect(settings, os.environ)
        self._settings = settings
        self._own: SparkSession | None = None
        self._scratch = ExitStack()
        self._thread = ThreadPoolExecutor(1, "spark-start")
        self._spark: Future[SparkContext] | SparkSession | None = SparkSession.getActiveSession()

    def begin(self) -> Future[SparkContext] | SparkSession:
        """Has the JVM start now, where no session is active already and none has begun; `session` does so otherwise.

        Raises ConfigError for a Spark of another version, and where Java is missing or too old.
        """
        if self._spark is None:
            self._spark = self._start_jvm(find_java())
        return self._spark

    def _start_jvm(self, java: Java) -> Future[SparkContext]:
        refuse_other_spark(pyspark.__version__, os.environ)
        settings = self._settings
        # Tasks run in the interpreter that runs us, where what they import is installed.
        os.environ.setdefault("PYSPARK_PYTHON", settings.conf.get("spark.pyspark.python", sys.executable))
        quiet_py4j()
        conf = SparkConf().setMaster(settings.master)
        warehouse = self._scratch.enter_context(scratch_folder("spark"))
        own = {_WAREHOUSE: str(warehouse)}
        if is_one_machine(settings.master) and "SPARK_LOCAL_DIRS" not in os.environ:
            own[_LOCAL_DIR] = str(_folder_of_jvm())
        for key, value in {**own, **spark_conf(settings, java)}.items():
            conf.set(key, value)
        return self._thread.submit(_context, conf)

    @contextmanager
    def session(self, drain: GracefulShutdown) -> Iterator[SparkSession]:
        """The session, once it is there; one that was active already is given our settings for the block.

        A signal that comes while it is awaited is held back until it is there: a JVM that is half started would be
        left behind. Raises what `begin` raises, ConfigError where an active Spark is too old, and where Spark refuses
        a setting; SparkLost where it breaks down in the block; where a signal tore it down, Interrupted.
        """
        begun = self.begin()
        with explained_breakdowns(drain):
            if isinstance(begun, SparkSession):
                with _made_ours(begun, self._settings):
                    yield begun
                return
            with drain.hold(), explained_settings():
                begun.result()
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


@contextmanager
def interpreted_queries(spark: SparkSession, *, are_few: bool) -> Iterator[None]:
    """Has Spark interpret its queries in the block where the rows `are_few`, but for what its settings ask for."""
    context = spark.sparkContext
    if not are_few or not is_one_process(str(context.master)):
        yield
        return
    asked = context.getConf()
    before = {key: spark.conf.get(key) for key in _INTERPRETED if not asked.contains(key)}
    try:
        for key in before:
            spark.conf.set(key, _INTERPRETED[key])
        yield
    finally:
        with suppress(*_TROUBLES):  # of a JVM that has gone
            for key, was in before.items():
                spark.conf.set(key, was or "")


@cache
def _folder_of_jvm() -> Path:
    """Where Spark keeps its files, the texts of a log among them: of a run that is killed the next one removes it.

    One for all sessions of this process: its JVM remembers the first one's.
    """
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(scratch_folder("spark"))


def _context(conf: SparkConf) -> SparkContext:
    if SparkContext._gateway is not None:
        return SparkContext.getOrCreate(conf)
    with _explained_launch() as output:
        streams = {} if _talks() else {"stdout": output, "stderr": output}
        gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
    know_classes(gateway.jvm)
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
        own_classes = has_own_classes(_spark_home())
        options = archive or ("" if own_classes or OTHERS_JARS & settings.conf.keys() else UNVERIFIED)
        defaults |= {**_LOCAL_DEFAULTS, _JAVA_OPTIONS: f"{_LOCAL_DEFAULTS[_JAVA_OPTIONS]} {options}".strip()}
        if not archive and not own_classes:
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
        meaning = _meaning_of(error)
        if meaning is None:
            code = _exit_code()
            if code is None and not isinstance(error, Py4JNetworkError):
                raise
            meaning = _spark_lost(_JVM_ENDINGS.get(code or 0, _JVM_ENDED))
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
