"""The lines of an event log: whole ones out of pieces of bytes, and those chosen that lineage needs, before any JSON
is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Any

from connectors.spark._codecs import DamagedLog, TornLog
from ingestion.model.engine_names import jdbc_url

LONGEST_LINE = 64 << 20
"""Bytes of one event beyond which it is skipped and counted."""

MOST_BLANKS = 1 << 20
"""Bytes without anything but white space that a log may begin with and be looked at for how it begins."""

EVENT = b'{"Event":"'
"""How Spark begins each line."""

PROBLEM, TORN, UNAVAILABLE, FOREIGN = "problem", "torn", "unavailable", "foreign"
"""Kinds of lines that stand for what is damaged, for an end that is cut off, for a file that could not be had, and for
one that does not begin as an event log does."""

NO_EVENT = "not an event: the file is no event log, or is damaged"

_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
_THRIFT = "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer"
_CONNECT = "org.apache.spark.sql.connect.service.SparkListenerConnect"
_STREAMING = "org.apache.spark.sql.streaming.StreamingQueryListener$"

KINDS = {
    "SparkListenerApplicationStart": "application_start",
    "SparkListenerApplicationEnd": "application_end",
    _SQL + "Start": "start",
    _SQL + "End": "end",
    _THRIFT + "SessionCreated": "thrift_session",
    _THRIFT + "OperationStart": "thrift_start",
    _THRIFT + "OperationParsed": "thrift_parsed",
    _THRIFT + "OperationFinish": "thrift_finish",
    _THRIFT + "OperationError": "thrift_error",
    _THRIFT + "OperationCanceled": "thrift_error",
    _CONNECT + "OperationStarted": "connect_start",
    _CONNECT + "OperationFailed": "connect_error",
    _STREAMING + "QueryProgressEvent": "progress",
    "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates": "metrics",
    "SparkListenerEnvironmentUpdate": "environment",
    "SparkListenerJobStart": "job_start",
    "SparkListenerJobEnd": "job_end",
}
"""Event names as the log has them, and what they are called here."""

IGNORED = frozenset(
    _SQL + name for name in ("AdaptiveExecutionUpdate", "AdaptiveSQLMetricUpdates", "DriverAccumUpdates")
)
"""Events of SQL executions that lineage does not need; another of their family is of a newer Spark and is named."""

JOB_PREFIXES = (b'{"Event":"SparkListenerJobStart"', b'{"Event":"SparkListenerJobEnd"')
TELLS_OUTCOMES = re.compile(rb'"Spark Version":"(?:3\.(?:[4-9]|\d\d)|[4-9]|\d\d)')
"""Before Spark 3.4 no execution says how it ended: there the ends of its jobs tell."""

PREFIXES = (
    *(f'{{"Event":"{name}"'.encode() for name in KINDS if not name.startswith((_SQL, "SparkListenerJob"))),
    f'{{"Event":"{_SQL}'.encode(),
)
BEGINNINGS: tuple[bytes, ...] = (
    *(b'{"Event":"org.apache.spark.sql.', b'{"Event":"SparkListenerApp', b'{"Event":"SparkListenerEnv'),
    b'{"Event":"SparkListenerJob',
)
"""How lines begin that are looked at, as few as part them from most others; those of jobs are the last."""

CHOSEN = (*PREFIXES, *JOB_PREFIXES)
_KIND = re.compile(rb'^\{"Event":"([\w.$]+)"')
_JOB = re.compile(rb'"Job ID":(\d+)')
_JOB_EXECUTION = re.compile(rb'"spark\.sql\.execution\.id":"(\d+)"')
_WAREHOUSE = re.compile(rb'"spark\.sql\.warehouse\.dir":"([^"]*)"')
_CATALOG = re.compile(rb'"spark\.sql\.catalog\.([\w-]+)":"([\w.$]+)"')
_CATALOG_URL = re.compile(rb'"spark\.sql\.catalog\.([\w-]+)\.url":"(jdbc:[^"]*)"')
_WRITES_ROWS = re.compile(rb',"sparkPlanInfo":\{"nodeName":"Execute Insert\w++"')
_ROWS_METRIC = re.compile(rb'"name":"number of output rows","accumulatorId":(\d{1,18})')
_JOB_SUCCEEDED = b'"Result":"JobSucceeded"'

KEPT = {
    "application_start": ("App Name", "App ID", "Timestamp", "User", "App Attempt ID"),
    "application_end": ("Timestamp",),
    "start": (
        "executionId",
        "rootExecutionId",
        "description",
        "details",
        "physicalPlanDescription",
        "time",
        "jobTags",
        "jobGroupId",
        "queryId",
        "rowsMetric",
    ),
    "end": ("executionId", "time", "errorMessage"),
}
"""The fields that are kept of an event; all of them where none are listed."""

PATHS_LEFT_OUT = re.compile(r"(Location: (\w+) )\[((?:(?!Location: )[^\n])*?), \.\.\. (\d+) entries\]")

CUT_LOCATION = re.compile(r"(Location: )((?:(?!Location: )[^\n])*?)\.\.\.(?=, PartitionFilters: )")
PATHS_CUT = (b" entries]", b"..., PartitionFilters: ")


# The lines of an event log: how its first one tells it from other files, and whole lines out of pieces of bytes.


def _first_bytes(chunks: Iterator[bytes]) -> bytes:
    """As many bytes as tell whether an event begins there, or all there are; no more than MOST_BLANKS and a chunk."""
    held = b""
    for chunk in chunks:
        held += chunk
        if len(held.lstrip()) >= len(EVENT) or len(held) > MOST_BLANKS:
            break
    return held


def _is_rewritten(first: bytes) -> bool:
    """Whether the first line is an event as another program than Spark writes it: with spaces, or in another order."""
    line = first.lstrip().partition(b"\n")[0]
    if line.startswith(EVENT) or not line.startswith(b"{"):
        return False
    try:
        return "Spark" in str(json.loads(line).get("Event"))
    except (ValueError, RecursionError):
        return False


def _compact_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as Spark would have written them; what is no JSON stays as it is."""
    blocks = _LineBlocks(chunks)
    for block in blocks:
        yield b"".join(_compact(line) + b"\n" for line in block.splitlines())
    yield _compact(blocks.rest)


