"""Vertica's QUERY_REQUESTS, as the page of that name in its documentation (v_monitor) has it."""

from __future__ import annotations

import re

from connectors.platforms.profile import MILLISECONDS, ExportProfile, TextLimit, marks
from ingestion.model.outcomes import Outcome

QUERY_REQUESTS = ExportProfile(
    name="Vertica query_requests",
    services=frozenset({"Vertica"}),
    marks=marks("request request_type", "request search_path", "request start_timestamp"),
    own_marks=marks("request"),
    columns={
        "text": ("request",),
        "start_time": ("start_timestamp",),
        "end_time": ("end_timestamp",),
        "duration": ("request_duration_ms", "request_duration"),
        "user": ("user_name",),
        "session": ("session_id",),
        "database": ("database_name",),
        "schema": ("search_path",),
        "query_type": ("request_type",),
        "status": ("success",),
        "job": ("request_label",),
    },
    units={"request_duration_ms": MILLISECONDS},
    # the first that is neither the user's own nor one of the system's
    patterns={"search_path": re.compile(r'(?:^|,)\s*"?(?!\$user|v_)([^",\s]+)')},
    limits={"request": TextLimit(64_000, in_bytes=True)},
    states={"is_executing": {"t": Outcome.UNFINISHED, "true": Outcome.UNFINISHED}},
)
