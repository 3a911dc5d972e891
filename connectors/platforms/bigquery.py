"""BigQuery's INFORMATION_SCHEMA.JOBS: its columns, and what it has of a job's tables."""

from __future__ import annotations

from collections.abc import Sequence

from connectors.platforms.profile import (
    EngineLineage,
    ExportProfile,
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
        "job": ("labels",),
    },
    states={
        "statement_type": {"script": Outcome.PART_OF_ANOTHER},
        "job_type": dict.fromkeys(("load", "extract", "copy"), Outcome.NOT_A_STATEMENT),
    },
    lineage=_JOB_TABLES,
    adds_rows=True,
)
