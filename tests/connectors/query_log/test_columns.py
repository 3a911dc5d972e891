"""Columns that the user names, whatever they are called and wherever they stand."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.query_log._columns import ReadingHints
from connectors.query_log.log_columns import LogColumn
from ingestion.errors import ConfigError
from tests.support.query_log_exports import Record, layout_of, read_export

FIELDS = ("text", "start_time", "duration", "user", "session", "status", "failure")
ROWS = [
    ("insert into t\nselect 'a, b'", "1795161600250", "2500", "ann", "s1", "success", ""),
    ("insert into gone select 1", "1795161660000", "", "", "s2", "success", "1146"),
    ('use "Mart"', "1795161720000", "1", "bob", "s1", "canceled", ""),
]
UNITS = {"start_time": 1e-3, "duration": 1e-3}
names = st.from_regex(r"[a-z]{1,6}(_[a-z]{1,6})?", fullmatch=True)


def mapped(columns: dict[str, str]) -> ReadingHints:
    return ReadingHints(columns={name: LogColumn(column, unit=UNITS.get(name)) for name, column in columns.items()})


def as_csv(header: list[str], rows: list[tuple[str, ...]]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    return out.getvalue().encode()


def without_places(records: list[Record]) -> list[Record]:
    return [{name: value for name, value in record.items() if name != "source_id"} for record in records]


EXPECTED = without_places(read_export(as_csv([*FIELDS], ROWS), hints=mapped(dict(zip(FIELDS, FIELDS, strict=True)))))


def test_a_mapping_says_what_columns_mean() -> None:
    assert [(one["start_time"], one["duration"], one["status"]) for one in EXPECTED] == [
        (1795161600.25, 2.5, None),
        (1795161660.0, None, "failed"),
        (1795161720.0, 0.001, "failed"),
    ]


@settings(max_examples=60)
@given(st.lists(names, min_size=9, max_size=9, unique=True), st.permutations(range(9)), st.booleans())
def test_neither_the_order_nor_the_names_of_mapped_columns_change_anything(
    called: list[str], order: list[int], in_json: bool
) -> None:
    """Two columns are nobody's: whatever they are called, the mapping wins."""
    header = [called[position] for position in order]
    rows = [tuple((*row, "select 9", "2001-01-01")[position] for position in order) for row in ROWS]
    content = as_csv(header, rows)
    if in_json:
        content = "\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows).encode()
    hints = mapped(dict(zip(FIELDS, called, strict=False)))
    found = without_places(read_export(content, hints=hints))
    own = [name for name in EXPECTED[0] if name in FIELDS]
    assert [{name: one[name] for name in own} for one in found] == [
        {name: one[name] for name in own} for one in EXPECTED
    ]  # fmt: skip


def test_what_all_records_have_is_no_column() -> None:
    hints = ReadingHints(columns={"database": LogColumn(value="shop"), "schema": LogColumn(value="sales")})
    (record,) = read_export(b"query,db\nselect 1,other\n", hints=hints)
    assert (record["database"], record["schema"]) == ("shop", "sales")
    (record,) = read_export(b'{"query": "select 1", "db": "other"}', hints=hints)
    assert (record["database"], record["schema"]) == ("shop", "sales")


def test_a_zone_is_that_of_one_column() -> None:
    at = LogColumn("at", zone=timezone(timedelta(hours=2)))
    (record,) = read_export(b"query,at\nselect 1,2026-11-20 10:00:00\n", hints=ReadingHints(columns={"start_time": at}))
    assert record["start_time"] == 1795161600.0


def test_a_mapping_goes_before_what_an_exporter_has_there() -> None:
    header = b"QUERY_TEXT,WAREHOUSE_NAME,START_TIME,masked_text\n"
    hints = ReadingHints("Snowflake", columns={"text": LogColumn("masked_text")})
    (record,) = read_export(header + b"raw,w,2026-11-20,select 1\n", hints=hints)
    assert (record["text"], record["start_time"]) == ("select 1", 1795132800.0)


@pytest.mark.parametrize(
    "content", [b"argument,event_time\nselect 1,2026-11-20\n", b'{"argument":"x y","event_time":1}']
)
def test_a_column_that_is_not_there_is_told_with_the_nearest_and_those_that_are(content: bytes) -> None:
    hints = ReadingHints(columns={"text": LogColumn("argument"), "start_time": LogColumn("evnt_time")})
    expected = (
        r"headwater\.queryLogColumns\.time: no column evnt_time; did you mean event_time\?; "
        r"there are argument, event_time$"
    )
    with pytest.raises(ConfigError, match=expected):
        layout_of(content, hints=hints)


def test_a_mapped_column_of_numbers_is_no_text_either() -> None:
    with pytest.raises(ConfigError, match="no column for the query text"):
        layout_of(b"argument,event_time\n42,2026-11-20\n", hints=ReadingHints(columns={"text": LogColumn("argument")}))


PAGE = {
    "next_page_token": "CiQ", "has_next_page": True, "res": [
        {"query_id": "26b5", "status": "FINISHED", "query_text": "insert into t select 1", "user_id": [7],
         "query_start_time_ms": 1795161600250, "execution_end_time_ms": 1795161600500, "user_name": "ann"},
    ],
}  # fmt: skip