def _compact(line: bytes) -> bytes:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(event, dict):
        return line
    return json.dumps({"Event": event.get("Event"), **event}, separators=(",", ":")).encode()


class _LineBlocks:
    """The bytes of a log as blocks of whole lines; an empty block stands for a line that is too long to be held.

    `rest` has what follows the last line break, once all blocks were taken.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.rest = b""

    def __iter__(self) -> Iterator[bytes]:
        held: list[bytes] = []
        size, dropping = 0, False
        for chunk in self._chunks:
            end = chunk.rfind(b"\n") + 1
            start = 0
            if end:
                if dropping:
                    yield b""
                    start, dropping = chunk.find(b"\n") + 1, False
                if held:
                    first = chunk.find(b"\n", start) + 1
                    yield b"".join((*held, chunk[start:first]))
                    start = first
                if start < end:
                    yield chunk[start:end] if start or end < len(chunk) else chunk
                held, size = [], 0
            if not dropping and end < len(chunk):
                held.append(chunk[end:] if end else chunk)
                size += len(chunk) - end
            if size > LONGEST_LINE:
                held, size, dropping = [], 0, True
        self.rest = b"".join(held)
        if dropping:
            yield b""


# The lines of an event log that lineage needs, chosen by their prefix before any JSON is read.


@dataclass(frozen=True, slots=True)
class EventLine:
    """One chosen line: its 1-based number, its kind and what is kept of it; `problem` says why it cannot be used."""

    number: int
    kind: str
    event: dict[str, Any] | None = None
    problem: str | None = None


def event_lines(chunks: Iterable[bytes]) -> Iterator[EventLine]:
    """The events that lineage needs out of a log's bytes, and one that says so for what is damaged or cut off.

    Bytes among whose first no event begins give one line, which is FOREIGN.
    """
    number, beginnings, rest = 0, BEGINNINGS[:-1], iter(chunks)
    try:
        first = _first_bytes(rest)
        rest = chain((first,), rest)
        if _is_rewritten(first):
            rest = _compact_lines(rest)
        elif not EVENT.startswith(first.lstrip()[: len(EVENT)]) and b"\n" + EVENT not in first:
            yield EventLine(1, FOREIGN)
            return
        blocks = _LineBlocks(rest)
        for block in blocks:
            if not block:
                number += 1
                yield EventLine(number, PROBLEM, problem="a line is longer than any event")
                continue
            if number == 0 and not TELLS_OUTCOMES.search(block, 0, block.find(b"\n")):
                beginnings = BEGINNINGS
            number = yield from _lines_of(block, number, beginnings)
    except DamagedLog as error:
        yield EventLine(number + 1, TORN if isinstance(error, TornLog) else PROBLEM, problem=str(error))
        return
    if blocks.rest:
        yield from _last_line(number + 1, blocks.rest)


def _lines_of(block: bytes, number: int, beginnings: tuple[bytes, ...]) -> Generator[EventLine, None, int]:
    """The chosen lines of a block whose first follows line `number`; gives the number of its last."""
    lines = block.split(b"\n")
    lines.pop()  # what follows the last line break
    for own, line in enumerate(lines, number + 1):
        if line.startswith(beginnings):
            if line.startswith(CHOSEN) and (found := _choose(own, line)) is not None:
                yield found
        elif line and line[:1] != b"{":
            yield EventLine(own, PROBLEM, problem=NO_EVENT)
    return number + len(lines)


def _last_line(number: int, line: bytes) -> Iterator[EventLine]:
    """What follows the last line break: a whole event, or one that was being written when the application died."""
    found = _choose(number, line) if line.startswith(PREFIXES) and line.endswith(b"}") else None
    if found is not None and found.kind != PROBLEM:
        yield found
    elif line[:1] != b"{":
        yield EventLine(number, PROBLEM, problem=NO_EVENT)
    elif found is not None or not line.endswith(b"}"):
        yield EventLine(number, TORN, problem="the last event is cut short")


def _choose(number: int, line: bytes) -> EventLine | None:
    """An event of a line, or why it is none; nothing of one that lineage does not need."""
    match = _KIND.match(line)
    name = match.group(1).decode() if match else ""
    if name in IGNORED:
        return None
    if name not in KINDS:
        return EventLine(number, PROBLEM, problem=f"an event of a kind not known here: {name.rpartition('.')[2]}")
    kind = KINDS[name]
    if kind == "environment":
        return EventLine(number, kind, _environment(line))
    if kind in ("job_start", "job_end"):
        return _job_line(number, kind, line)
    try:
        return EventLine(number, kind, _reduce(kind, line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return EventLine(number, PROBLEM, problem="an event is not the JSON that its name promises")


def _environment(line: bytes) -> dict[str, Any]:
    """What names in an application depend on; of a URL nothing but its place."""
    found = _WAREHOUSE.search(line)
    urls = {name.decode(): jdbc_url(url.decode("utf-8", "replace")) for name, url in _CATALOG_URL.findall(line)}
    return {
        "warehouse": found.group(1).decode("utf-8", "replace") if found else "",
        "catalogs": {name.decode(): of_class.decode() for name, of_class in _CATALOG.findall(line)},
        "urls": {name: astuple(url) for name, url in urls.items() if url is not None},
    }


def _job_line(number: int, kind: str, line: bytes) -> EventLine:
    """A job's link to its execution, or how it ended: only Sparks before 3.4 need them, and need no more."""
    job = _JOB.search(line)
    execution = _JOB_EXECUTION.search(line)
    content = {
        "job": int(job.group(1)) if job else None,
        "execution": int(execution.group(1)) if execution else None,
        "failed": kind == "job_end" and _JOB_SUCCEEDED not in line,
    }
    return EventLine(number, kind, content)


