"""PostgreSQL: its statistics view pg_stat_statements, and its own log, as CSV or JSON."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace

from connectors.platforms.profile import (
    MILLISECONDS,
    At,
    Entry,
    ExportProfile,
    LoggedStatement,
    Row,
    ServerLog,
    TextLog,
    Unreadable,
    marks,
)

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
_CUT = "\x00"
"""Behind a message of which it is not known whether it went on; no text of the server's has it."""


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
    found = _logged_statement(severity, message.removesuffix(_CUT))
    return replace(found, cut=True) if found is not None and message.endswith(_CUT) else found


def _logged_statement(severity: str, message: str) -> LoggedStatement | None:
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


# Greenplum's log, as its Administrator Guide has it: "Server Log File Format". Segment -1 is the master.

_GREENPLUM_COLUMNS = (
    "log_time", "user_name", "database_name", "process_id", "thread_id", "remote_host", "remote_port",
    "session_start_time", "local_transaction_id", "session_id", "virtual_transaction_id", "segment", "slice",
    "distributed_transaction_id", "local_id", "subtransaction_id", "error_severity", "sql_state_code", "message",
    "detail", "hint", "internal_query", "internal_query_pos", "context", "query", "query_pos", "function", "file",
    "line", "stack_trace",
)  # fmt: skip
_OF_MASTER = frozenset({"", "seg-1"})


def _is_greenplum_row(row: Row) -> bool:
    return len(row) == len(_GREENPLUM_COLUMNS) and bool(_TIME.fullmatch(row[0])) and row[3][:1] == "p"


def _greenplum_statement(row: Row, at: At) -> LoggedStatement | None:
    return _statement(row, at) if row[at["segment"]] in _OF_MASTER else None


GREENPLUM_LOG = replace(
    SERVER_LOG,
    name="Greenplum csvlog",
    columns=_GREENPLUM_COLUMNS,
    widths=frozenset({len(_GREENPLUM_COLUMNS)}),
    is_row=_is_greenplum_row,
    marks=frozenset({"log_time", "error_severity", "message", "segment"}),
    json_keys=(),
    json_marks=(),
    fields={
        "user": "user_name",
        "session": "session_id",
        "database": "database_name",
        "query_type": "slice",
        "error_code": "sql_state_code",
    },
    # a session numbers its commands
    transaction="virtual_transaction_id",
    statement=_greenplum_statement,
    failure_marks=tuple(f',"{severity}",' for severity in sorted(_ERRORS)),
    states=re.compile(r".*", re.DOTALL),
)


# The same log as text, of log_destination = stderr: each message behind what log_line_prefix says, and its further
# lines after a tab. An error's statement is a message of its own that follows it. What the prefix has is found by how
# it is usually written: a time, [a process], user@database or user= and db=.

_SEVERITIES = "LOG|ERROR|FATAL|PANIC|WARNING|NOTICE|INFO|DEBUG[1-5]?"
_FOLLOWING = "STATEMENT|DETAIL|HINT|CONTEXT|QUERY|LOCATION|BACKTRACE"
_ENTRY = re.compile(
    r"\A(?P<prefix>[^\t\n](?=[^\n]{0,300}?\d)[^\n]{0,300}?)(?<![A-Za-z])"
    rf"(?P<severity>{_SEVERITIES}|{_FOLLOWING}):  "
)
_PREFIX_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?(?:[A-Z]{1,5}(?![A-Za-z])|[+-]\d\d(?::?\d\d)?))?|"
    r"(?<!\d)\d{10}\.\d{3}(?!\d)"
)
_PREFIX_SESSION = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}\.[0-9a-f]{2,8}(?![0-9a-f.])")
_PREFIX_PROCESS = re.compile(r"\[(\d+)\]|(?<![A-Za-z_])(?:pid|process|p)=(\d+)")
_PREFIX_OWNER = re.compile(r"(?<![^\s:@,=\[\]()])([^\s:@,=\[\]()]++)@([^\s:@,=\[\]()]++)")
_PREFIX_NAMES = {
    "user_name": re.compile(r"(?<![A-Za-z_])(?:user|usr|u)=([^,\s:\[\]]+)"),
    "database_name": re.compile(r"(?<![A-Za-z_])(?:database|db|d)=([^,\s:\[\]]+)"),
    "application_name": re.compile(r"(?<![A-Za-z_])(?:application|app|a)=([^,\[\]]+?)(?=,|\]|\s*$|\s\w+=)"),
}
_STATE_CODE = re.compile(r"(?=[A-Z]*\d)[0-9A-Z]{5}: ")
_LOGGED_BEGIN = re.compile(r"(?:statement|execute [^\n]*?): |AUDIT: ")


