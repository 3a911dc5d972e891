from __future__ import annotations

import gzip
import io
import json

import pytest

from connectors.query_log._streams import FileStream
from connectors.query_log._text_logs import text_log_of
from connectors.query_log.files import QueryLogFile
from connectors.query_log.text_files import FileRange, record_batches
from ingestion.errors import ConfigError
from tests.support.query_log_exports import Record, layout_of, read_export

AT = "2026-11-20 08:0{}:00.100 UTC [77]"


def outcomes(content: str) -> list[tuple[str | None, str | None]]:
    records: list[Record] = read_export(content.encode())
    return [(record["text"], record["problem"] or record["status"]) for record in records]


@pytest.mark.parametrize(
    ("prefix", "owner"),
    [
        ("2026-11-20 08:00:00.123 UTC [77] ", (None, None, "77")),
        ("2026-11-20 08:00:00 UTC::@:[77]:", (None, None, "77")),
        ("2026-11-20 08:00:00 UTC:10.0.0.1(5432):etl@shop:[77]:", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00.123 UTC [77]: [4-1] db=shop,user=etl ", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00.123 CET [77]: [4-1] user=etl,db=shop,app=loader,client=10.0.0.1 ", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00.123 UTC [77] etl@shop ", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00 UTC-6b07bcfc.5b41-", (None, None, "6b07bcfc.5b41")),
        ("1795161600.123 [77] etl@shop ", ("etl", "shop", "77")),
        ("[77] 2026-11-20 08:00:00.123+01 etl@shop ", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00.123 UTC [77] [queryid=42] etl@shop ", ("etl", "shop", "77")),
        ("2026-11-20 08:00:00.123 UTC [77] app=4,vid=3/9,db=[unknown],user=[unknown] ", (None, None, "77")),
        ("user=etl,db=shop,app=[unknown],client=::1 2026-11-20 08:00:00.123 UTC [77] ", ("etl", "shop", "77")),
    ],
)
def test_what_a_prefix_says_is_found_however_it_is_written(prefix: str, owner: tuple[str | None, ...]) -> None:
    (record,) = read_export(f"{prefix}LOG:  statement: insert into t select a from s\n".encode())
    assert (record["user"], record["database"], record["session"]) == owner
    assert record["text"] == "insert into t select a from s"
    assert record["start_time"] is not None and abs(record["start_time"] - 1795161600) < 3601


def test_a_statement_that_failed_is_one_record_and_the_same_text_that_ran_is_another() -> None:
    text = "insert into t\n\tselect a from s"
    begun, failed = f"LOG:  statement: {text}\n", f"ERROR:  no such table\n{AT.format(1)} HINT:  look\n"
    log = f"{AT.format(0)} {begun}{AT.format(1)} {begun}{AT.format(1)} {failed}{AT.format(1)} STATEMENT:  {text}\n"
    log += f"{AT.format(2)} {begun}{AT.format(3)} LOG:  checkpoint starting: time\n"
    plain = "insert into t\nselect a from s"
    assert outcomes(log) == [(plain, None), (plain, "failed"), (plain, None), (None, "not_a_statement")]
    assert outcomes(log.replace("\n", "\r\n")) == outcomes(log)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("insert into t\n\tselect a from s\nscp: u:secret@host refused", [("insert into t\nselect a from s", None)]),
        ("insert into t\n\n\tselect a from s\n\nscp: secret", [("insert into t\n\nselect a from s", None)]),
        ("insert into t select a from s\nscp: secret", [("insert into t select a from s", "cut")]),
        ("insert into t\nselect a from s where b = 'secret'", [("insert into t", "cut")]),
    ],
    ids=["behind it", "behind a blank line", "tabs are not known", "tabs are gone"],
)
def test_a_line_without_a_tab_is_of_no_statement(text: str, expected: list[tuple[str, str]]) -> None:
    log = f"{AT.format(0)} LOG:  statement: {text}\n{AT.format(1)} LOG:  statement: select 1\n"
    assert outcomes(log) == [*expected, ("select 1", None)]


def test_a_statement_that_failed_stays_so_where_a_program_wrote_behind_its_error() -> None:
    text = "insert into t\n\tselect a from s"
    log = f"{AT.format(0)} LOG:  statement: {text}\n{AT.format(1)} ERROR:  no such table\nscp: secret\n"
    log += f"{AT.format(1)} STATEMENT:  {text}\nscp: secret\n{AT.format(2)} LOG:  statement: select 1\n"
    assert outcomes(log) == [("insert into t\nselect a from s", "failed"), ("select 1", None)]


