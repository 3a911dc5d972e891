from __future__ import annotations

import json

from connectors.query_log._columns import ReadingHints, column_reading
from connectors.query_log._inner_fields import with_inner_fields
from tests.support.query_log_exports import read_export

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


def test_events_that_name_no_statement_are_a_record_each() -> None:
    """They were one of the first one's text, whose outcome was that of all."""
    rows = ("runCommand,insert into t select a from s", "runCommand,insert into u select a from s", "login,")
    log = "action_name,request_params_command_text\n" + "".join(f"{row}\n" for row in rows)
    found = [(record["text"], record["status"]) for record in read_export(log.encode())]
    expected = [("insert into t select a from s", None), ("insert into u select a from s", None)]
    assert found == [*expected, (None, "not_a_statement")]
    events = [
        {"actionName": action, "requestParams": {"commandText": text}}
        for action, text in (row.split(",") for row in rows)
    ]
    documents = "".join(f"{json.dumps(event)}\n" for event in events)
    assert [(record["text"], record["status"]) for record in read_export(documents.encode())] == found


def test_a_piece_that_names_no_statement_is_no_whole_one() -> None:
    log = b"query,xid,pid,sequence,text\n,,,0,insert into t select a from s\n5,1,1,0,insert into u select a from s\n"
    whole, piece = read_export(log)
    assert (piece["text"], piece["problem"]) == (None, "query is empty")
    assert (whole["text"], whole["problem"]) == ("insert into u select a from s", None)
