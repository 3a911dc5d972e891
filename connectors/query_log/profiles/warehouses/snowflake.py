"""Snowflake's QUERY_HISTORY and ACCESS_HISTORY, as its documentation has them.

Account Usage and Information Schema, "QUERY_HISTORY"; Account Usage, "ACCESS_HISTORY view".
"""

from __future__ import annotations

from connectors.query_log.engine_lineage import snowflake
from connectors.query_log.profiles.export_profile import MILLISECONDS, ExportProfile, TextLimit, marks

QUERY_HISTORY = ExportProfile(
    name="Snowflake QUERY_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks(
        "query_text warehouse_name", "query_text execution_status session_id", "query_text query_tag",
        "query_text total_elapsed_time warehouse_size",
    ),
    own_marks=marks("query_text"),
    columns={
        "text": ("query_text",),
        "start_time": ("start_time",),
        "end_time": ("end_time",),
        "duration": ("total_elapsed_time", "execution_time"),
        "user": ("user_name",),
        "session": ("session_id",),
        "database": ("database_name",),
        "schema": ("schema_name",),
        "query_type": ("query_type",),
        "status": ("execution_status",),
        "failure": ("error_code", "error_message"),
        "error_code": ("error_code",),
        "rows": ("rows_inserted", "rows_updated"),
        "result_rows": ("rows_produced",),
        "job": ("query_tag",),
    },
    units={"total_elapsed_time": MILLISECONDS, "execution_time": MILLISECONDS},
    limits={"query_text": TextLimit(100_000)},
    adds_rows=True,
)  # fmt: skip

ACCESS_HISTORY = ExportProfile(
    name="Snowflake ACCESS_HISTORY",
    services=frozenset({"Snowflake"}),
    marks=marks("objects_modified direct_objects_accessed", "objects_modified base_objects_accessed query_id"),
    columns={"start_time": ("query_start_time",), "user": ("user_name",)},
    lineage=snowflake.ACCESS_HISTORY,
)
