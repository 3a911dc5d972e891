"""Apache Hive's LineageLogger, a hook whose JSON is logged when a statement succeeded: "Capture Lineage Information In
Hive Hooks" of its documentation.
"""

from __future__ import annotations

from connectors.query_log.engine_lineage import hive
from connectors.query_log.profiles.export_profile import MILLISECONDS, ExportProfile, marks

LINEAGE_LOG = ExportProfile(
    name="Hive lineage hook",
    services=frozenset({"Hive"}),
    marks=marks("query_text vertices engine", "query_text job_ids engine", "query_text job_ids database"),
    own_marks=marks("query_text"),
    columns={
        "text": ("query_text",),
        "start_time": ("timestamp",),
        "duration": ("duration",),
        "user": ("user", "user_group_names"),
        "database": ("database",),
    },
    units={"timestamp": 1.0, "duration": MILLISECONDS},
    lineage=hive.GRAPH,
)
