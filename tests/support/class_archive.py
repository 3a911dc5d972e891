"""What the JVMs of the tests share: an archive of Spark's classes, made once while the tests are collected."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from workflows.runtime.java import archive_file, find_java

REPOSITORY = Path(__file__).parents[2]
QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""For small data, compiling costs more than it saves, and so does sweeping the little room that C1 has for code."""

OPTIONS = "SPARK_SUBMIT_OPTS"
"""The variable with which spark-submit gives options to its JVM before those of the application."""

FOLDER = "HEADWATER_TEST_CACHE"
"""The variable that says where the archive is being made; not set where it is not."""


def begin(cache: Path) -> subprocess.Popen[bytes] | None:
    """Starts to archive, unless it is done, and tells all Sparks that start from here on where the archive will be."""
    folder = cache / _made_for()
    archiving = None
    if not file_in(folder).is_file():
        shutil.rmtree(folder, ignore_errors=True)  # what earlier tests had begun when they were killed
        archiving = subprocess.Popen(
            command(), cwd=REPOSITORY, env=environment(folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    options = f"{QUICK} -XX:+IgnoreUnrecognizedVMOptions -Xlog:disable -XX:SharedArchiveFile={file_in(folder)}"
    os.environ[OPTIONS] = f"{os.environ.get(OPTIONS, '')} {options}".strip()
    os.environ[FOLDER] = str(folder)
    return archiving


def give_up(archiving: subprocess.Popen[bytes]) -> None:
    """Ends what is still at it, its JVM too, which would go on writing to a folder that is being removed."""
    if archiving.poll() is None:
        os.killpg(archiving.pid, signal.SIGKILL)
        archiving.wait()


def passed_on() -> dict[str, str]:
    """What an environment of few variables needs, for its JVMs to have the archive too."""
    return {name: os.environ[name] for name in (OPTIONS,) if name in os.environ}


def _made_for() -> str:
    """What a JVM compares an archive with, in short: itself and the jars, by when they were changed."""
    jars = Path(str(importlib.metadata.distribution("pyspark").locate_file("pyspark/jars")))
    return "-".join(f"{path.stat().st_mtime_ns:x}" for path in (find_java().executable.resolve(), jars))


def command() -> list[str]:
    return [sys.executable, "-m", "workflows", "doctor", "--class-archive"]


def environment(folder: Path) -> dict[str, str]:
    """That of a process whose cache is `folder`, and whose JVMs are told of no archive."""
    return {**{name: value for name, value in os.environ.items() if name != OPTIONS}, "XDG_CACHE_HOME": str(folder)}


def file_in(folder: Path) -> Path:
    """Where the archive is in this cache."""
    return folder / "headwater" / archive_file(find_java()).name
