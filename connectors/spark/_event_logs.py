"""Where event logs are: files and folders, and a history server."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlparse

import requests
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from connectors.spark._codecs import BLOCK_BYTES, codec_of, decode_stream
from connectors.spark._events import FOREIGN, NO_EVENT, PROBLEM, UNAVAILABLE, EventLine, event_lines
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.file_marks import FileMarks, local_mark, mark_of
from ingestion.model.outcomes import Outcome
from ingestion.plans.names import NameMapping, clean_location

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

TIMEOUT = (5, 120)
"""Seconds to connect and to wait for bytes: a server loads a large application's log before it answers."""

PAGE = 500
ATTEMPTS = 4
OVERLOADED = 500
"""HTTP status from which on a later call may get what this one did not."""

SPOOL = 64 << 20
"""Bytes of a downloaded log that are kept in memory before it goes to a file."""

CONNECTION_ERRORS = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
LOSSES = (
    "the history server did not give this application's event log: its SQL pages were read instead, "
    "which have no statement texts and no users"
)


# Event logs in a directory: which files there are, which log each is of, and whether its application still runs.


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


def _list_log_files(spark: SparkSession, directory: str) -> list[EventLogFile]:
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
            location = system.makeQualified(path).toUri().getPath()
            if system.exists(path):
                return local_files(location)
        root = system.makeQualified(path).toString().rstrip("/")
        listing = system.listFiles(path, True)  # noqa: FBT003 Java has no names for arguments
        while listing.hasNext():
            file = listing.next()
            location = file.getPath().toString()
            if "/." not in location.removeprefix(root):
                found.append((location, file.getLen(), file.getModificationTime() / 1000))
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
                found.append((_file_uri(str(path)), *local_mark(status)))
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
    files: list[EventLogFile], min_date: float | None, status: str | None, known: FileMarks
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
        unchanged = all(known.get(file.path) == mark_of(file) for file in members)
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


# Spark's history server as the source: its applications, their event logs as it serves them, and its SQL pages.
#
# Event logs are the source; the server's own account of SQL executions (`/sql`) is the fallback of applications whose
# log it does not give. That account has only the last executions of an application, no text of Connect or Thrift
# statements and no user per statement.


def is_served(path: str) -> bool:
    """Whether a log is read from a history server."""
    return urlparse(path).scheme in ("http", "https")


def list_applications(base: str, min_date: datetime | None, status: str | None) -> list[EventLogFile]:
    """The applications that a history server knows, each attempt as one log.

    `min_date` leaves out applications that started before it; `status` is "completed", "running" or None.

    Raises:
        ConfigError: the URL answers, but not as a history server does.
        TargetDown: it does not answer.
    """
    parameters: dict[str, str] = {}
    if min_date is not None:
        parameters["minDate"] = min_date.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000GMT")
    if status is not None:
        parameters["status"] = status
    root = base.rstrip("/") + "/api/v1/applications"
    try:
        answer = _get(root, parameters)
    except CONNECTION_ERRORS as error:
        raise TargetDown(f"the history server at {_url_without_user(base)} does not answer: is it running?") from error
    try:
        answer.raise_for_status()
        applications = answer.json()
        return [log for application in applications for log in _attempts(root, application)]
    except (requests.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{_url_without_user(base)} does not answer as a Spark history server does: check historyServer"
        ) from error


def _attempts(root: str, application: dict[str, Any]) -> Iterator[EventLogFile]:
    """An application's attempts as logs; the time of the last update tells a later run whether to read again."""
    for attempt in application["attempts"]:
        location = f"{root}/{quote(application['id'])}"
        if attempt.get("attemptId"):
            location += f"/{quote(attempt['attemptId'])}"
        modified = attempt["lastUpdatedEpoch"] / 1000
        yield EventLogFile(location, 0, modified, _url_without_user(location), 0, not attempt["completed"])


def _url_without_user(url: str) -> str:
    """A URL without the user that it may name."""
    return re.sub(r"//[^/@]*@", "//", url)


def _get(url: str, parameters: dict[str, str] | None = None, *, stream: bool = False) -> requests.Response:
    """One GET, tried again when the connection fails."""
    policy = Retrying(
        retry=retry_if_exception_type(CONNECTION_ERRORS),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_exponential(multiplier=0.2, max=5),
        reraise=True,
    )
    return policy(requests.get, url, params=parameters, timeout=TIMEOUT, stream=stream)


def served_events(log: EventLogFile) -> Iterator[tuple[EventLogFile, EventLine]]:
    """The events of an application that a history server gives, as its log files or, failing that, as SQL pages."""
    origin = replace(log, path=_url_without_user(log.path))
    try:
        with _get(log.path + "/logs", stream=True) as answer, tempfile.SpooledTemporaryFile(SPOOL) as spool:
            if answer.ok:
                for block in answer.iter_content(BLOCK_BYTES):
                    spool.write(block)
                spool.seek(0)
                yield from _zipped_events(origin, spool)
                return
        yield from page_events(log, origin)
    except CONNECTION_ERRORS:
        yield origin, EventLine(0, UNAVAILABLE)
    except zipfile.BadZipFile:
        yield origin, EventLine(0, PROBLEM, problem="the history server's answer is no archive of an event log")
    except (ValueError, KeyError, TypeError):
        yield origin, EventLine(0, PROBLEM, problem="the history server's pages are not of a form known here")


