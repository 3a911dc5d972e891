"""Apache Hive's LineageLogger: its JSON, and the graph in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.platforms.profile import (
    MILLISECONDS,
    ColumnPair,
    EngineLineage,
    Entry,
    ExportProfile,
    FieldsInText,
    MalformedLineage,
    Row,
    SplitText,
    TextLog,
    Unreadable,
    flow_into,
    lineage_of_flows,
    marks,
    objects_of,
    text_of,
)
from ingestion.model.lineage import ColumnRef, Json, StatementLineage, Subtype, TableName
from ingestion.model.outcomes import Outcome

# The graph in the JSON of Hive's LineageLogger hook, and in Impala's lineage log, which is of the same form.
#
# "Capture Lineage Information In Hive Hooks" of Hive's documentation, "Viewing Lineage Information for Impala Data"
# of Impala's. A vertex is a column (database.table.column; of a query's result its name alone) or a table; an edge
# makes its target columns of its sources (PROJECTION), or lets these decide on rows (PREDICATE). An edge's expression
# has literals and is left out.

_EDGES, _VERTICES = "edges", "vertices"
_TABLE_PARTS = 2

Vertex = tuple[TableName, str]
"""A table and its column, "" for the table itself."""


@dataclass(slots=True)
class _Written:
    """What a table is given."""

    pairs: list[ColumnPair] = field(default_factory=list)
    filters: list[ColumnRef] = field(default_factory=list)
    tables: list[TableName] = field(default_factory=list)


def _read(values: Sequence[str]) -> StatementLineage | None:
    vertices = {one.get("id"): _vertex(one) for one in objects_of(values[1], _VERTICES)}
    found: dict[TableName, _Written] = {}
    for edge in objects_of(values[0], _EDGES):
        sources = [one for one in _ends(edge, "sources", vertices) if one is not None]
        for target in _ends(edge, "targets", vertices):
            if target is not None:
                _add(found.setdefault(target[0], _Written()), edge, sources, target[1])
    return lineage_of_flows(flow_into(target, one.tables, one.pairs, one.filters) for target, one in found.items())


def _add(into: _Written, edge: Json, sources: Iterable[Vertex], to: str) -> None:
    subtype = Subtype.TRANSFORMATION if edge.get("expression") else Subtype.IDENTITY
    for table, column in sources:
        if not column:
            into.tables.append(table)
        elif str(edge.get("edgeType", "")).upper() == "PREDICATE":
            into.filters.append(ColumnRef(table, column))
        elif to:
            into.pairs.append(ColumnPair(table, column, to, subtype))


def _ends(edge: Json, key: str, vertices: Mapping[object, Vertex | None]) -> list[Vertex | None]:
    numbers = edge.get(key)
    if not isinstance(numbers, list) or any(number not in vertices for number in numbers):
        raise MalformedLineage(f"{_EDGES}: {key} that no vertex has")
    return [vertices[number] for number in numbers]


def _vertex(record: Json) -> Vertex | None:
    """None for a column of a query's result, which no table has."""
    parts = text_of(record, "vertexId", _VERTICES).lower().split(".")
    if str(record.get("vertexType", "")).upper() == "TABLE":
        return TableName(tuple(parts)), ""
    if len(parts) <= _TABLE_PARTS:
        return None
    return TableName(tuple(parts[:_TABLE_PARTS])), ".".join(parts[_TABLE_PARTS:])


GRAPH = EngineLineage((_EDGES, _VERTICES), _read)


# Apache Hive's LineageLogger, a hook whose JSON is logged when a statement succeeded: "Capture Lineage Information In
# Hive Hooks" of its documentation.

LINEAGE_LOG = ExportProfile(
    name="Hive lineage hook",
    only_ran=True,
    services=frozenset({"Hive"}),
    marks=marks("query_text vertices engine", "query_text job_ids engine", "query_text job_ids database"),
    own_marks=marks("query_text"),
    columns={
        "text": ("query_text",),
        "start_time": ("timestamp",),
        "duration": ("duration",),
        "user": ("user", "user_group_names"),
        "database": ("database",),
    },
    units={"timestamp": 1.0, "duration": MILLISECONDS},
    lineage=GRAPH,
)


