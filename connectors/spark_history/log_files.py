"""Event logs in a directory: which files there are, which application each is of, and whether it still runs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlparse

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from connectors.spark_history.names import clean_location
from ingestion.errors import ConfigError

ROLLING = re.compile(r"^(?P<log>.*/eventlog_v2_(?P<app>[^/]+))/events_(?P<index>\d+)_[^/]+$")
STATUS = re.compile(r"^(?P<log>.*/eventlog_v2_[^/]+)/appstatus_[^/]+?(?P<running>\.inprogress)?$")
GROWS_UNSEEN = re.compile(r"^(?:web|sweb)?hdfs:|^viewfs:")
"""Storage that lists a file with the size that it had when its last block was full, as long as it is written to."""

SINGLE = re.compile(r"^(?P<log>.*/(?:application_|app-|local-|spark-)[\w-]+)(?:\.[a-z]\w*)?$")


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of an event log. `log` names the whole log (a rolling log's directory), `modified` is in seconds.

    `path`, `size` and `modified` are what a later run compares to read only what is new.
    """

    path: str
    size: int
    modified: float
    log: str
    index: int
    running: bool


def list_log_files(spark: SparkSession, directory: str) -> list[LogFile]:
    """The event logs of a directory at any URI that Spark reads, in order; other files are not listed.

    Raises:
        ConfigError: the directory does not exist or cannot be read.
    """
    jvm: Any = spark._jvm  # Any: the gateway resolves Java names as they are asked for
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    found: list[tuple[str, int, float]] = []
    try:
        path = jvm.org.apache.hadoop.fs.Path(directory)
        system = path.getFileSystem(configuration)
        if system.getScheme() == "file":
            place = system.makeQualified(path).toUri().getPath()
            if system.exists(path):
                return local_files(place)
        listing = system.listFiles(path, True)
        while listing.hasNext():
            file = listing.next()
            found.append((file.getPath().toString(), file.getLen(), file.getModificationTime() / 1000))
    except Py4JJavaError as error:
        msg = f"the event log directory {clean_location(directory)} cannot be read: check eventLogDirectory"
        raise ConfigError(msg) from error
    return recognised(found)


def local_files(directory: str) -> list[LogFile]:
    """The event logs below a directory of this machine: each once, though links lead to it in circles.

    A folder that cannot be listed stands for the logs in it: reading it fails, which is told.
    """
    found: list[tuple[str, int, float]] = []
    unread: list[LogFile] = []
    visited: set[str] = set()

    def note(error: OSError) -> None:
        folder = file_uri(error.filename)
        unread.append(LogFile(folder, 0, 0.0, folder, 0, False))

    for folder, folders, names in os.walk(directory, followlinks=True, onerror=note):
        real = os.path.realpath(folder)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        for path in (Path(folder, name) for name in names):
            status = path.stat() if path.exists() else path.lstat()
            if not stat.S_ISFIFO(status.st_mode) and not stat.S_ISSOCK(status.st_mode):
                found.append((file_uri(str(path)), status.st_size, status.st_mtime))
    return [*recognised(found), *unread]


def file_uri(path: str) -> str:
    """A local path as Hadoop writes it, but for characters that mean something in a URI."""
    return "file:" + quote(path, safe="/=:@+,~!$&'()*; ")


def recognised(found: Iterable[tuple[str, int, float]]) -> list[LogFile]:
    """The files that are event logs by their names, in the order of logs and of files in a log."""
    files: list[LogFile] = []
    listed = list(found)
    finished = {m.group("log") for path, _, _ in listed if (m := STATUS.match(path)) and not m.group("running")}
    for path, size, modified in listed:
        if STATUS.match(path) or path.endswith(".crc"):
            continue
        rolling = ROLLING.match(path)
        if rolling:
            log = rolling.group("log")
            files.append(LogFile(path, size, modified, log, int(rolling.group("index")), log not in finished))
            continue
        running = path.endswith(".inprogress")
        single = SINGLE.match(path.removesuffix(".inprogress").removesuffix(".compact"))
        if single:
            files.append(LogFile(path, size, modified, single.group("log"), 0, running))
    return sorted(without_replaced(files), key=lambda file: (file.log, file.index, file.path))


def without_replaced(files: list[LogFile]) -> list[LogFile]:
    """Without the rolled files that a history server has compacted into one: the `.compact` file has what they had."""
    compacted: dict[str, int] = {}
    for file in files:
        if file.path.endswith(".compact"):
            compacted[file.log] = max(file.index, compacted.get(file.log, 0))
    return [
        file
        for file in files
        if file.log not in compacted
        or file.index > compacted[file.log]
        or (file.index == compacted[file.log] and file.path.endswith(".compact"))
    ]


def to_read(
    files: list[LogFile], min_date: float | None, status: str | None, known: Mapping[str, tuple[int, float]]
) -> list[LogFile]:
    """The files of the logs that a run reads.

    `min_date` (seconds) leaves out logs last written before it, `status` ("completed", "running") those of the other
    kind, `known` (path to size and modification time) those that have not changed since. A log is read as a whole:
    its executions refer to earlier ones.
    """
    logs: dict[str, list[LogFile]] = {}
    for file in files:
        logs.setdefault(file.log, []).append(file)
    chosen: list[LogFile] = []
    for members in logs.values():
        if min_date is not None and max(file.modified for file in members) < min_date:
            continue
        if status is not None and (status == "running") != members[-1].running:
            continue
        unchanged = all(known.get(file.path) == (file.size, file.modified) for file in members)
        if unchanged and not (members[-1].running and GROWS_UNSEEN.match(members[-1].path)):
            continue
        chosen.extend(members)
    return chosen


def local_path(path: str) -> str | None:
    """A file's path for this machine's own file system; None for other storage."""
    if path.startswith("/"):
        return path
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme == "file" else None