def _prefix_fields(prefix: str) -> dict[str, str]:
    time, session = _PREFIX_TIME.search(prefix), _PREFIX_SESSION.search(prefix)
    process = _PREFIX_PROCESS.search(prefix)
    number = next(filter(None, process.groups()), "") if process is not None else ""
    found = {
        "log_time": time[0] if time is not None else "",
        "session_id": session[0] if session is not None else number,
        "process_id": number,
    }
    if (owner := _PREFIX_OWNER.search(prefix)) is not None:
        found |= {"user_name": owner[1], "database_name": owner[2]}
    for name, pattern in _PREFIX_NAMES.items():
        if (named := pattern.search(prefix)) is not None:
            found[name] = named[1]
    return found


def _stderr_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    """Rows of the csvlog's columns. In place of a transaction's number stands that of the statement in its session."""
    statements: dict[str, tuple[int, str]] = {}
    waiting: tuple[int, dict[str, str]] | None = None
    for number, text in entries:
        begin = _ENTRY.match(text)
        if begin is None:
            continue
        message, is_cut = _message(text[begin.end() :])
        if re.fullmatch(_FOLLOWING, begin["severity"]):
            if waiting is not None and begin["severity"] == "STATEMENT":
                waiting[1]["query"] = message
            continue
        if waiting is not None:
            yield waiting[0], _as_row(waiting[1])
        fields = _prefix_fields(begin["prefix"])
        session = fields["session_id"]
        code = _STATE_CODE.match(message)
        message = message if code is None else message[code.end() :]
        if _LOGGED_BEGIN.match(message):
            count, last = statements.get(session, (0, ""))
            key = _begun_statement(message)
            statements[session] = (count + (key != last or not message.startswith(_AUDIT)), key)
        fields |= {
            "error_severity": begin["severity"],
            "message": f"{message}{_CUT}" if is_cut else message,
            "sql_state_code": code[0][:5] if code else "",
        }
        fields["virtual_transaction_id"] = str(statements.get(session, (0, ""))[0])
        waiting = number, fields
    if waiting is not None:
        yield waiting[0], _as_row(waiting[1])


def _message(text: str) -> tuple[str, bool]:
    """A message up to the first line that is not of it, and whether it may have gone on there.

    Programs that the server starts write between its messages. A line of theirs has no tab before it; where no line
    of the message has one either, whoever handed the log on may have taken them away.
    """
    first, *others = text.rstrip("\r\n").replace("\r\n", "\n").split("\n")
    stray = next((at for at, line in enumerate(others) if line.strip() and line[0] != "\t"), None)
    own = others[:stray]
    message = "\n".join([first, *(line.removeprefix("\t") for line in own)]).rstrip("\n")
    return message, stray is not None and not any(line[:1] == "\t" for line in own)


def _begun_statement(message: str) -> str:
    """The text of a statement that a message says begins, whichever way it is logged."""
    entry = _audit_entry(message.removeprefix(_AUDIT)) if message.startswith(_AUDIT) else None
    return message.partition(": ")[2] if entry is None else entry.text


def _as_row(fields: dict[str, str]) -> Row:
    return [fields.get(column, "") for column in _COLUMNS]


STDERR_LOG = TextLog(
    name="PostgreSQL stderr log",
    begins=_ENTRY,
    columns=_COLUMNS,
    rows=_stderr_rows,
    server_log=replace(SERVER_LOG, name="PostgreSQL stderr log"),
    in_fields=("text_payload", "message"),
)

SYSLOG = Unreadable(
    re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [^\n]{0,100}?\bpostgres\[\d+\]: "),
    "a syslog, which names no year: set log_destination to csvlog, jsonlog or stderr",
)
