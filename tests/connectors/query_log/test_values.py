from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.query_log._values import (
    RAN,
    joined_state,
    parse_duration,
    parse_flag,
    parse_state,
    parse_time,
    parse_times,
)

BERLIN = ZoneInfo("Europe/Berlin")
MOMENT = datetime(2026, 11, 20, 8, 24, 58, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-20 08:24:58 UTC",
        "2026-11-20T08:24:58Z",
        "2026-11-20T08:24:58.000+00:00",
        "2026-11-20 09:24:58 CET",
        "2026-11-20 09:24:58+01",
        "2026-11-20 00:24:58.000 -0800",
        "2026/11/20 8:24:58",
        "20261120082458",
        "Fri, 20 Nov 2026 00:24:58 -0800",
        "11/20/2026 8:24:58 AM",
        "2026-11-20 09:24:58.000 Europe/Berlin",
        "2026-11-20 00:24:58 America/Los_Angeles",
        "20.11.2026 08:24:58",
        "20/Nov/2026:09:24:58 +0100",
        "46346.3506713",
        "1795163098",
        "1795163098.0",
        "1795163098000",
        "1795163098000000",
        "1795163098000000000",
    ],
)
def test_every_way_to_write_a_moment_is_the_same_moment(written: str) -> None:
    assert parse_time(written, UTC) == MOMENT
    assert parse_times([written] * 2, UTC) == ([MOMENT] * 2, [])


def test_a_time_without_zone_is_in_the_logs_zone() -> None:
    assert parse_time("2026-11-20 09:24:58", BERLIN) == MOMENT
    assert parse_times(["2026-11-20 09:24:58", "2026-07-01 02:00:00"], BERLIN) == ([MOMENT, 1782864000.0], [])


def test_the_logs_own_zone_decides_what_an_abbreviation_means() -> None:
    assert parse_time("2026-11-20 13:54:58 IST", ZoneInfo("Asia/Kolkata")) == MOMENT
    assert parse_time("2026-11-20 10:24:58 IST", UTC) == MOMENT


def test_no_value_is_no_time_and_garbage_is_named() -> None:
    values = ["", "2026-11-20 08:24:58", "yesterday", "2026-13-01", "NULL", "99999999999999999999999", "-1", "XYZ 12"]
    times, wrong = parse_times(values, UTC)
    assert times == [None, MOMENT, None, None, None, None, None, None]
    assert wrong == [2, 3, 5, 6, 7]


def test_a_folder_of_zones_and_a_name_too_long_for_a_file_are_no_zones() -> None:
    values = ["2026-11-20 08:24:58 America/Argentina", f"2026-11-20 08:24:58 Europe/{'a' * 300}"]
    assert parse_times(values, UTC) == ([None, None], [0, 1])


def test_a_number_of_which_the_unit_is_told_is_no_day_of_a_spreadsheet() -> None:
    assert parse_times(["1795163098000", "46346350", "0"], UTC, 0.001) == ([MOMENT, None, None], [1])


@given(st.lists(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2499, 1, 1)), min_size=1, max_size=5))
def test_many_times_at_once_equal_one_at_a_time(moments: list[datetime]) -> None:
    for written in (
        [moment.isoformat(" ") for moment in moments],
        [moment.isoformat() + "+02:00" for moment in moments],
        [f"{moment.isoformat(' ')} UTC" for moment in moments],
    ):
        times, wrong = parse_times(written, UTC)
        assert not wrong
        assert times == pytest.approx([parse_time(value, UTC) for value in written], abs=1e-5)


@pytest.mark.parametrize(
    ("written", "unit", "seconds"),
    [
        ("12.5", 1.0, 12.5),
        ("12.5", 1e-3, 0.0125),
        ("250 ms", 1.0, 0.25),
        ("3s", 1e-3, 3.0),
        ("00:01:30.5", 1.0, 90.5),
        ("1 day 01:00:00", 1.0, 90000.0),
        ("", 1.0, None),
        ("long", 1.0, None),
        ("5 fortnights", 1.0, None),
    ],
)
def test_durations_count_in_their_own_unit_or_the_columns(written: str, unit: float, seconds: float | None) -> None:
    assert parse_duration(written, unit) == seconds


