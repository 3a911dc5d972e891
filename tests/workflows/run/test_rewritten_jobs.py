"""Eight days of jobs that were rewritten on the sixth: what the catalog says of them then, read at once or in parts."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.growing_log import configuration
from tests.support.run_in_session import run

pytestmark = pytest.mark.spark
DAYS = range(1, 9)
HEADER = ("query_text", "start_time", "session_id", "user_name", "query_tag")
Record = tuple[str, str, str, str, str]
Spans = set[tuple[str, str, int, int | None]]
"""Source and target column, the day from which and until which it held."""


def records() -> Iterator[Record]:
    for day in DAYS:
        column = "total" if day < 6 else "net"

        def ran(text: str, hour: int, user: str = "etl", tag: str = "", session: str = "s", day: int = day) -> Record:
            return text, f"2026-01-{day:02} {hour:02}:0{day % 5}:00", f"{session}{day}", user, tag

        tagged = f"INSERT INTO tagged (v) SELECT {column} FROM orders WHERE day = {day}"
        yield ran(tagged, 1, tag="nightly_tagged")
        yield ran(f"INSERT INTO hourly (v) SELECT {column} FROM orders", 2)
        yield ran(f"INSERT INTO somebody (v) SELECT {column} FROM orders", 3, user="")
        # the statement that writes is the same, and reads what was made of another column
        yield ran(f"CREATE TEMP TABLE staged AS SELECT {column} AS v FROM orders", 4, tag="nightly_staged", session="t")
        yield ran("INSERT INTO through (v) SELECT v FROM staged", 4, tag="nightly_staged", session="t")
        yield ran("INSERT INTO both (v) SELECT total FROM orders", 5, tag="nightly_both")
        yield ran("INSERT INTO both (v) SELECT net FROM orders", 6, tag="nightly_both")
        if day == 1:
            yield ran("CREATE TABLE refreshed AS SELECT total AS v FROM orders", 7, tag="refresh")
        yield ran("INSERT INTO refreshed (v) SELECT net FROM orders", 8, tag="refresh")


def write(folder: Path, name: str, rows: Iterable[Record]) -> None:
    (folder / "log").mkdir(exist_ok=True)
    with (folder / "log" / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])


def workflow(folder: Path, **ours: object) -> None:
    ddl = folder / "base.sql"
    tables = "tagged", "hourly", "somebody", "through", "both"
    made = "".join(f"CREATE TABLE {name} (v int);" for name in tables)
    ddl.write_text(f"CREATE TABLE orders (total int, net int, day int); {made}", encoding="utf-8")
    configuration(folder, schemaFiles=[{"path": str(ddl)}], **ours)
    written = (folder / "lineage.yaml").read_text(encoding="utf-8")
    (folder / "lineage.yaml").write_text(
        written.replace("queryLogDuration: 3", "queryLogDuration: 30"), encoding="utf-8"
    )


def held(folder: Path) -> Spans:
    """When values of which column of orders went into each table: days of the month."""
    with sqlite3.connect(folder / "catalog.db") as connection:
        rows = connection.execute(
            "select json_extract(c.value, '$.from[0]'), t.fqn, strftime('%d', i.start / 1000, 'unixepoch'), "
            "strftime('%d', i.\"end\" / 1000, 'unixepoch') "
            "from intervals i join versions v on v.id = i.version_id join entities t on t.id = i.to_id, "
            "json_each(v.content, '$.columns') c where json_extract(c.value, '$.type') = 'DIRECT'"
        ).fetchall()
    return {
        (column, table.rpartition(".")[2], int(start), int(end) if end else None) for column, table, start, end in rows
    }


@pytest.fixture(scope="module")
def read_at_once(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Spans:
    folder = tmp_path_factory.mktemp("at_once")
    workflow(folder)
    write(folder, "all.csv", records())
    assert not run(folder, run_id="all").counts.dead
    return held(folder)


def test_the_newer_word_of_whoever_is_known_supersedes_the_older(read_at_once: Spans) -> None:
    for table in ("tagged", "hourly", "through"):
        assert {one for one in read_at_once if one[1] == table} == {("total", table, 1, 6), ("net", table, 6, None)}


def test_what_nobody_knows_who_ran_stands(read_at_once: Spans) -> None:
    found = {one for one in read_at_once if one[1] == "somebody"}
    assert found == {("total", "somebody", 1, None), ("net", "somebody", 6, None)}


def test_two_statements_of_one_job_and_a_full_refresh_stand(read_at_once: Spans) -> None:
    found = {one for one in read_at_once if one[1] in ("both", "refreshed")}
    assert found == {(column, table, 1, None) for column in ("total", "net") for table in ("both", "refreshed")}


def test_read_in_parts_and_out_of_order_it_is_the_same(
    spark: SparkSession, read_at_once: Spans, tmp_path: Path
) -> None:
    workflow(tmp_path)
    for number, days in enumerate(([3, 7, 8], [1, 2, 4, 5, 6])):
        rows = [one for one in records() if int(one[1][8:10]) in days]
        write(tmp_path, f"part{number}.csv", rows)
        run(tmp_path, run_id=f"part {number}")
    assert held(tmp_path) == read_at_once


def test_where_it_is_turned_off_both_stand(spark: SparkSession, tmp_path: Path) -> None:
    workflow(tmp_path, supersedeRewritten=False)
    write(tmp_path, "all.csv", [one for one in records() if "tagged" in one[0]])
    run(tmp_path, run_id="off")
    assert {(column, end) for column, _, _, end in held(tmp_path)} == {("total", None), ("net", None)}
