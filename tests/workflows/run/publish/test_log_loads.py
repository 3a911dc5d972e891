"""Loads that a log tells of, from its file to the answer of `ingest why`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.catalog.answer.rendering import render
from connectors.catalog.answer.why import WHY
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.why.search import causes_in_file
from tests.support.growing_log import configuration
from tests.support.run_in_session import run
from workflows.runtime.options import Backfill

pytestmark = pytest.mark.spark

START = datetime(2026, 11, 2, tzinfo=UTC)
CANARY = "canary4711"
SALES = f"INSERT INTO mart.sales (id, amount) SELECT id, total FROM web.orders WHERE note <> '{CANARY} {{}}'"
DAILY = "INSERT INTO mart.daily (revenue) SELECT sum(amount) FROM mart.sales"
CITIES = "INSERT INTO cities (city) SELECT city FROM web.customers"


def line(text: str, day: int, hour: int, *, code: str = "", rows: int | str = "", session: str = "etl") -> str:
    time = START + timedelta(days=day, hours=hour)
    error = f"division by zero: {CANARY}" if code else ""
    return f'"{text}",{time:%Y-%m-%d %H:%M:%S},{session},{"failed" if code else "ok"},{code},{error},{rows}\n'


def log() -> Iterator[str]:
    """Five days, on the last of which `sales` fails twice, and `cities` once, which then comes with few rows."""
    yield "query_text,start_time,session_id,status,error_code,error,rows_affected\n"
    yield line("SET search_path TO mart", 0, 0)
    for day in range(5):
        last = day == 4
        yield line(SALES.format(day), day, 1, **({"code": "22012"} if last else {"rows": 1000 + day}))
        if last:
            yield line(SALES.format("again"), day, 3, code="22012")
            yield line(CITIES, day, 1, code="57014")
        yield line(CITIES, day, 2, rows=3 if last else 50)
        yield line(DAILY, day, 4, rows=1)
    yield line(SALES.replace("mart.sales", "nowhere.known"), 4, 5, code="42P01")
    yield line("INSERT INTO scratch SELECT 1 / 0", 4, 5, code="22012", session="other")
    yield line("CREATE TEMP TABLE scratch AS SELECT id FROM web.orders", 0, 5, session="other")
    yield line("CREATE TABLE mart.scratch AS SELECT id FROM web.orders", 0, 5)


def prepared(folder: Path, **ours: Any) -> Path:
    (folder / "log").mkdir(parents=True)
    (folder / "log" / "log.csv").write_text("".join(log()))
    file = configuration(folder, registerTables="always", **ours)
    file.write_text(file.read_text().replace("queryLogDuration: 3", "queryLogDuration: 30"))
    return folder


def loads_in(folder: Path) -> set[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "catalog.db")
    try:
        asked = "select fqn, at, status, rows, error, job from statement_loads join entities on id = entity_id"
        return set(connection.execute(asked).fetchall())
    finally:
        connection.close()


def at(day: int, hour: int) -> int:
    return round((START + timedelta(days=day, hours=hour)).timestamp() * 1000)


EXPECTED = {
    *(("shop.default.mart.sales", at(day, 1), "complete", 1000 + day, "", "") for day in range(4)),
    *(("shop.default.mart.sales", at(4, hour), "failed", None, "22012", "") for hour in (1, 3)),
    *(("shop.default.mart.cities", at(day, 2), "complete", 3 if day == 4 else 50, "", "") for day in range(5)),
    ("shop.default.mart.cities", at(4, 1), "failed", None, "57014", ""),
    *(("shop.default.mart.daily", at(day, 4), "complete", 1, "", "") for day in range(5)),
}


def test_failures_and_sizes_are_filed_once_and_lead_to_the_cause(spark: SparkSession, tmp_path: Path) -> None:
    """Names that lead nowhere, or to a temporary table, are no loads; nothing of a literal leaves."""
    folder = prepared(tmp_path / "shop")
    summary = run(folder)
    assert summary.counts.skipped["failed"] == 5
    assert loads_in(folder) == EXPECTED
    run(folder)
    run(folder, extent=Backfill(full=True))
    assert loads_in(folder) == EXPECTED
    report = causes_in_file(folder / "catalog.db", "mart.daily", When(at(4, 6))).content
    assert report.accused[0].table == "shop.default.mart.sales"
    assert report.accused[0].evidence[0].text == "load failed: error 22012, 2 attempts"
    answer = causes_in_file(folder / "catalog.db", "mart.cities", When(at(4, 6)))
    cities = render(answer, WHY, "text").splitlines()
    assert any("load failed, and its statement ran again: error 57014" in one for one in cities)
    assert any("fewer rows: 3 rows, before it 50 to 50" in one for one in cities)
    left = [file for file in folder.rglob("*") if file.is_file() and file.parent.name != "log"]
    assert [file for file in left if CANARY.encode() in file.read_bytes()] == []


def test_batches_tell_the_same_and_a_dry_run_nothing(spark: SparkSession, tmp_path: Path) -> None:
    folder = prepared(tmp_path / "shop", templatesAtOnce=1)
    run(folder, show=lambda _request: None)
    assert not (folder / "catalog.db").exists()
    run(folder)
    assert loads_in(folder) == EXPECTED