def test_a_page_of_an_api_is_its_records_and_a_unit_in_a_times_name_is_no_hindrance() -> None:
    (record,) = read_export(json.dumps(PAGE).encode())
    assert (record["text"], record["user"], record["status"]) == ("insert into t select 1", "ann", None)
    assert (record["start_time"], record["end_time"]) == (1795161600.25, 1795161600.5)


def test_a_record_with_one_list_of_objects_is_no_page() -> None:
    record = {"query": "insert into t select 1", "user": "ann", "labels": [{"key": "app", "value": "etl"}]}
    (read,) = read_export(json.dumps(record).encode())
    assert (read["text"], read["user"]) == ("insert into t select 1", "ann")


@pytest.mark.parametrize("column", ["success", "succeeded", "is_success"])
def test_what_succeeded_by_its_flag_ran_and_the_other_failed(column: str) -> None:
    rows = [("insert into a select 1", "1"), ("insert into b select 1", "0")]
    for hints in (ReadingHints(), ReadingHints(columns={"status": LogColumn(column)})):
        found = read_export(as_csv(["sql_text", column], rows), hints=hints)
        assert [one["status"] for one in found] == [None, "failed"]


@pytest.mark.parametrize(
    "column", ["return_code", "status_code", "exit_status", "errors", "is_error", "outcome", "result"]
)
def test_a_column_that_says_how_it_ended_is_not_overlooked(column: str) -> None:
    words = ("ok", "failed") if column in ("outcome", "result") else ("0", "1")
    rows = [("insert into a select 1", words[0]), ("insert into b select 1", words[1])]
    assert [one["status"] for one in read_export(as_csv(["sql_text", column], rows))] == [None, "failed"]


def test_of_several_columns_each_may_tell_of_a_failure() -> None:
    rows = [("insert into a select 1", "FINISHED", "0", "0"), ("insert into b select 1", "FINISHED", "0", "1146")]
    found = read_export(as_csv(["sql_text", "state", "aborted", "error_code"], rows))
    assert [one["status"] for one in found] == [None, "failed"]


@pytest.mark.parametrize("column", ["submitted_ts", "STARTED", "EVENT_TIMESTAMP", "created_at"])
def test_a_time_is_found_and_one_that_is_not_understood_is_named(column: str) -> None:
    rows = [("insert into a select 1", "11/20/2026 10:00:00 AM"), ("insert into b select 1", "tomorrow")]
    good, bad = sorted(read_export(as_csv(["sql_text", column], rows)), key=lambda one: one["problem"] or "")
    assert good["start_time"] == 1795168800.0
    assert bad["problem"] == f"{column.lower()} is no time"


@pytest.mark.parametrize(
    ("header", "hints", "lacking"),
    [
        (["sql_text", "created", "state"], {}, ()),
        (["sql_text", "state"], {}, ("time",)),
        (["sql_text", "created"], {}, ("outcome",)),
        (["sql_text"], {}, ("time", "outcome")),
        (["sql_text", "moment"], {"start_time": LogColumn("moment"), "status": LogColumn(value="ok")}, ()),
        (["query_text", "database_name", "schema_name"], {}, ("time", "outcome")),
        # The general log of MySQL has times, and never tells how a statement ended; pg_stat_statements has what ran.
        (["event_time", "user_host", "thread_id", "server_id", "command_type", "argument"], {}, ("outcome",)),
        (["query", "calls", "total_exec_time"], {}, ()),
        (["query_sql_text", "last_execution_time"], {}, ("outcome",)),
        (["query_sql_text", "last_execution_time", "execution_type"], {}, ()),
        (["query_id", "sequence", "text", "start_time"], {}, ("outcome",)),
        (["query_id", "sequence", "text", "start_time", "status"], {}, ()),
    ],
)
def test_a_log_says_what_it_does_not_tell(header: list[str], hints: dict[str, LogColumn], lacking: tuple[str]) -> None:
    values = {"created": "2026-11-20 08:00:00", "moment": "2026-11-20 08:00:00", "command_type": "Query"}
    row = tuple(values.get(name, "select 1 from t") for name in header)
    reading = layout_of(as_csv(header, [row]), hints=ReadingHints(columns=hints)).reading
    assert reading is not None and reading.lacking == lacking


def test_the_column_that_holds_no_time_is_named_where_several_may() -> None:
    rows = [("insert into a select 1", "", "soon"), ("insert into b select 1", "2026-11-20 08:00:00", "soon")]
    header = ["command", "start_time", "submit_time", "resource_class", "request_id"]
    hints = ReadingHints("Synapse")
    problems = {one["problem"] for one in read_export(as_csv(header, [(*row, "c", "q") for row in rows]), hints=hints)}
    assert problems == {None, "submit_time is no time"}


def test_a_duration_of_openmetadata_is_in_milliseconds() -> None:
    header = ["query_text", "database_name", "schema_name", "duration"]
    (record,) = read_export(as_csv(header, [("insert into a select 1", "d", "s", "2500")]))
    assert record["duration"] == 2.5
