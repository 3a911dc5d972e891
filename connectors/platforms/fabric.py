"""Microsoft Fabric's queryinsights.exec_requests_history, as the page of that name in Microsoft's documentation."""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, TextLimit, marks

EXEC_REQUESTS_HISTORY = ExportProfile(
    name="Fabric exec_requests_history",
    services=frozenset({"MicrosoftFabric"}),
    marks=marks("command distributed_statement_id", "command login_name session_id", "command total_elapsed_time_ms"),
    own_marks=marks("command"),
    columns={
        "text": ("command",),
        "start_time": ("start_time", "submit_time"),
        "end_time": ("end_time",),
        "duration": ("total_elapsed_time_ms",),
        "user": ("login_name",),
        "session": ("session_id",),
        "database": ("database_name", "database"),
        "query_type": ("statement_type",),
        "status": ("status",),
        "failure": ("error_code",),
        "error_code": ("error_code",),
        "job": ("label",),
    },
    units={"total_elapsed_time_ms": MILLISECONDS},
    limits={"command": TextLimit(8000, in_bytes=True)},
)