# The log of a HiveServer2, in which the hook's JSON is one message among others, behind what its pattern writes.

_LINEAGE_KEYS = ("queryText", "timestamp", "duration", "user", "database", _EDGES, _VERTICES)
_LOGGER = re.compile(r"\bhooks?\.LineageLogger\b[^{]*|\bLineageLogger\b[^{]*")


def _message_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    """A message without lineage is a row without a statement."""
    for number, text in entries:
        logger = _LOGGER.search(text)
        try:
            record = json.loads(text[logger.end() :]) if logger is not None else {}
        except (ValueError, RecursionError):
            record = {}
        values = [record.get(key) if isinstance(record, dict) else None for key in _LINEAGE_KEYS]
        yield number, [_json_of(value) for value in values]


def _json_of(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


SERVER_LOG = TextLog(
    name="Hive lineage hook, in a log",
    # a JSON text begins no line of it: that is the hook's own file
    begins=re.compile(
        r"\A(?:\[?\d{4}-\d\d-\d\d|\d\d/\d\d/\d\d)[T ][\d:.,]++[^\n]*?"
        r"(?:\s|\[)(?:TRACE|DEBUG|INFO|WARN|ERROR)\b(?!:  )"
    ),
    columns=("query_text", "timestamp", "duration", "user", "database", _EDGES, _VERTICES),
    rows=_message_rows,
    profile=LINEAGE_LOG,
    needs=re.compile(r"\bLineageLogger\b"),
)

# What a HiveServer2, or Hive's command line, logs of each statement by itself: that it is executed, with its text, that
# it failed, in the same thread, and that it is over, which is logged of those that failed too. Some versions have the
# id of the session in the name of the thread; neither the user nor the database is told.

_MESSAGE = re.compile(
    r"\bql\.(?:Driver|Executor|Compiler)\b[^\n]*?(?<=\s)"
    r"(?:(?P<event>Executing|Compiling|Completed executing|Completed compiling) command\(queryId=(?P<id>[^()\s]+)\)"
    r"(?P<rest>[:;]? ?)|(?P<failed>FAILED: ))"
)
_THREAD = re.compile(r"\[((?:[^\[\]\n]|\[\])*)\]")
_SESSION = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TAKEN = re.compile(r"Time taken: ([\d.]+) seconds")
_INTERRUPTED = re.compile(r"\s*has been interrupted after ([\d.]+)")
_MOST_OPEN = 10_000
_EXECUTING, _COMPLETED, _FAILED = "executing", "completed", "failed"


@dataclass(slots=True)
class _Execution:
    """A statement that is compiled or executed; without a `session` its own id stands for that, so that a USE of
    somebody's is nobody else's.
    """

    number: int
    id: str
    time: str
    session: str = ""
    text: str = ""
    event: str = _EXECUTING
    is_executed: bool = False

    def row(self, duration: str = "") -> tuple[int, Row]:
        return self.number, [self.id, self.time, duration, self.session or self.id, self.event, self.text]


@dataclass(slots=True)
class _Executions:
    """Those that are not over, by their ids, and which of them each thread is at."""

    open: dict[str, _Execution] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)

    def rows(self, number: int, text: str) -> Iterator[tuple[int, Row]]:
        """The rows of what an entry says is over."""
        message = _MESSAGE.search(text)
        if message is None:
            return
        thread = _THREAD.search(text, 0, message.end())
        at, begun = thread[1] if thread is not None else "", text[:_TIME_LENGTH].strip("[").replace(",", ".")
        if message["failed"]:
            yield from self._failure_rows(at)
            return
        event, key = message["event"], message["id"]
        one = self.open.get(key) or _Execution(number, key, begun)
        session = _SESSION.search(at)
        one.session = one.session or (session[0] if session is not None else "")
        over = _INTERRUPTED.match(text, message.end())
        if over is not None:
            one.event = _FAILED
            yield self._end(one).row(over[1])
        elif event in ("Executing", "Compiling"):
            one.number, one.time, one.text = number, begun, text[message.end() :].strip()
            one.is_executed = event == "Executing"
            self.open[key], self.threads[at] = one, key
            if len(self.open) > _MOST_OPEN:
                yield self._end(next(iter(self.open.values()))).row()
        elif event == "Completed executing":
            taken = _TAKEN.search(text, message.end())
            one.event = one.event if one.event == _FAILED else _COMPLETED
            yield self._end(one).row(taken[1] if taken is not None else "")

    def _failure_rows(self, thread: str) -> Iterator[tuple[int, Row]]:
        """Whichever the thread was at has failed; one that was being compiled is over with that."""
        one = self.open.get(self.threads.get(thread, ""))
        if one is not None:
            one.event = _FAILED
            if not one.is_executed:
                yield self._end(one).row()

    def _end(self, one: _Execution) -> _Execution:
        self.open.pop(one.id, None)
        return one