def test_a_log_that_begins_within_an_entry_says_so_once_and_loses_no_other() -> None:
    entries = [f"{AT.format(number)} LOG:  statement: select {number}\n" for number in range(4)]
    assert outcomes("\tfrom orders\n\twhere a = 1\n" + "".join(entries)) == [
        *((f"select {number}", None) for number in range(4)),
        (None, "lines before the first entry of the log"),
    ]


def test_a_log_that_breaks_off_gives_the_whole_entries_before() -> None:
    texts = [f"insert into t{number}\nselect a{number * 7919 % 1000}\nfrom s{number}" for number in range(60)]
    entries = "".join(f"{AT.format(0)} LOG:  statement: {text}".replace("\n", "\n\t") + "\n" for text in texts)
    file = QueryLogFile("log", "log", len(entries))
    for cut in range(20, 120, 9):
        with FileStream(lambda cut=cut: io.BytesIO(gzip.compress(entries.encode())[:-cut])) as stream:
            batches = record_batches(FileRange(file, layout_of(entries.encode())), stream, {})
            found = [row for batch in batches for row in batch.to_pylist()]
        kept = [row["text"] for row in found if row["text"]]
        assert kept == texts[: len(kept)] and 10 < len(kept) < len(texts)
        problems = [row["problem"] for row in found if row["problem"]]
        assert problems == ["the compressed data breaks off after the line before"]


def test_lines_that_a_service_answers_newest_first_are_read_as_they_were_written() -> None:
    lines = [
        f"{AT.format(0)} LOG:  statement: insert into t select a from nowhere",
        f"{AT.format(1)} ERROR:  no such table",
        f"{AT.format(1)} STATEMENT:  insert into t select a from nowhere",
    ]
    answer = [{"textPayload": line, "insertId": str(at)} for at, line in enumerate(lines)]
    expected = [("insert into t select a from nowhere", "failed")]
    assert outcomes(json.dumps(answer)) == outcomes(json.dumps(answer[::-1])) == expected


def test_lines_in_a_column_that_consoles_export_are_read_in_their_order() -> None:
    text = "insert into t\n\tselect a from nowhere"
    lines = [
        f"{AT.format(0)} LOG:  statement: {text}", f"{AT.format(1)} ERROR:  no such table",
        f"{AT.format(1)} STATEMENT:  {text}", f"{AT.format(2)} LOG:  statement: insert into t select a from s",
    ]  # fmt: skip
    rows = [f'{at},"{line}"\n' for at, line in enumerate(lines)]
    expected = [("insert into t\nselect a from nowhere", "failed"), ("insert into t select a from s", None)]
    assert outcomes("@timestamp,@message\n" + "".join(rows)) == expected
    assert outcomes("@timestamp,@message\n" + "".join(rows[::-1])) == expected


def test_a_message_that_quotes_a_line_makes_no_log_of_text() -> None:
    message = {"timestamp": "2026-11-20 08:00:00 UTC", "session_id": "6555.7", "error_severity": "LOG"}
    quoting = [message | {"message": text} for text in ("statement: select 1", "server 1 said ERROR:  no", "done")]
    layout = layout_of("\n".join(map(json.dumps, quoting)).encode())
    assert layout.exporter == "PostgreSQL jsonlog"


def test_a_table_with_such_lines_in_another_column_is_a_table() -> None:
    line = f"{AT.format(0)} LOG:  statement: select 1"
    assert text_log_of(f"timestamp,message\n1,{line}\n2,{line}\n") is None
    layout = layout_of(f"query,note\nselect 1,{line}\nselect 2,{line}\n".encode())
    assert layout.exporter == "query log"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"SEQ\x06\x19org.apache.hadoop.io.NullWritable", "Hive's proto log is: give the rows of a table over it"),
        (b"1795161600000 1b4f7d5a2f4b1c2d:9e8f7a6b00000000 eJy9" + b"A" * 60, "impala-profile-tool"),
        (b'["query", "type"]\n["select 1", "QueryFinish"]\n', "export FORMAT JSONEachRow"),
        (b"Nov 20 08:00:00 host postgres[77]: [4-1] LOG:  statement: select 1\n", "set log_destination to"),
    ],
    ids=["hive", "impala", "lists", "syslog"],
)
def test_a_form_that_is_not_read_says_what_to_do_in_one_line(content: bytes, says: str) -> None:
    with pytest.raises(ConfigError, match=r"^log is ") as caught:
        layout_of(content)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_events_that_stand_on_one_line_are_as_many_records() -> None:
    event = "<event name='{}' timestamp='2026-11-20T08:00:00Z'><data name='batch_text'><value>{}</value></data></event>"
    one, two = event.format("sql_batch_completed", "select 1"), event.format("sql_batch_starting", "select 2")
    ring = f"<RingBufferTarget eventCount='2'>{one}{two}</RingBufferTarget>"
    assert outcomes(ring) == outcomes(f"{one}{two}\n") == [("select 1", None), ("select 2", "not_a_statement")]


