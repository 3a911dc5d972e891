"""Databricks' system tables, as its documentation has them.

"Query history system table reference" (system.query.history) and "Lineage system tables reference" (system.access).
"""

from __future__ import annotations

from connectors.query_log.engine_lineage import databricks
from connectors.query_log.profiles.export_profile import MILLISECONDS, ExportProfile, marks

_SERVICES = frozenset({"Databricks", "UnityCatalog"})

QUERY_HISTORY = ExportProfile(
    name="Databricks system.query.history",
    services=_SERVICES,
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
        "rows": ("written_rows",),
        "job": ("query_source_job_info_job_id", "query_source_notebook_id", "query_source_dashboard_id"),
    },
    units={"total_duration_ms": MILLISECONDS},
    job_ids={
        "query_source_job_info_job_id": "databricks job",
        "query_source_notebook_id": "databricks notebook",
        "query_source_dashboard_id": "databricks dashboard",
    },
)

TABLE_LINEAGE = ExportProfile(
    name="Databricks system.access.table_lineage",
    services=_SERVICES,
    marks=marks("source_table_full_name target_table_full_name"),
    columns={"start_time": ("event_time",), "user": ("created_by",)},
    lineage=databricks.TABLE_LINEAGE,
)

COLUMN_LINEAGE = ExportProfile(
    name="Databricks system.access.column_lineage",
    services=_SERVICES,
    marks=marks("source_table_full_name target_table_full_name source_column_name target_column_name"),
    columns={"start_time": ("event_time",), "user": ("created_by",)},
    lineage=databricks.COLUMN_LINEAGE,
)