_TIME_LENGTH = len("2026-11-20 08:00:00,000")


def _execution_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    found = _Executions()
    for number, text in entries:
        yield from found.rows(number, text)
    for one in found.open.values():
        yield one.row()


DRIVER_LOG = TextLog(
    name="Hive server log",
    begins=SERVER_LOG.begins,
    columns=("query_id", "start_time", "duration", "session", "event", "query"),
    rows=_execution_rows,
    profile=ExportProfile(
        name="Hive server log",
        services=frozenset({"Hive"}),
        marks=marks("query_id event session query"),
        columns={
            "text": ("query",),
            "start_time": ("start_time",),
            "duration": ("duration",),
            "session": ("session",),
        },
        states={"event": {_EXECUTING: Outcome.UNFINISHED, _COMPLETED: None, _FAILED: Outcome.FAILED}},
        split_text=SplitText(("query_id",)),
    ),
    needs=re.compile(r"\bql\.(?:Driver|Executor|Compiler)\b[^\n]* command\(queryId="),
)

# The events that HiveProtoLoggingHook writes, as a table over its files has them: a query has one when it is submitted,
# with its text in a map, and one when it is completed, with its status.

PROTO_EVENTS = ExportProfile(
    name="Hive proto log",
    services=frozenset({"Hive"}),
    marks=marks(
        *(
            f"{kind} {query} {info}"
            for kind, query in (("eventtype", "hivequeryid"), ("event_type", "hive_query_id"))
            for info in ("otherinfo", "other_info", "otherinfo_query", "other_info_query")
        )
    ),
    columns={
        "text": ("otherinfo_query_query_text", "other_info_query_query_text"),
        "start_time": ("timestamp",),
        "user": ("requestuser", "request_user", "user"),
        "session": ("otherinfo_session_id", "other_info_session_id"),
        "database": ("otherinfo_database", "other_info_database"),
        "query_type": ("executionmode", "execution_mode"),
    },
    states={
        **{
            name: {"query_submitted": Outcome.UNFINISHED, "query_completed": None}
            for name in ("eventtype", "event_type")
        },
        **{name: {"false": Outcome.FAILED} for name in ("otherinfo_status", "other_info_status")},
    },
    split_text=SplitText(("hivequeryid", "hive_query_id")),
    inside=(
        FieldsInText("otherinfo", json.loads, "otherinfo_"),
        FieldsInText("other_info", json.loads, "other_info_"),
        FieldsInText("otherinfo_query", json.loads, "otherinfo_query_"),
        FieldsInText("other_info_query", json.loads, "other_info_query_"),
    ),
)

PROTO_LOG = Unreadable(
    re.compile(r"SEQ[\x00-\x06]"),
    "a Hadoop SequenceFile, as Hive's proto log is: give the rows of a table over it as JSON",
)
