"""Athena's get-query-execution and batch-get-query-execution, as its API Reference has them: "QueryExecution"."""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

QUERY_EXECUTION = ExportProfile(
    name="Athena query executions",
    services=frozenset({"Athena", "Glue"}),
    marks=marks("query query_execution_id", "query query_execution_context_database", "query status_state"),
    own_marks=marks("query"),
    columns={
        "text": ("query",),
        "start_time": ("status_submission_date_time",),
        "end_time": ("status_completion_date_time",),
        "duration": ("statistics_total_execution_time_in_millis", "statistics_engine_execution_time_in_millis"),
        # what Athena calls a database is a schema of a catalog
        "database": ("query_execution_context_catalog",),
        "schema": ("query_execution_context_database",),
        "query_type": ("substatement_type", "statement_type"),
        "status": ("status_state",),
        "failure": ("status_athena_error_error_message", "status_athena_error_error_category"),
    },
    units=dict.fromkeys(
        ("statistics_total_execution_time_in_millis", "statistics_engine_execution_time_in_millis"), MILLISECONDS
    ),
)
