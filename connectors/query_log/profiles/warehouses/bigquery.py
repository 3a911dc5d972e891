"""BigQuery's INFORMATION_SCHEMA.JOBS, as its documentation has it: "JOBS view".

Its state is DONE for jobs that failed too. A script is a job, and so is each of its statements: those are read.
"""

from __future__ import annotations

from connectors.query_log.engine_lineage import bigquery
from connectors.query_log.profiles.export_profile import NOT_A_STATEMENT, PART_OF_ANOTHER, ExportProfile, marks

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
        "statement_type": {"script": PART_OF_ANOTHER},
        "job_type": dict.fromkeys(("load", "extract", "copy"), NOT_A_STATEMENT),
    },
    lineage=bigquery.JOBS,
    adds_rows=True,
)
