"""SAP HANA's monitoring views M_SQL_PLAN_CACHE, M_EXPENSIVE_STATEMENTS, M_EXECUTED_STATEMENTS, and its AUDIT_LOG.

Each as the SQL and System Views Reference has it.
"""

from __future__ import annotations

from connectors.platforms.profile import MICROSECONDS, ExportProfile, marks

STATEMENTS = ExportProfile(
    name="SAP HANA statements",
    services=frozenset({"SapHana", "SapErp"}),
    marks=marks(
        "statement_string statement_hash",
        "statement_string execution_count",
        "statement_string duration_microsec",
        "statement_string event_status",
        "statement_string audit_policy_name",
        "statement_string db_user",
        "statement_string connection_id",
    ),
    own_marks=marks("statement_string"),
    columns={
        "text": ("statement_string",),
        "start_time": ("start_time", "last_execution_timestamp", "timestamp", "last_preparation_timestamp"),
        "duration": ("duration_microsec", "avg_execution_time"),
        "user": ("db_user", "user_name", "session_user_name"),
        "session": ("connection_id",),
        "schema": ("schema_name",),
        "query_type": ("operation", "audit_action"),
        "status": ("event_status",),
        "failure": ("error_code",),
        "error_code": ("error_code",),
        "job": ("application_name", "app_name"),
    },
    units={"duration_microsec": MICROSECONDS, "avg_execution_time": MICROSECONDS},
    outcome_in="M_EXECUTED_STATEMENTS",
)
