"""An export of nobody in particular: the names that columns of query logs usually have."""

from __future__ import annotations

from connectors.platforms.profile import MILLISECONDS, ExportProfile

GENERIC = ExportProfile(
    name="query log",
    marks=(),
    # the likeliest first, and only the first that is there
    columns={
        "text": (
            "query_text", "sql_text", "query", "sql", "statement", "statement_text", "sql_statement", "query_string",
            "querystring", "querytxt", "sql_query", "raw_query", "full_query", "stmt", "statement_string",
            "command_text", "querytext", "sqltext", "sql_fulltext",
        ),
        "start_time": (
            "start_time", "starttime", "query_start_time", "query_start", "start_timestamp", "started_at",
            "begin_time", "creation_time", "create_time", "created", "submit_time", "event_time", "log_time",
            "execution_start_time", "timestamp", "executed_at", "start", "started", "start_ts", "started_ts",
            "submitted", "submitted_at", "submitted_ts", "submit_ts", "event_timestamp", "event_ts", "executed_ts",
            "execution_timestamp", "query_timestamp", "log_timestamp", "logged_at", "created_at", "ts", "began",
            "begin_ts", "begin_timestamp", "began_at", "begun_at", "eventtime", "event_datetime", "start_datetime",
            "start_date", "submission_time", "issued_at", "requested_at", "request_time", "received_at", "run_at",
            "ran_at", "collected_at", "occurred_at", "query_datetime", "log_datetime", "datetime", "date_time", "epoch",
        ),
        "end_time": (
            "end_time", "endtime", "query_end_time", "query_end", "end_timestamp", "ended_at", "finished_at",
            "finish_time", "completed_at", "completion_time", "execution_end_time", "end", "ended", "end_ts",
            "ended_ts", "finished_ts", "completed_ts",
        ),
        "user": (
            "user_name", "username", "user", "usename", "user_email", "executed_by", "db_user", "role_name", "login",
        ),
        "database": (
            "database_name", "databasename", "database", "db_name", "dbname", "datname", "db", "catalog_name",
            "catalog",
        ),
        "schema": ("schema_name", "schemaname", "schema", "default_schema", "current_schema"),
        "session": (
            "session_id", "sessionid", "session", "process_id", "pid", "connection_id", "spid", "backend_pid",
        ),
        "duration": (
            "duration", "elapsed", "elapsed_time", "total_elapsed_time", "execution_time", "total_time", "runtime",
        ),
        "query_type": (
            "query_type", "statement_type", "querytype", "command_type", "command_tag", "operation",
        ),
        # all of those that are there: what one calls finished, another one may call failed
        "status": (
            "status", "execution_status", "query_status", "state", "query_state", "success", "succeeded", "is_success",
            "successful", "is_successful", "outcome", "result", "return_code", "result_code", "status_code",
            "exit_code", "exit_status", "sqlstate", "returncode", "ret_code", "sqlcode", "query_outcome",
            "query_result", "statement_status", "statement_state", "execution_state", "exec_status", "run_status",
            "run_state", "job_status", "job_state", "request_status", "completion_status", "final_status",
            "final_state", "end_state", "event_status", "event_outcome", "action_status",
        ),
        "job": ("job", "job_name", "query_tag", "application_name"),
        "failure": (
            "aborted", "error_code", "error", "error_message", "failed", "exception", "errors", "error_count",
            "is_error", "has_error", "is_failed", "has_failed", "is_aborted", "is_cancelled", "is_canceled",
            "cancelled", "canceled", "error_text", "error_msg", "err_msg", "error_number", "errno", "exception_code",
            "exception_message", "failure_reason", "failure_message", "failure_type", "error_type",
        ),
        "error_code": ("error_code", "sqlstate", "sql_state", "sql_state_code", "errno"),
        "rows": ("rows_written", "written_rows", "rows_inserted", "rows_affected", "affected_rows"),
        "bytes": ("bytes_billed", "bytes_scanned", "scanned_bytes", "bytes_read", "read_bytes", "total_bytes_billed"),
        "credits": ("credits_used", "credits", "credits_used_cloud_services"),
    },
    # Snowflake's history counts these so
    units={"total_elapsed_time": MILLISECONDS, "execution_time": MILLISECONDS},
)  # fmt: skip
