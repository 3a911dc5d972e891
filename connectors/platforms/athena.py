"""Athena's get-query-execution and batch-get-query-execution, as its API Reference has them: "QueryExecution"."""

from __future__ import annotations

import json
import re

from connectors.platforms.profile import MILLISECONDS, OTHERWISE, ExportProfile, FieldsInText, Withheld, marks
from ingestion.model.outcomes import Outcome

QUERY_EXECUTION = ExportProfile(
    name="Athena query executions",
    services=frozenset({"Athena", "Glue"}),
    marks=marks("query query_execution_id", "query query_execution_context_database", "query status_state"),
    own_marks=marks("query"),
    columns={
        "text": ("query",),
        "start_time": ("status_submission_date_time",),
        "end_time": ("status_completion_date_time",),
        "duration": ("statistics_total_execution_time_in_millis", "statistics_engine_execution_time_in_millis"),
        # what Athena calls a database is a schema of a catalog
        "database": ("query_execution_context_catalog",),
        "schema": ("query_execution_context_database",),
        "query_type": ("substatement_type", "statement_type"),
        "status": ("status_state",),
        "bytes": ("statistics_data_scanned_in_bytes",),
        "failure": ("status_athena_error_error_message", "status_athena_error_error_category"),
    },
    units=dict.fromkeys(
        ("statistics_total_execution_time_in_millis", "statistics_engine_execution_time_in_millis"), MILLISECONDS
    ),
)


# AWS CloudTrail's records of Athena's StartQueryExecution and of the Redshift Data API's ExecuteStatement and
# BatchExecuteStatement: the request, so that how a statement ended is nowhere in them. For some years CloudTrail has
# left the texts out.

_REQUESTS = ("startqueryexecution", "executestatement", "batchexecutestatement", "")
_EVENT_NAMES: dict[str, str | None] = {**dict.fromkeys(_REQUESTS), OTHERWISE: Outcome.NOT_A_STATEMENT}
_WITHHELD = re.compile(r"(?<!\*)\**+(?:HIDDEN_DUE_TO_SECURITY_REASONS|OMITTED)\**+")


def _joined_statements(written: str) -> dict[str, str]:
    """The statements of a BatchExecuteStatement as one text. Raises ValueError."""
    given = json.loads(written)
    if not isinstance(given, list):
        raise ValueError("sqls is no list")
    return {"sql": ";\n".join(one for one in given if isinstance(one, str))}


CLOUDTRAIL = ExportProfile(
    name="AWS CloudTrail",
    services=frozenset({"Athena", "Glue", "Redshift"}),
    marks=marks(
        "event_source event_name request_parameters_query_string",
        "event_source event_name aws_region",
        "eventsource eventname requestparameters",
        "cloud_trail_event",
    ),
    columns={
        "text": ("request_parameters_query_string", "request_parameters_sql", "request_parameters_sqls_sql"),
        "start_time": ("event_time", "eventtime"),
        "user": ("user_identity_user_name", "username", "user_identity_arn", "request_parameters_db_user"),
        "database": ("request_parameters_query_execution_context_catalog", "request_parameters_database"),
        "schema": ("request_parameters_query_execution_context_database",),
        "query_type": ("event_name", "eventname"),
        "failure": ("error_code", "error_message", "errorcode", "errormessage"),
    },
    states=dict.fromkeys(("event_name", "eventname"), _EVENT_NAMES),
    noise=_WITHHELD,
    withheld=Withheld(
        _WITHHELD,
        "read what `aws athena batch-get-query-execution` or Redshift's SYS_QUERY_HISTORY has of them, as in "
        "docs/query_logs.md",
    ),
    # a table over the files has the request as a cell of JSON, and lookup-events the whole record
    inside=(
        FieldsInText("requestparameters", json.loads, "request_parameters_"),
        FieldsInText("cloud_trail_event", json.loads),
        FieldsInText("request_parameters_sqls", _joined_statements, "request_parameters_sqls_"),
    ),
    only_begun=True,
    outcome_in="Athena's batch-get-query-execution, or Redshift's SYS_QUERY_HISTORY,",
)
