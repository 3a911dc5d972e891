"""PostgreSQL's log as JSON says what its csvlog says, by the server's names and by CloudNativePG's."""

from __future__ import annotations

import io
import json

import pytest

from connectors.platforms.postgres import SERVER_LOG
from connectors.query_log._json_records import document_records, line_records, names_of, sample_objects
from connectors.query_log._layout import Layout
from connectors.query_log._streams import FileStream
from connectors.query_log.files import QueryLogFile
from connectors.query_log.text_files import FileRange, failure_batches, record_batches
from tests.support.query_log_exports import layout_of

COMMON = {"timestamp": "2026-11-20 08:00:00.250 UTC", "user": "etl", "dbname": "shopdb", "pid": 7,
          "session_id": "6555.7", "line_num": 1, "application_name": "nightly"}  # fmt: skip
MESSAGES = [
    ("LOG", "3/1", "statement: insert into t select a from s", None, "ran"),
    ("LOG", "3/2", "statement: insert into gone select a from nowhere", None, None),
    ("ERROR", "3/2", 'relation "nowhere" does not exist', "insert into gone select a from nowhere", "failed"),
    ("LOG", "3/3", "duration: 12.5 ms  execute a1: insert into u select b\nfrom s", None, "ran"),
    ("LOG", "3/4", "connection received: host=[local]", None, "not_a_statement"),
]
CSVLOG = {"timestamp": "log_time", "user": "user_name", "dbname": "database_name", "pid": "process_id",
          "line_num": "session_line_num", "vxid": "virtual_transaction_id", "statement": "query"}  # fmt: skip


def servers_own() -> list[dict[str, object]]:
    rows = ({**COMMON, "error_severity": severity, "vxid": transaction, "message": message, "statement": statement}
            for severity, transaction, message, statement, _ in MESSAGES)  # fmt: skip
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def operators() -> list[dict[str, object]]:
    rows = ({CSVLOG.get(name, name): str(value) for name, value in row.items()} for row in servers_own())
    return [{"level": "info", "logger": "postgres", "msg": "record", "record": row} for row in rows]


def stream_of(content: bytes) -> FileStream:
    return FileStream(lambda: io.BytesIO(content))


def read(content: bytes) -> tuple[Layout, list[dict[str, object]]]:
    part = FileRange(QueryLogFile("log", "log", len(content)), layout_of(content))
    with stream_of(content) as stream:
        failed = [row for batch in failure_batches(part, stream) for row in batch.to_pylist()]
    failures = {row["session"]: frozenset({row["statement"]}) for row in failed}
    with stream_of(content) as stream:
        rows = [row for batch in record_batches(part, stream, failures) for row in batch.to_pylist()]
    assert part.layout is not None
    return part.layout, rows


@pytest.mark.parametrize("objects", [servers_own(), operators()], ids=["the server's", "the operator's"])
@pytest.mark.parametrize("separator", ["\n", ",\n"], ids=["lines", "document"])
def test_a_statement_is_one_record_whether_it_failed_or_not(objects: list[dict[str, object]], separator: str) -> None:
    text = separator.join(map(json.dumps, objects))
    layout, rows = read(f"[{text}]".encode() if separator != "\n" else text.encode())
    assert layout.server_log is SERVER_LOG
    assert [row["status"] or "ran" for row in rows] == [status for *_, status in MESSAGES if status]
    ran = [row for row in rows if row["status"] is None]
    assert [(row["text"], row["duration"]) for row in ran] == [
        ("insert into t select a from s", None),
        ("insert into u select b\nfrom s", 0.0125),
    ]
    named = ("user", "database", "session", "job")
    assert {tuple(row[name] for name in named) for row in ran} == {("etl", "shopdb", "6555.7", "nightly")}


DOCUMENT = {"meta": [{"name": "query"}, {"name": "user"}], "statistics": {"elapsed": 1.0}, "rows": 2}


@pytest.mark.parametrize(
    "document",
    [
        {**DOCUMENT, "data": [{"query": "select 1", "user": "a"}, {"query": "select 2", "user": "b"}]},
        {**DOCUMENT, "data": [["select 1", "a"], ["select 2", "b"]]},
        {"args": {"which": "run"}, "Results": [{"query": "select 1", "user": "a"}, {"query": "select 2", "user": "b"}]},
    ],
)
def test_a_document_about_a_list_gives_what_is_in_the_list(document: dict[str, object]) -> None:
    records = document_records(json.dumps(document), ["query", "user"])
    assert records.rows == [["select 1", "a"], ["select 2", "b"]]
    assert names_of(sample_objects(json.dumps(document), 9)) == ["query", "user"]


def test_the_list_of_a_document_is_found_where_only_its_beginning_is_seen() -> None:
    document = {"metadata": {"version": 1}, "results": [{"query": f"select {number}"} for number in range(9)]}
    assert names_of(sample_objects(json.dumps(document)[:150], 9)) == ["query"]


def test_a_record_that_has_a_list_besides_its_text_is_a_record() -> None:
    record = {"query": "select 1", "results": [{"rows": 1}, {"rows": 2}]}
    assert document_records(json.dumps([record, record]), ["query"]).rows == [["select 1"], ["select 1"]]
    assert line_records([json.dumps(record)], 1, ["query"]).rows == [["select 1"]]