def test_states_say_whether_a_statement_ran() -> None:
    for word in ("success", "SUCCEEDED", "ok", "FINISHED", "Done", "Completed", "0", "00000", "true", "t"):
        assert parse_state(word) == RAN, word
    for word in ("failed", "FAIL", "error", "ABORTED", "cancelled", "Canceled", "timeout", "42601", "f", "killed"):
        assert parse_state(word) == "failed", word
    for word in ("running", "QUEUED", "pending"):
        assert parse_state(word) == "unfinished", word
    assert [parse_state("No error"), parse_state("NO_ERROR"), parse_state("no errors known")] == [RAN, RAN, "failed"]
    assert parse_state("purple") == "unknown_state"
    assert parse_state("") is None


@pytest.mark.parametrize(
    ("column", "ran", "failed"),
    [
        ("success", "1 t TRUE yes 1.0", "0 f False no 0.0 failed"),
        ("succeeded", "1", "0"),
        ("is_success", "1 true", "0 false"),
        ("ok_flag", "1", "0"),
        ("status", "0 success", "1 2601 -1 error"),
        ("return_code", "0 00000", "1 -942 1.0"),
        ("status_code", "0 200", "500 1 404"),
        ("exit_status", "0", "137"),
        ("is_error", "0 false", "1 true"),
        ("failed", "0", "1"),
        ("errors", "0 []", "3"),
        ("sqlstate", "00000 02000 01000", "42P01 22012"),
        ("outcome", "success", "failure"),
    ],
)
def test_what_a_flag_or_a_number_means_follows_from_the_name_of_its_column(column: str, ran: str, failed: str) -> None:
    assert {parse_state(word, column) for word in ran.split()} == {RAN}
    assert {parse_state(word, column) for word in failed.split()} == {"failed"}


def test_a_number_in_a_result_may_be_one_of_rows() -> None:
    assert [parse_state(word, "result") for word in ("0", "17", "ok")] == [RAN, "unknown_state", RAN]
    assert parse_state("2", "success") == "unknown_state"


def test_what_one_column_calls_finished_another_may_call_failed() -> None:
    assert joined_state([RAN, "failed", None]) == "failed"
    assert joined_state([RAN, "unfinished"]) == "unfinished"
    assert joined_state(["unknown_state", RAN]) is None
    assert joined_state(["unknown_state", None]) == "unknown_state"
    assert joined_state([None]) is None


def test_an_error_column_fails_a_statement_by_any_value_but_none() -> None:
    assert [parse_flag(value) for value in ("", "0", "f", "No", "NULL")] == [None] * 5
    assert [parse_flag(value) for value in ("1", "true", "relation does not exist")] == ["failed"] * 3


@pytest.mark.parametrize("old", ["1900-01-01 00:00:00", "0001-01-01T00:00:00Z", "1969-12-31 23:59:59", "1753-01-01"])
@pytest.mark.parametrize("others", [[], ["2026-01-01 00:00:00"], ["1767225600"]])
def test_a_time_before_1970_stands_for_none(old: str, others: list[str]) -> None:
    times, wrong = parse_times([old, *others], UTC)
    assert (times[0], wrong) == (None, [])
    assert times[1:] == [1_767_225_600.0] * len(others)


def test_a_small_number_is_a_day_of_a_spreadsheet_or_no_time() -> None:
    assert parse_times(["46346.5", "46346", "0"], BERLIN) == ([1_795_172_400.0, 1_795_129_200.0, None], [])
    assert parse_times(["17", "2026", "99999", "2026-11-20 08:00 Mars/Base"], UTC) == ([None] * 4, [0, 1, 2, 3])


def test_a_clock_with_halves_has_the_month_first() -> None:
    assert parse_time("1/2/2026 12:05 am", UTC) == datetime(2026, 1, 2, 0, 5, tzinfo=UTC).timestamp()
    assert parse_time("1/2/2026, 12:05:06.5 PM", UTC) == datetime(2026, 1, 2, 12, 5, 6, 500_000, UTC).timestamp()
    for wrong in ("20/11/2026 10:00:00 AM", "11/20/2026 10:00:00"):
        with pytest.raises(ValueError):
            parse_time(wrong, UTC)


@pytest.mark.parametrize("word", ["UNSUCCESSFUL", "Unsuccessful", "not ok", "Incomplete", "terminated", "invalid"])
def test_a_word_that_denies_success_is_a_failure(word: str) -> None:
    assert parse_state(word) == "failed"


@pytest.mark.parametrize(("code", "state"), [("0", RAN), ("100", RAN), ("462", RAN), ("-204", "failed")])
def test_a_code_of_sql_is_of_an_error_where_it_is_negative(code: str, state: str) -> None:
    assert parse_state(code, "sqlcode") == state
