"""Oracle's V$SQL, V$SQLTEXT and DBA_HIST_SQLTEXT, each as the Database Reference has it.

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
