"""Query logs in the forms that catalogs read: OpenMetadata's CSV, and DataHub's JSON lines.

As "Lineage Workflow Through Query Logs" and "Usage Workflow Through Query Logs" of OpenMetadata's documentation and
"SQL Queries" of DataHub's have them.
"""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

OPENMETADATA = ExportProfile(
    name="OpenMetadata query log",
    marks=marks("query_text database_name schema_name"),
    columns={
        "text": ("query_text",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "user": ("user_name",),
        "database": ("database_name",),
        "schema": ("schema_name",),
        "duration": ("duration",),
        "failure": ("aborted",),
    },
    units={"duration": MILLISECONDS},
)

DATAHUB = ExportProfile(
    name="DataHub SQL queries",
    marks=marks("query downstream_tables", "query upstream_tables", "query operation_type timestamp"),
    columns={
        "text": ("query",),
        "start_time": ("timestamp",),
        "user": ("user",),
        "session": ("session_id",),
        "query_type": ("operation_type",),
    },
)
