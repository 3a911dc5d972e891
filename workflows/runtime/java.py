"""Java, which Spark needs and pip does not bring: found and judged before Spark starts, and how its JVM comes by its
classes.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from ingestion.errors import ConfigError

OLDEST_JAVA = 17
_WHAT_TO_DO = (
    f"install Java {OLDEST_JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17) or point JAVA_HOME to one"
)
_VERSION = re.compile(r'version "(?:1\.)?(?P<major>\d+)')
_MOST_USED = (
    "spark-catalyst_", "scala-library-", "spark-core_", "spark-sql-api_", "spark-sql_", "scala-reflect-", "log4j-core-",
    "jackson-databind-", "hadoop-client-api-", "parquet-jackson-", "janino-", "arrow-vector-", "spark-config_",
    "parquet-encoding-", "parquet-column-", "hadoop-client-runtime-", "spark-network-common_", "netty-common-", "ivy-",
    "parquet-format-structures-", "antlr4-runtime-", "netty-transport-", "jackson-module-scala_", "commons-compiler-",
    "jackson-core-", "spark-common-utils_", "parquet-hadoop-", "log4j-api-", "netty-buffer-", "jackson-annotations-",
    "py4j-", "spark-unsafe_", "parquet-common-", "json4s-ast_",
)  # fmt: skip
"""How the names of the jars begin that most classes of a run come from, those with most first."""
_SUBMIT_OPTIONS, _ARCHIVE_OPTION = "SPARK_SUBMIT_OPTS", "SharedArchiveFile"
_QUIET = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"

UNVERIFIED = "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""The options with which a JVM takes classes as they are: to verify those that Spark loads is a seventh of its start,
and they come from the jars that Spark's own scripts run. Where jars of others are added, all are verified; those of an
archive were when it was made.
"""
OTHERS_JARS = frozenset({"spark.jars", "spark.jars.packages", "spark.driver.extraClassPath"})
"""The settings of Spark by which jars of others come to its driver."""


@dataclass(frozen=True, slots=True)
class Java:
    """The Java that Spark will start."""

    executable: Path
    major: int


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The Java of JAVA_HOME, else of PATH. Raises ConfigError where there is none or it is too old for Spark."""
    return _java_at(_executable(os.environ if environment is None else environment))


@cache
def _java_at(executable: Path) -> Java:
    """Asks the executable, once in a process: that starts a JVM. Raises ConfigError like `find_java`."""
    try:
        asked = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        raise ConfigError(f"{executable} does not run: {_WHAT_TO_DO}") from None
    found = _VERSION.search(asked.stderr + asked.stdout)
    if found is None:
        raise ConfigError(f"{executable} does not tell its version: {_WHAT_TO_DO}")
    major = int(found["major"])
    if major < OLDEST_JAVA:
        raise ConfigError(f"{executable} is Java {major}, and Spark needs {OLDEST_JAVA}: {_WHAT_TO_DO}")
    return Java(executable, major)


def _executable(environment: Mapping[str, str]) -> Path:
    home = environment.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not executable.is_file():
            raise ConfigError(f"JAVA_HOME has no bin/java: {_WHAT_TO_DO}")
        return executable
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is None:
        raise ConfigError(f"Java is missing: {_WHAT_TO_DO}")
    return Path(on_path)


# How Spark's JVM comes by its classes: from an archive, or from the jars that most of them are in.
#
# The classes that Spark loads at its start can be archived once for all later starts on a machine. A JVM that finds
# the archive maps it, instead of loading, checking and linking some ten thousand classes; one that does not find it,
# or that it does not fit (other jars, another Java), starts as it always does. Java 17's documentation calls it a
# dynamic archive of class data (JEP 350).


def archive_file(java: Java) -> Path:
    """Where this user's archive for this Java and the installed PySpark is, or would be."""
    made_for = hashlib.sha256(f"{java.executable.resolve()} {java.major}".encode()).hexdigest()[:12]
    return user_cache_path("headwater") / f"spark-{importlib.metadata.version('pyspark')}-java-{made_for}.jsa"


def options_to_use(file: Path) -> str:
    """The options with which a JVM maps the archive; none where there is none."""
    return f'"-XX:SharedArchiveFile={file}" {_QUIET}' if file.is_file() else ""


def options_to_make(file: Path) -> str:
    """The options with which a JVM archives into `file`, when it ends, the classes that it has loaded."""
    return f'"-XX:ArchiveClassesAtExit={file}" {_QUIET}'


def has_own_classes(spark_home: Path) -> bool:
    """Whether the JVM may be told of an archive of classes, which fits one class path only, or of a class path."""
    conf = Path(os.environ.get("SPARK_CONF_DIR") or spark_home / "conf")
    return _ARCHIVE_OPTION in os.environ.get(_SUBMIT_OPTIONS, "") or (conf / "spark-defaults.conf").exists()


def most_used_first(jars: Path) -> str:
    """A class path of the jars that most classes of a run come from; empty where it cannot be written.

    A JVM asks one jar after the other, in the order in which the folder lists them, and Spark has 280.
    """
    if os.pathsep in str(jars):
        return ""
    return os.pathsep.join(str(jar) for name in _MOST_USED for jar in sorted(jars.glob(f"{name}*.jar")))
