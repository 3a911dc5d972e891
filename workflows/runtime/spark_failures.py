"""What Spark's own errors mean to the one who started it: a sentence, and the setting that mends it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import AnalysisException, IllegalArgumentException, PySparkRuntimeError

from ingestion import errors
from ingestion.errors import ConfigError, LineageError, SparkLost

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


def meaning_of(error: BaseException) -> LineageError | None:
    """The error that a person is told instead; None where it is nothing that is known of Spark."""
    text = f"{type(error).__module__}.{type(error).__qualname__}: {_message(error)}"
    own = _OWN.search(text)
    if own is not None:
        return _own_error(own["type"], own["message"] or "")
    # A message may quote what was read: only what stands where exceptions are told is looked at.
    messages = [match["message"] for match in _EXCEPTION.finditer(text)]
    for sign, meaning in _MEANINGS:
        if any(re.search(sign, line) for line in messages):
            return spark_lost(meaning)
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
def explained_launch() -> Iterator[int]:
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


def spark_lost(meaning: str) -> SparkLost:
    """The error for a Spark that broke down, given what that means."""
    return SparkLost(f"Spark broke down: {meaning}; what was noted is kept: run the same command again")


def _own_error(name: str, message: str) -> LineageError | None:
    kind = getattr(errors, name, None)
    if not isinstance(kind, type) or not issubclass(kind, LineageError) or kind is errors.Interrupted:
        return None
    return kind(message)
