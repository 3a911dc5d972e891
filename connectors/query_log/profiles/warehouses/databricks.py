"""Databricks' system.query.history, as its documentation has it: "Query history system table reference"."""

from __future__ import annotations

from connectors.query_log.profiles.export_profile import MILLISECONDS, ExportProfile, marks

QUERY_HISTORY = ExportProfile(
    name="Databricks system.query.history",
    services=frozenset({"Databricks", "UnityCatalog"}),
    marks=marks("statement_text executed_by", "statement_text execution_status", "statement_text statement_id"),
    own_marks=marks("statement_text"),
    columns={
        "text": ("statement_text",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "duration": ("total_duration_ms",),
        "user": ("executed_by", "executed_as"),
        "session": ("session_id",),
        "query_type": ("statement_type",),
        "status": ("execution_status",),
        "failure": ("error_message",),
        "job": ("query_source_job_info_job_id", "query_source_notebook_id", "query_source_dashboard_id"),
    },
    units={"total_duration_ms": MILLISECONDS},
)
