from __future__ import annotations

import json

import pytest

from connectors.platforms.postgres import SERVER_LOG
from connectors.query_log._columns import ReadingHints
from connectors.query_log._layout import Layout, names_delimiter, sniff
from ingestion.errors import ConfigError
from tests.support.query_log_exports import read_export

CSVLOG_ROW = (
    "2026-11-20 08:24:58.010 UTC,alice,shop,1,[local],6b0003d9.35ab,1,idle,"
    '2026-11-20 08:24:57 UTC,0/2,0,LOG,00000,"statement: select 1"'
)


def layout_of(head: str) -> Layout:
    return sniff(head.encode(), "log.csv", ReadingHints())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_gives_most_known_columns(delimiter: str) -> None:
    layout = layout_of(delimiter.join(["start_time", "query_text", "user_name"]) + "\n")
    assert (layout.delimiter, layout.widths) == (delimiter, {3})
    assert layout.fields == {"text": 1, "start_time": 0, "user": 2}


@pytest.mark.parametrize(
    "name", ["query_text", "QUERY", "sql", "Statement", "SQL Text", "queryString", '"stmt"', "query-text"]
)
def test_the_text_column_is_found_by_its_names_in_any_case(name: str) -> None:
    assert layout_of(f"\ufeff{name},start_time\r\nselect 1,2026-11-20\r\n").fields == {"text": 0, "start_time": 1}


def test_the_likeliest_of_several_text_columns_wins() -> None:
    assert layout_of("statement,query_id,query_text\n").fields["text"] == 2


def test_a_single_column_has_no_delimiter() -> None:
    assert layout_of("query\nselect a, b from t\n").delimiter not in ",;\t|"


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("duration", 1.0),
        ("duration_ms", 1e-3),
        ("Elapsed_Time_us", 1e-6),
        ("total_elapsed_time", 1e-3),
        ("runtime_minutes", 60.0),
    ],
)
def test_the_durations_unit_is_told_by_its_name(column: str, unit: float) -> None:
    layout = layout_of(f"query,{column}\n")
    assert layout.fields["duration"] == 1
    assert layout.reading is not None
    assert layout.reading.units.get(1, 1.0) == unit


@pytest.mark.parametrize("width", [23, 24, 26])
def test_csvlog_is_known_by_its_shape(width: int) -> None:
    layout = layout_of(CSVLOG_ROW + "," * (width - 14) + "\n")
    assert layout.server_log is SERVER_LOG
    assert layout.header is None
    assert layout.fields["message"] == 13


def test_csvlog_with_a_header_is_read_by_its_names() -> None:
    layout = layout_of(",".join(SERVER_LOG.columns[:-2]) + "\n")
    assert layout.server_log is SERVER_LOG
    assert layout.header is not None
    assert layout.fields["query"] == 19


def test_without_a_text_column_the_columns_and_the_nearest_name_are_told() -> None:
    with pytest.raises(ConfigError, match=r"log\.csv, line 1: .* among id, qury_text, at; did you mean query_text\?"):
        layout_of("id,qury_text,at\n")


@pytest.mark.parametrize("value", ["42", "true", "2026-11-20 08:00:00", "01b1c2d3-0604-aa11-0000-00014b7a1e3a"])
def test_a_column_that_holds_no_text_is_never_the_text(value: str) -> None:
    layout = layout_of(f"query,statement,at\n{value},select 1,2026-11-20\n{value},commit,2026-11-20\n")
    assert layout.fields["text"] == 1
    with pytest.raises(ConfigError, match="query holds no text") as caught:
        layout_of(f"query,at\n{value},2026-11-20\n")
    assert value not in str(caught.value)


def test_statements_of_one_word_are_text() -> None:
    assert layout_of("query,at\nCOMMIT,2026-11-20\nBEGIN,2026-11-20\n").fields["text"] == 0


@pytest.mark.parametrize(
    ("connection_type", "exporter"),
    [(None, "DataHub SQL queries"), ("Clickhouse", "ClickHouse system.query_log"), ("SQLite", "DataHub SQL queries")],
)
def test_the_service_decides_between_exporters_of_the_same_columns(connection_type: str | None, exporter: str) -> None:
    header = b"query,operation_type,timestamp,user\n"
    layout = sniff(header, "log.csv", ReadingHints(connection_type))
    assert layout.reading is not None
    assert layout.reading.profile.name == exporter