def test_a_log_of_another_program_is_none_of_hive() -> None:
    assert text_log_of("2026-11-20T08:00:00,123 INFO  [main] SparkContext: Running Spark\n" * 9) is None


def test_a_slow_log_that_cannot_tell_what_failed_says_so() -> None:
    head = "# Time: 2026-11-20T08:00:02Z\n# User@Host: etl[etl] @ localhost []  Id: 8\n# Query_time: 2.1{}\n"
    text = "SET timestamp=1795161600;\nselect 1;\n"
    layouts = [layout_of(f"{head.format(extra)}{text}".encode()) for extra in ("", " Errno: 0 Killed: 0")]
    assert [layout.reading.lacking for layout in layouts if layout.reading is not None] == [("outcome",), ()]


PERCONA = """# Time: 2026-11-20T08:00:02Z
# User@Host: etl[etl] @ localhost []  Id:     8
# Schema: shop  Last_errno: 1146  Killed: 0
# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 0  Rows_examined: 0  Rows_affected: 0
# No InnoDB statistics available for this query
use shop;
SET timestamp=1795161600;
INSERT INTO gone SELECT a FROM nowhere;
# User@Host: etl[etl] @ localhost []  Id:     8
# Query_time: 0.5  Lock_time: 0.1 Rows_sent: 0  Rows_examined: 0  Rows_affected: 0
# explain: id  select_type
SET timestamp=1795161601;
# a comment of the statement
INSERT INTO t SELECT a FROM s;
"""


def test_what_servers_add_to_the_head_of_a_slow_statement_is_no_part_of_it() -> None:
    first, second = read_export(PERCONA.encode())
    assert (first["text"], first["status"], first["database"], first["start_time"]) == (
        "INSERT INTO gone SELECT a FROM nowhere;", "failed", "shop", 1795161600.0,
    )  # fmt: skip
    assert (second["text"], second["status"], second["database"]) == (
        "# a comment of the statement\nINSERT INTO t SELECT a FROM s;", None, "shop",
    )  # fmt: skip


def test_no_entry_begins_with_a_line_of_a_statement() -> None:
    assert text_log_of("insert into t\n\tselect a -- 2026-11-20 08:00:00\n\tfrom s;\n# a comment\n") is None


def test_lines_without_a_time_have_that_of_the_service_which_hands_them_on() -> None:
    """Else their order would not be known: a service answers with the newest first."""
    text = "insert into t select timestamp '2020-01-01 00:00:00' from s"
    lines = [f"LOG:  statement: {text}", "ERROR:  no such table", f"STATEMENT:  {text}", "LOG:  statement: select 1"]
    answer = [
        {"textPayload": f"[77]: [{at}-1] db=shop,user=etl {line}", "timestamp": f"2026-11-20T08:00:0{at}.5Z"}
        for at, line in enumerate(lines)
    ]
    records = read_export(json.dumps(answer[::-1]).encode())
    assert [(one["text"], one["status"], one["start_time"]) for one in records if one["text"]] == [
        (text, "failed", 1795161601.5),
        ("select 1", None, 1795161603.5),
    ]


def test_a_plan_that_mariadb_writes_above_a_slow_statement_is_no_part_of_it() -> None:
    log = (
        "# Time: 261120  8:00:00\n# User@Host: etl[etl] @ localhost []\n# Thread_id: 4  Schema: shop  QC_hit: No\n"
        "# Query_time: 0.5  Lock_time: 0.0\n#\n# explain: id   select_type\n# explain: 1    SIMPLE\n#\n"
        "SET timestamp=1795161600;\ninsert into t select a from s;\n"
    )
    (record,) = read_export(log.encode())
    assert (record["text"], record["database"]) == ("insert into t select a from s;", "shop")
    assert record["start_time"] == 1795161600


def test_lines_of_sql_that_are_called_as_parts_of_a_profile_are_no_ends_of_it() -> None:
    log = (
        "Query (id=c1:0):\n  Summary:\n    Query State: FINISHED\n    Query Status: OK\n    Default Db: shop\n"
        "    Sql Statement: insert into t select\n    Plan,\n    Coordinator from s\n    Coordinator: a:22000\n"
    )
    assert outcomes(log) == [("insert into t select\n    Plan,\n    Coordinator from s", None)]
