"""dbt's run_results.json, of which each result has the query that filled its relation (since its version 1.7)."""

from __future__ import annotations

import json
from typing import Any

from connectors.platforms.profile import ExportProfile, FieldsInText, marks
from ingestion.model.outcomes import Outcome


def _timing(text: str) -> Any:
    """When a result was executed, which is one of the steps that it lists; the last one where none is called so."""
    steps = [one for one in json.loads(text) if isinstance(one, dict)]
    return next((one for one in steps if one.get("name") == "execute"), steps[-1] if steps else {})


RUN_RESULTS = ExportProfile(
    name="dbt run_results.json",
    marks=marks("unique_id adapter_response execution_time", "unique_id compiled_code relation_name"),
    columns={
        "text": ("compiled_code",),
        "start_time": ("started_at",),
        "end_time": ("completed_at",),
        "duration": ("execution_time",),
        "status": ("status",),
        "rows": ("adapter_response_rows_affected",),
        "job": ("unique_id",),
    },
    # a test writes nothing, and what is skipped does not run
    states={"status": dict.fromkeys(("skipped", "no-op", "pass", "warn", "fail"), Outcome.NOT_A_STATEMENT)},
    inside=(FieldsInText("timing", _timing),),
    fills=("relation_name",),
    without_text="dbt writes the SQL into it since version 1.7; of an older one let source.type dbt read manifest.json",
)
