"""Spark's history server as the source: its applications, their event logs as it serves them, and its SQL pages.

Event logs are the source; the server's own account of SQL executions (`/sql`) is the fallback of applications whose
log it does not give. That account has only the last executions of an application, no text of Connect or Thrift
statements and no user per statement.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlparse

import requests
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from connectors.spark_history.event_logs.codecs import CHUNK, codec_of, decode_stream
from connectors.spark_history.event_logs.event_lines import FOREIGN, NO_EVENT, PROBLEM, UNREAD, EventLine, event_lines
from connectors.spark_history.event_logs.log_files import ROLLING, EventLogFile
from ingestion.errors import ConfigError, TargetDown

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
        raise TargetDown(f"the history server at {url_without_user(base)} does not answer: is it running?") from error
    try:
        answer.raise_for_status()
        applications = answer.json()
        return [log for application in applications for log in _attempts(root, application)]
    except (requests.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{url_without_user(base)} does not answer as a Spark history server does: check historyServer"
        ) from error


def _attempts(root: str, application: dict[str, Any]) -> Iterator[EventLogFile]:
    """An application's attempts as logs; the time of the last update tells a later run whether to read again."""
    for attempt in application["attempts"]:
        place = f"{root}/{quote(application['id'])}"
        if attempt.get("attemptId"):
            place += f"/{quote(attempt['attemptId'])}"
        modified = attempt["lastUpdatedEpoch"] / 1000
        yield EventLogFile(place, 0, modified, url_without_user(place), 0, not attempt["completed"])


def url_without_user(url: str) -> str:
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
    place = replace(log, path=url_without_user(log.path))
    try:
        with _get(log.path + "/logs", stream=True) as answer, tempfile.SpooledTemporaryFile(SPOOL) as spool:
            if answer.ok:
                for chunk in answer.iter_content(CHUNK):
                    spool.write(chunk)
                spool.seek(0)
                yield from _zipped_events(place, spool)
                return
        yield from page_events(log, place)
    except CONNECTION_ERRORS:
        yield place, EventLine(0, UNREAD)
    except zipfile.BadZipFile:
        yield place, EventLine(0, PROBLEM, problem="the history server's answer is no archive of an event log")
    except (ValueError, KeyError, TypeError):
        yield place, EventLine(0, PROBLEM, problem="the history server's pages are not of a form known here")


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


# --- the fallback -------------------------------------------------------------------------------------------------


def page_events(log: EventLogFile, place: EventLogFile) -> Iterator[tuple[EventLogFile, EventLine]]:
    """An application's SQL executions page by page, told as the events that an event log would have."""
    yield place, EventLine(0, PROBLEM, problem=LOSSES)
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
            yield place, EventLine(0, UNREAD)
            return
        if not answer.ok:
            yield place, EventLine(0, PROBLEM, problem=f"the history server answers {answer.status_code} for its SQL")
            return
        page = answer.json()
        for execution in page:
            for kind, event in _execution_events(execution):
                number += 1
                yield place, EventLine(number, kind, json.dumps(event))
            lowest = execution["id"] if lowest is None else min(lowest, execution["id"])
        if len(page) < PAGE:
            break
        offset += len(page)
    if lowest:
        lost = (
            f"the history server keeps no execution before {lowest}: what this application ran before it is lost "
            "(nothing, where its JVM had counted those for another application)"
        )
        yield place, EventLine(0, PROBLEM, problem=lost)


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
        error = execution.get("errorMessage") or ("failed" if failed else "")
        ended = milliseconds + (execution.get("duration") or 0)
        yield "end", {"executionId": execution["id"], "time": ended, "errorMessage": error}
