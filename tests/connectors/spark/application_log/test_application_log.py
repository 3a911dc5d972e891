"""Every event that is chosen from a log is taken, in the order in which the application told them."""

from __future__ import annotations

import json
from typing import Any

from connectors.spark._application_log import HANDLERS, ApplicationLog
from connectors.spark._events import KINDS, event_lines

SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
EVENTS = (
    {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "local-1", "Timestamp": 1, "User": "u"},
    {"Event": f"{SQL}Start", "executionId": 4, "description": "", "physicalPlanDescription": "p", "time": 1000},
    {"Event": f"{SQL}Start", "executionId": 5, "description": "", "physicalPlanDescription": "q", "time": 2000},
    {"Event": f"{SQL}End", "executionId": 5, "time": 3000},
    {"Event": f"{SQL}End", "executionId": 4, "errorMessage": "no such table", "time": 4000},
)


def test_every_kind_of_event_is_taken_but_the_end_of_the_application() -> None:
    assert set(KINDS.values()) - HANDLERS.keys() == {"application_end"}


def test_statements_come_as_they_end() -> None:
    log = ApplicationLog()
    lines = event_lines(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in EVENTS)
    found = [statement for line in lines for statement in log.read(line)]
    assert [(s.key, s.plans, s.start, s.end, s.error) for s in found] == [
        ("5", ("q",), 2.0, 3.0, ""),
        ("4", ("p",), 1.0, 4.0, "failed"),
    ]
    assert {(s.application, s.user) for s in found} == {("local-1", "u")}
    assert list(log.finish()) == []


def test_the_rows_of_an_execution_that_writes_are_those_of_its_own_metric() -> None:
    def metric(number: int) -> dict[str, Any]:
        return {"name": "number of output rows", "accumulatorId": number, "metricType": "sum"}

    child = {"nodeName": "Range", "simpleString": "", "children": [], "metadata": {}, "metrics": [metric(7)]}
    writes = "Execute InsertIntoHadoopFsRelationCommand"
    found = []
    for node in (writes, "Project"):
        plan = {"nodeName": node, "simpleString": "", "children": [child], "metadata": {}, "metrics": [metric(8)]}
        start = {"Event": f"{SQL}Start", "executionId": 1, "description": "", "physicalPlanDescription": "p"}
        updates = SQL.replace("SQLExecution", "DriverAccumUpdates")
        events = (
            EVENTS[0],
            {**start, "sparkPlanInfo": plan, "time": 1000},
            {"Event": updates, "executionId": 1, "accumUpdates": [[7, 9], [8, 3]]},
            {"Event": updates, "executionId": 2, "accumUpdates": [[8, 4]]},
            {"Event": f"{SQL}End", "executionId": 1, "time": 3000},
        )
        log = ApplicationLog()
        lines = event_lines(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)
        found += [statement.rows for line in lines for statement in log.read(line)]
    assert found == [3, None]
