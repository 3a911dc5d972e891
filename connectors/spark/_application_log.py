"""What an application's events tell: its executions, sessions and statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.spark._events import EventLine
from ingestion.model.engine_names import JdbcUrl
from ingestion.model.outcomes import Outcome

SESSION_TAG = re.compile(r"^spark-session-([0-9a-f-]{36})$")
COMPACTION = re.compile(r"Rewriting \d+ (?:position delete )?files \(.* in \S+$", re.DOTALL)
"""How Iceberg describes an execution that puts a table's rows together into fewer files."""

REPEATED = re.compile(r"== Physical Plan ==\nCommandResult\b")

_YEAR_10000 = 253_402_300_800_000

TRUNCATED = "[truncated(size="
"""How Spark marks a field that it cut at 65,535 characters."""

_QUERY = re.compile(r'\bsql \{\s*query: "((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(rb'\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([abfnrtv\\\'"?]))')
_SIMPLE = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}

CALL_SITE = re.compile(r"^\w+ at .+:\d+$")
STREAM_RUN = re.compile(r"\brunId = ([0-9a-f-]{36})")
RUNS_STATEMENT, OPENS_SESSION = "SparkExecuteStatementOperation", "SparkSQLSessionManager.openSession"
TEXT_SOURCES = ("SparkSQLCLIDriver", RUNS_STATEMENT)


# What an application's log tells of its executions, operations and statements.


@dataclass(slots=True)
class Execution:
    """One SQL execution; times are seconds. `error` is None until it is known to have ended, "" if it ended well.

    `client` is the session of a Thrift server's client that it prepares. `rows` is how many it wrote, as the metric of
    that number tells.
    """

    id: int
    root: int
    description: str = ""
    details: str = ""
    plan: str = ""
    start: float | None = None
    end: float | None = None
    error: str | None = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    started: bool = False
    ended: bool = False
    client: str = ""
    rows_metric: int | None = None
    rows: int | None = None

    @property
    def session(self) -> str:
        """Spark's id of the session that it ran in; before Spark 4 the client that it prepares, if any."""
        return next((match.group(1) for tag in self.tags if (match := SESSION_TAG.match(tag))), self.client)

    @property
    def repeats(self) -> bool:
        """Whether it only shows what a command gave, which an execution before it carried out: `sql(…).collect()`."""
        return REPEATED.search(self.plan) is not None


@dataclass(slots=True)
class _Operation:
    """One operation of a Thrift or Connect server: its text, who asked for it, and its executions."""

    id: str
    text: str | None
    user: str
    session: str
    start: float | None
    plan: str | None = None
    end: float | None = None
    error: str | None = None
    executions: list[Execution] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Environment:
    """What an application's names depend on: its warehouse directory, its catalogs' classes and their JDBC URLs."""

    warehouse: str = ""
    catalogs: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, JdbcUrl] = field(default_factory=dict)

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Environment:
        """That of an event's reduced form."""
        urls = {name: JdbcUrl(*parts) for name, parts in (event.get("urls") or {}).items()}
        return cls(str(event.get("warehouse") or ""), event.get("catalogs") or {}, urls)


@dataclass(frozen=True, slots=True)
class ExecutedStatement:
    """What an application ran as one: its text where the log has it, the plans of its executions, root first.

    `key` is unique in the log and the same in every reading. `error` is None for one that had not ended, "" for one
    that ended well. `sink` is where a streaming query writes, where only its progress says so. `described` is a text
    that a user set as the job's description: perhaps a statement. `stream` tells a micro-batch of a streaming query.
    `spark_session` is what Spark calls the session whose catalog and namespace it runs in. `rows`: how many it wrote.
    """

    key: str
    text: str | None
    plans: tuple[str, ...]
    start: float | None
    end: float | None
    user: str
    session: str
    error: str | None
    application: str
    sink: str | None = None
    described: str | None = None
    stream: bool = False
    environment: Environment = Environment()
    spark_session: str = ""
    rows: int | None = None