def _zipped_events(log: EventLogFile, spool: Any) -> Iterator[tuple[EventLogFile, EventLine]]:
    with zipfile.ZipFile(spool) as archive:
        for entry in sorted(archive.infolist(), key=lambda entry: _entry_index(entry.filename)):
            name = entry.filename.rpartition("/")[2]
            if entry.is_dir() or name.startswith(("appstatus_", ".")):
                continue
            file = replace(log, path=f"{log.log}/{entry.filename}", index=_entry_index(entry.filename))
            with archive.open(entry) as stream:
                codec = codec_of(name, stream)  # type: ignore[arg-type]
                for line in event_lines(decode_stream(stream, codec or "")):  # type: ignore[arg-type]
                    yield file, EventLine(1, PROBLEM, problem=NO_EVENT) if line.kind == FOREIGN else line


def _entry_index(name: str) -> int:
    found = ROLLING.match("/" + name)
    return int(found.group("index")) if found else 0


# The fallback: the server's own account of SQL executions, page by page.


def page_events(log: EventLogFile, origin: EventLogFile) -> Iterator[tuple[EventLogFile, EventLine]]:
    """An application's SQL executions page by page, told as the events that an event log would have."""
    yield origin, EventLine(0, PROBLEM, problem=LOSSES)
    number, lowest, offset = 0, None, 0
    while True:
        parameters = {
            "details": "false",
            "planDescription": "true",
            "offset": str(offset),
            "length": str(PAGE),
        }
        answer = _get(log.path + "/sql", parameters)
        if answer.status_code >= OVERLOADED:
            yield origin, EventLine(0, UNAVAILABLE)
            return
        if not answer.ok:
            yield (
                origin,
                EventLine(0, PROBLEM, problem=f"the history server answers {answer.status_code} for its SQL"),
            )
            return
        page = answer.json()
        for execution in page:
            for kind, event in _execution_events(execution):
                number += 1
                yield origin, EventLine(number, kind, event)
            lowest = execution["id"] if lowest is None else min(lowest, execution["id"])
        if len(page) < PAGE:
            break
        offset += len(page)
    if lowest:
        lost = (
            f"the history server keeps no execution before {lowest}: what this application ran before it is lost "
            "(nothing, where its JVM had counted those for another application)"
        )
        yield origin, EventLine(0, PROBLEM, problem=lost)


def _execution_events(execution: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """One execution of a page as the start and end events that it stands for."""
    started = datetime.strptime(execution["submissionTime"].replace("GMT", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z")
    milliseconds = int(started.timestamp() * 1000)
    yield (
        "start",
        {
            "executionId": execution["id"],
            "rootExecutionId": execution.get("rootExecutionId", execution["id"]),
            "description": execution.get("description", ""),
            "physicalPlanDescription": execution.get("planDescription", ""),
            "time": milliseconds,
        },
    )
    if execution["status"] != "RUNNING":
        failed = execution["status"] == "FAILED"
        error = execution.get("errorMessage") or (Outcome.FAILED if failed else "")
        ended = milliseconds + (execution.get("duration") or 0)
        yield "end", {"executionId": execution["id"], "time": ended, "errorMessage": error}


# Which event logs there are, and which of them a run has to read.


@dataclass(frozen=True, slots=True)
class SparkHistoryOptions:
    """Where the history is and what of it is read.

    One of `event_log_directory` (any URI that Spark reads) and `history_server` (its URL). `min_date` leaves out what
    was last written before it; `status` is "completed", "running" or None for both. `known` has the size and the
    modification time of the files that earlier runs read: logs that did not change since are left out. Of the others
    they have read what had ended by `read_until` (seconds since the epoch).
    """

    event_log_directory: str | None = None
    history_server: str | None = None
    min_date: datetime | None = None
    status: str | None = None
    names: NameMapping = field(default_factory=NameMapping)
    known: FileMarks = field(default_factory=dict)
    read_until: float | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The event logs' files that are there, those of them to read, and the logs that were read before."""

    there: tuple[EventLogFile, ...] = ()
    to_read: tuple[EventLogFile, ...] = ()
    read_before: frozenset[str] = frozenset()


def list_history(spark: SparkSession, options: SparkHistoryOptions) -> Listing:
    """What a run with these options finds.

    Raises:
        ConfigError: neither or both sources are given, or the one given cannot be read.
        TargetDown: the history server does not answer.
    """
    if (options.event_log_directory is None) == (options.history_server is None):
        raise ConfigError("spark history needs either eventLogDirectory or historyServer: give one of them")
    if options.history_server is not None:
        files = list_applications(options.history_server, options.min_date, options.status)
        chosen = to_read(files, None, None, options.known)
    else:
        files = _list_log_files(spark, options.event_log_directory or "")
        since = options.min_date.timestamp() if options.min_date is not None else None
        chosen = to_read(files, since, options.status, options.known)
    return Listing(tuple(files), tuple(chosen), _logs_of(options.known))


def _logs_of(known: FileMarks) -> frozenset[str]:
    """The logs that files belong to, whatever became of the files since."""
    served = {_url_without_user(path) for path in known if is_served(path)}
    files = event_log_files((path, *mark) for path, mark in known.items() if not is_served(path))
    return frozenset(served | {file.log for file in files})
