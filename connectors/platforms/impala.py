"""Apache Impala's logs: lineage events, audit events, and the table sys.impala_query_log.

As "Viewing Lineage Information for Impala Data", "Auditing Impala Operations" and "Workload Management" of its
documentation have them. The status of an audit event is empty, or an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from connectors.platforms import hive
from connectors.platforms.profile import MILLISECONDS, Entry, ExportProfile, Row, TextLog, Unreadable, marks

_SERVICES = frozenset({"Impala"})

LINEAGE_LOG = ExportProfile(
    name="Impala lineage log",
    only_ran=True,
    services=_SERVICES,
    marks=marks("query_text query_id vertices", "query_text hash end_time"),
    columns={
        "text": ("query_text",),
        "start_time": ("timestamp",),
        "end_time": ("end_time",),
        "user": ("user",),
        "query_type": ("operation_type",),
    },
    units={"timestamp": 1.0, "end_time": 1.0},
    lineage=hive.GRAPH,
)

AUDIT_LOG = ExportProfile(
    name="Impala audit log",
    services=_SERVICES,
    marks=marks("sql_statement catalog_objects", "sql_statement authorization_failure"),
    columns={
        "text": ("sql_statement",),
        "start_time": ("start_time",),
        "user": ("impersonator", "user"),
        "session": ("session_id",),
        "query_type": ("statement_type",),
        "failure": ("status", "authorization_failure"),
    },
)

QUERY_LOG = ExportProfile(
    name="Impala sys.impala_query_log",
    services=_SERVICES,
    marks=marks("sql impala_query_end_state", "sql db_name db_user", "sql start_time_utc"),
    own_marks=marks("sql", "statement database", "stmt"),
    columns={
        "text": ("sql", "statement", "stmt"),
        "start_time": ("start_time_utc", "start_time"),
        "end_time": ("end_time",),
        "duration": ("total_time_ms",),
        "user": ("db_user", "effective_user", "user"),
        "session": ("session_id",),
        "database": ("db_name", "default_db", "database"),
        "query_type": ("query_type", "stmt_type"),
        "status": ("query_state", "impala_query_end_state", "state"),
    },
    units={"total_time_ms": MILLISECONDS},
)


# The text of query profiles, as the web page of a daemon, impala-shell's PROFILE and impala-profile-tool give it.

_PROFILE_COLUMNS = (
    "sql", "start_time", "end_time", "db_user", "session_id", "db_name", "query_type", "query_state", "query_status",
)  # fmt: skip
_PROFILE_KEYS = (
    "Start Time", "End Time", "User", "Session ID", "Default Db", "Query Type", "Query State", "Query Status",
)  # fmt: skip
_SQL = re.compile(
    r"^ {4}Sql Statement: (.*?)(?=^ {4}(?:Coordinator|Query Options[^\n:]*+|Plan):|\Z)", re.MULTILINE | re.DOTALL
)
_KEY = re.compile(r"^ {4}([A-Z][\w ]*): (.*)$", re.MULTILINE)
_NO_ERROR = re.compile(r"^(?!OK$)(.+)", re.DOTALL)


def _profile_rows(entries: Iterator[Entry]) -> Iterator[tuple[int, Row]]:
    for number, text in entries:
        sql = _SQL.search(text)
        rest = text if sql is None else text[: sql.start()] + text[sql.end() :]
        found: dict[str, str] = {}
        for key, value in _KEY.findall(rest):
            found.setdefault(key, value.strip())
        yield number, ["" if sql is None else sql[1].rstrip(), *(found.get(key, "") for key in _PROFILE_KEYS)]


PROFILES = TextLog(
    name="Impala query profiles",
    begins=re.compile(r"Query \(id=[0-9a-f]+:[0-9a-f]+\)"),
    columns=_PROFILE_COLUMNS,
    rows=_profile_rows,
    profile=ExportProfile(
        name="Impala query profiles",
        services=_SERVICES,
        marks=marks("sql query_status"),
        columns={
            "text": ("sql",),
            "start_time": ("start_time",),
            "end_time": ("end_time",),
            "user": ("db_user",),
            "session": ("session_id",),
            "database": ("db_name",),
            "query_type": ("query_type",),
            "status": ("query_state",),
            "failure": ("query_status",),
        },
        patterns={"query_status": _NO_ERROR},
    ),
)

PROFILE_LOG = Unreadable(
    re.compile(
        r"\A(?:\d{13} [0-9a-f]+:[0-9a-f]+ [A-Za-z0-9+/=]{40}|\s*+\{\s*+\"contents\"\s*+:\s*+\{\s*+\"profile_name\")"
    ),
    "a log of query profiles, encoded or as JSON: give them as text, which impala-profile-tool writes",
)
