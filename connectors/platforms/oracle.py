"""Oracle's V$SQL, V$SQLTEXT, DBA_HIST_SQLTEXT and UNIFIED_AUDIT_TRAIL, each as the Database Reference has it.

SQL_TEXT of V$SQL is the first 1,000 characters of SQL_FULLTEXT; that of DBA_HIST_SQLTEXT is whole.
"""

from __future__ import annotations

from connectors.platforms.profile import MICROSECONDS, ExportProfile, SplitText, TextLimit, marks

_SERVICES = frozenset({"Oracle"})

SQL = ExportProfile(
    name="Oracle V$SQL",
    services=_SERVICES,
    marks=marks("sql_fulltext", "sql_text parsing_schema_name", "sql_text sql_id executions", "sql_text sql_id dbid"),
    own_marks=marks("sql_text"),
    columns={
        "text": ("sql_fulltext", "sql_text"),
        "start_time": ("sql_exec_start", "last_active_time"),
        "duration": ("elapsed_time",),
        "user": ("parsing_user_name", "username"),
        "schema": ("parsing_schema_name",),
        "job": ("module",),
    },
    units={"elapsed_time": MICROSECONDS},
    limits={"sql_text": TextLimit(1000, in_bytes=True)},
)

SQL_TEXT = ExportProfile(
    name="Oracle V$SQLTEXT",
    services=_SERVICES,
    marks=marks("sql_text piece sql_id", "sql_text piece hash_value"),
    columns={"text": ("sql_text",), "schema": ("parsing_schema_name",), "start_time": ("last_active_time",)},
    split_text=SplitText(("address", "hash_value", "sql_id"), "piece", width=64),
)

# DBA_AUDIT_TRAIL has the same under other names. A statement's return code is the error that it ended with, or 0. An
# object that it names is not where its other names are looked up: that is the current user's schema, unless the session
# has set another.
UNIFIED_AUDIT = ExportProfile(
    name="Oracle UNIFIED_AUDIT_TRAIL",
    services=_SERVICES,
    marks=marks(
        "sql_text return_code dbusername",
        "sql_text return_code event_timestamp",
        "sql_text returncode obj_name",
        "sql_text returncode os_username",
        "sql_text unified_audit_policies",
        "sql_text event_timestamp action_name",
    ),
    own_marks=marks("sql_text return_code", "sql_text returncode"),
    columns={
        "text": ("sql_text",),
        "start_time": ("event_timestamp", "event_timestamp_utc", "extended_timestamp", "timestamp"),
        "user": ("dbusername", "username", "current_user"),
        "session": ("sessionid", "audit_session_id"),
        "schema": ("current_user",),
        "query_type": ("action_name",),
        "failure": ("return_code", "returncode"),
        "error_code": ("return_code", "returncode"),
        "job": ("client_program_name",),
    },
)