def test_a_file_without_header_does_not_show_its_content() -> None:
    with pytest.raises(ConfigError, match="neither a header") as caught:
        layout_of("2026-11-20,insert into t values ('hunter2'),alice\n")
    assert "hunter2" not in str(caught.value)
    assert "alice" not in str(caught.value)


def test_binary_data_is_no_csv() -> None:
    with pytest.raises(ConfigError, match="not a CSV file"):
        sniff(b"PAR1\x15\x00\x15\x00", "log.parquet", ReadingHints())


def test_utf16_is_told_by_its_mark() -> None:
    layout = sniff("query;user\n".encode("utf-16"), "log.csv", ReadingHints())
    assert (layout.encoding, layout.delimiter) == ("utf-16", ";")


@pytest.mark.parametrize("column", ["c", "start_time", "query_text"])
def test_a_header_of_very_many_columns_has_a_layout_or_a_short_reason(column: str) -> None:
    many = 20_000
    assert layout_of(f"{column}," * many + "sql\n" + "1," * many + "select 1\n").widths == {many + 1}
    with pytest.raises(ConfigError, match="neither a header") as caught:
        layout_of("c," * many)
    assert len(str(caught.value)) < 200


QUOTED = "INSERT INTO t SELECT 'it''s', a FROM s WHERE path = 'C:\\dir'"


@pytest.mark.parametrize("types", [None, "Enum8('QueryStart' = 1)\tString\tUInt64"])
def test_what_clickhouse_writes_with_tabs_is_the_statement_that_was_sent(types: str | None) -> None:
    escaped = QUOTED.replace("\\", "\\\\").replace("'", "\\'")
    lines = ["type\tquery\tquery_duration_ms", *([types] if types else []), f"QueryFinish\t{escaped}\t1"]
    (record,) = read_export("".join(f"{line}\n" for line in lines).encode())
    assert (record["text"], record["problem"]) == (QUOTED, None)


def test_a_backslash_before_an_apostrophe_is_the_statements_own_where_another_stands_bare() -> None:
    text = r"INSERT INTO t SELECT 'it\'s' FROM s"
    (record,) = read_export(f"query\tuser\n{text}\ta\n".encode())
    assert record["text"] == text


def test_a_result_of_dbt_without_its_sql_says_what_to_do() -> None:
    result = {"unique_id": "model.a", "adapter_response": {}, "execution_time": 1.0, "status": "success"}
    document = {"results": [result, result]}
    with pytest.raises(ConfigError, match=r"since version 1\.7; of an older one let source\.type dbt read"):
        layout_of(json.dumps(document))


def test_texts_that_are_not_shown_are_no_texts() -> None:
    event = {"eventSource": "athena.amazonaws.com", "eventName": "StartQueryExecution", "awsRegion": "eu-west-1"}
    hidden = event | {"requestParameters": {"queryString": "HIDDEN_DUE_TO_SECURITY_REASONS"}}
    with pytest.raises(ConfigError, match="AWS CloudTrail does not show the texts of its statements: read what"):
        layout_of(json.dumps(hidden))
    shown = event | {"requestParameters": {"queryString": "insert into t select a from s"}}
    records = read_export("\n".join(map(json.dumps, (shown, hidden))).encode())
    assert [(record["text"], record["status"]) for record in records] == [
        ("insert into t select a from s", None),
        (None, "not_a_statement"),
    ]


@pytest.mark.parametrize("line", ["sep=;\r\n", "\ufeffSEP=\t\n"])
def test_the_line_that_names_a_delimiter_is_no_header(line: str) -> None:
    assert names_delimiter(line)
    assert not names_delimiter(f"query{line}")
    layout = sniff(f"{line}query;user\r\nSELECT 1;ann\r\n".encode(), "x.csv", ReadingHints())
    assert layout.header == ("query", "user")


def test_lines_that_end_with_carriage_returns_alone_are_told() -> None:
    with pytest.raises(ConfigError, match="carriage returns alone"):
        sniff(b"query,user\rSELECT 1,ann\r", "x.csv", ReadingHints())
