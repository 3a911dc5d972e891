"""The archive of Spark's classes, made once while the tests are collected, for every JVM that they start after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.catalog_contents import REPOSITORY
from workflows.runtime.class_archive import archive_file
from workflows.runtime.java import find_java

OPTIONS = "SPARK_SUBMIT_OPTS"
"""The variable with which spark-submit gives options to its JVM before those of the application."""

FOLDER = "HEADWATER_TEST_CACHE"
"""The variable that says where the archive is being made; not set where it is not."""


def begin(folder: Path) -> subprocess.Popen[bytes]:
    """Starts to archive, and tells all Sparks that are started from here on where the archive will be."""
    archiving = subprocess.Popen(
        command(), cwd=REPOSITORY, env=environment(folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    quiet = "-XX:+IgnoreUnrecognizedVMOptions -Xlog:disable"
    os.environ[OPTIONS] = f"{os.environ.get(OPTIONS, '')} {quiet} -XX:SharedArchiveFile={file_in(folder)}".strip()
    os.environ[FOLDER] = str(folder)
    return archiving


def command() -> list[str]:
    return [sys.executable, "-m", "workflows", "doctor", "--class-archive"]


def environment(folder: Path) -> dict[str, str]:
    """That of a process whose cache is `folder`, and whose JVMs are told of no archive."""
    return {**{name: value for name, value in os.environ.items() if name != OPTIONS}, "XDG_CACHE_HOME": str(folder)}


def file_in(folder: Path) -> Path:
    """Where the archive is in this cache."""
    return folder / "headwater" / archive_file(find_java()).name
