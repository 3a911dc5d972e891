"""What comes out of a file in each platform's own form: `expected_records.txt` has it, one record a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.platforms.index import PROFILES, SERVER_LOGS, TEXT_LOGS
from connectors.query_log._columns import ReadingHints
from connectors.query_log._text_logs import text_log_of
from connectors.query_log.reader import QueryLogOptions, open_query_log
from tests.support.query_log_exports import Record, layout_of, read_file

LONG = 1000
HERE = Path(__file__).parent
EXPORTS = sorted((HERE / "exports").iterdir())


def sections() -> dict[str, list[str]]:
    """By file: the exporter and the form that it is told to have, then its records."""
    found: dict[str, list[str]] = {}
    for line in (HERE / "expected_records.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            name, *form = line.removeprefix("== ").split(": ", 1)
            lines = found[name] = form
        elif line:
            lines.append(line)
    return found


def shown(record: Record) -> str:
    """Outcome; start, end, seconds; user, session, database, schema, type, job; text."""
    times = [clock(record["start_time"]), clock(record["end_time"]), seconds(record["duration"])]
    names = [record[name] or "-" for name in ("user", "session", "database", "schema", "query_type", "job")]
    outcome = record["problem"] or record["status"] or "ran"
    return " | ".join([outcome, " ".join(times), " ".join(names), shortened(record["text"])])


def shortened(text: str | None) -> str:
    return repr(text) if text is None or len(text) < LONG else f"{text[:40]!r} and more: {len(text)}"


def clock(time: float | None) -> str:
    return "-" if time is None else datetime.fromtimestamp(time, UTC).strftime("%d.%H:%M:%S.%f").rstrip("0").rstrip(".")


def seconds(duration: float | None) -> str:
    return "-" if duration is None else f"{duration:g}s"


def rendered(file: Path) -> Iterator[str]:
    layout = layout_of(file.read_bytes(), file.name)
    yield f"{layout.exporter}, {layout.form.value}"
    yield from map(shown, read_file(file))


@pytest.mark.parametrize("file", EXPORTS, ids=lambda file: file.name)
def test_an_export_is_read_as_its_platform_means_it(file: Path) -> None:
    assert list(rendered(file)) == sections()[file.name]


def test_every_exporter_has_an_export() -> None:
    named = {lines[0].rpartition(", ")[0] for lines in sections().values()}
    assert {profile.name for profile in PROFILES} - named == set()
    assert sections().keys() == {file.name for file in EXPORTS}


def test_every_log_of_text_and_of_a_server_has_a_sample() -> None:
    named = {lines[0].rpartition(", ")[0] for lines in sections().values()}
    assert {log.name for log in TEXT_LOGS} <= named
    assert {log.name for log in SERVER_LOGS} - named == {"PostgreSQL csvlog"}  # a real server's, in another test


@pytest.mark.parametrize("file", EXPORTS, ids=lambda file: file.name)
def test_no_export_is_taken_for_a_log_of_text_of_another(file: Path) -> None:
    form = sections()[file.name][0]
    log = text_log_of(file.read_text("utf-8"))
    assert (None if log is None else log.name) == (form.removesuffix(", text") if form.endswith(", text") else None)


def test_an_export_is_recognised_as_itself_under_each_type_of_its_platform() -> None:
    own_types = [
        (file, kind)
        for file in EXPORTS
        for profile in PROFILES
        if profile.name == sections()[file.name][0].rpartition(", ")[0]
        for kind in sorted(profile.services)
    ]
    taken = {
        (file.name, kind): layout_of(file.read_bytes(), file.name, ReadingHints(connection_type=kind)).exporter
        for file, kind in own_types
    }
    expected = {(file.name, kind): sections()[file.name][0].rpartition(", ")[0] for file, kind in own_types}
    assert taken == expected


@pytest.mark.parametrize(
    "header",
    [
        "query_text,outcome,user", "sql_text,return_code,ran_at", "name,timestamp,statement,duration",
        "event_data,query,user", "message,log_level,type,sql", "query_text,inputs,user", "statement,timestamp,result",
        "action_name,service_name,query", "event_name,event_source,query",
    ],
)  # fmt: skip
def test_columns_that_anybody_may_have_are_nobodys(header: str) -> None:
    row = ",".join("insert into t select a from s" for _ in header.split(","))
    assert layout_of(f"{header}\n{row}\n".encode()).exporter == "query log"


@pytest.mark.spark
def test_spark_reads_every_export_as_this_process_does(spark: SparkSession) -> None:
    records = open_query_log(spark, QueryLogOptions(f"{HERE}/exports/*")).records().collect()
    assert len({record.source_id for record in records}) == len(records)
    here = [shown(record) for file in EXPORTS for record in read_file(file)]
    assert Counter(shown(record.asDict()) for record in records) == Counter(here)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_a_profile_names_columns_as_they_are_compared(profile: object) -> None:
    """Otherwise a unit or a state would be for a column that no input has."""
    names = set(profile.names)
    assert set(profile.units) | set(profile.patterns) <= names
    assert all(set(mark) <= names for mark in (*profile.marks, *profile.own_marks) if profile.split_text)
