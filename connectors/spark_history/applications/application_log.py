"""The events of one application put together to statements: Start paired with End, several executions to one record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from connectors.spark_history.applications.connect_text import connect_sql
from connectors.spark_history.applications.executions import (
    Environment,
    ExecutedStatement,
    Execution,
    Operation,
    outcome,
    plans_of,
    rows_written,
    seconds,
    with_sink,
)
from connectors.spark_history.event_logs.event_lines import EventLine

CALL_SITE = re.compile(r"^\w+ at .+:\d+$")
STREAM_RUN = re.compile(r"\brunId = ([0-9a-f-]{36})")
RUNS_STATEMENT, OPENS_SESSION = "SparkExecuteStatementOperation", "SparkSQLSessionManager.openSession"
TEXT_SOURCES = ("SparkSQLCLIDriver", RUNS_STATEMENT)


class ApplicationLog:
    """Reads one application's events in their order and gives its statements as they end."""

    def __init__(self) -> None:
        self.name = self.id = self.user = ""
        self.environment = Environment()
        self.executions: dict[int, Execution] = {}
        self.thrift: dict[str, Operation] = {}
        self.connect: dict[str, Operation] = {}
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
        if handler is not None:
            yield from handler(self, json.loads(line.json))

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
        execution.error = "failed" if failed else ""
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
        self.thrift[event["id"]] = Operation(event["id"], text, user, session, seconds(event.get("startTime")))
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
            operation.error = "failed"
        yield from self._thrift_finish(event)

    def _connect_start(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        self.connect[event["jobTag"]] = Operation(
            event["operationId"],
            connect_sql(event.get("statementText") or ""),
            event.get("userId") or event.get("userName") or "",
            event.get("sessionId") or "",
            seconds(event.get("eventTime")),
        )
        return iter(())

    def _connect_error(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        for operation in self.connect.values():
            if operation.id == event.get("operationId") and not operation.executions:
                operation.error = "failed"
                yield from self._operation(operation)
                operation.executions.append(Execution(-1, -1))

    def _progress(self, event: dict[str, Any]) -> Iterator[ExecutedStatement]:
        run, sink = event.get("runId"), (event.get("sink") or {}).get("description")
        if run and sink:
            self.sinks[run] = sink
            for statement in self.waiting_for_sink.pop(run, ()):
                yield with_sink(statement, sink)

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
            yield with_sink(statement, self.sinks[run.group(1)])
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
            outcome(members),
            self.id,
            described=described,
            stream=STREAM_RUN.search(first.description) is not None,
            environment=self.environment,
            spark_session=self._spark_session(session, [first]),
            rows=rows_written(members),
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

    def _operation(self, operation: Operation) -> Iterator[ExecutedStatement]:
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
            rows=rows_written(operation.executions),
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
