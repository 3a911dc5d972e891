"""MySQL's and MariaDB's own logs, each as the Reference Manual has it.

"The General Query Log" (its table general_log), "The Slow Query Log" (slow_log) and "The events_statements_current
Table", whose history tables have the same columns. What ERRORS is tells, where it is there: warnings have a number too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from connectors.platforms.profile import (
    OTHERWISE,
    PICOSECONDS,
    Entry,
    ExportProfile,
    HeaderlessFile,
    Rewrite,
    Row,
    TextLimit,
    TextLog,
    marks,
)
from ingestion.model.outcomes import Outcome

_SERVICES = frozenset({"Mysql", "MariaDB", "SingleStore", "Doris", "StarRocks", "Domodatabase"})
_USER_HOST = re.compile(r"(?<![^\[\]@\s])([^\[\]@\s]++)[\[\]]")  # privileges[user] @ host [address]
_USE = "USE `{}`"

GENERAL_LOG = ExportProfile(
    name="MySQL general_log",
    services=_SERVICES,
    marks=marks("argument command_type", "argument user_host", "argument thread_id"),
    own_marks=marks("argument"),
    columns={
        "text": ("argument",),
        "start_time": ("event_time",),
        "user": ("user_host",),
        "session": ("thread_id",),
        "query_type": ("command_type",),
    },
    patterns={"user_host": _USER_HOST},
    states={"command_type": {"query": None, "execute": None, OTHERWISE: Outcome.NOT_A_STATEMENT}},
    rewrites=(
        Rewrite("command_type", "init db", re.compile(r"^\s*+(\S(?:.*\S)?)", re.DOTALL), _USE),
        Rewrite("command_type", "connect", re.compile(r"^\S+ on (\S+) using "), _USE),
    ),
)


def _is_general_log_row(row: Row) -> bool:
    return row[2].isdigit() and row[3].isdigit() and " @ " in row[1]


GENERAL_LOG_FILE = HeaderlessFile(
    columns=("event_time", "user_host", "thread_id", "server_id", "command_type", "argument"),
    profile=replace(GENERAL_LOG, escaped=True),  # line ends stand as a backslash and an n
    is_row=_is_general_log_row,
)

SLOW_LOG = ExportProfile(
    name="MySQL slow_log",
    services=_SERVICES,
    marks=marks("sql_text query_time lock_time", "sql_text query_time db"),
    columns={
        "text": ("sql_text",),
        "start_time": ("start_time",),
        "duration": ("query_time",),
        "user": ("user_host",),
        "session": ("thread_id",),
        "database": ("db",),
    },
    patterns={"user_host": _USER_HOST},
)

EVENTS_STATEMENTS = ExportProfile(
    name="MySQL events_statements",
    services=_SERVICES,
    marks=marks("sql_text timer_wait", "sql_text mysql_errno", "sql_text digest_text"),
    own_marks=marks("sql_text"),
    columns={
        "text": ("sql_text",),
        "duration": ("timer_wait",),
        "session": ("thread_id",),
        "database": ("current_schema",),
        "failure": ("errors", "mysql_errno"),
    },
    units={"timer_wait": PICOSECONDS},
    limits={"sql_text": TextLimit(1024, in_bytes=True, mark="...")},
)


# The same logs as files of text: log_output = FILE. Each opens with three lines about the server, whenever it starts.
# Of MySQL each line of the general log has a time, of MariaDB the first one in each second; who a session is, its first
# line tells. MySQL 5.7 as it came out has no tab behind the time, and ids five wide or more: `Z    3`, `Z123456`.

_BANNER = re.compile(
    r"\A(?:(?=.*, Version: ).* started with:\s*+\Z|Tcp port: .*  Unix socket: |TCP Port: .*, Named Pipe: |"
    r"Time\s++Id Command\s++Argument)"
)
_SHORT_TIME = r"\d{6} +\d{1,2}:\d\d:\d\d"
_COMMANDS = (
    "Query|Execute|Prepare|Init DB|Connect|Quit|Close stmt|Reset stmt|Fetch|Long Data|Field List|Change user|Ping|"
    "Statistics|Create DB|Drop DB|Refresh|Shutdown|Processlist|Process info|Connect Out|Kill|Debug|Time|Delayed insert|"
    "Binlog Dump|Binlog Dump GTID|Table Dump|Register Slave|Register Replica|Set option|Daemon|Sleep|Error|"
    "Bulk_execute|Reset Connection"
)
_GENERAL_LINE = re.compile(
    rf"\A(?P<time>\d{{4}}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)|{_SHORT_TIME}(?=[\t ])|(?=\t\t))"
    rf"[\t ]*+(?P<id>\d++) (?P<command>{_COMMANDS})(?:\t|[ \t]*\r?$)"
)
_CONNECTED = re.compile(r"^([^@\s]*)@\S*")


def _long_time(written: str) -> str:
    """`261120  8:00:00` is what MariaDB and servers before MySQL 5.7 write."""
    if not re.fullmatch(_SHORT_TIME, written):
        return written
    day, _, clock = written.partition(" ")
    return f"20{day[:2]}-{day[2:4]}-{day[4:]} {clock.strip().rjust(8, '0')}"


def _general_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    time, users = "", dict[str, str]()
    for number, text in entries:
        line = _GENERAL_LINE.match(text)
        if line is None:
            continue
        time = _long_time(line["time"]) or time
        argument = text[line.end() :].rstrip("\r\n")
        if line["command"] in {"Connect", "Change user"} and (user := _CONNECTED.match(argument)) is not None:
            users[line["id"]] = user[1]
        yield number, [time, users.get(line["id"], ""), line["id"], line["command"], argument]
        if line["command"] == "Quit":
            users.pop(line["id"], None)


GENERAL_LOG_TEXT = TextLog(
    name="MySQL general log, text",
    begins=_GENERAL_LINE,
    columns=("event_time", "user_host", "thread_id", "command_type", "argument"),
    rows=_general_rows,
    profile=replace(GENERAL_LOG, name="MySQL general log, text", patterns={}),
    in_fields=("message", "text_payload"),
    banner=_BANNER,
)

_SLOW_TIME = re.compile(rf"^# Time: (\d{{4}}-\d\d-\d\dT\S+|{_SHORT_TIME})", re.MULTILINE)
_SLOW_HEAD = re.compile(r"#(?: (?!administrator command: )|[ \t]*\r?\n)")  # MariaDB has a plan between bare signs
_SLOW_USER = re.compile(r"^# User@Host: ([^\[\n]*)\[([^\]\n]*)\].*?(?:Id:\s*(\d+))?\s*$", re.MULTILINE)
_SLOW_VALUE = re.compile(r"(?<![A-Za-z_])([A-Z][A-Za-z_]*+): ?([^\s,]*+)")
_ADMINISTRATION = re.compile(r"^# administrator command: .*", re.DOTALL)
_SLOW_BEGIN = re.compile(
    r"(?:use `?(?P<db>[^;`\n]+)`?;\n)?(?:SET timestamp=(?P<time>\d+(?:\.\d+)?);\n)?", re.IGNORECASE
)
_SLOW_COLUMNS = (
    "start_time", "user_host", "thread_id", "db", "query_time", "rows_affected", "last_errno", "killed", "sql_text",
)  # fmt: skip


def _slow_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    """`use` stands where the database is another than that of the statement before, `# Time` where the second is."""
    time = database = ""
    for number, text in entries:
        head_end = next((at for at in _line_starts(text) if not _SLOW_HEAD.match(text, at)), len(text))
        head, body = text[:head_end], text[head_end:]
        if (clock := _SLOW_TIME.search(head)) is not None:
            time = _long_time(clock[1])
        user = _SLOW_USER.search(head)
        if user is None:
            continue
        begin = _SLOW_BEGIN.match(body)
        found = dict(_SLOW_VALUE.findall(head.replace("# User@Host: ", "")))
        named: str | None = begin["db"] if begin is not None else None
        database = str(found.get("Schema", named or database))
        statement = body[begin.end() if begin is not None else 0 :].rstrip()
        yield number, [
            (begin["time"] if begin is not None else None) or time, user[2] or user[1].strip(),
            user[3] or found.get("Thread_id", ""), database, found.get("Query_time", ""),
            found.get("Rows_affected", ""), found.get("Errno") or found.get("Last_errno", ""),
            found.get("Killed", ""), statement,
        ]  # fmt: skip


def _line_starts(text: str) -> Iterator[int]:
    at = 0
    while at < len(text):
        yield at
        at = text.find("\n", at) + 1 or len(text)


SLOW_LOG_TEXT = TextLog(
    name="MySQL slow log, text",
    begins=re.compile(r"# (?:Time|User@Host): "),
    outcome_mark=re.compile(r"^# .*\b(?:Last_)?[Ee]rrno: ", re.MULTILINE),
    columns=_SLOW_COLUMNS,
    rows=_slow_rows,
    profile=replace(
        SLOW_LOG,
        name="MySQL slow log, text",
        columns={**SLOW_LOG.columns, "failure": ("last_errno", "killed"), "rows": ("rows_affected",)},
        patterns={},
        noise=_ADMINISTRATION,
    ),
    in_fields=("message", "text_payload"),
    banner=_BANNER,
)
