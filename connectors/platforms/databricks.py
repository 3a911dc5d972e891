"""Databricks' system tables: the history of queries, and its own lineage."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from connectors.platforms.profile import (
    MILLISECONDS,
    ColumnPair,
    EngineLineage,
    ExportProfile,
    FieldsInText,
    SplitText,
    flow_into,
    lineage_of_flows,
    marks,
    only_read,
)
from ingestion.model.lineage import ColumnRef, StatementLineage, TableName
from ingestion.model.outcomes import Outcome
from ingestion.model.storage_paths import location

# Databricks' lineage system tables, as its documentation has them: "Lineage system tables reference".
#
# A row is an event: reading without a target, writing without a source, or both. Unity Catalog keeps names in lower
# case.

_END = ("{}_table_full_name", "{}_table_catalog", "{}_table_schema", "{}_table_name", "{}_path")
_ENDS = tuple(column.format(end) for end in ("source", "target") for column in _END)


def _read_tables(values: Sequence[str]) -> StatementLineage | None:
    source, target = _end(values[: len(_END)]), _end(values[len(_END) : 2 * len(_END)])
    if source is None:
        return None
    return only_read((), [source], whole=False) if target is None else lineage_of_flows([flow_into(target, [source])])


def _read_columns(values: Sequence[str]) -> StatementLineage | None:
    source, target = _end(values[: len(_END)]), _end(values[len(_END) : 2 * len(_END)])
    column, to = values[2 * len(_END) :]
    if source is None or not column:
        return None
    if target is None:
        return only_read([ColumnRef(source, column)], (), whole=True)
    return None if not to else lineage_of_flows([flow_into(target, (), [ColumnPair(source, column, to)])])


def _end(values: Sequence[str]) -> TableName | None:
    full_name, *parts, path = values
    if all(parts):
        return TableName(tuple(part.lower() for part in parts))
    if full_name:
        return TableName(tuple(part.strip("`").lower() for part in full_name.split(".")))
    return location(path) if path else None


_TABLE_EVENTS = EngineLineage(_ENDS, _read_tables)
_COLUMN_EVENTS = EngineLineage((*_ENDS, "source_column_name", "target_column_name"), _read_columns)


# Databricks' system tables, as its documentation has them.
#
# "Query history system table reference" (system.query.history) and "Lineage system tables reference" (system.access).

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
        "bytes": ("read_bytes",),
        "job": ("query_source_job_info_job_id", "query_source_notebook_id", "query_source_dashboard_id"),
    },
    units={"total_duration_ms": MILLISECONDS},
    job_ids={
        "query_source_job_info_job_id": "databricks job",
        "query_source_notebook_id": "databricks notebook",
        "query_source_dashboard_id": "databricks dashboard",
    },
)

# The verbose audit log, as "Enable verbose audit logs" and "Audit log reference" have it: a command of a warehouse has
# an event when it is submitted, with its text, and one when it is finished, with the outcome; a notebook's has both.

_LANGUAGE = "request_params_command_language"
AUDIT_LOG = ExportProfile(
    name="Databricks audit log",
    services=_SERVICES,
    marks=marks("action_name request_params", "action_name request_params_command_text"),
    columns={
        "text": ("request_params_command_text",),
        "start_time": ("event_time", "timestamp"),
        "user": ("user_identity_email",),
        "session": ("session_id",),
        "status": ("request_params_status",),
        "failure": ("response_error_message",),
    },
    patterns={"response_error_message": re.compile(r"^(?!null$)(.+)", re.DOTALL)},
    states={
        "action_name": {"commandsubmit": Outcome.UNFINISHED, "commandfinish": None, "runcommand": None},
        "response_status_code": {"400": Outcome.FAILED, "403": Outcome.FAILED, "500": Outcome.FAILED},
        _LANGUAGE: dict.fromkeys(("python", "scala", "r", "md", "sh"), Outcome.NOT_A_STATEMENT),
    },
    split_text=SplitText(("request_params_command_id",)),
    noise=re.compile(r"^\s*%sql\b\s*"),
    # in a table's export they are cells of JSON
    inside=tuple(
        FieldsInText(column, json.loads, f"{column}_") for column in ("request_params", "user_identity", "response")
    ),
)

TABLE_LINEAGE = ExportProfile(
    name="Databricks system.access.table_lineage",
    only_ran=True,
    services=_SERVICES,
    marks=marks("source_table_full_name target_table_full_name"),
    columns={"start_time": ("event_time",), "user": ("created_by",)},
    lineage=_TABLE_EVENTS,
)

COLUMN_LINEAGE = ExportProfile(
    name="Databricks system.access.column_lineage",
    only_ran=True,
    services=_SERVICES,
    marks=marks("source_table_full_name target_table_full_name source_column_name target_column_name"),
    columns={"start_time": ("event_time",), "user": ("created_by",)},
    lineage=_COLUMN_EVENTS,
)
