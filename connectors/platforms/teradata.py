"""Teradata's query log: DBC.DBQLogTbl (QryLogV) and DBC.DBQLSqlTbl (QryLogSQLV), as Database Administration has them.

QueryText is cut (at 200 characters, if nothing else was asked for); SqlTextInfo is the whole text, in rows.
"""

from __future__ import annotations

from connectors.platforms.profile import ExportProfile, SplitText, TextLimit, marks
from ingestion.model.outcomes import Outcome

_SERVICES = frozenset({"Teradata"})
_COLUMNS = {
    "text": ("sql_text_info", "query_text"),
    "start_time": ("start_time",),
    "end_time": ("first_resp_time", "end_time"),
    "user": ("user_name",),
    "session": ("session_id",),
    "database": ("default_database",),
    "query_type": ("statement_type",),
    "failure": ("error_code",),
    "error_code": ("error_code",),
    "job": ("query_band",),
}
_STATES = {"abort_flag": {"t": Outcome.FAILED, "true": Outcome.FAILED}}

LOG = ExportProfile(
    name="Teradata DBQLogTbl",
    services=_SERVICES,
    marks=marks("sql_text_info", "query_text default_database", "query_text query_band"),
    own_marks=marks("query_text"),
    columns=_COLUMNS,
    states=_STATES,
    limits={"query_text": TextLimit(200)},
)

SQL = ExportProfile(
    name="Teradata DBQLSqlTbl",
    services=_SERVICES,
    marks=marks("sql_text_info sql_row_no"),
    columns=_COLUMNS,
    states=_STATES,
    split_text=SplitText(("proc_id", "query_id"), "sql_row_no", first=1),
)
