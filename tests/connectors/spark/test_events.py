"""Lines chosen by prefix, and what is said of lines that cannot be used."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.spark._events import EventLine, event_lines

START = (
    '{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":%d,"description":"d",'
    '"details":"x","physicalPlanDescription":"p","sparkPlanInfo":{"nodeName":"n"},"time":1}'
)
TASK = '{"Event":"SparkListenerTaskEnd","Stage ID":0}'


def read(text: str) -> list[EventLine]:
    return list(event_lines([text.encode()]))


def problems(text: str) -> list[str]:
    return [line.problem for line in read(text) if line.problem]


def test_only_the_events_of_lineage_are_chosen_and_reduced() -> None:
    lines = read(f"{TASK}\n{START % 7}\n{TASK}\n")
    assert [(line.number, line.kind) for line in lines] == [(2, "start")]
    assert lines[0].event is not None and "sparkPlanInfo" not in lines[0].event


def test_a_truncated_line_of_json_is_named_and_the_next_is_read() -> None:
    text = f"{START % 1}\n{(START % 2)[:150]}\n{START % 3}\n"
    assert problems(text) == ["an event is not the JSON that its name promises"]
    assert [line.event["executionId"] for line in read(text) if line.kind == "start" and line.event] == [1, 3]


def test_a_last_event_without_its_end_is_named() -> None:
    assert problems(f"{START % 1}\n{TASK[:20]}") == ["the last event is cut short"]
    assert problems(f"{START % 1}\n{TASK}") == []


def test_a_binary_file_is_named_once_and_left() -> None:
    found = list(event_lines([b"\x89PNG\r\n\x1a\n\x00\x01" * 1000]))
    assert [line.kind for line in found] == ["foreign"]


def test_lines_of_json_that_are_no_events_make_no_event_log() -> None:
    for text in ('{"a":1}\n{"a":2}\n', '{"Even', "{", "[]", '{"Event": 1}'):
        kinds = [line.kind for line in read(text)]
        assert kinds == (["foreign"] if not '{"Event":"'.startswith(text) else ["torn"]), text
    assert read("") == read("\n\n") == []


def test_events_that_another_program_wrote_again_are_events() -> None:
    lines = [json.loads(START % number) for number in (1, 2)]
    plain = [line.event for line in read("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))]
    assert len(plain) == 2
    for options in ({}, {"sort_keys": True}, {"ensure_ascii": False, "sort_keys": True}):
        text = "\n".join(json.dumps(line, **options) for line in lines)
        assert [line.event for line in read(text)] == plain


def test_json_nested_beyond_measure_costs_its_own_line() -> None:
    deep = '{"a":' + "[" * 200_000
    assert [line.kind for line in read(deep)] == ["foreign"]
    rewritten = json.dumps(json.loads(START % 1))
    assert [line.kind for line in read(f"{rewritten}\n{deep}\n{rewritten}\n")] == ["start", "start"]
    inside = (START % 2).replace('"time":1', '"x":' + "[" * 200_000 + ',"time":1')
    assert [line.kind for line in read(f"{START % 1}\n{inside}\n{START % 3}\n")] == ["start", "problem", "start"]


def test_a_damaged_beginning_costs_one_line() -> None:
    lines = read(f"garbage\n{START % 1}\n")
    assert [(line.number, line.kind) for line in lines] == [(1, "problem"), (2, "start")]


def test_an_event_of_a_newer_spark_is_named_by_its_kind() -> None:
    newer = START.replace("ExecutionStart", "ExecutionPaused")
    assert problems(newer % 1 + "\n") == ["an event of a kind not known here: SparkListenerSQLExecutionPaused"]
    assert problems(START.replace("ExecutionStart", "AdaptiveExecutionUpdate") % 1 + "\n") == []
    assert problems('{"Event":"org.example.Whatever","x":1}\n') == []


def test_fields_that_a_newer_spark_adds_change_nothing() -> None:
    line = (START % 1).replace('"time":1', '"time":1,"novelty":{"a":[1]}')
    assert [found.kind for found in read(line + "\n")] == ["start"]


@given(st.lists(st.integers(1, 60), max_size=12))
def test_chunks_may_end_anywhere(sizes: list[int]) -> None:
    data = f"{TASK}\n{START % 1}\n{START % 2}\n".encode()
    chunks, start = [], 0
    for size in sizes:
        chunks.append(data[start : start + size])
        start += size
    chunks.append(data[start:])
    assert [line.number for line in event_lines(chunk for chunk in chunks if chunk)] == [2, 3]


@pytest.mark.parametrize(
    ("version", "jobs_only"),
    [
        ("2.4.8", True),
        ("3.0.1", True),
        ("3.3.4", True),
        ("3.4.0", False),
        ("3.10.1", False),
        ("4.1.0", False),
        ("", True),
    ],
)
def test_the_jobs_of_sparks_that_do_not_say_how_an_execution_ended_are_read(version: str, jobs_only: bool) -> None:
    start = f'{{"Event":"SparkListenerLogStart","Spark Version":"{version}"}}\n' if version else f"{TASK}\n"
    end = '{"Event":"SparkListenerJobEnd","Job ID":0,"Job Result":{"Result":"JobFailed"}}\n'
    assert [line.kind for line in read(start + end)] == ["job_end"] * jobs_only
