"""MySQL's and MariaDB's own logs, each as the Reference Manual has it.

"The General Query Log" (its table general_log), "The Slow Query Log" (slow_log) and "The events_statements_current
Table", whose history tables have the same columns. What ERRORS is tells, where it is there: warnings have a number too.
"""

from __future__ import annotations

import re
from dataclasses import replace

from connectors.platforms.profile import (
    OTHERWISE,
    PICOSECONDS,
    ExportProfile,
    HeaderlessFile,
    Rewrite,
    Row,
    TextLimit,
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
