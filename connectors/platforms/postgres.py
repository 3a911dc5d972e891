"""PostgreSQL: its statistics view pg_stat_statements, and its own log, as CSV or JSON."""

from __future__ import annotations

import csv
import html
import json
import re

from connectors.platforms.profile import MILLISECONDS, At, ExportProfile, LoggedStatement, Row, ServerLog, marks

# PostgreSQL's pg_stat_statements, as appendix F of its documentation has it (its csvlog is no export).

STAT_STATEMENTS = ExportProfile(
    name="PostgreSQL pg_stat_statements",
    only_ran=True,
    services=frozenset({"Postgres", "Timescale", "Greenplum", "Cockroach"}),
    marks=marks("query calls total_exec_time", "query calls total_time", "query queryid calls", "query userid dbid"),
    columns={
        "text": ("query",),
        "duration": ("total_exec_time", "total_time"),
        "user": ("rolname", "usename"),
        "database": ("datname",),
    },
    units={"total_exec_time": MILLISECONDS, "total_time": MILLISECONDS},
)


# PostgreSQL's own log. The columns of its CSV are as "Using CSV-Format Log Output" of its manual lists them: 23 of them
# up to version 12, 24 in 13, 26 since 14. Their names in JSON are those of "Using JSON-Format Log Output", and
# CloudNativePG's operator writes a CSV's rows as objects in a field `record`.

_COLUMNS = (
    "log_time", "user_name", "database_name", "process_id", "connection_from", "session_id", "session_line_num",
    "command_tag", "session_start_time", "virtual_transaction_id", "transaction_id", "error_severity", "sql_state_code",
    "message", "detail", "hint", "internal_query", "internal_query_pos", "context", "query", "query_pos", "location",
    "application_name", "backend_type", "leader_pid", "query_id",
)  # fmt: skip
_WIDTHS = frozenset({23, 24, 25, 26})
_JSON_KEYS = {
    "log_time": "timestamp", "user_name": "user", "database_name": "dbname", "process_id": "pid",
    "session_id": "session_id", "session_line_num": "line_num", "command_tag": "ps",
    "virtual_transaction_id": "vxid", "error_severity": "error_severity", "message": "message", "query": "statement",
    "application_name": "application_name", "sql_state_code": "state_code",
}  # fmt: skip

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+")
_SESSION = re.compile(r"[0-9a-f]+\.[0-9a-f]+")
_DURATION = r"duration: (?P<ms>\d+(?:\.\d+)?) ms"
# A prepared statement's name may have colons (py:0x7f), and none before a blank.
# "execute fetch from" goes on with a portal that was executed before; parse and bind execute nothing.
_EXECUTION = re.compile(rf"(?:{_DURATION}  )?(?:statement|execute (?!fetch from )(?:[^:\n]|:(?! ))*+): ")
_ERRORS = frozenset({"ERROR", "FATAL", "PANIC"})


# What pgAudit's README and "auto_explain" of the manual's appendix F write as a message: an entry in CSV, of which the
# eighth field is the statement, and a plan below its statement, in one of four forms.
_AUDIT = "AUDIT: "
_AUDITED_TEXT = 7
_NOT_AGAIN = frozenset({"<previously logged>", "<not logged>", "<none>"})
_PLAN = re.compile(rf"{_DURATION}  plan:\n")
_QUERY_TEXT = "Query Text: "
_AFTER_QUERY_TEXT = re.compile(r"\n(?=Query Parameters: |[A-Z][^\n]*  \(cost=[\d.]+ rows=\d+ width=\d+\))")
_XML_TEXT = re.compile(r"<Query-Text>(.*?)</Query-Text>", re.DOTALL)


def _is_row(row: Row) -> bool:
    as_wide = len(row) in _WIDTHS and bool(_TIME.fullmatch(row[0]))
    return as_wide and (not row[5] or bool(_SESSION.fullmatch(row[5])))


def _statement(row: Row, at: At) -> LoggedStatement | None:
    severity = row[at["error_severity"]]
    if severity in _ERRORS:
        text = row[at["query"]]
        return LoggedStatement(text, failed=True) if text.strip() else None
    message = row[at["message"]]
    if message.startswith(_AUDIT):
        return _audit_entry(message.removeprefix(_AUDIT))
    if severity != "LOG":
        return None
    if plan := _PLAN.match(message):
        text = _text_above_plan(message[plan.end() :])
        return LoggedStatement(text, float(plan["ms"]) / 1000, planned=True) if text.strip() else None
    match = _EXECUTION.match(message)
    if match is None or not message[match.end() :].strip():
        return None
    duration = float(match["ms"]) / 1000 if match["ms"] else None
    return LoggedStatement(message[match.end() :], duration)


def _audit_entry(entry: str) -> LoggedStatement | None:
    """`SESSION,6,1,WRITE,INSERT,,,"insert into t select a from s",<not logged>`: the second field numbers them."""
    fields = next(csv.reader([entry], strict=False), [])
    if len(fields) <= _AUDITED_TEXT or not fields[1].isdigit():
        return None
    text = fields[_AUDITED_TEXT]
    return None if text in _NOT_AGAIN or not text.strip() else LoggedStatement(text, number=int(fields[1]))


def _text_above_plan(body: str) -> str:
    """The statement above a plan as text, JSON, YAML or XML; "" where there is none."""
    try:
        if body.startswith("{"):
            found = json.loads(body).get("Query Text", "")
            return found if isinstance(found, str) else ""
        if body.startswith("<"):
            xml = _XML_TEXT.search(body)
            return html.unescape(xml[1]) if xml is not None else ""
        if not body.startswith(_QUERY_TEXT):
            return ""
        body = body.removeprefix(_QUERY_TEXT)
        if body.startswith('"'):  # only YAML puts quotes around it
            return str(json.loads(body.partition("\n")[0]))
    except (ValueError, RecursionError):
        return ""
    end = _AFTER_QUERY_TEXT.search(body)
    return body[: end.start()] if end is not None else ""


def _failure(row: Row, at: At) -> str:
    return row[at["query"]] if row[at["error_severity"]] in _ERRORS else ""


SERVER_LOG = ServerLog(
    name="PostgreSQL csvlog",
    json_name="PostgreSQL jsonlog",
    columns=_COLUMNS,
    widths=_WIDTHS,
    is_row=_is_row,
    marks=frozenset({"log_time", "error_severity", "message", "virtual_transaction_id"}),
    json_keys=(_JSON_KEYS, {column: f"record_{column}" for column in _JSON_KEYS}),
    json_marks=("log_time", "error_severity", "message", "session_id"),
    fields={
        "user": "user_name",
        "session": "session_id",
        "database": "database_name",
        "query_type": "command_tag",
        "error_code": "sql_state_code",
        "job": "application_name",
    },
    written_at=("log_time", _TIME),
    # each statement of a session has a new virtual transaction, except within a transaction block
    transaction="virtual_transaction_id",
    statement=_statement,
    failure=_failure,
    failure_marks=(",ERROR,", ",FATAL,", ",PANIC,"),
    # a statement that is logged before it runs has its session's state in place of a command
    states=re.compile(r"idle.*|PARSE|BIND", re.DOTALL),
)
