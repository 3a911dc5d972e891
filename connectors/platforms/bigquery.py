"""BigQuery's jobs: INFORMATION_SCHEMA.JOBS, the REST API, Cloud Logging; and what these have of a job's tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from connectors.platforms.profile import (
    MILLISECONDS,
    EngineLineage,
    ExportProfile,
    FieldsInText,
    MalformedLineage,
    flow_into,
    json_of,
    lineage_of_flows,
    marks,
    objects_of,
)
from ingestion.model.lineage import Json, StatementLineage, TableName
from ingestion.model.outcomes import Outcome

# What INFORMATION_SCHEMA.JOBS has of a job's tables, as BigQuery's documentation has it: "JOBS view".
#
# `destination_table` is where the result went, which for a query is a hidden table; `referenced_tables` are those
# that were read, unless the answer came out of a cache. The REST API writes the same in camelCase.

_DESTINATION, _REFERENCED = "destination_table", "referenced_tables"
_PARTS = (("project_id", "projectId"), ("dataset_id", "datasetId"), ("table_id", "tableId"))


def _read(values: Sequence[str]) -> StatementLineage | None:
    destination = json_of(values[0], _DESTINATION)
    if destination is None:
        return None
    if not isinstance(destination, dict):
        raise MalformedLineage(f"{_DESTINATION} is no object")
    target = _table(destination, _DESTINATION)
    if target is None:
        return None
    referenced = (_table(one, _REFERENCED) for one in objects_of(values[1], _REFERENCED))
    sources = [one for one in referenced if one is not None]
    return lineage_of_flows([flow_into(target, sources)] if sources else [])


def _table(record: Json, column: str) -> TableName | None:
    """The table, without a partition that its name picks; None for what a job keeps hidden."""
    parts = tuple(str(next((record[key] for key in keys if record.get(key)), "")) for keys in _PARTS)
    if not any(parts):
        return None
    if not all(parts):
        raise MalformedLineage(f"{column}: a table without project, dataset or name")
    project, dataset, table = parts
    return None if dataset.startswith("_") else TableName((project, dataset, table.partition("$")[0]))


_JOB_TABLES = EngineLineage((_DESTINATION, _REFERENCED), _read)


# BigQuery's INFORMATION_SCHEMA.JOBS, as its documentation has it: "JOBS view".
#
# Its state is DONE for jobs that failed too. A script is a job, and so is each of its statements: those are read.

JOBS = ExportProfile(
    name="BigQuery INFORMATION_SCHEMA.JOBS",
    services=frozenset({"BigQuery"}),
    marks=marks("query job_id creation_time", "query project_id user_email", "query error_result", "query job_type"),
    own_marks=marks("query"),
    columns={
        "text": ("query",),
        "start_time": ("start_time", "creation_time"),
        "end_time": ("end_time",),
        "user": ("user_email",),
        # temporary tables live within a session, or else within a script
        "session": ("session_info_session_id", "parent_job_id", "job_id"),
        "database": ("project_id",),
        "schema": ("default_dataset_dataset_id", "default_dataset"),
        "query_type": ("statement_type",),
        "status": ("state",),
        "failure": ("error_result", "error_result_reason"),
        "error_code": ("error_result_reason",),
        "rows": ("dml_statistics_inserted_row_count", "dml_statistics_updated_row_count"),
        "bytes": ("total_bytes_billed", "total_bytes_processed"),
        "job": ("labels",),
    },
    states={
        "statement_type": {"script": Outcome.PART_OF_ANOTHER},
        "job_type": dict.fromkeys(("load", "extract", "copy"), Outcome.NOT_A_STATEMENT),
    },
    lineage=_JOB_TABLES,
    adds_rows=True,
)


# The resource Job of BigQuery's REST API, as its reference has it: what jobs.list, jobs.get, `bq ls -j` and
# `bq show -j` write. Its times are milliseconds; jobs.list has the query where its projection is full.

JOB_RESOURCE = ExportProfile(
    name="BigQuery jobs.list",
    services=frozenset({"BigQuery"}),
    marks=marks("configuration_query_query", "job_reference_job_id statistics_creation_time"),
    columns={
        "text": ("configuration_query_query",),
        "start_time": ("statistics_start_time", "statistics_creation_time"),
        "end_time": ("statistics_end_time",),
        "user": ("user_email",),
        "session": ("statistics_session_info_session_id", "statistics_parent_job_id", "job_reference_job_id", "id"),
        "database": ("job_reference_project_id",),
        "schema": ("configuration_query_default_dataset_dataset_id",),
        "query_type": ("statistics_query_statement_type",),
        "status": ("status_state", "state"),
        "failure": ("status_error_result_reason", "error_result_reason", "status_error_result_message"),
        "error_code": ("status_error_result_reason", "error_result_reason"),
        "rows": (
            "statistics_query_dml_stats_inserted_row_count",
            "statistics_query_dml_stats_updated_row_count",
        ),
        "bytes": ("statistics_query_total_bytes_billed", "statistics_total_bytes_processed"),
        "job": ("configuration_labels",),
    },
    units=dict.fromkeys(("statistics_start_time", "statistics_creation_time", "statistics_end_time"), MILLISECONDS),
    states={
        "statistics_query_statement_type": {"script": Outcome.PART_OF_ANOTHER},
        "configuration_job_type": dict.fromkeys(("load", "extract", "copy"), Outcome.NOT_A_STATEMENT),
    },
    lineage=EngineLineage(("configuration_query_destination_table", "statistics_query_referenced_tables"), _read),
    adds_rows=True,
    without_text="its queries are in the field configuration, which jobs.list has with projection=full",
)


# BigQuery's entries in Cloud Logging, as "BigQuery audit logs overview" and the references of its messages have them.
#
# The older AuditData has a job when it is completed, BigQueryAuditMetadata when its state changes; other events of a
# job say nothing more. A sink to a table of BigQuery calls the payload protopayload_auditlog, and has the newer message
# as a text of JSON. Both messages may be there of one job.

_OLD = ("proto_payload_service_data_", "protopayload_auditlog_servicedata_v1_bigquery_")
_NEW = ("proto_payload_metadata_", "protopayload_auditlog_metadata_json_")


def _in_log(old: str, new: str) -> tuple[str, ...]:
    """The columns that have a field of a job, by its names in the two messages ("": it has none)."""
    found = [f"{prefix}job_change_job_{new}" for prefix in _NEW if new]
    return (*found, *(f"{prefix}job_completed_event_job_{old}" for prefix in _OLD if old))


_RESOURCE = re.compile(r"^projects/([^/]+)/datasets/([^/]+)/tables/([^/]+)$")
_PROJECT = re.compile(r"^(?:projects/)?([^/]+)")
_DATASET = re.compile(r"([^/]+)$")
_LOGGED_TABLES = (
    *_in_log("job_configuration_query_destination_table", "job_config_query_config_destination_table"),
    *_in_log("job_statistics_referenced_tables", "job_stats_query_stats_referenced_tables"),
)


def _read_logged(values: Sequence[str]) -> StatementLineage | None:
    """Tables are objects in the older message, and in the newer one names of resources."""
    half = len(values) // 2
    destination = next(filter(None, values[:half]), "")
    referenced = next(filter(None, values[half:]), "")
    if not destination.startswith("projects/"):
        return _read([destination, referenced])
    sources = [_object(name) for name in json_of(referenced, _REFERENCED) or ()]
    return _read([json.dumps(_object(destination)), json.dumps(sources)])


def _object(resource: Any) -> Json:
    name = _RESOURCE.match(resource) if isinstance(resource, str) else None
    if name is None:
        raise MalformedLineage("the name of a table that is none")
    return {"projectId": name[1], "datasetId": name[2], "tableId": name[3]}


_JOB_NAMES = _in_log("job_name_project_id", "job_name")
_DATASETS = _in_log("job_configuration_query_default_dataset_dataset_id", "job_config_query_config_default_dataset")
_PRINCIPALS = tuple(
    f"{payload}_authentication_info_principal_email" for payload in ("proto_payload", "protopayload_auditlog")
)

_TYPES = _in_log("job_configuration_query_statement_type", "job_config_query_config_statement_type")
_LOGGED_STATES: dict[str, dict[str, str | None]] = {
    **{name: {"script": Outcome.PART_OF_ANOTHER} for name in _TYPES},
    **{name: {"true": Outcome.CUT} for name in _in_log("", "job_config_query_config_query_truncated")},
    **{
        name: dict.fromkeys(("import", "export", "copy"), Outcome.NOT_A_STATEMENT)
        for name in _in_log("", "job_config_type")
    },
}

AUDIT_LOG = ExportProfile(
    name="BigQuery audit log",
    services=frozenset({"BigQuery"}),
    marks=marks(
        *_in_log("job_configuration_query_query", "job_config_query_config_query"),
        "protopayload_auditlog_metadata_json",
        "proto_payload_method_name proto_payload_metadata_job_insertion_job_job_name",
    ),
    columns={
        "text": _in_log("job_configuration_query_query", "job_config_query_config_query"),
        "start_time": (
            *_in_log("job_statistics_start_time", "job_stats_start_time"),
            *_in_log("job_statistics_create_time", "job_stats_create_time"),
            "timestamp",
        ),
        "end_time": _in_log("job_statistics_end_time", "job_stats_end_time"),
        "user": _PRINCIPALS,
        "session": (
            *_in_log("", "job_stats_session_info_session_id"),
            *_in_log("", "job_stats_parent_job_name"),
            *_in_log("job_name_job_id", ""),
            "proto_payload_resource_name",
            "protopayload_auditlog_resource_name",
        ),
        "database": (*_JOB_NAMES, "resource_labels_project_id"),
        "schema": _DATASETS,
        "query_type": _TYPES,
        "status": _in_log("job_status_state", "job_status_job_state"),
        "failure": (
            *_in_log("job_status_error_message", "job_status_error_result_message"),
            *_in_log("job_status_error_code", "job_status_error_result_code"),
        ),
        "error_code": _in_log("job_status_error_code", "job_status_error_result_code"),
        "job": _in_log("job_configuration_labels", "job_config_labels"),
    },
    patterns={**dict.fromkeys(_JOB_NAMES, _PROJECT), **dict.fromkeys(_DATASETS, _DATASET)},
    states=_LOGGED_STATES,
    lineage=EngineLineage(_LOGGED_TABLES, _read_logged),
    inside=(FieldsInText("protopayload_auditlog_metadata_json", json.loads, "protopayload_auditlog_metadata_json_"),),
)
