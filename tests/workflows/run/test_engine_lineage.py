"""What an engine recorded itself is published beside what its statements say, and compared with it."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from tests.support.growing_log import configuration, contributions_in
from tests.support.run_in_session import command_line, run
from workflows.counts import RunSummary
from workflows.run.finish import print_summary

pytestmark = pytest.mark.spark

QUERIES = """\
QUERY_TEXT,DATABASE_NAME,SCHEMA_NAME,QUERY_TYPE,SESSION_ID,USER_NAME,EXECUTION_STATUS,ERROR_CODE,START_TIME,QUERY_TAG
"INSERT INTO DAILY (DAY, TOTAL) SELECT DAY, SUM(AMOUNT) FROM ORDERS GROUP BY DAY",SHOP,SALES,INSERT,1,ETL,SUCCESS,,\
2026-11-20 08:00:00 +0000,
INSERT INTO DAILY (DAY) SELECT DAY FROM CALENDAR,SHOP,SALES,INSERT,1,ETL,SUCCESS,,2026-11-20 08:01:00 +0000,
INSERT INTO OTHER (A) SELECT A FROM ELSEWHERE,SHOP,SALES,INSERT,1,ETL,SUCCESS,,2026-11-20 08:02:00 +0000,
"""


def table(name: str, *columns: dict[str, Any]) -> dict[str, Any]:
    return {"objectDomain": "Table", "objectName": f"SHOP.SALES.{name}", "columns": list(columns)}


def column(name: str, *sources: tuple[str, str]) -> dict[str, Any]:
    direct = [
        {"objectDomain": "Table", "objectName": f"SHOP.SALES.{source}", "columnName": one} for source, one in sources
    ]
    return {"columnName": name, "directSources": direct}


def access(at: str, modified: list[dict[str, Any]], *accessed: dict[str, Any]) -> str:
    row = {
        "QUERY_ID": at,
        "QUERY_START_TIME": f"2026-11-20 {at} +0000",
        "USER_NAME": "ETL",
        "DIRECT_OBJECTS_ACCESSED": accessed,
        "OBJECTS_MODIFIED": modified,
    }
    return json.dumps(row) + "\n"


TOTAL = column("TOTAL", ("ORDERS", "PRICE"))
ACCESSES = [
    access(
        "08:00:00",
        [table("DAILY", column("DAY", ("ORDERS", "DAY")), column("TOTAL", ("ORDERS", "PRICE")))],
        table("ORDERS"),
    ),
    access("08:03:00", [table("DAILY", column("TOTAL", ("COPIED", "TOTAL")))], table("COPIED")),
    access("08:04:00", [], table("ORDERS", column("DAY"))),
    access("08:05:00", [{"objectDomain": "Table", "columns": []}]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    content = yaml.safe_load(configuration(folder).read_text().replace("Postgres", "Snowflake"))
    content["source"]["sourceConfig"]["config"]["processEntities"] = True
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    (folder / "log").mkdir()
    (folder / "log" / "query_history.csv").write_text(QUERIES)
    (folder / "log" / "access_history.jsonl").write_text("".join(ACCESSES))
    return folder


@pytest.fixture(scope="module")
def summary(folder: Path, spark: object) -> RunSummary:
    return run(folder)


def test_each_row_is_accounted_for(summary: RunSummary) -> None:
    counts = summary.counts
    assert (counts.records_read, counts.statements, counts.published) == (7, 7, 5)
    malformed = "malformed_record:objects_modified: an object without objectName"
    assert (counts.skipped, counts.dead) == ({"no_write": 1}, {malformed: 1})
    assert counts.parsed_by_tier == {"sqlglot": 3, "engine": 2}


def test_the_run_counts_where_engine_and_log_agree(summary: RunSummary) -> None:
    """Of ORDERS and COPIED into DAILY, and of CALENDAR, of which the engine knows nothing. It has no OTHER."""
    assert summary.counts.engine_edges == {"agree": 1, "only_engine": 1, "only_log": 1}
    assert summary.counts.engine_columns == {"agree": 1, "only_engine": 2, "only_log": 2, "silent": 1}


def test_a_record_of_reading_alone_tells_a_reader(summary: RunSummary, folder: Path) -> None:
    done = command_line(folder, "unused", "--catalog", "catalog.db", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    tables = {one["entity"]["fullyQualifiedName"].rpartition(".")[2] for one in found["unused"]}
    assert tables == {"CALENDAR", "COPIED", "DAILY", "ELSEWHERE", "OTHER"}
    columns = {f"{one['entity']['fullyQualifiedName']}.{one['column']}" for one in found["columns"]}
    assert {name for name in columns if ".ORDERS." in name} == {
        "shop.SHOP.SALES.ORDERS.AMOUNT",
        "shop.SHOP.SALES.ORDERS.PRICE",
    }
    (covered,) = found["coverage"]
    assert (covered["selects"], covered["read"], covered["mayRead"]) == (1, 1, {"malformed_record": 1})


def test_each_says_its_own_of_an_edge(summary: RunSummary, folder: Path) -> None:
    found = defaultdict(set)
    for one in contributions_in(folder / "catalog.db"):
        found[one.source.rpartition(".")[2], one.target.rpartition(".")[2]].add(one.producer.partition(" ")[0])
    kinds = {edge: {producer.partition(":")[0] for producer in producers} for edge, producers in found.items()}
    assert kinds == {
        ("ORDERS", "DAILY"): {"query", "engine"},
        ("CALENDAR", "DAILY"): {"query"},
        ("COPIED", "DAILY"): {"engine"},
        ("ELSEWHERE", "OTHER"): {"query"},
    }


def test_explain_shows_who_says_what(summary: RunSummary, folder: Path) -> None:
    done = command_line(folder, "explain", "SALES.DAILY.TOTAL", "--catalog", "catalog.db")
    assert done.exit_code == 0, done.output
    lines = [line.strip() for line in done.output.splitlines()]
    (ours,) = [line for line in lines if line.startswith("<- shop.SHOP.SALES.ORDERS.AMOUNT")]
    (theirs,) = [line for line in lines if line.startswith("<- shop.SHOP.SALES.ORDERS.PRICE")]
    assert f"{ours[-3:]} query, sqlglot, last seen 2026-11-20 08:00" in lines
    assert f"{theirs[-3:]} engine, last seen 2026-11-20 08:03" in lines
    assert "(no statement: recorded by the engine itself)" in lines
    assert "direct, aggregation, seen by: log; not by: engine" in ours
    assert "direct, transformation, seen by: engine; not by: log" in theirs
    done = command_line(folder, "explain", "SALES.DAILY.TOTAL", "--witness", "engine", "--catalog", "catalog.db")
    assert "made of: shop.SHOP.SALES.COPIED.TOTAL, shop.SHOP.SALES.ORDERS.PRICE" in done.output.splitlines()


def test_where_the_engine_and_the_log_differ_is_a_list(summary: RunSummary, folder: Path) -> None:
    done = command_line(folder, "witnesses", "--catalog", "catalog.db", "--format", "csv")
    assert done.exit_code == 0, done.output
    shop = "shop.SHOP.SALES"
    assert done.stdout.replace(f"{shop}.", "").splitlines() == [
        "target,source,seen by,not by,instead",
        "DAILY.DAY,CALENDAR.DAY,log,engine,ORDERS.DAY",
        "DAILY.TOTAL,COPIED.TOTAL,engine,log,ORDERS.AMOUNT",
        'DAILY.TOTAL,ORDERS.AMOUNT,log,engine,"COPIED.TOTAL, ORDERS.PRICE"',
        "DAILY.TOTAL,ORDERS.PRICE,engine,log,ORDERS.AMOUNT",
    ]


def test_a_second_run_reads_nothing_again(summary: RunSummary, folder: Path) -> None:
    again = run(folder).counts
    assert (again.records_read_before, again.statements, again.edges.new) == (7, 0, 0)


def test_the_summary_says_it_in_a_line(summary: RunSummary) -> None:
    console = Console(record=True, width=200, file=io.StringIO())
    print_summary(summary, console)
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "engine edges 2 1 agree, 1 only the engine's, 1 only ours" in lines
    columns = "of 4 of ours it confirms 1, has others in place of 2, does not speak of 1; 2 only the engine's"
    assert f"engine columns 3 {columns}" in lines
