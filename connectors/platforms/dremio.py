"""Dremio's queries.json, and its tables sys.jobs_recent and sys.project.history.jobs, as its documentation has them.

A context is a list of one path, in brackets.
"""

from __future__ import annotations

import re

from connectors.platforms.profile import ExportProfile, marks

_CONTEXT = re.compile(r"^\[?\s*([^\[\],]*[^\[\],\s])\s*\]?$")

QUERIES = ExportProfile(
    name="Dremio queries.json",
    services=frozenset({"Dremio"}),
    marks=marks(
        "query_text outcome outcome_reason",
        "query_text outcome start finish",
        "query queried_datasets scanned_datasets",
        "query submitted_ts final_state_ts",
    ),
    own_marks=marks("query_text", "query"),
    columns={
        "text": ("query_text", "query"),
        "start_time": ("start", "submitted_epoch_millis", "submitted_ts", "submitted_epoch"),
        "end_time": ("finish", "final_state_epoch_millis", "final_state_ts", "final_state_epoch"),
        "user": ("username", "user_name"),
        "schema": ("context", "schema"),
        "query_type": ("request_type", "query_type"),
        "status": ("outcome", "status"),
        "failure": ("error_msg",),
    },
    patterns={"context": _CONTEXT, "schema": _CONTEXT},
)
