"""Azure Synapse's dedicated pools: sys.dm_pdw_exec_requests, as the page of that name in Microsoft's documentation."""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, TextLimit, marks
from ingestion.model.outcomes import Outcome

EXEC_REQUESTS = ExportProfile(
    name="Synapse sys.dm_pdw_exec_requests",
    services=frozenset({"Synapse", "AzureSQL", "Mssql"}),
    marks=marks("command request_id", "command submit_time status", "command resource_class"),
    own_marks=marks("command"),
    columns={
        "text": ("command",),
        "start_time": ("start_time", "submit_time"),
        "end_time": ("end_time",),
        "duration": ("total_elapsed_time",),
        "user": ("login_name",),
        "session": ("session_id",),
        "database": ("database_name", "database"),
        "status": ("status",),
        "job": ("label",),
    },
    units={"total_elapsed_time": MILLISECONDS},
    states={"status": {"suspended": Outcome.UNFINISHED}},
    limits={"command": TextLimit(4000)},
)
