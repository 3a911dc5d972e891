"""ClickHouse's system.query_log, as the page of that name in its documentation has it.

A query has a row when it starts, and another when it ends; one that other servers send on for it is not its own.
"""

from __future__ import annotations

import re

from connectors.platforms.profile import MILLISECONDS, ExportProfile, TextLimit, Unreadable, marks
from ingestion.model.outcomes import Outcome

QUERY_LOG = ExportProfile(
    name="ClickHouse system.query_log",
    services=frozenset({"Clickhouse"}),
    marks=marks(
        "query query_duration_ms",
        "query is_initial_query",
        "query normalized_query_hash",
        "query type current_database",
    ),
    own_marks=marks("query"),
    columns={
        "text": ("query",),
        "start_time": (
            "query_start_time_microseconds",
            "query_start_time",
            "event_time_microseconds",
            "event_time",
        ),
        "duration": ("query_duration_ms",),
        "user": ("user", "initial_user"),
        "database": ("current_database",),
        "query_type": ("query_kind",),
        "failure": ("exception_code",),
        "error_code": ("exception_code",),
        "rows": ("written_rows",),
        "bytes": ("read_bytes",),
        "job": ("log_comment",),
    },
    units={"query_duration_ms": MILLISECONDS},
    limits={"query": TextLimit(100_000, in_bytes=True)},
    # the numbers are those of the enumeration, which some formats have in place of its names
    states={
        "type": {
            **dict.fromkeys(("querystart", "1"), Outcome.NOT_A_STATEMENT),
            **dict.fromkeys(("exceptionbeforestart", "3", "exceptionwhileprocessing", "4"), Outcome.FAILED),
        },
        "is_initial_query": {"0": Outcome.PART_OF_ANOTHER, "false": Outcome.PART_OF_ANOTHER},
    },
)

COMPACT_ROWS = Unreadable(
    re.compile(r"\A\s*+\[\s*+\"\w++\"(?:\s*+,\s*+\"\w++\")++\s*+\]\s*+\["),
    "lists of values, as FORMAT JSONCompactEachRow has: export FORMAT JSONEachRow",
)
