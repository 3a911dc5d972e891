from __future__ import annotations

import json

from connectors.query_log._columns import ReadingHints, column_reading
from connectors.query_log._inner_fields import with_inner_fields

NAMES = ["name", "event_data", "timestamp_utc"]
EVENT = (
    "<event name='sql_batch_completed' timestamp='2026-11-20T08:00:00Z'>"
    "<data name='batch_text'><value>select &lt;a&gt;</value></data></event>"
)


def test_what_is_in_a_column_stands_beside_it_and_takes_the_place_of_nothing() -> None:
    reading = column_reading(NAMES, (), ReadingHints())
    assert reading is not None
    columns = with_inner_fields([("mine", ""), (EVENT, EVENT), ("x", "y")], reading)
    found = {name: list(columns[at]) for at, name in enumerate(reading.names)}
    assert found["name"] == ["mine", "sql_batch_completed"]
    assert found["batch_text"] == ["select <a>", "select <a>"]
    assert found["timestamp_utc"] == ["x", "y"]


def test_a_cell_that_cannot_be_read_holds_nothing() -> None:
    names = ["protopayload_auditlog_metadata_json"]
    reading = column_reading(names, (), ReadingHints())
    assert reading is not None
    query = {"jobChange": {"job": {"jobConfig": {"queryConfig": {"query": "select 1"}}}}}
    cells = (json.dumps(query), '{"jobChange": ', "", "[1]", "<event/>")
    columns = with_inner_fields([cells], reading)
    text = reading.names.index("protopayload_auditlog_metadata_json_job_change_job_job_config_query_config_query")
    assert list(columns[text]) == ["select 1", "", "", "", ""]
