"""Redshift's system views, each as the page of its name in the Database Developer Guide has it.

Lines end with the two characters \\n in all of them. SYS_QUERY_TEXT, STL_QUERYTEXT, STL_DDLTEXT, STL_UTILITYTEXT and
SVL_STATEMENTTEXT have a text in pieces, of which blanks at the end are cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from connectors.platforms.profile import (
    MICROSECONDS,
    Entry,
    ExportProfile,
    Row,
    SplitText,
    TextLimit,
    TextLog,
    marks,
)
from ingestion.model.outcomes import Outcome

_REDSHIFT = frozenset({"Redshift"})
_USERS = ("user_name", "username", "usename", "user_id", "userid")
_DATABASES = ("database_name", "database")
_LIMIT = TextLimit(4000, in_bytes=True)
_RUNNING = {"status": {"planning": Outcome.UNFINISHED, "returning": Outcome.UNFINISHED}}

SYS_QUERY_HISTORY = ExportProfile(
    name="Redshift SYS_QUERY_HISTORY",
    services=_REDSHIFT,
    marks=marks("query_text query_label", "query_text elapsed_time queue_time", "query_text transaction_id status"),
    own_marks=marks("query_text"),
    columns={
        "text": ("query_text",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "duration": ("elapsed_time", "execution_time"),
        "user": _USERS,
        "session": ("session_id",),
        "database": _DATABASES,
        "query_type": ("query_type",),
        "status": ("status",),
        "failure": ("error_message",),
        "result_rows": ("returned_rows",),
        "job": ("query_label",),
    },
    units={"elapsed_time": MICROSECONDS, "execution_time": MICROSECONDS},
    states=_RUNNING,
    escaped=True,
    limits={"query_text": _LIMIT},
)

STL_QUERY = ExportProfile(
    name="Redshift STL_QUERY",
    services=_REDSHIFT,
    marks=marks("querytxt aborted", "querytxt starttime", "querytxt pid"),
    own_marks=marks("querytxt"),
    columns={
        "text": ("querytxt",),
        "start_time": ("starttime",),
        "end_time": ("endtime",),
        "user": _USERS,
        "session": ("pid",),
        "database": _DATABASES,
        "failure": ("aborted",),
        "job": ("label",),
    },
    escaped=True,
    limits={"querytxt": _LIMIT},
)

_SPLIT = {
    "text": ("text",),
    "start_time": ("starttime", "start_time"),
    "end_time": ("endtime", "end_time"),
    "user": _USERS,
    "session": ("pid", "session_id"),
    "database": _DATABASES,
    "failure": ("aborted", "error_message"),
    "job": ("label", "query_label"),
}

QUERY_TEXT = ExportProfile(
    name="Redshift STL_QUERYTEXT",
    services=_REDSHIFT,
    marks=marks("query sequence text"),
    columns=_SPLIT,
    split_text=SplitText(("query", "xid"), "sequence", width=200),
    escaped=True,
    outcome_in="STL_QUERY",
)

SYS_QUERY_TEXT = ExportProfile(
    name="Redshift SYS_QUERY_TEXT",
    services=_REDSHIFT,
    marks=marks("query_id sequence text"),
    columns={**_SPLIT, "status": ("status",), "query_type": ("query_type",)},
    states=_RUNNING,
    split_text=SplitText(("query_id", "transaction_id"), "sequence", width=4000),
    escaped=True,
    outcome_in="SYS_QUERY_HISTORY",
)

STATEMENT_TEXT = ExportProfile(
    name="Redshift SVL_STATEMENTTEXT",
    services=_REDSHIFT,
    marks=marks("xid starttime sequence text"),
    columns=_SPLIT,
    split_text=SplitText(("xid", "pid", "starttime"), "sequence", width=200),
    escaped=True,
    outcome_in="STL_QUERY and STL_UNDONE together",
)


# The user activity log of "Database audit logging": files in S3, or a stream in CloudWatch. A statement is logged
# before it runs, and goes on over lines as it was sent.

_ACTIVITY = re.compile(
    r"'(?P<time>\d{4}-\d\d-\d\dT[\d:.]+Z)(?: UTC)? \[ db=(?P<database>\S*) user=(?P<user>\S*) pid=(?P<pid>\d+) "
    r"userid=\d+ xid=\d+ \]' LOG: "
)
_ACTIVITY_COLUMNS = ("record_time", "database", "user", "pid", "query")


def _activity_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    for number, text in entries:
        begin = _ACTIVITY.match(text)
        if begin is not None:
            yield number, [*begin.group("time", "database", "user", "pid"), text[begin.end() :].rstrip("\r\n")]


USER_ACTIVITY = TextLog(
    name="Redshift user activity log",
    begins=_ACTIVITY,
    columns=_ACTIVITY_COLUMNS,
    rows=_activity_rows,
    profile=ExportProfile(
        name="Redshift user activity log",
        services=_REDSHIFT,
        marks=marks("record_time query"),
        columns={
            "text": ("query",),
            "start_time": ("record_time",),
            "user": ("user",),
            "session": ("pid",),
            "database": ("database",),
        },
        only_begun=True,
        outcome_in="STL_QUERY",
    ),
    in_fields=("message",),
)
