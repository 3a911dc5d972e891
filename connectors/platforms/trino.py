"""Trino's query events, as its documentation has them: "MySQL event listener", "HTTP event listener", system.runtime.

The columns of the first are those of its table trino_queries; events of the second are JSON of QueryCompletedEvent.
"""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

_SERVICES = frozenset({"Trino", "Presto"})

QUERIES = ExportProfile(
    name="Trino trino_queries",
    services=_SERVICES,
    marks=marks("query prepared_query", "query query_state catalog", "query query_id resource_group_id"),
    own_marks=marks("query"),
    columns={
        # EXECUTE has its statement there
        "text": ("prepared_query", "query"),
        "start_time": ("execution_start_time", "create_time", "started", "created"),
        "end_time": ("end_time", "end"),
        "duration": ("wall_time_millis",),
        "user": ("user", "principal"),
        "database": ("catalog",),
        "schema": ("schema",),
        "query_type": ("query_type", "update_type"),
        "status": ("query_state", "state"),
        "failure": ("error_code", "failure_type"),
        "error_code": ("error_code",),
        "rows": ("written_rows",),
        "bytes": ("physical_input_bytes",),
    },
    units={"wall_time_millis": MILLISECONDS},
)

# What a coordinator answers of its queries: GET /v1/query, of Presto and of Trino.

COORDINATOR = ExportProfile(
    name="Trino coordinator",
    services=_SERVICES,
    marks=marks("query query_stats_create_time", "query session_user query_stats_end_time", "query session_query_id"),
    columns={
        "text": ("prepared_query", "query"),
        "start_time": ("query_stats_execution_start_time", "query_stats_create_time"),
        "end_time": ("query_stats_end_time",),
        "duration": ("query_stats_elapsed_time",),
        "user": ("session_user", "session_principal"),
        "session": ("session_transaction_id", "query_id"),
        "database": ("session_catalog",),
        "schema": ("session_schema",),
        "query_type": ("query_type", "update_type"),
        "status": ("state",),
        "failure": ("error_code_name", "error_type"),
        "error_code": ("error_code_name",),
        "job": ("session_source",),
    },
)


def _of_event(*fields: str) -> tuple[str, ...]:
    """The columns of an event's fields: by itself, or as the Kafka event listener wraps it."""
    return (*fields, *(f"event_payload_{field}" for field in fields))


EVENTS = ExportProfile(
    name="Trino query events",
    services=_SERVICES,
    marks=marks(
        "metadata_query context_user",
        "metadata_query metadata_query_state",
        "metadata_query create_time",
        "event_payload_metadata_query",
    ),
    columns={
        "text": _of_event("metadata_prepared_query", "metadata_query"),
        "start_time": _of_event("execution_start_time", "create_time"),
        "end_time": _of_event("end_time"),
        "user": _of_event("context_user", "context_principal"),
        "database": _of_event("context_catalog"),
        "schema": _of_event("context_schema"),
        "query_type": _of_event("context_query_type"),
        "status": _of_event("metadata_query_state"),
        "failure": _of_event("failure_info_error_code", "failure_info_error_code_name"),
        "error_code": _of_event("failure_info_error_code_name"),
        "rows": _of_event("statistics_written_rows"),
        "bytes": _of_event("statistics_physical_input_bytes"),
    },
)
