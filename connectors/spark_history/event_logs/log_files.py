"""Event logs in a directory: which files there are, which log each is of, and whether its application still runs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlparse

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError
from ingestion.plans.text.name_mapping import clean_location

ROLLING = re.compile(r"^(?P<log>.*/eventlog_v2_(?P<app>[^/]+))/events_(?P<index>\d+)_[^/]+$")
STATUS = re.compile(r"^(?P<log>.*/eventlog_v2_[^/]+)/appstatus_[^/]+?(?P<running>\.inprogress)?$")
GROWS_UNSEEN = re.compile(r"^(?:web|sweb)?hdfs:|^viewfs:")
"""Storage that lists a file with the size that it had when its last block was full, as long as it is written to."""

SINGLE = re.compile(r"^(?P<log>.*/(?:application_|app-|local-|spark-)[\w-]+)(?:\.[a-z]\w*)?$")
DATABRICKS = re.compile(r"^(?P<log>.*)/eventlog(?:-(?P<date>\d{4}-\d\d-\d\d--\d\d-\d\d))?(?:\.(?:gz|zst|zstd))?$")
"""One application's log on Databricks: a folder of files named by their date, and one that is written to."""

LAST = (1 << 31) - 1
NAMED = re.compile(r"/(?:application_\d|app-\d|local-\d|spark-[0-9a-f]{32}|spark-application-\d)[\w-]*(?:\.[\w.]*)?$")
"""Names that Spark gives to event logs and nobody to anything else."""


@dataclass(frozen=True, slots=True)
class EventLogFile:
    """One file of an event log. `log` names the whole log (a rolling log's directory), `modified` is in seconds.

    `path`, `size` and `modified` are what a later run compares to read only what is new.
    """

    path: str
    size: int
    modified: float
    log: str
    index: int
    running: bool


def list_log_files(spark: SparkSession, directory: str) -> list[EventLogFile]:
    """The files of a directory at any URI that Spark reads, in the order of the logs that they are, if they are logs.

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
        root = system.makeQualified(path).toString().rstrip("/")
        listing = system.listFiles(path, True)  # noqa: FBT003 Java has no names for arguments
        while listing.hasNext():
            file = listing.next()
            place = file.getPath().toString()
            if "/." not in place.removeprefix(root):
                found.append((place, file.getLen(), file.getModificationTime() / 1000))
    except Py4JJavaError as error:
        raise ConfigError(
            f"the event log directory {clean_location(directory)} cannot be read: check eventLogDirectory"
        ) from error
    return event_log_files(found)


def local_files(directory: str) -> list[EventLogFile]:
    """The files below a directory of this machine that are not hidden: each once, though links lead to it in circles.

    A folder that cannot be listed stands for the logs in it: reading it fails, which is told.
    """
    found: list[tuple[str, int, float]] = []
    unread: list[EventLogFile] = []
    visited: set[str] = set()

    def note(error: OSError) -> None:
        folder = _file_uri(error.filename)
        unread.append(EventLogFile(folder, 0, 0.0, folder, 0, running=False))

    for folder, folders, names in os.walk(directory, followlinks=True, onerror=note):
        real = os.path.realpath(folder)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(folder, name) for name in names if not name.startswith(".")):
            status = path.stat() if path.exists() else path.lstat()
            if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                found.append((_file_uri(str(path)), status.st_size, status.st_mtime))
    return [*event_log_files(found), *unread]


def _file_uri(path: str) -> str:
    """A local path as Hadoop writes it, but for characters that mean something in a URI."""
    return "file:" + quote(path, safe="/=:@+,~!$&'()*; ")


def event_log_files(found: Iterable[tuple[str, int, float]]) -> list[EventLogFile]:
    """The files that may be event logs, in the order of logs and of files in a log.

    What a file is, only its content tells: as with Spark's history server, any name will do.
    """
    files: list[EventLogFile] = []
    listed = list(found)
    finished = {m.group("log") for path, _, _ in listed if (m := STATUS.match(path)) and not m.group("running")}
    for path, size, modified in listed:
        if STATUS.match(path):
            continue
        rolling, databricks = ROLLING.match(path), DATABRICKS.match(path)
        if rolling:
            log = rolling.group("log")
            files.append(EventLogFile(path, size, modified, log, int(rolling.group("index")), log not in finished))
        elif databricks:
            files.append(
                EventLogFile(
                    path, size, modified, databricks.group("log"), _index_of(databricks.group("date")), running=False
                )
            )
        else:
            bare = path.removesuffix(".inprogress")
            single = SINGLE.match(bare.removesuffix(".compact"))
            files.append(EventLogFile(path, size, modified, single.group("log") if single else bare, 0, bare != path))
    return sorted(_without_replaced(files), key=lambda file: (file.log, file.index, file.path))


def _index_of(date: str | None) -> int:
    """The place of a file of Databricks' in its log: minutes since the epoch, and the one without a date at the end."""
    return LAST if date is None else int(datetime.strptime(date + "Z", "%Y-%m-%d--%H-%M%z").timestamp()) // 60


def is_named(file: EventLogFile) -> bool:
    """Whether a file has a name that only event logs have: if its content is none, it is damaged."""
    return bool(ROLLING.match(file.path) or DATABRICKS.match(file.path) or NAMED.search(file.path))


def may_grow(file: EventLogFile) -> bool:
    """Whether a file may be written to: its last event may be half there."""
    return file.running or file.index == LAST


def _without_replaced(files: list[EventLogFile]) -> list[EventLogFile]:
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
    files: list[EventLogFile], min_date: float | None, status: str | None, known: Mapping[str, tuple[int, float]]
) -> list[EventLogFile]:
    """The files of the logs that a run reads.

    `min_date` (seconds) leaves out logs last written before it, `status` ("completed", "running") those of the other
    kind, `known` (path to size and modification time) those that have not changed since. A log is read as a whole:
    its executions refer to earlier ones.
    """
    logs: dict[str, list[EventLogFile]] = {}
    for file in files:
        logs.setdefault(file.log, []).append(file)
    chosen: list[EventLogFile] = []
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
