"""PostgreSQL: pg_stat_statements, and the names in its own log."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

# PostgreSQL's pg_stat_statements, as appendix F of its documentation has it (its csvlog is no export).

STAT_STATEMENTS = ExportProfile(
    name="PostgreSQL pg_stat_statements",
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


# PostgreSQL's log as JSON: what stands in a csvlog, by other names.

JSONLOG_NAMES: Mapping[str, str] = {
    "log_time": "timestamp", "user_name": "user", "database_name": "dbname", "process_id": "pid",
    "session_id": "session_id", "session_line_num": "line_num", "command_tag": "ps",
    "virtual_transaction_id": "vxid", "error_severity": "error_severity", "message": "message", "query": "statement",
    "application_name": "application_name", "sql_state_code": "state_code",
}  # fmt: skip
"""By a csvlog's column: its name in the server's JSON."""

_RECORD_NAMES = {column: f"record_{column}" for column in JSONLOG_NAMES}
_TELLING = ("log_time", "error_severity", "message", "session_id")


def jsonlog_names(names: Collection[str]) -> Mapping[str, str] | None:
    """By a csvlog's column its name among these, where they are those of a log of PostgreSQL; else None."""
    forms = (JSONLOG_NAMES, _RECORD_NAMES)
    return next((form for form in forms if all(form[column] in names for column in _TELLING)), None)
