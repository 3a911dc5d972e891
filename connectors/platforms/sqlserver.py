"""SQL Server's Query Store, as the pages of its catalog views in Microsoft's documentation have them.

sys.query_store_query_text, sys.query_store_query and sys.query_store_runtime_stats, joined. Parameters of a statement
stand before it in parentheses.
"""

from __future__ import annotations

import re

from connectors.platforms.profile import MICROSECONDS, ExportProfile, marks
from ingestion.model.outcomes import Outcome

QUERY_STORE = ExportProfile(
    name="SQL Server Query Store",
    services=frozenset({"Mssql", "AzureSQL", "Synapse", "MicrosoftFabric"}),
    marks=marks("query_sql_text"),
    columns={
        "text": ("query_sql_text",),
        "start_time": ("last_execution_time", "first_execution_time"),
        "duration": ("avg_duration", "last_duration"),
        "database": ("database_name",),
        "schema": ("object_schema_name",),
    },
    units={"avg_duration": MICROSECONDS, "last_duration": MICROSECONDS},
    states={
        "execution_type": {"3": Outcome.FAILED, "4": Outcome.FAILED},
        "execution_type_desc": {"aborted": Outcome.FAILED, "exception": Outcome.FAILED},
    },
    outcome_in="sys.query_store_runtime_stats",
    noise=re.compile(r"^\s*\(\s*@[^()]*(?:\([^()]*\)[^()]*)*\)"),
)
