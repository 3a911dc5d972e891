"""Apache Impala's logs: lineage events, audit events, and the table sys.impala_query_log.

As "Viewing Lineage Information for Impala Data", "Auditing Impala Operations" and "Workload Management" of its
documentation have them. The status of an audit event is empty, or an error.
"""

from __future__ import annotations

from connectors.platforms import hive
from connectors.platforms.profile import MILLISECONDS, ExportProfile, marks

_SERVICES = frozenset({"Impala"})

LINEAGE_LOG = ExportProfile(
    name="Impala lineage log",
    only_ran=True,
    services=_SERVICES,
    marks=marks("query_text query_id vertices", "query_text hash end_time"),
    columns={
        "text": ("query_text",),
        "start_time": ("timestamp",),
        "end_time": ("end_time",),
        "user": ("user",),
        "query_type": ("operation_type",),
    },
    units={"timestamp": 1.0, "end_time": 1.0},
    lineage=hive.GRAPH,
)

AUDIT_LOG = ExportProfile(
    name="Impala audit log",
    services=_SERVICES,
    marks=marks("sql_statement catalog_objects", "sql_statement authorization_failure"),
    columns={
        "text": ("sql_statement",),
        "start_time": ("start_time",),
        "user": ("impersonator", "user"),
        "session": ("session_id",),
        "query_type": ("statement_type",),
        "failure": ("status", "authorization_failure"),
    },
)

QUERY_LOG = ExportProfile(
    name="Impala sys.impala_query_log",
    services=_SERVICES,
    marks=marks("sql impala_query_end_state", "sql db_name db_user", "sql start_time_utc"),
    own_marks=marks("sql", "statement database", "stmt"),
    columns={
        "text": ("sql", "statement", "stmt"),
        "start_time": ("start_time_utc", "start_time"),
        "end_time": ("end_time",),
        "duration": ("total_time_ms",),
        "user": ("db_user", "effective_user", "user"),
        "session": ("session_id",),
        "database": ("db_name", "default_db", "database"),
        "query_type": ("query_type", "stmt_type"),
        "status": ("query_state", "impala_query_end_state", "state"),
    },
    units={"total_time_ms": MILLISECONDS},
)
