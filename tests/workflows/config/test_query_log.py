"""Where the log is and what its columns mean, as the YAML says it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from connectors.query_log.log_columns import LogColumn
from workflows.config import InvalidConfig, load_config

Write = Callable[..., Path]
SOURCE = "source: {type: query-log-lineage, serviceName: s, serviceConnection: {config: {type: Mysql}}}\n"


def headwater(text: str) -> str:
    return f"{SOURCE}headwater:\n  {text}\n"


def problem(file: Path) -> str:
    with pytest.raises(InvalidConfig) as caught:
        load_config(file, (), {"PASSWORD": "hunter2"})
    (found,) = caught.value.problems
    return found.message


def test_columns_have_a_name_a_unit_and_a_zone_or_one_value(workflow_file: Write) -> None:
    time = "{column: at, unit: ms, zone: Europe/Berlin}"
    columns = f"{{text: argument, time: {time}, endTime: to, schema: {{value: shop}}, error: e}}"
    file = workflow_file(headwater(f"queryLogColumns: {columns}\n  queryLogTable: lake.logs.history"))
    config = load_config(file)
    assert config.headwater.query_log_columns.by_field == {
        "text": LogColumn("argument"),
        "start_time": LogColumn("at", unit=1e-3, zone=ZoneInfo("Europe/Berlin")),
        "end_time": LogColumn("to"),
        "schema": LogColumn(value="shop"),
        "failure": LogColumn("e"),
    }
    assert (config.query_log_location, config.lineage.query_log_file_path) == ("lake.logs.history", None)
    assert config.has_query_log


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("{txt: argument}", "unknown key; did you mean text?"),
        ("{text: {value: select 1}}", "differs from record to record: give a column's name"),
        ("{user: {column: a, value: b}}", "give a column's name, or {value: ...} for what all records have"),
        ("{user: {column: a, unit: ms}}", "only times and durations have one"),
        ("{time: {column: a, unit: weeks}}", "expected 's', 'ms', 'us', 'ns', 'ps', 'min' or 'h'"),
        ("{time: {column: a, zone: Mars}}", "not a time zone; write one such as Europe/Berlin or UTC"),
    ],
)
def test_what_is_wrong_with_a_column_is_told(workflow_file: Write, columns: str, message: str) -> None:
    assert problem(workflow_file(headwater(f"queryLogColumns: {columns}\n  queryLogTable: t"))) == message


def test_a_log_over_jdbc_has_sparks_options_and_keeps_its_secrets(workflow_file: Write) -> None:
    text = (
        "queryLogJdbc: {url: 'jdbc:mysql://h/d', table: mysql.general_log, user: u, password: '${PASSWORD}', "
        "partitionColumn: thread_id, lowerBound: '0', upperBound: '99', numPartitions: 4, options: {fetchsize: '10'}}"
    )
    config = load_config(workflow_file(headwater(text)), (), {"PASSWORD": "hunter2"})
    assert config.headwater.query_log_jdbc.spark_options == {
        "url": "jdbc:mysql://h/d", "dbtable": "mysql.general_log", "user": "u", "password": "hunter2",
        "partitionColumn": "thread_id", "lowerBound": "0", "upperBound": "99", "numPartitions": "4", "fetchsize": "10",
    }  # fmt: skip
    assert config.query_log_location == "jdbc mysql.general_log"
    assert "hunter2" in config.secrets
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("queryLogJdbc: {table: t}", "needed by the others, and not given"),
        ("queryLogJdbc: {url: u}", "give one of table and query"),
        ("queryLogJdbc: {url: u, query: q, table: t}", "give one of table and query"),
        (
            "queryLogJdbc: {url: u, query: q, numPartitions: 2}",
            "partitionColumn, lowerBound, upperBound and numPartitions are for a table, all four",
        ),
        (
            "queryLogJdbc: {url: u, query: q}\n  queryLogTable: t",
            "give one of queryLogFilePath, headwater.queryLogTable and headwater.queryLogJdbc",
        ),
        ("queryLogTimezone: UTC", "needed by the source type query-log-lineage, and not given"),
    ],
)
def test_what_is_wrong_with_the_place_of_a_log_is_told(workflow_file: Write, keys: str, message: str) -> None:
    assert problem(workflow_file(headwater(keys))) == message