def _with_all_paths(event: dict[str, Any]) -> str:
    """A plan whose scans have whole paths: it prints the first one, or 100 characters, and the tree of metrics more."""
    known = set(_locations(event.get("sparkPlanInfo") or {}))

    def whole(scan: re.Match[str]) -> str:
        begins = f"{scan[2]}({int(scan[4]) + 1} paths)[{scan[3]}, "
        found = [location for location in known if location.startswith(begins)]
        return f"{scan[1]}{found[0][found[0].index('[') :]}" if len(found) == 1 else scan[0]

    def uncut(scan: re.Match[str]) -> str:
        found = [location for location in known if location.startswith(scan[2])]
        return f"{scan[1]}{found[0]}" if len(found) == 1 else scan[0]

    return CUT_LOCATION.sub(uncut, PATHS_LEFT_OUT.sub(whole, event["physicalPlanDescription"]))


def _locations(tree: dict[str, Any]) -> Iterator[str]:
    """The locations that the nodes of a tree of metrics read."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if location := (node.get("metadata") or {}).get("Location"):
            yield location
        pending.extend(node.get("children") or ())


def _without_metrics(line: bytes) -> bytes:
    """A start event without its tree of metrics, which is larger than its plan: reading it would take longest."""
    start, end = line.find(b',"sparkPlanInfo":{'), line.rfind(b'},"time":')
    return line[:start] + line[end + 1 :] if 0 < start < end else line


def _rows_metric(line: bytes) -> int | None:
    """The number of the metric that counts the rows of an execution that writes into files; None where it has none.

    A node's own metrics stand behind those of its children.
    """
    start, end = line.find(b',"sparkPlanInfo":{'), line.rfind(b'},"time":')
    if not 0 < start < end or _WRITES_ROWS.match(line, start) is None:
        return None
    found = _ROWS_METRIC.search(line, line.rfind(b'"metrics":[', start, end), end)
    return int(found[1]) if found is not None else None


def _reduce(kind: str, line: bytes) -> dict[str, Any]:
    """An event without what lineage does not need."""
    bare = kind == "start" and not any(sign in line for sign in PATHS_CUT)
    event: dict[str, Any] = json.loads(_without_metrics(line) if bare else line)
    if kind == "start":
        event["rowsMetric"] = _rows_metric(line)
    if kind == "start" and not bare:
        event["physicalPlanDescription"] = _with_all_paths(event)
    if kind == "progress":
        progress = event["progress"]
        event = {"runId": progress.get("runId"), "id": progress.get("id"), "sink": progress.get("sink")}
    elif kind == "metrics":
        updates = [(int(metric), int(value)) for metric, value in event["accumUpdates"]]
        event = {"executionId": int(event["executionId"]), "accumUpdates": updates}
    elif kind in KEPT:
        event = {name: event[name] for name in KEPT[kind] if name in event}
        if kind == "start":
            event["details"] = (event.get("details") or "")[:200]
            if not isinstance(event["executionId"], int):
                raise ValueError
    event.pop("sparkPlanInfo", None)
    event.pop("errorTrace", None)
    return event