def _rows_written(executions: Iterable[Execution]) -> int | None:
    """How many rows a statement wrote; None where that is not told, or of several of its executions."""
    counts = [each.rows for each in executions if each.rows is not None]
    return counts[0] if len(counts) == 1 else None


def plans_of(executions: Iterable[Execution]) -> list[str]:
    """The plans that tell what a statement reads and writes: not those that write a table's own rows into new files."""
    return [each.plan for each in executions if each.plan and not COMPACTION.match(each.description)]


def _outcome(members: list[Execution]) -> str | None:
    """A group's: failed if any failed, unknown if its root has no end."""
    if any(execution.error for execution in members):
        return Outcome.FAILED
    return members[0].error


def _with_sink(statement: ExecutedStatement, sink: str) -> ExecutedStatement:
    return replace(statement, sink=sink)


def seconds(milliseconds: Any) -> float | None:
    """Seconds since the epoch of an event's time; None for what is none: no number, up to 1970, or beyond 9999."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 < milliseconds < _YEAR_10000 else None


# The SQL in the text of a Spark Connect operation, which is a protobuf message printed as text.


def _connect_sql(message: str) -> str | None:
    """The statement that a client sent as SQL; None for DataFrame operations and for text that Spark cut.

    A query over other frames (`with_relations`) is no statement by itself: its plan says more.
    """
    if "with_relations" in message or "write_operation" in message:
        return None
    head = message.lstrip()
    if not head.startswith(("sql_command {", "root {")):
        return None
    found = _QUERY.findall(message)
    if len(found) != 1 or (head.startswith("root {") and not _sql_is_root(head)):
        return None
    text = _unescape(found[0])
    return None if TRUNCATED in text else text


def _sql_is_root(message: str) -> bool:
    """Whether a relation is a SQL query and nothing around it."""
    return re.match(r"root \{\s*(?:common \{(?:[^{}]|\{[^{}]*\})*\}\s*)?sql \{", message) is not None


def _unescape(text: str) -> str:
    """Protobuf's text escapes undone; bytes outside of ASCII stand as octal."""

    def byte(match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, simple = match.groups()
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        return _SIMPLE.get(simple, simple)

    return _ESCAPE.sub(byte, text.encode()).decode("utf-8", "replace")


# The events of one application put together to statements: Start paired with End, several executions to one record.


class ApplicationLog:
    """Reads one application's events in their order and gives its statements as they end."""

    def __init__(self) -> None:
        self.name = self.id = self.user = ""
        self.environment = Environment()
        self.executions: dict[int, Execution] = {}
        self.thrift: dict[str, _Operation] = {}
        self.connect: dict[str, _Operation] = {}
        self.thrift_users: dict[str, str] = {}
        self.opened = ""
        self.spark_sessions: dict[str, str] = {}
        self.sinks: dict[str, str] = {}
        self.waiting_for_sink: dict[str, list[ExecutedStatement]] = {}
        self.jobs: dict[int, int] = {}
        self.failed: set[int] = set()

    def read(self, line: EventLine) -> Iterator[ExecutedStatement]:
        """Take one event; give the statements that it completes."""
        handler = HANDLERS.get(line.kind)
        if handler is not None and line.event is not None:
            yield from handler(self, line.event)

    def finish(self) -> Iterator[ExecutedStatement]:
        """The statements that had not ended when the log did."""
        for operation in self.thrift.values():
            yield from self._operation(operation)
        self.thrift.clear()
        for root in sorted({execution.root for execution in self.executions.values()}):
            yield from self._group(root)
        for statements in self.waiting_for_sink.values():
            yield from statements
        self.waiting_for_sink.clear()

    # --- events ---------------------------------------------------------------------------------------------------

    def _application_start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        self.name, self.id = str(event.get("App Name") or ""), str(event.get("App ID") or "")
        self.user = str(event.get("User") or "")
        return iter(())

    def _environment(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        self.environment = Environment.of(event)
        return iter(())

    def _start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        execution = self._execution(event["executionId"], event.get("rootExecutionId"))
        execution.started = True
        execution.description = event.get("description") or ""
        execution.details = event.get("details") or ""
        execution.plan = event.get("physicalPlanDescription") or ""
        execution.start = seconds(event.get("time"))
        execution.tags = tuple(event.get("jobTags") or ())
        execution.group = event.get("jobGroupId")
        execution.rows_metric = event.get("rowsMetric")
        if "jobGroupId" not in event and self.thrift_users:
            self._of_a_client(execution)
        return iter(())

    def _end(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        execution = self._execution(event["executionId"], None)
        execution.ended = True
        execution.end = seconds(event.get("time"))
        error = event.get("errorMessage")
        failed = execution.id in self.failed if error is None else bool(error)
        execution.error = Outcome.FAILED if failed else ""
        if execution.started and execution.id == execution.root:
            yield from self._finish(execution)
        elif not execution.started:
            yield from self._group(execution.id)

    def _metrics(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        execution = self.executions.get(event["executionId"])
        if execution is not None and execution.rows_metric is not None:
            execution.rows = dict(event["accumUpdates"]).get(execution.rows_metric, execution.rows)
        return iter(())

    def _job_start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        if event["execution"] is not None:
            self.jobs[event["job"]] = event["execution"]
        return iter(())

    def _job_end(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        execution = self.jobs.pop(event["job"], None)
        if event["failed"] and execution is not None:
            self.failed.add(execution)
        return iter(())

    def _thrift_session(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        self.opened = event.get("sessionId", "")
        self.thrift_users[self.opened] = event.get("userName") or ""
        return iter(())

    def _thrift_start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        session = event.get("sessionId") or ""
        self.opened = "" if session == self.opened else self.opened
        user = event.get("userName") or self.thrift_users.get(session, "")
        text = event.get("statement")
        self.thrift[event["id"]] = _Operation(event["id"], text, user, session, seconds(event.get("startTime")))
        return iter(())

    def _thrift_parsed(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        if operation := self.thrift.get(event["id"]):
            operation.plan = event.get("executionPlan")
        return iter(())

    def _thrift_finish(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        if operation := self.thrift.pop(event["id"], None):
            operation.end = seconds(event.get("finishTime"))
            operation.error = operation.error or ""
            yield from self._operation(operation)

    def _thrift_error(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        if operation := self.thrift.get(event["id"]):
            operation.error = Outcome.FAILED
        yield from self._thrift_finish(event)

    def _connect_start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        self.connect[event["jobTag"]] = _Operation(
            event["operationId"],
            _connect_sql(event.get("statementText") or ""),
            event.get("userId") or event.get("userName") or "",
            event.get("sessionId") or "",
            seconds(event.get("eventTime")),
        )
        return iter(())

    def _connect_error(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        for operation in self.connect.values():
            if operation.id == event.get("operationId") and not operation.executions:
                operation.error = Outcome.FAILED
                yield from self._operation(operation)
                operation.executions.append(Execution(-1, -1))

    def _progress(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        run, sink = event.get("runId"), (event.get("sink") or {}).get("description")
        if run and sink:
            self.sinks[run] = sink
            for statement in self.waiting_for_sink.pop(run, ()):
                yield _with_sink(statement, sink)

    # --- statements -----------------------------------------------------------------------------------------------

    def _execution(self, identifier: int, root: int | None) -> Execution:
        execution = self.executions.get(identifier)
        if execution is None:
            execution = self.executions[identifier] = Execution(identifier, identifier)
        if root is not None:
            execution.root = root
        return execution

    def _finish(self, root: Execution) -> Iterator[ExecutedStatement]:
        operation = self.thrift.get(root.group or "")
        if operation is not None:
            operation.executions.extend(self._take(root.id))
            return
        yield from self._group(root.id)

    def _take(self, root: int) -> list[Execution]:
        members = [execution for execution in self.executions.values() if execution.root == root]
        for execution in members:
            del self.executions[execution.id]
        return sorted(members, key=lambda execution: execution.id)

    def _group(self, root: int) -> Iterator[ExecutedStatement]:
        members = self._take(root)
        if all(execution.repeats for execution in members):
            return
        statement = self._statement(members)
        run = STREAM_RUN.search(members[0].description)
        if run is None:
            yield statement
        elif run.group(1) in self.sinks:
            yield _with_sink(statement, self.sinks[run.group(1)])
        else:
            self.waiting_for_sink.setdefault(run.group(1), []).append(statement)

    def _statement(self, members: list[Execution]) -> ExecutedStatement:
        first = next((execution for execution in members if execution.started), members[0])
        operation = next((self.connect[tag] for tag in first.tags if tag in self.connect), None)
        text = described = None
        if any(source in first.details for source in TEXT_SOURCES):
            text = first.description
        elif operation is not None:
            text = operation.text
            operation.executions.append(first)
        elif first.description and not CALL_SITE.match(first.description) and not STREAM_RUN.search(first.description):
            described = first.description
        session = operation.session if operation and operation.session else first.session
        return ExecutedStatement(
            str(members[0].id),
            text,
            tuple(plans_of(members)),
            min((e.start for e in members if e.start is not None), default=None),
            max((e.end for e in members if e.end is not None), default=None),
            operation.user if operation and operation.user else self.user,
            session,
            _outcome(members),
            self.id,
            described=described,
            stream=STREAM_RUN.search(first.description) is not None,
            environment=self.environment,
            spark_session=self._spark_session(session, [first]),
            rows=_rows_written(members),
        )

    def _of_a_client(self, execution: Execution) -> None:
        """Which client of a Thrift server an execution is for, where no job group tells: before Spark 4."""
        if OPENS_SESSION in execution.details:
            execution.client = self.opened
        elif RUNS_STATEMENT in execution.details:
            running = (each.id for each in self.thrift.values() if each.text == execution.description)
            execution.group = next(running, None)

    def _spark_session(self, session: str, executions: Iterable[Execution]) -> str:
        """What Spark calls a session: a server's client that connects to a database sets it before any statement."""
        tagged = next((execution.session for execution in executions if execution.session), None)
        if tagged is not None:
            self.spark_sessions[session] = tagged
        return self.spark_sessions.get(session, session)

    def _operation(self, operation: _Operation) -> Iterator[ExecutedStatement]:
        for root in {e.root for e in self.executions.values() if e.group == operation.id}:
            operation.executions.extend(self._take(root))
        plans = plans_of(sorted(operation.executions, key=lambda e: e.id))
        if operation.plan:
            plans.insert(0, operation.plan)
        yield ExecutedStatement(
            operation.id,
            operation.text,
            tuple(plans),
            operation.start,
            operation.end,
            operation.user or self.user,
            operation.session,
            operation.error,
            self.id,
            environment=self.environment,
            spark_session=self._spark_session(operation.session, operation.executions),
            rows=_rows_written(operation.executions),
        )


HANDLERS: Mapping[str, Callable[[ApplicationLog, dict[str, Any]], Iterator[ExecutedStatement]]] = {
    "application_start": ApplicationLog._application_start,
    "environment": ApplicationLog._environment,
    "start": ApplicationLog._start,
    "end": ApplicationLog._end,
    "metrics": ApplicationLog._metrics,
    "job_start": ApplicationLog._job_start,
    "job_end": ApplicationLog._job_end,
    "thrift_session": ApplicationLog._thrift_session,
    "thrift_start": ApplicationLog._thrift_start,
    "thrift_parsed": ApplicationLog._thrift_parsed,
    "thrift_finish": ApplicationLog._thrift_finish,
    "thrift_error": ApplicationLog._thrift_error,
    "connect_start": ApplicationLog._connect_start,
    "connect_error": ApplicationLog._connect_error,
    "progress": ApplicationLog._progress,
}
"""What is done at an event, by the kind of its line."""
