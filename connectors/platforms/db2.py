"""Db2's package cache (MON_GET_PKG_CACHE_STMT), and the statements of its activity event monitor.

As the pages of these in its documentation have them.
"""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

PACKAGE_CACHE = ExportProfile(
    name="Db2 package cache",
    services=frozenset({"Db2"}),
    marks=marks(
        "stmt_text num_executions",
        "stmt_text num_exec_with_metrics",
        "stmt_text section_type",
        "stmt_text executable_id",
        "stmt_text activity_id",
        "stmt_text stmt_type_id",
    ),
    own_marks=marks("stmt_text"),
    columns={
        "text": ("stmt_text",),
        "start_time": ("time_started", "last_metrics_update", "insert_timestamp", "stmt_first_use_time"),
        "end_time": ("time_completed",),
        "duration": ("stmt_exec_time",),
        "user": ("session_auth_id",),
        "schema": ("current_schema", "default_schema"),
        "query_type": ("stmt_type_id",),
        "status": ("sqlcode",),
        "job": ("appl_name",),
    },
    units={"stmt_exec_time": MILLISECONDS},
    outcome_in="the activity event monitor (SQLCODE)",
)
