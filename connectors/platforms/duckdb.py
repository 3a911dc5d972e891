"""DuckDB's own log, as "Logging" of its documentation has it: the view duckdb_logs, or the files that it is kept in.

A statement is logged when it begins.
"""

from __future__ import annotations

from connectors.platforms.profile import OTHERWISE, ExportProfile, marks
from ingestion.model.outcomes import Outcome

LOGS = ExportProfile(
    name="DuckDB duckdb_logs",
    services=frozenset({"DuckDB"}),
    marks=marks("message log_level type context_id", "message log_level type connection_id"),
    columns={
        "text": ("message",),
        "start_time": ("timestamp",),
        "session": ("connection_id", "context_id"),
    },
    states={"type": {"querylog": None, OTHERWISE: Outcome.NOT_A_STATEMENT}},
    only_begun=True,
)
